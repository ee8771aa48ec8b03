"""Columns as numbers: the distinct ranges of codes that occur, and which of them each row has; and rows in order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Places = NDArray[np.int32]

_COUNTED = 1 << 22  # codes that are found by counting; above it, by sorting
_ROOM = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """One column: its distinct ranges in order of start and stop, and the place of each row's range among them.

    >>> column = Spans.of_ranges(np.array([0, 5, 0]), np.array([5, 9, 5]))
    >>> column.starts.tolist(), column.places.tolist()
    ([0, 5], [0, 1, 0])
    """

    starts: Integers
    stops: Integers
    places: Places

    @classmethod
    def of_codes(cls, codes: NDArray[np.int64], size: int) -> "Spans":
        """A column of single codes of a domain with ``size`` of them."""
        if size <= _COUNTED:
            present = np.flatnonzero(np.bincount(codes, minlength=size))
            where = np.zeros(size, dtype=np.int32)
            where[present] = np.arange(len(present), dtype=np.int32)
            places = where[codes]
        else:
            present, found = np.unique(codes, return_inverse=True)
            places = found.astype(np.int32)
        starts = present.astype(np.int64)
        return cls(starts, starts + 1, places)

    @classmethod
    def of_ranges(cls, starts: Integers, stops: Integers) -> "Spans":
        """A column of ranges."""
        most = int(stops.max(initial=0)) + 1
        if most < 1 << 31:
            keys, found = np.unique(starts * most + stops, return_inverse=True)
            return cls(keys // most, keys % most, found.astype(np.int32))
        pairs, found = np.unique(np.stack([starts, stops], axis=1), axis=0, return_inverse=True)
        return cls(pairs[:, 0], pairs[:, 1], found.ravel().astype(np.int32))

    def take(self, rows: NDArray[np.int64]) -> "Spans":
        """The same column with other rows; a range may then be left that no row has."""
        return Spans(self.starts, self.stops, self.places[rows])

    def compact(self) -> "Spans":
        """Without the ranges that no row has."""
        used = Spans.of_codes(self.places.astype(np.int64), len(self.starts))
        return Spans(self.starts[used.starts], self.stops[used.starts], used.places)

    def same(self, other: "Spans") -> bool:
        """Whether two columns hold the same ranges in the same rows."""
        pairs = ((self.starts, other.starts), (self.stops, other.stops), (self.places, other.places))
        return all(np.array_equal(one, two) for one, two in pairs)

    @property
    def exact(self) -> bool:
        """Whether every range is a single code."""
        return bool(np.all(self.stops - self.starts == 1))

    def __len__(self) -> int:
        return len(self.places)


def pack_columns(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> list[Integers]:
    """Columns put together, as many as fit into one whole number, the first one weightiest: fewer keys sort faster."""
    keys: list[Integers] = []
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        if keys and room * size < _ROOM:
            keys[-1] = keys[-1] * size + column
            room *= size
        else:
            keys.append(column.astype(np.int64))
            room = size
    return keys


def order_of(keys: Sequence[Integers]) -> Integers:
    """The rows in the order of their keys."""
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    found: Integers = np.lexsort(tuple(keys)[::-1])
    return found


def is_sorted(keys: Sequence[Integers]) -> bool:
    """Whether the rows stand in the order of their keys; equal ones may follow each other."""
    rows = len(keys[0]) if keys else 0
    before = np.ones(max(rows - 1, 0), dtype=bool)  # still equal to the row before
    falling = np.zeros_like(before)
    for key in keys:
        falling |= before & (key[:-1] > key[1:])
        before &= key[:-1] == key[1:]
    return not bool(falling.any())


def run_starts(keys: Sequence[NDArray[np.generic]]) -> Integers:
    """The first row of each run: rows that follow each other and are equal in all keys.

    >>> run_starts([np.array([4, 4, 7, 7]), np.array([0, 0, 0, 1])]).tolist()
    [0, 2, 3]
    """
    rows = len(keys[0])
    new = np.zeros(rows, dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)


def run_sums(values: Integers, first: Integers) -> Integers:
    """The sums over runs that begin at the given rows."""
    if not len(first):
        return np.empty(0, np.int64)
    sums: Integers = np.add.reduceat(values, first)
    return sums


def number_rows(keys: Sequence[Integers]) -> tuple[Integers, int]:
    """A number from 0 on for each row, the same for rows with equal keys, and how many numbers there are."""
    rows = len(keys[0])
    if not rows:
        return np.empty(0, np.int64), 0
    order = None if is_sorted(keys) else order_of(keys)
    new = np.zeros(rows, dtype=bool)
    for key in keys:
        there = key if order is None else key[order]
        new[1:] |= there[1:] != there[:-1]
    numbers = np.cumsum(new)
    if order is None:
        return numbers, int(numbers[-1]) + 1
    found = np.empty(rows, np.int64)
    found[order] = numbers
    return found, int(numbers[-1]) + 1
