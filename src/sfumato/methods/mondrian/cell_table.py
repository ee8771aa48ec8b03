"""The table as Mondrian cuts it: cells that nobody tells apart put together; at the end the groups of all cells."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from sfumato.domains.counts import Cells
from sfumato.methods.grouping.code_ranges import tight_boxes
from sfumato.methods.grouping.partitioning import merge_equal_regions, needed_attributes, value_totals
from sfumato.methods.mondrian.axes import Axes
from sfumato.methods.mondrian.cuts import Attempt, Codes, Integers
from sfumato.methods.mondrian.depth_levels import Flags, Leaves
from sfumato.privacy.groups.statistics import Statistics, ValueTotals
from sfumato.privacy.models import GroupModel, all_hold
from sfumato.release.partition import Boxes, Partition, people_in
from sfumato.study.view import View


@dataclass(frozen=True, eq=False)
class Table:
    """The cells as far as cutting needs to tell them apart."""

    cells: Cells
    row: Integers  # which of these cells each of the view's cells is part of
    view: View  # with the sensitive attributes that the models look at
    models: tuple[GroupModel, ...]
    against: dict[str, ValueTotals]
    strict: bool
    ordered: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        view: View,
        cells: Cells,
        models: tuple[GroupModel, ...],
        *,
        classes: bool,
        strict: bool,
        ordered: tuple[str, ...] = (),
        against: dict[str, ValueTotals] | None = None,
    ) -> "Table":
        """Put cells together that only differ in what nobody looks at; they stand side by side.

        ``against`` has the totals of the whole table, where the cells are a part of it.
        """
        names = needed_attributes(view, models)
        wide = len(view.quasi) + (len(view.sensitive) if names else 0)
        wide = len(view.attributes) if classes or not strict else wide  # a relaxed cut may divide each cell
        new = np.concatenate([[True], (cells.codes[1:, :wide] != cells.codes[:-1, :wide]).any(axis=1)])
        first = np.flatnonzero(new)
        less = Cells(cells.attributes[:wide], cells.codes[first, :wide], np.add.reduceat(cells.counts, first))
        against = value_totals(view, cells, names) if against is None else against
        return cls(less, np.cumsum(new) - 1, _asked_view(view, names), models, against, strict, ordered)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.cells.counts.sum())

    def column(self, name: str) -> Integers:
        """The codes of one attribute."""
        return self.cells.codes[:, self.cells.attributes.index(name)]

    def columns(self, axes: Axes) -> Codes:
        """A row of codes an axis; in four bytes where they fit."""
        small = max(axes.sizes) < np.iinfo(np.int32).max
        return np.ascontiguousarray(self.cells.codes[:, : len(axes.sizes)].T, dtype=np.int32 if small else np.int64)

    def keeps(self, rows: Integers, tried: Attempt) -> Flags:
        """Whether each child satisfies the models."""
        if not self.against and self.view.people is None:
            return all_hold(self.models, Statistics(tried.sizes, {}, {}, {}))
        names = list(self.against)
        child = np.repeat(np.arange(len(tried.sizes)), np.diff(tried.first))
        people = None
        if self.view.people is not None:
            inside = Cells(self.cells.attributes, self.cells.codes[rows], tried.weights)
            boxes = tight_boxes(self.view, inside, child, len(tried.sizes), ordered=self.ordered)
            people = people_in(boxes, self.view.people)
        codes = {name: self.column(name)[rows] for name in names}
        domains = {name: self.view.domain(name) for name in names}
        return all_hold(
            self.models,
            Statistics.of(
                child,
                tried.weights,
                codes,
                domains,
                groups=len(tried.sizes),
                table=self.against,
                population=people,
            ),
        )

    def partition(self, view: View, cells: Cells, leaves: Leaves, *, tight: bool) -> Partition:
        """The groups of the view's cells."""
        groups = len(leaves.starts)
        if self.strict:
            label = np.empty(len(self.cells), np.int64)
            label[leaves.rows] = leaves.group
            group = label[self.row]
        else:
            keys, counts = _summed(leaves.rows * (groups + 1) + leaves.group + 1, leaves.weights)
            cells = Cells(cells.attributes, cells.codes[keys // (groups + 1)], counts)
            group = keys % (groups + 1) - 1
        names = tuple(a.name for a in view.quasi)
        if tight:
            boxes = tight_boxes(view, cells, group, groups, ordered=self.ordered)
        else:
            boxes = Boxes(names, leaves.starts, leaves.stops)
        found = Partition(cells, group, boxes)
        return found if self.strict else merge_equal_regions(found)


def _asked_view(view: View, names: Collection[str]) -> View:
    """The view with those of its sensitive attributes that models look at."""
    return replace(view, sensitive=tuple(a for a in view.sensitive if a.name in names))


def _summed(keys: Integers, weights: Integers) -> tuple[Integers, Integers]:
    """Distinct keys in order, and the sum of the weights of each."""
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return keys[order][first], np.add.reduceat(weights[order], first)
