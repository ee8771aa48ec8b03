"""What privacy models see of groups: sizes, and how often each sensitive value occurs in each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.domain import Domain
from sfumato.privacy.groups.shares import Distribution

Truths = NDArray[np.bool_]  # (groups,): which of them keep a model

Integers = NDArray[np.int64]

_KEYS = 1 << 62  # keys below it fit into a word


@dataclass(frozen=True, slots=True, eq=False)
class ValueTotals:
    """One attribute in a whole table: the values that occur, in order, with how often.

    Memory is that of the values that occur, never that of the domain: a grid may have billions of points.
    """

    values: Integers  # increasing
    counts: Integers  # none of them 0
    size: int  # how many values the domain has

    @classmethod
    def of(cls, values: Integers, weights: Integers, size: int) -> "ValueTotals":
        """Count rows of (value, weight); a value may stand several times.

        >>> found = ValueTotals.of(np.array([7, 10**9, 7]), np.array([1, 4, 2]), 10**9 + 1)
        >>> found.values.tolist(), found.counts.tolist(), found.at(np.array([7, 8])).tolist()
        ([7, 1000000000], [3, 4], [3, 0])
        """
        if size <= len(values):
            sums = np.bincount(values, weights=weights, minlength=size)
            occurring = np.flatnonzero(sums)
            return cls(occurring.astype(np.int64), sums[occurring].astype(np.int64), size)
        distinct, place = np.unique(values, return_inverse=True)
        sums = np.bincount(place.ravel(), weights=weights, minlength=len(distinct))
        kept = sums > 0
        return cls(distinct[kept].astype(np.int64), sums[kept].astype(np.int64), size)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def records(self) -> int:
        """The number of records of the table."""
        return int(self.counts.sum())

    def at(self, codes: Integers) -> Integers:
        """How often each of some values occurs; 0 where the table does not have it."""
        if self.size <= len(codes):  # so many are asked for that a look-up table costs less than bisection
            every = np.zeros(self.size, dtype=np.int64)
            every[self.values] = self.counts
            return every[codes]
        if not len(self):
            return np.zeros(len(codes), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.values, codes), len(self) - 1)
        return np.where(self.values[place] == codes, self.counts[place], 0)


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
        >>> found.first.tolist(), found.values.tolist(), found.counts.tolist()
        ([0, 1, 2], [0, 2], [4, 3])
        """
        if groups * size >= _KEYS:  # a key of group and value would overflow: ranks take the place of the values
            occurring, ranks = np.unique(values, return_inverse=True)
            found = cls.of(group, ranks.ravel(), weights, groups=groups, size=len(occurring))
            return cls(found.first, occurring[found.values].astype(np.int64), found.counts, size)
        keys = group * size + values
        order = np.argsort(keys, kind="stable")
        sorted_keys = keys[order]
        begins = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
        sums = np.add.reduceat(weights[order], begins) if len(begins) else np.empty(0, np.int64)
        kept = sums > 0
        distinct, counts = sorted_keys[begins][kept], sums[kept]
        first = np.searchsorted(distinct, np.arange(groups + 1) * size)
        return cls(first.astype(np.int64), distinct % max(size, 1), counts.astype(np.int64), size)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.first) - 1

    @property
    def group(self) -> Integers:
        """The group of each pair."""
        return np.repeat(np.arange(self.groups), np.diff(self.first))

    def total(self) -> ValueTotals:
        """The counts over all groups together."""
        return ValueTotals.of(self.values, self.counts, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Groups of records as a model sees them.

    ``table`` holds how often the values of each sensitive attribute occur in the table that the groups are compared
    with; of a published table those are its own. ``population`` has, for δ-presence, how many people of the population
    fall into each group's region. ``boxes`` has the regions themselves, where groups have any; ``domains`` then has
    those of the quasi-identifiers, too. Groups may be a part of a table: then ``shown`` finds what the regions of all
    its groups show of each attribute.
    """

    sizes: Integers
    sensitive: Mapping[str, ValueCounts]
    domains: Mapping[str, Domain]
    table: Mapping[str, ValueTotals]
    population: NDArray[np.int64] | None = field(default=None)
    boxes: Boxes | None = field(default=None)
    shown: Callable[[], Mapping[str, Distribution]] | None = field(default=None)

    @classmethod
    def of(  # noqa: PLR0913 - all but three come by keyword
        cls,
        group: Integers,
        weights: Integers,
        sensitive: Mapping[str, Integers],
        domains: Mapping[str, Domain],
        *,
        groups: int,
        table: Mapping[str, ValueTotals] | None = None,
        population: Integers | None = None,
        boxes: Boxes | None = None,
        shown: Callable[[], Mapping[str, Distribution]] | None = None,
    ) -> "Statistics":
        """Count rows that have a group, a weight and a code for each sensitive attribute."""
        counted = {
            name: ValueCounts.of(group, codes, weights, groups=groups, size=domains[name].size)
            for name, codes in sensitive.items()
        }
        sizes = np.bincount(group, weights=weights, minlength=groups).astype(np.int64)
        against = {name: found.total() for name, found in counted.items()} if table is None else table
        return cls(sizes, counted, domains, against, population, boxes, shown)

    def __len__(self) -> int:
        return len(self.sizes)
