"""Cutting many groups at once, each along its own axis: at the median, at a given code, or as a taxonomy says."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.mondrian.axes import Axes, Spans

Integers = NDArray[np.int64]
Codes = NDArray[np.signedinteger]

_WORD = 63  # bits of a key that stays above 0


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The groups of one depth, their rows one group behind the other."""

    columns: Codes  # (axes, rows)
    weights: Integers  # (rows,): how many records a row stands for
    rows: Integers  # (rows,): which row of the table each is
    first: Integers  # (groups + 1,): where each group's rows begin
    sizes: Integers  # (groups,): records
    starts: Integers  # (groups, axes): the groups' parts of the space
    stops: Integers
    allowance: Integers  # (groups,): how many records of each may still be suppressed

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """The rows of some groups of a level, each group's in the order of its codes on one axis."""

    places: Integers  # (rows,): where in the level each row stands
    weights: Integers  # (rows,)
    codes: Integers  # (rows,)
    runs: Integers  # (rows,): increasing keys, equal for rows of one group with one code
    first: Integers  # (groups + 1,)

    @property
    def before(self) -> Integers:
        """The records that stand before each row, and behind the last one, over all groups."""
        return np.concatenate([[0], np.cumsum(self.weights)])


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One cut of each of some groups, not yet judged: their rows in the order of the children."""

    places: Integers  # (rows,): where in the level each row stands; twice where a row was divided
    weights: Integers  # (rows,)
    first: Integers  # (children + 1,)
    parent: Integers  # (children,): which of the tried groups
    sizes: Integers  # (children,): records
    starts: Integers  # (children,): the children's ranges on the axis that was cut
    stops: Integers


def ranges(starts: Integers, stops: Integers) -> Integers:
    """All numbers of some half-open ranges, one range behind the other.

    >>> ranges(np.array([5, 0]), np.array([7, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    lengths = stops - starts
    found: Integers = np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return found


def sort(level: Level, spans: Spans, groups: Integers, axis: Integers) -> Sorted:
    """Sort the rows of some groups by each group's axis; of equal codes the row that stood first stays first.

    Group, code and place go into one word where they fit: sorting words is several times faster than an indirect sort.
    """
    lengths = level.first[groups + 1] - level.first[groups]
    places = ranges(level.first[groups], level.first[groups + 1])
    codes = level.columns.ravel()[np.repeat(axis * level.columns.shape[1], lengths) + places].astype(np.int64)
    low, high = spans.low[axis, groups], spans.high[axis, groups]
    bits = len(places).bit_length()
    wide = int((high - low).max()).bit_length()
    if len(groups).bit_length() + wide + bits <= _WORD:
        heads = (np.arange(len(groups)) << (wide + bits)) - (low << bits)
        keys = np.repeat(heads, lengths) + (codes << bits) + np.arange(len(places))
        keys.sort()
        order, runs = keys & ((1 << bits) - 1), keys >> bits
        codes = codes[order]
    else:
        group = np.repeat(np.arange(len(groups)), lengths)
        order = np.lexsort((codes, group))  # the groups stay where they are
        codes = codes[order]
        runs = np.cumsum(np.concatenate([[False], (codes[1:] != codes[:-1]) | (group[1:] != group[:-1])]))
    places = places[order]
    return Sorted(places, level.weights[places], codes, runs, np.concatenate([[0], np.cumsum(lengths)]))


def attempt(
    level: Level, spans: Spans, axes: Axes, groups: Integers, axis: Integers, *, at: Integers | None, strict: bool
) -> Attempt:
    """Cut each group on its axis: below a node of a taxonomy into its children, elsewhere in two.

    In two means behind the code ``at``, and without one at the median. A strict cut goes beside the median's code, on
    the side that leaves the smaller part larger: if any cut on this axis leaves k records on both sides, so does this
    one. A relaxed cut goes through the records with the median's code: the halves differ by one record at most.
    """
    rows = sort(level, spans, groups, axis)
    free = axes.free[axis]
    halved = np.flatnonzero(free)
    if at is not None:
        cuts = _behind(rows, at)[halved]
    elif strict:
        cuts = _beside_median(rows, level.sizes[groups], halved)
    else:
        rows, cuts = _through_median(rows, level.sizes[groups], halved)
    begins = np.zeros(len(rows.places) + 1, dtype=bool)
    begins[rows.first] = True
    begins[cuts] = True
    if len(halved) < len(groups):
        grown = np.flatnonzero(~free)
        begins[ranges(rows.first[grown], rows.first[grown + 1])] |= _new_child(
            rows, axes, axis, spans.below[axis, groups], grown
        )
    first = np.flatnonzero(begins)
    heads = first[:-1]
    parent = np.searchsorted(rows.first, heads, side="right") - 1
    starts, stops = level.starts[groups, axis][parent], level.stops[groups, axis][parent]
    lower = np.searchsorted(first, cuts) - 1  # the lower halves; the upper ones come next
    stops[lower] = rows.codes[cuts - 1] + 1
    starts[lower + 1] = stops[lower] if strict or at is not None else rows.codes[cuts]
    below = np.flatnonzero(~free[parent])
    home = parent[below]
    node = axes.child(axis[home], spans.below[axis, groups][home], rows.codes[heads[below]])
    starts[below], stops[below] = axes.starts[node], axes.stops[node]
    return Attempt(rows.places, rows.weights, first, parent, np.diff(rows.before[first]), starts, stops)


def children_of(rows: Sorted, axes: Axes, axis: Integers, below: Integers) -> tuple[Integers, Integers]:
    """Where the children of the nodes of all groups begin, and whose they are; every group is below a taxonomy."""
    groups = np.arange(len(rows.first) - 1)
    first = np.flatnonzero(_new_child(rows, axes, axis, below, groups))
    return first, np.searchsorted(rows.first, first, side="right") - 1


def _behind(rows: Sorted, at: Integers) -> Integers:
    """The first row of each group with a greater code than ``at``."""
    lower = rows.codes <= np.repeat(at, np.diff(rows.first))
    return rows.first[:-1] + np.add.reduceat(lower, rows.first[:-1], dtype=np.int64)


def _beside_median(rows: Sorted, sizes: Integers, halved: Integers) -> Integers:
    """The first row behind the balanced cut of each group that is to be halved."""
    before = rows.before
    base, size = before[rows.first[halved]], sizes[halved]
    median = rows.runs[np.searchsorted(before, base + (size + 1) // 2, side="left") - 1]
    lower = np.searchsorted(rows.runs, median, side="left")  # the first row with the median's code,
    upper = np.searchsorted(rows.runs, median, side="right")  # and the one behind the last
    return np.where(before[lower] - base > base + size - before[upper], lower, upper)


def _through_median(rows: Sorted, sizes: Integers, halved: Integers) -> tuple[Sorted, Integers]:
    """Divide the row at the middle of each group that is to be halved; the first row of the second half."""
    before = rows.before
    middle = before[rows.first[halved]] + (sizes[halved] + 1) // 2
    row = np.searchsorted(before, middle, side="left") - 1  # the middle lies in this row, or right behind it
    lower = middle - before[row]
    divided = lower < rows.weights[row]
    at = row[divided] + 1
    weights = np.insert(rows.weights, at, (rows.weights[row] - lower)[divided])
    shift = np.searchsorted(at, row, side="right")  # rows put in before each
    weights[row + shift] = lower
    first = rows.first + np.searchsorted(at, rows.first, side="right")
    return Sorted(
        np.insert(rows.places, at, rows.places[at - 1]),
        weights,
        np.insert(rows.codes, at, rows.codes[at - 1]),
        np.insert(rows.runs, at, rows.runs[at - 1]),
        first,
    ), row + shift + 1


def _new_child(rows: Sorted, axes: Axes, axis: Integers, below: Integers, groups: Integers) -> NDArray[np.bool_]:
    """Whether another child of a node begins, for each row of these groups; all are below a taxonomy."""
    here = ranges(rows.first[groups], rows.first[groups + 1])
    lengths = np.diff(rows.first)[groups]
    node = axes.child(np.repeat(axis[groups], lengths), np.repeat(below[groups], lengths), rows.codes[here])
    new = np.concatenate([[True], node[1:] != node[:-1]])
    new[np.cumsum(lengths) - lengths] = True
    return new
