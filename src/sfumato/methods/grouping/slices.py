"""Classes of a table that does not fit here: brought in slices, no class in two of them, and put together as published.

A slice is a box of neighbouring regions with as many classes as fit. What is brought are regions with counts, never
codes that are not published.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, TableParts, Within
from sfumato.domains.cut import Cut, Range
from sfumato.methods.full_domain.rollup import join_keys, number_rows
from sfumato.methods.grouping.partitioning import model_domains, refuse_unsatisfiable, refuse_violating_classes
from sfumato.methods.grouping.table_totals import whole_statistics
from sfumato.privacy.models import GroupModel, refuse_infeasible
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.sorted_rows import UnsortedRows
from sfumato.release.partition import Boxes, Partition
from sfumato.study.view import View

Integers = NDArray[np.int64]
Box = dict[str, Range]


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of the classes of some cuts, whole, with what was counted beside them.

    A row is a class with one combination of values of the attributes beside; rows of a class stand together.
    """

    group: Integers  # (rows,): the class, numbered through in the order of regions
    counts: Integers  # (rows,)
    beside: dict[str, Integers]  # (rows,) each: the codes of other attributes
    regions: Integers  # (classes, cuts)

    @classmethod
    def of(cls, cells: Cells, cuts: int) -> "Slice":
        """Cells in the order of their regions."""
        regions = cells.codes[:, :cuts]
        new = np.ones(len(cells), dtype=np.bool_)
        np.any(regions[1:] != regions[:-1], axis=1, out=new[1:])
        beside = {name: cells.codes[:, cuts + place] for place, name in enumerate(cells.attributes[cuts:])}
        return cls(np.cumsum(new) - 1, cells.counts, beside, regions[new])

    @property
    def sizes(self) -> Integers:
        """The records of each class."""
        return np.bincount(self.group, weights=self.counts, minlength=len(self.regions)).astype(np.int64)


def slices(
    counts: TableParts, cuts: Sequence[Cut], beside: Sequence[Cut], within: Within, *, whole: bool = True
) -> Iterator[Slice]:
    """All classes of a part of the table, beside exact values of other attributes, in slices that fit.

    A class is in one slice if it has to be ``whole``. Then one with more combinations of these values than a part may
    have is brought all the same if it fits by itself, and refused if it does not.
    """
    asked = (*cuts, *beside)
    todo = [(dict(within), counts.count_regions(asked, within))]
    while todo:
        box, found = todo.pop()
        if not found:
            continue
        divided = [cut for cut in cuts if len(_inside(cut, box)) > 1]
        if not divided and not whole:
            divided = [cut for cut in beside if len(_inside(cut, box)) > 1]
        if found <= counts.most_cells or not divided:
            yield Slice.of(counts.regions(asked, box, limited=found > counts.most_cells), len(cuts))
            continue
        widest = max(divided, key=lambda cut: len(_inside(cut, box)))
        todo += reversed(_runs(counts, asked, widest, box))


def _inside(cut: Cut, box: Within) -> range:
    """The regions of a cut that a box, which begins and ends with regions, has."""
    start, stop = box.get(cut.attribute, (0, cut.size))
    if cut.is_finest:
        return range(start, stop)
    first, last = np.searchsorted(np.asarray(cut.starts), [start, stop])
    return range(int(first), int(last))


def _runs(
    counts: TableParts, asked: Sequence[Cut], by: Cut, box: Within
) -> list[tuple[dict[str, tuple[int, int]], int]]:
    """The box in runs of regions of one cut, as long as they fit, with how many combinations each has."""
    histogram = counts.count_regions_by(asked, by, box)
    found: list[tuple[list[int], int]] = []
    for number, size in zip(histogram.codes[:, 0].tolist(), histogram.counts.tolist(), strict=True):
        if found and found[-1][1] + size <= counts.most_cells:
            found[-1] = ([found[-1][0][0], number], found[-1][1] + size)
        else:
            found.append(([number, number], size))
    ends = [(by.range_at(first)[0], by.range_at(last)[1]) for (first, last), _ in found]
    return [({**box, by.attribute: end}, size) for end, (_, size) in zip(ends, found, strict=True)]


def exact_cuts(view: View, names: Sequence[str]) -> tuple[Cut, ...]:
    """Every code of some attributes a region of its own."""
    return tuple(Cut.finest(name, view.domain(name).size) for name in names)


Keep = Callable[[Slice], NDArray[np.bool_]]
"""Which classes of a slice are published; it looks at some of the attributes beside alone."""


def published_records(
    view: View, counts: TableParts, cuts: Sequence[Cut], models: Sequence[GroupModel], keep: Keep | None = None
) -> tuple[RecordStore, int]:
    """The published records of one cut an attribute, and how many classes they are in; checked with the models.

    Classes come in slices and go to the disk: this process never holds all of them. Without ``keep`` all are published,
    and nobody needs to see a class at once.
    """
    quasi = [attribute.name for attribute in view.quasi]
    sizes = {attribute.name: view.domain(attribute.name).size for attribute in view.attributes}
    beside = exact_cuts(view, [name for name in sizes if name not in quasi])
    classes = suppressed = 0
    with UnsortedRows(sizes, quasi, quasi) as unsorted:
        for part in slices(counts, cuts, beside, {}, whole=keep is not None):
            kept = np.ones(len(part.regions), np.bool_) if keep is None else keep(part)
            rows = kept[part.group]
            regions = part.regions[part.group[rows]].T
            ends = [cut.ends(numbers) for cut, numbers in zip(cuts, regions, strict=True)]
            exact = [codes[rows] for codes in part.beside.values()]
            unsorted.add([*ends, *((codes, codes + 1) for codes in exact)], part.counts[rows])
            classes += int(kept.sum())
            suppressed += int(part.counts[~rows].sum())
        store = unsorted.sort(suppressed)
    if keep is None:  # a class may have come in several slices
        classes = counts.count_regions(cuts, {})
    refuse_violating_classes(store.classes(model_domains(view, models)), models)
    return store, classes


def published_partition(view: View, counts: TableParts, cuts: Sequence[Cut]) -> Partition:
    """The same as a partition that is held here, with codes: a region's first code stands for its records' codes."""
    beside = exact_cuts(view, [a.name for a in view.attributes[len(cuts) :]])
    return partition_of_regions(view, counts.regions([*cuts, *beside], {}, limited=True), cuts)


def partition_of_regions(view: View, cells: Cells, cuts: Sequence[Cut]) -> Partition:
    """Cells of regions, with exact values beside them, as a partition: a group has one region in each attribute."""
    codes = cells.codes.copy()
    key, size = np.zeros(len(cells), dtype=np.int64), 1
    for place, cut in enumerate(cuts):
        codes[:, place], _ = cut.ends(cells.codes[:, place])
        if len(cut) > 1:
            key, size = join_keys(key, size, cells.codes[:, place], len(cut))
    group, rows = number_rows(key, size)
    ends = [cut.ends(regions) for cut, regions in zip(cuts, cells.codes[rows, : len(cuts)].T, strict=True)]
    boxes = Boxes(
        tuple(attribute.name for attribute in view.quasi),
        np.stack([starts for starts, _ in ends], axis=1),
        np.stack([stops for _, stops in ends], axis=1),
    )
    return Partition(replace(cells, codes=codes), group, boxes)


def refuse_unsatisfiable_table(view: View, counts: Cells | TableParts, models: Sequence[GroupModel]) -> None:
    """Refuse a model that the table violates even as one group; of parts, by the values that models look at."""
    if not isinstance(counts, TableParts):
        refuse_unsatisfiable(view, counts, models)
        return
    refuse_infeasible(models, whole_statistics(view, counts, models))
