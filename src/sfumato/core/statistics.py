"""What privacy models see of groups: sizes, and how often each sensitive value occurs in each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.core.boxes import Boxes
from sfumato.core.domain import Domain

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """One attribute in many groups: the values that occur in each, in order, with how often.

    Compressed by rows: group g has ``values[first[g]:first[g + 1]]`` and the counts beside them, none of them 0.
    """

    first: Integers  # (groups + 1,)
    values: Integers  # (pairs,), increasing within a group
    counts: Integers  # (pairs,)
    size: int  # how many values the domain has

    @classmethod
    def of(cls, group: Integers, values: Integers, weights: Integers, *, groups: int, size: int) -> "ValueCounts":
        """Count rows of (group, value, weight).

        >>> found = ValueCounts.of(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([1, 4, 2]), groups=2, size=3)
        >>> found.dense(0, 2).tolist()
        [[4, 0, 0], [0, 0, 3]]
        """
        keys = group * size + values
        order = np.argsort(keys, kind="stable")
        sorted_keys = keys[order]
        begins = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
        sums = np.add.reduceat(weights[order], begins) if len(begins) else np.empty(0, np.int64)
        kept = sums > 0
        distinct, counts = sorted_keys[begins][kept], sums[kept]
        first = np.searchsorted(distinct, np.arange(groups + 1) * size)
        return cls(first.astype(np.int64), distinct % size, counts.astype(np.int64), size)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.first) - 1

    @property
    def group(self) -> Integers:
        """The group of each pair."""
        return np.repeat(np.arange(self.groups), np.diff(self.first))

    def total(self) -> Integers:
        """The counts over all groups together, one a value of the domain."""
        return np.bincount(self.values, weights=self.counts, minlength=self.size).astype(np.int64)

    def dense(self, start: int, stop: int) -> Integers:
        """The full table of some groups: a row a group, a column a value."""
        table = np.zeros((stop - start, self.size), dtype=np.int64)
        pairs = slice(int(self.first[start]), int(self.first[stop]))
        rows = np.repeat(np.arange(stop - start), np.diff(self.first[start : stop + 1]))
        table[rows, self.values[pairs]] = self.counts[pairs]
        return table


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Groups of records as a model sees them.

    ``table`` holds the counts of each sensitive attribute over the table that the groups are compared with; of a
    published table those are its own. ``population`` has, for δ-presence, how many people of the population fall into
    each group's region. ``boxes`` has the regions themselves, where groups have any; ``domains`` then has those of the
    quasi-identifiers, too.
    """

    sizes: Integers
    sensitive: Mapping[str, ValueCounts]
    domains: Mapping[str, Domain]
    table: Mapping[str, Integers]
    population: NDArray[np.int64] | None = field(default=None)
    boxes: Boxes | None = field(default=None)

    @classmethod
    def of(
        cls,
        group: Integers,
        weights: Integers,
        sensitive: Mapping[str, Integers],
        domains: Mapping[str, Domain],
        *,
        groups: int,
        table: Mapping[str, Integers] | None = None,
        population: Integers | None = None,
        boxes: Boxes | None = None,
    ) -> "Statistics":
        """Count rows that have a group, a weight and a code for each sensitive attribute."""
        counted = {
            name: ValueCounts.of(group, codes, weights, groups=groups, size=domains[name].size)
            for name, codes in sensitive.items()
        }
        sizes = np.bincount(group, weights=weights, minlength=groups).astype(np.int64)
        against = {name: found.total() for name, found in counted.items()} if table is None else table
        return cls(sizes, counted, domains, against, population, boxes)

    def __len__(self) -> int:
        return len(self.sizes)
