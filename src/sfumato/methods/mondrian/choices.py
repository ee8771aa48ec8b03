"""Choosing cuts by what they leave behind: the impurity of the class, or the loss of the regions.

Both look at every cut of every axis of a group and take the one with the least cost; a median is not asked for. On an
axis without a taxonomy all places between two codes are tried, with one sort and running totals; a node of a taxonomy
has only one cut, into its children.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.mondrian.axes import Axes, Spans
from sfumato.methods.mondrian.cuts import Codes, Integers, Level, Sorted, children_of, sort
from sfumato.methods.mondrian.depth_levels import Choice

Floats = NDArray[np.float64]

_SMALLEST = 64  # a part is no less than 1/64 of its group, so that a group is not peeled record by record
_STILL = 0.6  # how much a group that can still be cut is expected to lose; found on Adult, good from 0.3 to 0.8
NEAR = 2000  # in groups of so many times the least size cuts are chosen by loss; above it the choice hardly matters
_WORD = 2**62  # far enough from the end of a 64-bit word for one more group
_LESS = 1 - 1e-9  # a cut that lowers the cost by nothing but rounding gains nothing


class Cost(Protocol):
    """What a cut leaves behind; less is better."""

    def halves(self, level: Level, rows: Sorted) -> Floats:
        """The cost of cutting a group before each of its rows; at a group's first row it means nothing."""
        ...

    def parts(self, level: Level, rows: Sorted, first: Integers) -> Floats:
        """The cost of each part, where parts begin at the ``first`` rows."""
        ...


def best_cuts(
    level: Level, spans: Spans, axes: Axes, groups: Integers, cost: Cost, smallest: Integers
) -> tuple[Floats, Integers]:
    """The cost of the cheapest cut of some groups on each axis, infinite where there is none, and where it goes.

    Both have a row an axis and a column a group of the level. ``smallest`` says how many records a
    part of each of the level's groups must have.
    """
    shape = spans.widths.shape
    costs, at = np.full(shape, np.inf), np.zeros(shape, np.int64)
    for axis, tree in enumerate(axes.trees):
        here = groups[spans.widths[axis, groups] >= 0]
        if not len(here):
            continue
        rows = sort(level, spans, here, np.full(len(here), axis))
        if tree is None:
            found, costs[axis, here] = _cheapest(level, rows, cost, here, smallest)
            at[axis, here] = rows.codes[found - 1]
        else:
            first, parent = children_of(rows, axes, np.full(len(here), axis), spans.below[axis, here])
            costs[axis, here] = np.bincount(parent, weights=cost.parts(level, rows, first), minlength=len(here))
    return costs, at


def _cheapest(level: Level, rows: Sorted, cost: Cost, groups: Integers, smallest: Integers) -> tuple[Integers, Floats]:
    """The row before which the cheapest cut of each group goes, and its cost; infinite where there is none."""
    lengths = np.diff(rows.first)
    lower, upper = _beside(rows)
    least = np.repeat(smallest[groups], lengths)
    between = np.concatenate([[False], rows.runs[1:] != rows.runs[:-1]])
    found = np.where(between & (lower >= least) & (upper >= least), cost.halves(level, rows), np.inf)
    best = np.minimum.reduceat(found, rows.first[:-1])
    hits = np.flatnonzero(found == np.repeat(best, lengths))  # the first of equals; at least one a group
    place = hits[np.searchsorted(hits, rows.first[:-1])]
    return np.maximum(place, 1), best


def _beside(rows: Sorted) -> tuple[Integers, Integers]:
    """How many records of its group stand before each row, and how many do not."""
    before, lengths = rows.before, np.diff(rows.first)
    lower = before[:-1] - np.repeat(before[rows.first[:-1]], lengths)
    return lower, np.repeat(before[rows.first[1:]], lengths) - before[:-1]


@dataclass(frozen=True, eq=False)
class Impurity:
    """The entropy of the class in each part, times its records: least for the largest information gain.

    With n records of which n_c have class c: n·log n − Σ n_c·log n_c.
    """

    classes: Integers  # the class of each row of the table
    count: int
    table: Floats  # x·log x for every number of records

    @classmethod
    def of(cls, classes: Integers, count: int, records: int) -> "Impurity":
        """Look-ups for a table of so many records."""
        numbers = np.arange(records + 1, dtype=np.float64)
        numbers[1:] *= np.log(numbers[1:])
        return cls(classes, count, numbers)

    def whole(self, level: Level) -> Floats:
        """The impurity of each group of a level as it is."""
        group = np.repeat(np.arange(len(level)), np.diff(level.first))
        return self._of(self._counted(level.rows, level.weights, group, len(level)))

    def halves(self, level: Level, rows: Sorted) -> Floats:
        """The impurity of both halves, from running counts of each class."""
        lengths = np.diff(rows.first)
        classes = self.classes[level.rows[rows.places]]
        lower, upper = np.zeros(len(classes)), np.zeros(len(classes))
        below, above = np.zeros(len(classes), np.int64), np.zeros(len(classes), np.int64)
        for label in range(self.count):
            running = np.concatenate([[0], np.cumsum(np.where(classes == label, rows.weights, 0))])
            before = running[:-1] - np.repeat(running[rows.first[:-1]], lengths)
            after = np.repeat(running[rows.first[1:]], lengths) - running[:-1]
            lower += self.table[before]
            upper += self.table[after]
            below += before
            above += after
        return self.table[below] - lower + self.table[above] - upper

    def parts(self, level: Level, rows: Sorted, first: Integers) -> Floats:
        """The impurity of each part."""
        part = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows.places))))
        return self._of(self._counted(level.rows[rows.places], rows.weights, part, len(first)))

    def _counted(self, rows: Integers, weights: Integers, part: Integers, parts: int) -> Integers:
        flat = np.bincount(part * self.count + self.classes[rows], weights=weights, minlength=parts * self.count)
        return flat.astype(np.int64).reshape(parts, self.count)

    def _of(self, counts: Integers) -> Floats:
        found: Floats = self.table[counts.sum(axis=1)] - self.table[counts].sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Breadth:
    """How wide the parts' tight regions are over all axes, times their records: the loss if nothing more is cut.

    A part that can still be cut will lose less than that, and the more parts it can become the less. A part of n
    records counts n·width / (1 + 0.6·ln⌊n/k⌋): one that is too small for another cut counts in full.
    """

    axes: Axes
    least: int

    def halves(self, level: Level, rows: Sorted) -> Floats:
        """The breadth of both halves, from running least and greatest codes."""
        groups = len(rows.first) - 1
        group = np.repeat(np.arange(groups), np.diff(rows.first))
        lower, upper = np.zeros(len(group)), np.zeros(len(group))
        for axis, size in enumerate(self.axes.sizes):
            codes, step, values = _narrow(level.columns[axis][rows.places], size, groups)
            shift = group * step  # moves each group's codes beyond those of the group before
            least = np.minimum.accumulate(codes - shift) + shift
            most = np.maximum.accumulate(codes + shift) - shift
            lower[1:] += self.axes.width(axis, values(least[:-1]), values(most[:-1]))
            least = (np.minimum.accumulate((codes + shift)[::-1]))[::-1] - shift
            most = (np.maximum.accumulate((codes - shift)[::-1]))[::-1] + shift
            upper += self.axes.width(axis, values(least), values(most))
        before, after = _beside(rows)
        return self._expected(before) * lower + self._expected(after) * upper

    def parts(self, level: Level, rows: Sorted, first: Integers) -> Floats:
        """The breadth of each part."""
        width = np.zeros(len(first))
        for axis in range(len(self.axes.sizes)):
            codes = level.columns[axis][rows.places]
            width += self.axes.width(axis, np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first))
        return self._expected(np.diff(rows.before[np.append(first, len(rows.places))])) * width

    def _expected(self, records: Integers) -> Floats:
        found: Floats = records / (1 + _STILL * np.log(np.maximum(records // self.least, 1)))
        return found


def _narrow(codes: Codes, size: int, groups: int) -> tuple[Integers, int, Callable[[Integers], Integers]]:
    """Codes below a size of which so many groups fit into one word, and the way back: ranks where codes do not fit."""
    if (groups + 1) * size <= _WORD:
        return codes.astype(np.int64), size, lambda found: found
    values, ranks = np.unique(codes, return_inverse=True)
    return ranks.astype(np.int64), len(values), lambda found: values[found]


@dataclass(frozen=True, eq=False)
class ByGain:
    """InfoGain Mondrian: the cut with the largest information gain on the class (LeFevre et al., KDD 2006)."""

    axes: Axes
    impurity: Impurity
    least: int

    def __call__(self, level: Level, spans: Spans, groups: Integers) -> Choice:
        """The cuts that gain something, best first."""
        smallest = np.maximum(self.least, level.sizes // _SMALLEST)
        costs, at = best_cuts(level, spans, self.axes, groups, self.impurity, smallest)
        return Choice(np.argsort(costs, axis=0, kind="stable"), costs < self.impurity.whole(level) * _LESS, at)


@dataclass(frozen=True, eq=False)
class ByLoss:
    """The cut that leaves the least loss; in the largest groups medians are as good and several times quicker."""

    axes: Axes
    least: int

    def __call__(self, level: Level, spans: Spans, groups: Integers) -> Choice:
        """The cuts of groups that are not too large, best first."""
        near = groups[level.sizes[groups] <= NEAR * self.least]
        smallest = np.full(len(level), self.least)
        costs, at = best_cuts(level, spans, self.axes, near, Breadth(self.axes, self.least), smallest)
        return Choice(np.argsort(costs, axis=0, kind="stable"), np.isfinite(costs), at)
