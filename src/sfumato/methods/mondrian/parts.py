"""Mondrian on a table whose cells do not fit here: coarse cuts by counts of the engine, then each part by itself.

A cut needs to know how far a group reaches on each axis, how many records have each code of the axis that is tried,
and, where models look at sensitive values, how often each occurs beside these codes. The engine counts this for groups
that are too large to be brought here. A group that fits is brought as cells and cut as any table is. Widths, medians,
the order in which axes are tried and the models' answers are the same either way, so the groups are, too.

Parts that fit are finished after all coarse cuts: by the engine's workers in parallel where it has some, else here, one
after the other. Of a finished part only what is published is kept: regions, and the values beside them. It is written
to the disk, where all parts are put into the order of publication: this process holds a part, never all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sfumato.domains.counts import Cells, PartTree, TableParts, Within, tally
from sfumato.methods.grouping.code_ranges import tight_boxes
from sfumato.methods.grouping.partitioning import needed_attributes
from sfumato.methods.mondrian.axes import Axes, Spans
from sfumato.methods.mondrian.cuts import Attempt, Integers, Level, attempt
from sfumato.privacy.groups.statistics import Statistics, ValueCounts, ValueTotals
from sfumato.privacy.models import GroupModel, all_hold, refuse_infeasible
from sfumato.progress import Progress
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.sorted_rows import UnsortedRows
from sfumato.release.partition import Boxes, Partition
from sfumato.study.view import View


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
        against = {name: self._totals(name) for name in needed_attributes(self.view, self.models)}
        refuse_infeasible(self.models, self._statistics({}, lambda codes: np.zeros(len(codes), np.int64), 1, against))
        names = [a.name for a in self.view.attributes]
        sizes = {name: self.view.domain(name).size for name in names}
        with UnsortedRows(sizes, self.axes.names, self.axes.names) as unsorted:
            tree, fitting, found = self._coarse_parts(against, tight=tight)
            groups = sum(self._add(unsorted, rows) for rows in found)
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

    def _coarse_parts(
        self, against: dict[str, ValueTotals], *, tight: bool
    ) -> tuple[PartTree, list[Part], list[Integers]]:
        """Which part each record is in, the parts that fit, and the groups that are finished without being brought."""
        ends = np.zeros(len(self.axes.sizes), np.int64), np.array(self.axes.sizes, np.int64)
        whole = Part(*ends, self.counts.records, self.counts.all_cells)
        root = _Node(whole)
        todo, done = [root], 0
        fitting: list[Part] = []
        uncut: list[Integers] = []
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
                uncut.append(self._uncut(node.part, tight=tight))
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

            def child(codes: Integers, starts: Integers = tried.starts) -> Integers:
                return np.searchsorted(starts, codes, side="right") - 1  # parts are in the order of their codes

            statistics = self._statistics(box, child, len(tried.sizes), against, axis=self.axes.names[axis])
            if all_hold(self.models, replace(statistics, sizes=tried.sizes)).all():
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
        """The cut of a part on one axis, from how many records have each code."""
        cells = self.counts.cells([self.axes.names[axis]], self._box(part))
        columns = np.zeros((len(self.axes.sizes), len(cells)), np.int64)
        columns[axis] = cells.codes[:, 0]
        level = Level(
            columns, cells.counts, np.arange(len(cells)), np.array([0, len(cells)]), np.array([part.records]),
            part.starts[None], part.stops[None], np.array([0]),
        )  # fmt: skip
        return attempt(level, spans, self.axes, np.array([0]), np.array([axis]), at=None, strict=True)

    def _statistics(
        self,
        box: Within,
        child: Callable[[Integers], Integers],
        children: int,
        against: dict[str, ValueTotals],
        *,
        axis: str | None = None,
    ) -> Statistics:
        """What models see of the children of a part, one sensitive attribute after the other.

        Models look at the values of single attributes, so no query needs combinations of several. Without an axis the
        whole table is one child.
        """
        counted: dict[str, ValueCounts] = {}
        for name in against:
            names = [name] if axis is None else [name, axis]
            cells = self.counts.cells(names, box)
            counted[name] = ValueCounts.of(
                child(cells.codes[:, -1]), cells.codes[:, 0], cells.counts,
                groups=children, size=self.view.domain(name).size,
            )  # fmt: skip
        domains = {name: self.view.domain(name) for name in against}
        return Statistics(np.array([self.counts.records]), counted, domains, against)

    def _totals(self, name: str) -> ValueTotals:
        cells = self.counts.cells([name], {})
        return ValueTotals.of(cells.codes[:, 0], cells.counts, self.view.domain(name).size)

    def _spans(self, part: Part) -> Spans:
        low, high = self.counts.extremes(self.axes.names, self._box(part))
        return self.axes.spans(np.stack([low, high], axis=1), np.array([0]))

    def _uncut(self, part: Part, *, tight: bool) -> Integers:
        """The rows of a group that no allowable cut is left for, however many cells it has."""
        box = self._box(part)
        low, high = self.counts.extremes(self.axes.names, box)
        ends = Cells(self.axes.names, np.stack([low, high]), np.ones(2, np.int64))
        boxes = Boxes(self.axes.names, part.starts[None], part.stops[None])
        if tight:
            boxes = tight_boxes(self.view, ends, np.zeros(2, np.int64), 1, ordered=self.ordered)
        beside = self.counts.cells([a.name for a in self.view.attributes[len(self.axes.names) :]], box)
        codes = np.hstack([np.repeat(boxes.starts, len(beside), axis=0), beside.codes])
        names = tuple(a.name for a in self.view.attributes)
        return _as_rows(
            self.view, Partition(Cells(names, codes, beside.counts), np.zeros(len(beside), np.int64), boxes)
        )

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
