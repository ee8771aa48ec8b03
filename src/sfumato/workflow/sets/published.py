"""Drafts whose sets are told by what is published of them, and by nothing else that the table holds."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells, tally
from sfumato.domains.domain import Categories
from sfumato.domains.sets.domain import SetDomain
from sfumato.domains.taxonomy.prune import ShownTree
from sfumato.errors import StudyError
from sfumato.methods.grouping.region_loss import general_loss
from sfumato.release.partition import SUPPRESSED, Partition, PartitionDraft
from sfumato.study.attribute import Attribute
from sfumato.study.partition_view import PartitionView
from sfumato.workflow.sets.level_views import with_domains

_SEARCHED: Final = ("nodes", "nodes_counted", "within")


def as_shown(draft: PartitionDraft, asked: Iterable[Attribute]) -> PartitionDraft:
    """The draft with domains of sets that name published regions and values, and what is above those, alone.

    ``asked`` are the attributes before their sets became categories (see `set_views.by_level`). The groups and what
    is published of them stay the same; combinations of codes that are told apart no more become one.
    """
    asked = tuple(asked)
    names = [a.name for a in asked if isinstance(a.domain, SetDomain)]
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
    shown = replace(draft, view=with_domains(view, domains), partition=Partition(cells, rows[:, 0], boxes))
    return replace(shown, facts=_facts(shown, asked))


def _facts(draft: PartitionDraft, asked: Iterable[Attribute]) -> dict[str, Any]:
    """What the method tells of its run, as far as sets that are not published have no part in it.

    A search over levels weighs them by how many sets the table has, so the loss that it found tells that number. What
    is published is the loss by the declared taxonomy, which anybody can work out from the release; how many
    combinations of levels there were to search, and how near its bound the search came, stay with the owner.
    """
    sets = {a.name: a.domain for a in asked if isinstance(a.domain, SetDomain)}
    facts = dict(draft.facts)
    if "loss" not in facts or not any(a.name in sets for a in draft.view.quasi):
        return facts
    facts["loss"] = round(general_loss(draft.partition, draft.view, sets), 9)
    return {name: fact for name, fact in facts.items() if name not in _SEARCHED}


def refuse_named_sets(method: object, view: PartitionView) -> None:
    """Refuse what would publish names of sets that no record is published with: an order of sets, shares of sets."""
    asked: Any = method
    sets = [a.name for a in view.attributes if isinstance(a.domain, SetDomain)]
    ordered = getattr(asked, "ordered", ())
    for name in sets:
        if getattr(asked, "form", "") == "generalised" and (name in ordered or ordered == "all"):
            raise StudyError(
                f"`ordered` has '{name}', and sets of codes have no order: a range of them would be published by its "
                "first and last set, which may be those of one record each",
                f"name the attributes that are `ordered`, without '{name}'",
            )
        if any(name in getattr(model, "given", ()) for model in getattr(asked, "models", ())):
            raise StudyError(
                f"shares are given for '{name}', and which sets of codes there are is not known beforehand",
                f"leave '{name}' out: its shares are then those that the release shows",
            )


def _tree(draft: PartitionDraft, name: str) -> ShownTree:
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
