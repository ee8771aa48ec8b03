"""Groups of rows under cuts that become finer: what a specialization would do to group sizes, and doing it.

Everything is kept for rows (distinct combinations of codes), and each attribute has its rows in the order of its codes:
the rows of a region are then neighbours, and a specialization costs what the rows of its region cost, however many
others there are.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.methods.full_domain.rollup import sort_keys

Integers = NDArray[np.int64]

_RADIX = 1 << 16  # codes below it are sorted by digits, in time linear in the rows


class Regrouping:
    """Rows in groups; one group at first, more with every specialization.

    >>> rows = Regrouping({"age": np.array([3, 1, 2])}, np.array([5, 1, 1]))
    >>> rows.smallest_after("age", [(0, 2), (2, 9)])
    1
    >>> rows.specialize("age", [(0, 3), (3, 9)])
    >>> rows.group.tolist(), rows.sizes.tolist()
    ([1, 0, 0], [2, 5])
    """

    def __init__(self, codes: Mapping[str, Integers], counts: Integers) -> None:
        self.group = np.zeros(len(counts), dtype=np.int64)
        self.sizes = np.array([counts.sum()], dtype=np.int64)
        self._weights = counts.astype(np.float64)  # whole numbers: exact below 2⁵³
        self._order: dict[str, Integers] = {}
        self._sorted: dict[str, Integers] = {}
        for name, column in codes.items():
            small = column.max(initial=0) < _RADIX
            self._order[name] = np.argsort(column.astype(np.uint16) if small else column, kind="stable")
            self._sorted[name] = column[self._order[name]]

    @property
    def smallest(self) -> int:
        """The size of the smallest group."""
        return int(self.sizes.min())

    def rows(self, attribute: str, parts: Sequence[Range]) -> tuple[Integers, Integers]:
        """The rows of some neighbouring parts of an attribute, and the part of each."""
        edges = np.searchsorted(self._sorted[attribute], [start for start, _ in parts] + [parts[-1][1]])
        rows = self._order[attribute][edges[0] : edges[-1]]
        return rows, np.repeat(np.arange(len(parts)), np.diff(edges))

    def smallest_after(self, attribute: str, parts: Sequence[Range]) -> int:
        """The size of the smallest of the groups that a specialization would make out of others."""
        rows, part = self.rows(attribute, parts)
        _, sizes, _ = self._split(rows, part, len(parts))
        return int(sizes.min())

    def after(self, attribute: str, parts: Sequence[Range]) -> tuple[Integers, Integers, int]:
        """The rows that a specialization touches, the new group of each, numbered through, and how many there are."""
        rows, part = self.rows(attribute, parts)
        keys, _, place = self._split(rows, part, len(parts), numbered=True)
        return rows, place, len(keys)

    def specialize(self, attribute: str, parts: Sequence[Range]) -> None:
        """Split the groups of a region by its parts; the first part of a group keeps its number."""
        rows, part = self.rows(attribute, parts)
        keys, sizes, place = self._split(rows, part, len(parts), numbered=True)
        old = keys // len(parts)
        first = np.diff(old, prepend=-1) > 0
        number = np.where(first, old, len(self.sizes) - 1 + np.cumsum(~first))
        self.group[rows] = number[place]
        self.sizes = np.concatenate([self.sizes, np.empty(int((~first).sum()), dtype=np.int64)])
        self.sizes[number] = sizes

    def _split(
        self, rows: Integers, part: Integers, parts: int, *, numbered: bool = False
    ) -> tuple[Integers, Integers, Integers]:
        """Keys (group · parts + part) that occur, in order, with their sizes and, if asked for, each row's place."""
        key = self.group[rows] * parts + part
        weights = self._weights[rows]
        size = len(self.sizes) * parts
        if size <= max(1 << 12, 4 * len(rows)):
            dense = np.bincount(key, weights=weights, minlength=size)
            occurs = dense > 0
            keys = np.flatnonzero(occurs)
            place = (np.cumsum(occurs) - 1)[key] if numbered else key
            return keys, dense[keys].astype(np.int64), place
        ordered, order = sort_keys(key, size)
        new = np.diff(ordered, prepend=-1) > 0
        begins = np.flatnonzero(new)
        sizes = np.add.reduceat(weights[order], begins).astype(np.int64)
        place = key
        if numbered:
            place = np.empty_like(order)
            place[order] = np.cumsum(new) - 1
        return ordered[begins], sizes, place
