"""Regions of sets, whoever published them: the nodes that a record has codes under, and what can be said of its codes.

A region of sets is a list of nodes of the taxonomy: a record in it has at least one code under each and none elsewhere.
Groups with noisy counts and groups of records tell sets in the same way, so both are read here. What a region leaves
open is filled in by one rule, the one that queries and samples of a release use: a record is taken to have one code
under each of its nodes, any of them alike.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.sets.set_cut import Numbers, SetCut, Sets
from sfumato.domains.sets.set_domain import SetDomain

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_TOGETHER = 4_000_000  # numbers of a full table that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class SetRegions:
    """Regions one behind the other: region i has the nodes ``first[i]:first[i + 1]``, as ranges of codes.

    Every region has a node. That of records without codes has one behind the last code, which no code is under; one
    that tells nothing (``whole``) has the root.

    >>> from sfumato.domains.taxonomy.tree import Node, Taxonomy
    >>> regions = SetRegions.of_cut(SetCut("codes", (0, 2), 4), np.array([0, 1, 3]))
    >>> regions.starts.tolist(), regions.stops.tolist(), regions.lengths.tolist()
    ([4, 0, 0, 2], [5, 2, 2, 4], [1, 1, 2])
    >>> regions.chance(np.array([0, 1]), np.array([2, 3])).tolist()  # of 1*, and of 16 or 31
    [[0.0, 1.0, 1.0], [0.0, 0.5, 0.75]]
    """

    first: Integers
    starts: Integers
    stops: Integers
    whole: Booleans  # (regions,)
    size: int  # how many codes there are

    @classmethod
    def of_cut(cls, cut: SetCut, numbers: Numbers) -> "SetRegions":
        """Regions of a cut by their numbers."""
        edges = np.array([*cut.starts, cut.size], dtype=np.int64)
        rows, nodes = cut.members(numbers)
        return cls.of(rows, edges[nodes], edges[nodes + 1], np.full(len(numbers), cut.whole), cut.size)

    @classmethod
    def of_sets(cls, sets: Sets, domain: SetDomain) -> "SetRegions":
        """Each set by itself; they are sets of nodes at the domain's level, as `Sets.nodes` gives them."""
        edges = np.array([*domain.starts_at(domain.level), domain.size], dtype=np.int64)
        stops = edges[np.searchsorted(edges, sets.leaves, side="right")]
        return cls.of(sets.owner, sets.leaves, stops, np.zeros(len(sets), np.bool_), domain.size)

    @classmethod
    def of(cls, rows: Integers, starts: Integers, stops: Integers, whole: Booleans, size: int) -> "SetRegions":
        """From (row, node) in order; rows that have none get the one of records without codes, or the root."""
        many = len(whole)
        bare = np.flatnonzero(np.bincount(rows, minlength=many) == 0)
        order = np.argsort(np.concatenate([rows, bare]), kind="stable")
        begin = np.where(whole[bare], 0, size)
        end = np.where(whole[bare], size, size + 1)
        lengths = np.maximum(np.bincount(rows, minlength=many), 1)
        first = np.concatenate([[0], np.cumsum(lengths)])
        return cls(first, np.concatenate([starts, begin])[order], np.concatenate([stops, end])[order], whole, size)

    @property
    def lengths(self) -> Integers:
        """How many nodes each region has."""
        return np.diff(self.first)

    @property
    def owner(self) -> Integers:
        """Which region each node is of."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def none(self) -> Booleans:
        """Which regions are those of records without codes."""
        return np.asarray(self.starts[self.first[:-1]] == self.size)

    def __len__(self) -> int:
        return len(self.whole)

    def take(self, places: Integers) -> "SetRegions":
        """Some of the regions."""
        lengths = self.lengths[places]
        first = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(int(first[-1])) + np.repeat(self.first[places] - first[:-1], lengths)
        return SetRegions(first, self.starts[at], self.stops[at], self.whole[places], self.size)

    def chance(self, lows: Integers, highs: Integers) -> Floats:
        """How likely a record of each region has a code in each range: (ranges, regions).

        One code under each node u, any alike: 1 − Π (1 − |range ∩ u|/|u|). The range behind the last code asks for
        records without codes.
        """
        found = np.empty((len(lows), len(self)))
        step = max(1, _TOGETHER // max(1, len(self.starts)))
        for begin in range(0, len(lows), step):
            low, high = (ends[begin : begin + step, None] for ends in (lows, highs))
            inside = np.maximum(np.minimum(high, self.stops) - np.maximum(low, self.starts), 0)
            found[begin : begin + step] = self.some(inside / (self.stops - self.starts))
        return found

    def some(self, shares: Floats) -> Floats:
        """From the chance of each node's one code, (…, nodes), the chance of at least one, (…, regions)."""
        return np.asarray(1.0 - np.multiply.reduceat(1.0 - shares, self.first[:-1], axis=-1))

    def mean(self, values: Floats) -> Floats:
        """The mean over the nodes of each region."""
        return np.asarray(np.add.reduceat(values, self.first[:-1]) / self.lengths)

    def losses(self, domain: SetDomain) -> Floats:
        """How much of the domain each region's nodes cover: the mean of (covered − 1)/(all − 1), from 0 to 1.

        What is counted are nodes at the domain's level, below which nothing is published. This is the normalised
        certainty penalty as it is taken for transactions (Terrovitis, Mamoulis & Kalnis, VLDB 2008).
        """
        covered = self._covered(domain)
        most = len(domain.starts_at(domain.level)) - 1
        lost = np.maximum(covered - 1, 0) / most if most else np.zeros(len(covered))
        return np.where(self.whole, 1.0, self.mean(lost))

    def possible(self, domain: SetDomain) -> Floats:
        """How many sets of nodes at the domain's level there may be in each region."""
        covered = self._covered(domain).tolist()
        found = []
        for region, (begin, end) in enumerate(zip(self.first[:-1].tolist(), self.first[1:].tolist(), strict=True)):
            if self.whole[region]:
                found.append(float(possible_sets(domain)))
            else:
                found.append(float(_choices(tuple(sorted(covered[begin:end])), domain.most)))
        return np.array(found)

    def _covered(self, domain: SetDomain) -> Integers:
        """How many nodes at the domain's level are under each node; 1 where there are no codes."""
        edges = np.asarray(domain.starts_at(domain.level))
        found: Integers = np.searchsorted(edges, self.stops) - np.searchsorted(edges, self.starts)
        return np.maximum(found, 1)


def possible_sets(domain: SetDomain) -> int:
    """How many sets of nodes at the level of a domain there may be in any table."""
    nodes, most = len(domain.starts_at(domain.level)), domain.most
    several = most is not None and most < nodes
    found = sum(comb(nodes, held) for held in range((most or 0) + 1)) if several else 2**nodes
    return found - (not domain.empty)


@lru_cache(maxsize=4096)
def _choices(covered: tuple[int, ...], most: int | None) -> int:
    """How many sets of at most ``most`` nodes have at least one under each of some nodes, and none elsewhere."""
    ways = {0: 1}  # by how many nodes a set has
    for nodes in covered:
        more: dict[int, int] = {}
        for held, many in ways.items():
            for added in range(1, nodes + 1):
                if most is not None and held + added > most:
                    break
                more[held + added] = more.get(held + added, 0) + many * comb(nodes, added)
        ways = more
    return max(1, sum(ways.values()))
