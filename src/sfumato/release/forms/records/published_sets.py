"""Drafts whose set domains name only what is published of the sets, and nothing else that the table holds."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells, tally
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.prune import ShownTree
from sfumato.release.draft import Draft
from sfumato.release.partition import SUPPRESSED, Partition
from sfumato.release.region_loss import general_loss

_SEARCHED: Final = ("nodes", "nodes_counted", "within")


def prune_sets(draft: Draft) -> Draft:
    """The draft with domains of sets that name published regions and values, and what is above those, alone.

    The groups and what is published of them stay the same; combinations of codes that are no longer distinguished
    become one.
    """
    names = list(draft.view.sets)
    if not names:
        return draft
    view, partition = draft.view, draft.partition
    trees = {name: _tree(draft, name) for name in names}
    domains = {name: Categories(taxonomy=tree.taxonomy, declared=False) for name, tree in trees.items()}
    columns = [
        trees[name].codes[partition.column(name)] if name in trees else partition.column(name)
        for name in partition.cells.attributes
    ]
    rows, counts = tally([partition.group, *columns], partition.cells.counts)
    cells = Cells(partition.cells.attributes, rows[:, 1:], counts)
    starts, stops = partition.boxes.starts.copy(), partition.boxes.stops.copy()
    for place, name in enumerate(partition.boxes.attributes):
        if name in trees:
            regions = draft.form == "generalised"
            starts[:, place], stops[:, place] = trees[name].boxed(starts[:, place], stops[:, place], regions=regions)
    boxes = Boxes(partition.boxes.attributes, starts, stops)
    shown = replace(draft, view=view.with_domains(domains), content=Partition(cells, rows[:, 0], boxes))
    return replace(shown, facts=_facts(shown), owner={**draft.owner, "facts": dict(draft.facts)})


def _facts(draft: Draft) -> dict[str, Any]:
    """What the method tells of its run, as far as sets that are not published have no part in it.

    A search over levels weighs them by how many sets the table has, so the loss that it found tells that number. What
    is published is the loss by the declared taxonomy, which anybody can work out from the release; how many
    combinations of levels there were to search, and how near its bound the search came, stay with the owner.
    """
    sets = draft.view.sets
    facts = dict(draft.facts)
    if "loss" not in facts or not any(a.name in sets for a in draft.view.quasi):
        return facts
    facts["loss"] = round(general_loss(draft.partition, draft.view, sets), 9)
    return {name: fact for name, fact in facts.items() if name not in _SEARCHED}


def _tree(draft: Draft, name: str) -> ShownTree:
    view, partition = draft.view, draft.partition
    tree = view.domain(name).taxonomy
    assert tree is not None, "sets have become categories"
    published = partition.group != SUPPRESSED
    if draft.form == "generalised" and any(a.name == name for a in view.quasi):
        place = partition.boxes.attributes.index(name)
        used = np.unique(partition.group[published])
        ends = (partition.boxes.starts[used, place].tolist(), partition.boxes.stops[used, place].tolist())
        return ShownTree.of_regions(tree, set(zip(*ends, strict=True)))
    return ShownTree.of_values(tree, np.unique(partition.column(name)[published]).tolist())
