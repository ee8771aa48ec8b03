"""Mondrian on a table whose cells do not fit here: coarse cuts by counts of the engine, then each part by itself.

A cut needs to know how far a group reaches on each axis, how many records have the codes about the median of the axis
that is tried, and, where models look at sensitive values, how often each occurs in each child. The engine counts this
for groups that are too large to be brought here. A group that fits is brought as cells and cut as any table is.
Widths, medians, the order in which axes are tried and the models' answers are the same either way, so the groups are,
too.

Parts that fit are finished after all coarse cuts: by the engine's workers in parallel where it has some, else here, one
after the other. Of a finished part only what is published is kept: regions, and the values beside them. It is written
to the disk, where all parts are put into the order of publication: this process holds a part, never all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sfumato.domains.counts import Cells, PartTree, TableParts, Within, tally
from sfumato.domains.cut import Cut
from sfumato.memory_limit import collecting
from sfumato.methods.grouping.code_ranges import tight_boxes
from sfumato.methods.grouping.slices import exact_cuts, slices
from sfumato.methods.grouping.table_totals import whole_statistics
from sfumato.methods.mondrian.axes import Axes, Spans
from sfumato.methods.mondrian.cuts import Attempt, Integers, Level, attempt
from sfumato.privacy.groups.statistics import Statistics, ValueCounts, ValueTotals
from sfumato.privacy.models import GroupModel, all_hold, refuse_infeasible
from sfumato.progress import Progress
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.sorted_rows import UnsortedRows
from sfumato.release.partition import Boxes, Partition
from sfumato.study.view import View

_CUTS = "for `mondrian`, the cuts below a taxonomy are found by its values"
_VALUES = "for `mondrian`, the values of an attribute are looked at in a group that does not fit"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A group that is still to be cut: the codes that it may have on each axis, and how many records it has.

    ``cells`` is how many combinations of values it has: of a child, as many as records of its parent let expect.
    """

    starts: Integers
    stops: Integers
    records: int
    cells: float


@dataclass(slots=True, eq=False)
class _Node:
    """A part of the table while parts are cut: it fits and has a number, it has children, or neither."""

    part: Part
    number: int = -1
    children: list["_Node"] = field(default_factory=list)

    def tree(self, names: Sequence[str]) -> PartTree:
        """The same as questions about codes: on which axis children differ, and where each of them ends."""
        if not self.children:
            return PartTree(self.number)
        first = self.children[0].part
        moved = (first.starts != self.part.starts) | (first.stops != self.part.stops)
        axis = int(np.flatnonzero(moved)[0])
        branches = tuple((int(child.part.stops[axis]), child.tree(names)) for child in self.children)
        return PartTree(attribute=names[axis], branches=branches)


Finish = Callable[[Cells, Part, dict[str, ValueTotals]], Partition]
"""Cut the cells of one part, compared with the totals of the whole table."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PartCutter:
    """One run over a table in parts."""

    view: View
    counts: TableParts
    models: tuple[GroupModel, ...]
    axes: Axes
    least: int  # no smaller group can satisfy the models
    ordered: tuple[str, ...]
    finish: Finish
    progress: Progress
    near: int = 0  # groups of so many records are brought, however many cells they have: medians do not decide there

    def records(self, *, tight: bool) -> tuple[RecordStore, int]:
        """The published records of the whole table, and how many groups they are in.

        A region is the smallest one around its group if ``tight``, else the part of the space that was cut out.
        """
        whole = whole_statistics(self.view, self.counts, self.models)
        refuse_infeasible(self.models, whole)
        against = dict(whole.table)
        names = [a.name for a in self.view.attributes]
        sizes = {name: self.view.domain(name).size for name in names}
        with UnsortedRows(sizes, self.axes.names, self.axes.names) as unsorted:
            tree, fitting, uncut = self._coarse_parts(against)
            groups = len(uncut)
            for part in uncut:
                for rows in self._uncut_rows(part, tight=tight):
                    self._add(unsorted, rows)
            width = 2 + len(self.axes.names) + len(self.view.attributes)
            work = partial(_finish_part, self.view, self.finish, fitting, against)
            done, boxes = 0, [self._box(part) for part in fitting]
            for part, rows in zip(fitting, self.counts.map_parts(names, boxes, tree, work, width=width), strict=True):
                groups += self._add(unsorted, rows)
                done += part.records
                self.progress("finishing parts of the table", done, self.counts.records)
            return unsorted.sort(), groups

    def _add(self, unsorted: UnsortedRows, rows: Integers) -> int:
        """Add the rows that `_as_rows` made of a part; how many groups they are in."""
        axes = len(self.axes.names)
        starts, stops, beside = (
            rows[:, 1 : 1 + axes].T,
            rows[:, 1 + axes : 1 + 2 * axes].T,
            rows[:, 1 + 2 * axes : -1].T,
        )
        unsorted.add([*zip(starts, stops, strict=True), *((codes, codes + 1) for codes in beside)], rows[:, -1])
        return len(np.unique(rows[:, 0]))

    def _coarse_parts(self, against: dict[str, ValueTotals]) -> tuple[PartTree, list[Part], list[Part]]:
        """Which part each record is in, the parts that fit, and the groups that no cut is left for."""
        ends = np.zeros(len(self.axes.sizes), np.int64), np.array(self.axes.sizes, np.int64)
        whole = Part(*ends, self.counts.records, self.counts.all_cells)
        root = _Node(whole)
        todo, done = [root], 0
        fitting: list[Part] = []
        uncut: list[Part] = []
        while todo:
            self.progress("cutting the table into parts", done, whole.records)
            node = todo.pop()
            node.part = self._with_cells(node.part)
            few = (
                min(node.part.records, node.part.cells) <= self.counts.most_cells
            )  # so many records have no more cells
            if few or node.part.records <= self.near:
                node.number = len(fitting)
                fitting.append(node.part)
            elif children := self._cut(node.part, against):
                node.children = [_Node(child) for child in children]
                todo += node.children
                continue
            else:
                uncut.append(node.part)
            done += node.part.records
        return root.tree(self.axes.names), fitting, uncut

    def _with_cells(self, part: Part) -> Part:
        """The part with its cells counted, where it is open whether they may be brought here.

        Of a part that is expected to have twice as many they are not: it is cut, and at worst once more than needed,
        with the same groups.
        """
        most = self.counts.most_cells
        if part.records <= max(most, self.near) or part.cells > 2 * most:
            return part
        names = [a.name for a in self.view.attributes]
        return replace(part, cells=self.counts.distinct(names, self._box(part)))

    def _cut(self, part: Part, against: dict[str, ValueTotals]) -> list[Part]:
        """The children of the first allowable cut; none if there is none."""
        spans, box = self._spans(part), self._box(part)
        if part.records < 2 * self.least:
            return []
        for axis in spans.widest_first()[:, 0].tolist():
            if spans.widths[axis, 0] < 0:
                break
            tried = self._try(part, spans, axis)
            if all_hold(self.models, self._statistics(box, axis, tried, against)).all():
                return [
                    Part(
                        _with(part.starts, axis, start),
                        _with(part.stops, axis, stop),
                        size,
                        size * part.cells / part.records,
                    )
                    for start, stop, size in zip(
                        tried.starts.tolist(), tried.stops.tolist(), tried.sizes.tolist(), strict=True
                    )
                ]
        return []

    def _try(self, part: Part, spans: Spans, axis: int) -> Attempt:
        """The cut of a part on one axis, from how many records have the codes that decide it."""
        codes, records = self._deciding_codes(part, spans, axis)
        columns = np.zeros((len(self.axes.sizes), len(codes)), np.int64)
        columns[axis] = codes
        level = Level(
            columns, records, np.arange(len(codes)), np.array([0, len(codes)]), np.array([part.records]),
            part.starts[None], part.stops[None], np.array([0]),
        )  # fmt: skip
        return attempt(level, spans, self.axes, np.array([0]), np.array([axis]), at=None, strict=True)

    def _deciding_codes(self, part: Part, spans: Spans, axis: int) -> tuple[Integers, Integers]:
        """Codes of a part on one axis, in order, and how many records have each: enough for its cut.

        Below a taxonomy these are the leaves. Elsewhere the cut is beside the median's code, so others need not be told
        apart: all below a bin that has the median stand for the greatest of them, behind which the cut may be, and all
        above it for any of them. Bins are counted by the engine, as many as fit, and the one with the median again.
        """
        name, box, tree = self.axes.names[axis], self._box(part), self.axes.trees[axis]
        if tree is not None:
            if tree.edges is None:
                with collecting(_CUTS):
                    cells = self.counts.cells([name], box, limited=True)
                return cells.codes[:, 0], cells.counts
            leaves = Cut(name, tuple(tree.edges.tolist()), self.axes.sizes[axis])
            with collecting(_CUTS):
                cells = self.counts.regions([leaves], box, limited=True)
            return tree.edges[cells.codes[:, 0]], cells.counts
        start, stop = int(spans.low[axis, 0]), int(spans.high[axis, 0]) + 1
        below: list[tuple[int, int]] = []  # a code and how many records, at most one
        above: list[tuple[int, int]] = []
        middle = (part.records + 1) // 2  # the record, counted from 1, whose code is the median
        while True:
            width = -(-(stop - start) // max(2, self.counts.most_cells))
            found = self.counts.binned(name, {**box, name: (start, stop)}, width)
            codes, records = found.codes[:, 0], found.counts
            if width == 1:
                break
            place = int(np.searchsorted(np.cumsum(records), middle - sum(n for _, n in below)))
            if place:
                below = [(int(codes[place - 1]), sum(n for _, n in below) + int(records[:place].sum()))]
            if place + 1 < len(codes):
                above = [(int(codes[place + 1]), sum(n for _, n in above) + int(records[place + 1 :].sum()))]
            first = int(codes[place]) // width * width
            start, stop = max(start, first), min(stop, first + width)
        rows = [*below, *zip(codes.tolist(), records.tolist(), strict=True), *above]
        decided = np.array(rows, np.int64)
        return decided[:, 0], decided[:, 1]

    def _statistics(self, box: Within, axis: int, tried: Attempt, against: dict[str, ValueTotals]) -> Statistics:
        """What models see of the children of a part, one sensitive attribute after the other.

        Models look at the values of single attributes, so no query needs combinations of several.
        """
        children = Cut(self.axes.names[axis], (0, *tried.starts[1:].tolist()), self.axes.sizes[axis])
        counted: dict[str, ValueCounts] = {}
        for name in against:
            size = self.view.domain(name).size
            with collecting(_VALUES):
                cells = self.counts.regions([Cut.finest(name, size), children], box, limited=True)
            counted[name] = ValueCounts.of(
                cells.codes[:, 1], cells.codes[:, 0], cells.counts, groups=len(children), size=size
            )
        domains = {name: self.view.domain(name) for name in against}
        return Statistics(tried.sizes, counted, domains, against)

    def _spans(self, part: Part) -> Spans:
        low, high = self.counts.extremes(self.axes.names, self._box(part))
        return self.axes.spans(np.stack([low, high], axis=1), np.array([0]))

    def _uncut_rows(self, part: Part, *, tight: bool) -> Iterator[Integers]:
        """The rows of a group that no allowable cut is left for, however many it has: what fits at a time."""
        box = self._box(part)
        low, high = self.counts.extremes(self.axes.names, box)
        ends = Cells(self.axes.names, np.stack([low, high]), np.ones(2, np.int64))
        boxes = Boxes(self.axes.names, part.starts[None], part.stops[None])
        if tight:
            boxes = tight_boxes(self.view, ends, np.zeros(2, np.int64), 1, ordered=self.ordered)
        names = tuple(a.name for a in self.view.attributes)
        beside = exact_cuts(self.view, names[len(self.axes.names) :])
        for codes, counts in self._values_beside(beside, part, box):
            whole = np.hstack([np.repeat(boxes.starts, len(counts), axis=0), codes])
            yield _as_rows(self.view, Partition(Cells(names, whole, counts), np.zeros(len(counts), np.int64), boxes))

    def _values_beside(self, beside: Sequence[Cut], part: Part, box: Within) -> Iterator[tuple[Integers, Integers]]:
        if not beside:
            yield np.empty((1, 0), np.int64), np.array([part.records])
            return
        with collecting(_VALUES):
            for piece in slices(self.counts, beside, (), box):
                yield piece.regions, piece.counts

    def _box(self, part: Part) -> dict[str, tuple[int, int]]:
        """The codes of a part, of the axes on which it was cut."""
        ends = zip(self.axes.names, part.starts.tolist(), part.stops.tolist(), self.axes.sizes, strict=True)
        return {name: (start, stop) for name, start, stop, size in ends if (start, stop) != (0, size)}


def _with(ends: Integers, axis: int, end: int) -> Integers:
    found = ends.copy()
    found[axis] = end
    return found


def _as_published(view: View, partition: Partition) -> Partition:
    """The same groups with the first code of each region in place of the records' own; what is equal is one cell."""
    quasi = len(view.quasi)
    beside = [np.ascontiguousarray(column) for column in partition.cells.codes.T[quasi:]]
    rows, counts = tally([partition.group, *beside], partition.cells.counts)
    codes = np.hstack([partition.boxes.starts[rows[:, 0]], rows[:, 1:]])
    return Partition(Cells(partition.cells.attributes, codes, counts), rows[:, 0], partition.boxes)


def _finish_part(
    view: View, finish: Finish, parts: Sequence[Part], against: dict[str, ValueTotals], number: int, cells: Cells
) -> Integers:
    """One part as rows. It runs in another process where an engine has workers, so all that it needs comes with it."""
    return _as_rows(view, _as_published(view, finish(cells, parts[number], against)))


def _as_rows(view: View, done: Partition) -> Integers:
    """Groups as rows of numbers: group, where its region begins and ends, the values beside it, how many records."""
    group, boxes = done.group[:, None], done.boxes
    beside = done.cells.codes[:, len(view.quasi) :]
    return np.hstack([group, boxes.starts[done.group], boxes.stops[done.group], beside, done.cells.counts[:, None]])
