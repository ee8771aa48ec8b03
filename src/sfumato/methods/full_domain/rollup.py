"""Counting the groups of lattice nodes: each from the smallest counted table that is at least as specific.

A table holds one row for each group of a node: any row of the base that lies in it, and the group's size. Which row
stands for a group does not matter, since all rows of a group share their group at every more general node too. So all
tables speak the base's codes, and one set of look-ups serves every step from any table to any other.

Several attributes share one column of codes as long as their combinations stay few: a row then costs one look-up for
all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.full_domain.lattice import Lattice, Levels

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW = 1 << 13  # combinations of codes in one column: its look-up stays in the fastest cache
_MANY = 1 << 62  # keys stay below it
_SHRUNK = 0.75  # a table is kept when it has so much fewer rows than the one it was counted from
_KEPT = 4  # tables kept have no more rows together than so many times the base, or `_KEPT_AT_LEAST`
_KEPT_AT_LEAST = 4_000_000
_DENSE = 1 << 14  # counts that are kept for every possible key, occupied or not, rather than sort the keys
_SPARSE = 6  # the same, for each row


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The groups of a node, in the order of their keys: a row of codes and a size each.

    With ``kind`` (what else rows are told apart by) a group has one row for each kind of record in it, and ``first``
    says where each group begins.
    """

    columns: tuple[Integers, ...]
    kind: Integers | None
    sizes: Floats  # whole numbers: exact below 2⁵³, and ready for `bincount`
    first: Integers | None  # None without kinds: every row is a group

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes) if self.first is None else len(self.first)

    @property
    def totals(self) -> Floats:
        """The size of each group."""
        return self.sizes if self.first is None else np.add.reduceat(self.sizes, self.first)

    def heads(self) -> tuple[Integers, ...]:
        """The codes of one row of each group."""
        return self.columns if self.first is None else tuple(column[self.first] for column in self.columns)

    def owner(self) -> Integers:
        """The group of each row."""
        if self.first is None:
            return np.arange(len(self), dtype=np.int64)
        return np.repeat(np.arange(self.groups), np.diff(self.first, append=len(self)))


class _Column:
    """Some attributes in one column of codes: the part of each code at each combination of steps."""

    def __init__(self, parts: Sequence[Sequence[Integers]], losses: Sequence[Sequence[Floats]]) -> None:
        """``parts[a][step]`` and ``losses[a][step]`` have an entry for each code of attribute a that occurs."""
        shape = tuple(len(of[0]) for of in parts)
        digits = np.unravel_index(np.arange(prod(shape)), shape)
        self._parts = [[of[digit] for of in steps] for steps, digit in zip(parts, digits, strict=True)]
        self._losses = [[of[digit] for of in steps] for steps, digit in zip(losses, digits, strict=True)]
        self._sizes = [[int(of.max(initial=0)) + 1 for of in steps] for steps in parts]
        self._joint: dict[Levels, tuple[Integers, int]] = {}

    def joint(self, steps: Levels) -> tuple[Integers, int]:
        """The part of each code, and how many parts there may be."""
        if steps not in self._joint:
            key, size = self._parts[0][steps[0]], self._sizes[0][steps[0]]
            for place, step in enumerate(steps[1:], 1):
                more = self._sizes[place][step]
                key, size = key * more + self._parts[place][step], size * more
            self._joint[steps] = key, size
        return self._joint[steps]

    def losses(self, steps: Levels) -> Floats:
        """The sum of the attributes' losses, for each code."""
        return np.asarray(np.sum([self._losses[place][step] for place, step in enumerate(steps)], axis=0))


class Tables:
    """Rows of codes with counts, the base, and the tables that were counted from it so far."""

    def __init__(
        self, lattice: Lattice, codes: Sequence[Integers], counts: Integers, kind: Integers | None = None
    ) -> None:
        """``codes`` has the domain's codes of each quasi-identifier; rows need not be distinct."""
        self.records = int(counts.sum())
        self.generalised: list[Floats] = []  # the loss of each attribute at each step, over all records
        self._kinds = 1 if kind is None else int(kind.max(initial=0)) + 1
        self._columns: list[_Column] = []
        self._slices: list[slice] = []
        packed: list[Integers] = []
        weights = counts.astype(np.float64)
        self._values: list[Integers] = []  # the codes of each attribute that occur
        waiting: list[tuple[Integers, list[Integers], list[Floats]]] = []
        width = len(lattice.ladders)
        for place, (ladder, column) in enumerate(zip(lattice.ladders, codes, strict=True)):
            ranks, values = _rank_codes(column, ladder.cuts[0].size)
            self._values.append(values)
            regions = [cut.regions(values) for cut in ladder.cuts]
            losses = [ladder.losses(step)[region] / width for step, region in enumerate(regions)]
            parts = [_rank_codes(region, len(cut))[0] for cut, region in zip(ladder.cuts, regions, strict=True)]
            often = np.bincount(ranks, weights=weights, minlength=len(values))
            self.generalised.append(np.array([np.sum(often * loss) for loss in losses]) / max(1, self.records))
            if waiting and prod(len(of[1][0]) for of in waiting) * len(values) > _FEW:
                packed.append(self._pack(waiting, place))
                waiting = []
            waiting.append((ranks, parts, losses))
        packed.append(self._pack(waiting, width))
        base = Table(tuple(packed), kind, weights, None)
        self._tables = [base]
        self._levels = np.zeros((1, width), dtype=np.int64)
        self._lengths = np.array([len(base)])
        self._room = max(_KEPT_AT_LEAST, _KEPT * len(base))

    def rows_for(self, node: Levels) -> int:
        """How many rows counting a node would go through."""
        return len(self._source(node))

    def table(self, node: Levels) -> Table:
        """The groups of a node."""
        source = self._source(node)
        found = self._counted(source, node)
        if len(found) <= _SHRUNK * len(source) and len(found) <= self._room:
            self._tables.append(found)
            self._levels = np.vstack([self._levels, node])
            self._lengths = np.append(self._lengths, len(found))
            self._room -= len(found)
        return found

    def losses(self, node: Levels, columns: Sequence[Integers]) -> Floats:
        """The mean loss over the attributes of rows of codes."""
        found = [
            column.losses(node[part])[codes]
            for column, part, codes in zip(self._columns, self._slices, columns, strict=True)
        ]
        return np.asarray(np.sum(found, axis=0))

    def codes(self, columns: Sequence[Integers]) -> list[Integers]:
        """The domain's codes of each attribute, from rows of packed ones."""
        found: list[Integers] = []
        for packed, part in zip(columns, self._slices, strict=True):
            values = self._values[part]
            ranks = np.unravel_index(packed, tuple(len(of) for of in values))
            found += [of[rank] for of, rank in zip(values, ranks, strict=True)]
        return found

    def _pack(self, attributes: Sequence[tuple[Integers, list[Integers], list[Floats]]], stop: int) -> Integers:
        self._columns.append(_Column([of[1] for of in attributes], [of[2] for of in attributes]))
        self._slices.append(slice(stop - len(attributes), stop))
        packed = attributes[0][0]
        for ranks, parts, _ in attributes[1:]:
            packed = packed * len(parts[0]) + ranks
        return packed

    def _source(self, node: Levels) -> Table:
        """The smallest table that is at least as specific."""
        fits = (self._levels <= np.asarray(node)).all(axis=1)
        return self._tables[int(np.where(fits, self._lengths, np.iinfo(np.int64).max).argmin())]

    def _counted(self, source: Table, node: Levels) -> Table:
        key, size = self._keys(source, node)
        kinds = self._kinds
        if source.kind is not None:
            key, size = join_keys(key, size, source.kind, kinds)
        if size <= max(_DENSE, _SPARSE * len(source)):
            sizes = np.asarray(np.bincount(key, weights=source.sizes, minlength=size), dtype=np.float64)
            some = np.empty(size, dtype=np.int64)
            some[key] = np.arange(len(key))  # whichever row comes last stands for its group
            keys = np.flatnonzero(sizes > 0)
            sizes, rows = sizes[keys], some[keys]
        else:
            ordered, order = sort_keys(key, size)
            begins = _begins(ordered)
            sizes = np.asarray(np.add.reduceat(source.sizes[order], begins), dtype=np.float64)
            rows, keys = order[begins], ordered[begins]
        columns = tuple(column[rows] for column in source.columns)
        if source.kind is None:
            return Table(columns, None, sizes, None)
        return Table(columns, source.kind[rows], sizes, _begins(keys // kinds))

    def _keys(self, source: Table, node: Levels) -> tuple[Integers, int]:
        """One number a row that is the same for rows of the same group, and what it stays below."""
        key: Integers | None = None
        size = 1
        for column, part, codes in zip(self._columns, self._slices, source.columns, strict=True):
            parts, many = column.joint(node[part])
            if many > 1:
                here = parts[codes]
                key, size = (here, many) if key is None else join_keys(key, size, here, many)
        return np.zeros(len(source), dtype=np.int64) if key is None else key, size


def join_keys(key: Integers, size: int, more: Integers, many: int) -> tuple[Integers, int]:
    """Two keys in one, in the order of the first; keys that would grow too large are numbered through before."""
    if size * many > _MANY:
        values, ranks = np.unique(key, return_inverse=True)
        key, size = ranks.ravel().astype(np.int64), len(values)
    if size * many > _MANY:  # a domain of so many values that even ranks times values do not fit
        values, ranks = np.unique(more, return_inverse=True)
        more, many = ranks.ravel().astype(np.int64), len(values)
        assert size * many <= _MANY, "rows times rows fit into a key"
    together = key * many
    together += more
    return together, size * many


def number_rows(key: Integers, size: int) -> tuple[Integers, Integers]:
    """The rank of each key among those that occur, and a row for each rank.

    >>> [found.tolist() for found in number_rows(np.array([7, 3, 7]), 9)]
    [[1, 0, 1], [1, 0]]
    """
    if size <= max(_DENSE, _SPARSE * len(key)):
        occurs = np.bincount(key, minlength=size) > 0
        some = np.empty(size, dtype=np.int64)
        some[key[::-1]] = np.arange(len(key))[::-1]
        return (np.cumsum(occurs) - 1)[key], some[occurs]
    ordered, order = sort_keys(key, size)
    begins = _begins(ordered)
    ranks = np.empty_like(order)
    ranks[order] = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(key)))
    return ranks, order[begins]


def sort_keys(key: Integers, size: int) -> tuple[Integers, Integers]:
    """Keys in increasing order, and the rows they stood in.

    Sorting numbers is several times faster than sorting positions by them, so the position rides in the low bits
    where there is room.
    """
    bits = len(key).bit_length()
    if size << bits < _MANY:
        ridden = np.sort((key << bits) | np.arange(len(key)))
        return ridden >> bits, ridden & ((1 << bits) - 1)
    order = np.argsort(key, kind="stable")
    return key[order], order


def _begins(ordered: Integers) -> Integers:
    """Where each run of equal keys begins."""
    new = np.empty(len(ordered), dtype=np.bool_)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def _rank_codes(codes: Integers, size: int) -> tuple[Integers, Integers]:
    """The rank of each code among those that occur, and those."""
    if size > max(1 << 16, 4 * len(codes)):
        values, ranks = np.unique(codes, return_inverse=True)
        return ranks.astype(np.int64), values
    occurs = np.bincount(codes, minlength=size) > 0
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)
