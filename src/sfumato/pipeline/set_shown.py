"""Drafts whose sets are told by what is published of them, and by nothing else that the table holds."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.core.attribute import Attribute
from sfumato.core.boxes import Boxes
from sfumato.core.counts import Cells, tally
from sfumato.core.domain import Categories
from sfumato.core.partition import SUPPRESSED, Partition, PartitionDraft, PartitionView
from sfumato.core.sets import SetDomain
from sfumato.core.shown_tree import ShownTree
from sfumato.errors import StudyError
from sfumato.methods import PartitionMethod
from sfumato.pipeline.set_views import with_domains


def as_shown(draft: PartitionDraft, asked: Iterable[Attribute]) -> PartitionDraft:
    """The draft with domains of sets that name published regions and values, and what is above those, alone.

    ``asked`` are the attributes before their sets became categories (see `set_views.by_level`). The groups and what
    is published of them stay the same; combinations of codes that are told apart no more become one.
    """
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
    return replace(draft, view=with_domains(view, domains), partition=Partition(cells, rows[:, 0], boxes))


def refuse_named_sets(method: PartitionMethod, view: PartitionView) -> None:
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
