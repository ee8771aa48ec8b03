"""The columns of a release as a query sees them: which part of each row satisfies a comparison, and how sure that is.

A row tells a region of values, not a value. Under the assumption that values are spread evenly inside a region, a part
of the row satisfies a comparison (`share`). Without any assumption only this is known: in some rows every value does
(*certain*), in others none does (not *possible*), and all others are undecided.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.query.codes import Codes
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy

Shares = NDArray[np.float64]  # (rows,): which part of each row satisfies a condition
Mask = NDArray[np.bool_]
Bounds = tuple[Mask, Mask]  # certain and possible, (rows,) each

_YES_OR_NO: Final = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("no"), Node("yes")))))


class Reach(NamedTuple):
    """At most which share of all regions satisfies a condition certainly, possibly, certainly not, and possibly not."""

    certain: float
    possible: float
    impossible: float
    doubtful: float


ANY: Final = Reach(1.0, 1.0, 1.0, 1.0)


class QueryColumn(Protocol):
    """One column as a query sees it: its domain, and which part of each row has one of some codes."""

    @property
    def domain(self) -> Domain:
        """The public domain."""
        ...

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has one of the codes."""
        ...

    def bounds(self, codes: Codes) -> Bounds:
        """In which rows every value has one of the codes, and in which rows some value has."""
        ...

    def reach(self, codes: Codes) -> Reach:
        """The same for all regions that there are, listed or not: at most which share of them."""
        ...


@dataclass(frozen=True, eq=False)
class Regions:
    """A column of regions of one cut; a row is spread evenly over the codes of its region."""

    domain: Domain
    cut: Cut
    regions: NDArray[np.int64]

    def share(self, codes: Codes) -> Shares:
        """Which part of the codes of each row's region is among the given ones."""
        if self.cut.is_finest:
            return (codes.below(self.regions + 1) - codes.below(self.regions)).astype(np.float64)
        edges = np.array([*self.cut.starts, self.cut.size], dtype=np.int64)
        inside = np.diff(codes.below(edges)) / np.diff(edges)
        shares: Shares = inside[self.regions]
        return shares

    def bounds(self, codes: Codes) -> Bounds:
        """Whole numbers are compared, so that a region of 10¹⁵ values is decided exactly."""
        if self.cut.is_finest:
            found = codes.below(self.regions + 1) > codes.below(self.regions)
            return found, found
        certain, possible = self._by_region(codes)
        return certain[self.regions], possible[self.regions]

    def reach(self, codes: Codes) -> Reach:
        """Shares of the cut's regions."""
        if self.cut.is_finest:
            share = sum(min(stop, self.cut.size) - start for start, stop in codes.ranges) / self.cut.size
            return Reach(share, share, 1 - share, 1 - share)
        certain, possible = self._by_region(codes)
        sure, may = float(certain.mean()), float(possible.mean())
        return Reach(sure, may, 1 - may, 1 - sure)

    def _by_region(self, codes: Codes) -> Bounds:
        edges = np.array([*self.cut.starts, self.cut.size], dtype=np.int64)
        inside = np.diff(codes.below(edges))
        return inside == np.diff(edges), inside > 0


@dataclass(frozen=True, eq=False)
class MembershipColumn:
    """Something that a record has (1) or has not (0), with how likely it is in each row."""

    chance: Shares
    sure: Bounds  # in which rows every record has it, and in which some record may have it
    pooled: bool = False  # whether it is published for pools of rows
    domain: Domain = _YES_OR_NO

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has it, or has not."""
        return (1 in codes) * self.chance + (0 in codes) * (1 - self.chance)

    def bounds(self, codes: Codes) -> Bounds:
        """In which rows every record, and some record, is as asked."""
        certain, possible = self.sure
        has, lacks = 1 in codes, 0 in codes
        return (certain & has) | (~possible & lacks) | (has & lacks), (possible & has) | (~certain & lacks)

    def reach(self, codes: Codes) -> Reach:  # noqa: ARG002 - the shape of Asked.reach
        """Regions of sets are not counted: possibly all of them."""
        return ANY


@dataclass(frozen=True, eq=False)
class PooledColumn:
    """A column whose values are published for a pool of rows, not row by row: each row has its pool's shares."""

    domain: Domain
    pool: NDArray[np.int64]  # (rows,): which pool
    part: Callable[[Codes], Shares]  # (pools,): which part of each pool has one of the codes

    def share(self, codes: Codes) -> Shares:
        """Which part of each row's pool has one of the codes."""
        return self.part(codes)[self.pool]

    def bounds(self, codes: Codes) -> Bounds:
        """Of one row all is known only where the whole pool is alike."""
        share = self.share(codes)
        return share >= 1, share > 0

    def reach(self, codes: Codes) -> Reach:  # noqa: ARG002 - the shape of Asked.reach
        """Not used: pools have exact counts."""
        return ANY


@dataclass(frozen=True, eq=False)
class SetsColumn:
    """A column of sets of nodes; of a node below the published ones, only a probability is known.

    Each row has one of the regions, or a pool in which they have shares.
    """

    domain: SetDomain
    regions: SetRegions
    place: NDArray[np.int64]  # (rows,): which region, or which pool
    shares: csr_array | None = None  # (pools, regions)

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has a code among the given ones."""
        return self.chance(codes)

    def held(self, codes: Codes | None) -> "MembershipColumn | PooledColumn":
        """Whether a record has a code among the given ones, or none, as a column of its own."""
        certain, possible = self._by_region(codes)
        if self.shares is not None and np.array_equal(certain, possible):
            have = np.asarray(self.shares @ certain.astype(np.float64))
            return PooledColumn(_YES_OR_NO, self.place, lambda asked: (1 in asked) * have + (0 in asked) * (1 - have))
        return MembershipColumn(self.chance(codes), self.sure(codes), pooled=self.shares is not None)

    def bounds(self, codes: Codes) -> Bounds:
        """In which rows every record has a code among the given ones, and in which some record may."""
        return self.sure(codes)

    def reach(self, codes: Codes) -> Reach:  # noqa: ARG002 - the shape of Asked.reach
        """Regions of sets are not counted: possibly all of them."""
        return ANY

    def sure(self, codes: Codes | None) -> Bounds:
        """In which rows every record has a code among the given ones (None: no code at all), and in which some may.

        A record has a code under each node of its region: it surely has one of the given codes if a node lies wholly
        among them. A region of the root alone tells nothing, not even whether there is a code.
        """
        certain, possible = self._by_region(codes)
        if self.shares is None:
            return certain[self.place], possible[self.place]
        never = np.asarray(self.shares @ (~certain).astype(np.float64))
        ever = np.asarray(self.shares @ possible.astype(np.float64))
        return (never <= 0)[self.place], (ever > 0)[self.place]

    def _by_region(self, codes: Codes | None) -> Bounds:
        regions = self.regions
        if codes is None:
            return regions.none, regions.none | regions.whole
        inside = codes.below(regions.stops) - codes.below(regions.starts)
        full = regions.some((inside == regions.stops - regions.starts).astype(np.float64)) >= 1
        some = regions.some((inside > 0).astype(np.float64)) > 0
        return full & ~regions.whole & ~regions.none, some & ~regions.none

    def chance(self, codes: Codes | None) -> Shares:
        """How likely a record of each row has a code among the given ones; None: no code at all."""
        regions = self.regions
        if codes is None:
            found = regions.none.astype(np.float64)
        else:
            inside = codes.below(regions.stops) - codes.below(regions.starts)
            found = regions.some(inside / (regions.stops - regions.starts))
        each: Shares = np.asarray(found if self.shares is None else self.shares @ found)[self.place]
        return each


def sets_column(domain: SetDomain, cut: SetCut, column: NDArray[Any]) -> SetsColumn:
    """A column of regions of sets, by their numbers."""
    numbers, place = np.unique(column, return_inverse=True)
    return SetsColumn(domain, SetRegions.of_cut(cut, numbers), place.ravel())
