"""Marginals: how far the distributions of single attributes, and of pairs, are from the table's."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.core.domain import Grid
from sfumato.core.set_regions import SetRegions
from sfumato.core.sets import SetDomain
from sfumato.core.shown import Floats, Integers, Shown
from sfumato.errors import UsageError
from sfumato.measure.evidence import Evidence, dense
from sfumato.measure.measure import MEASURES, Better, Kind, Reading
from sfumato.measure.uniform import Column, column, exact

_MOST_PAIRS = 100_000  # of attributes: each is a small table


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """One attribute of a release: how each distinct range or pool spreads over the bins, and each row's.

    Sets spread over nodes first, ``over`` says how those spread over the bins; there are too many to write it out.
    """

    shares: Floats | csr_array  # (distinct, bins or nodes)
    place: Integers  # (rows,)
    over: csr_array | None = None  # (nodes, bins)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MarginalDistance:
    """Total variation ½Σ|p − p̂| between the table's distribution and the release's, both as shares of all records.

    The release's is that of the uniform assumption. A grid of more than ``bins`` codes is looked at in as many parts,
    cut at the quantiles of the table; categories by leaves. Of sets it is the distribution of codes (of nodes, where a
    level is declared), each code of a record counted once: which share of all that records hold is this one. A record
    without codes counts once, as that.
    """

    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"
    bins: int = 20

    def __post_init__(self) -> None:
        if self.bins < 1:
            raise UsageError("numbers are looked at in at least one part", "give bins of at least 1")

    def refuses(self, evidence: Evidence) -> str | None:
        """Without records on either side there are no distributions."""
        if not evidence.records:
            return "the table has no records"
        return None if len(evidence.shown) else "nothing is published"

    def _compare(self, evidence: Evidence, names: list[tuple[str, ...]]) -> Reading:
        edges = self._edges(evidence)
        found = {}
        sides = (exact(evidence), evidence.shown)
        spreads = [
            {name: _spread(shown, name, edge, sets=name in evidence.sets) for name, edge in edges.items()}
            for shown in sides
        ]
        for each in names:
            true, guessed = (
                _distribution(shown, [spread[name] for name in each])
                for shown, spread in zip(sides, spreads, strict=True)
            )
            found[" × ".join(each)] = min(1.0, float(abs(true - guessed).sum()) / 2)
        worst = max(found, key=lambda name: found[name])
        details = {"worst": worst, "distance of the worst": found[worst], **found}
        return Reading(value=sum(found.values()) / len(found), details=details)

    def _edges(self, evidence: Evidence) -> Mapping[str, Integers]:
        """Where the bins of each attribute begin, and the end of its domain."""
        found = {}
        for attribute in evidence.view.attributes:
            domain = evidence.view.domain(attribute.name)
            if isinstance(domain, Grid) and domain.size > self.bins:
                codes = evidence.column(attribute.name)
                order = np.argsort(codes)
                reached = np.cumsum(evidence.raw.counts[order])
                at = np.searchsorted(reached, evidence.records * np.arange(1, self.bins) / self.bins, side="right")
                starts = np.unique(np.concatenate([[0], codes[order][np.minimum(at, len(order) - 1)]]))
            elif isinstance(domain, SetDomain):
                found[attribute.name] = np.array([*domain.starts_at(domain.level), domain.size, domain.size + 1])
                continue
            else:
                starts = np.arange(domain.size)
            found[attribute.name] = np.append(starts, domain.size).astype(np.int64)
        return found


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class OneWayDistance(_MarginalDistance):
    """The mean over all attributes of the distance of their distributions."""

    name: ClassVar[str] = "marginals-1"
    title: ClassVar[str] = "One-way marginals"
    summary: ClassVar[str] = "how far the distribution of an attribute is from the table's, on average over attributes"

    def read(self, evidence: Evidence) -> Reading:
        """The mean, the worst, and each attribute's."""
        return self._compare(evidence, [(a.name,) for a in evidence.view.attributes])


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWayDistance(_MarginalDistance):
    """The mean over pairs of attributes, at least one of them a quasi-identifier.

    How two other attributes go together within a group is not part of how a release is looked at here.
    """

    name: ClassVar[str] = "marginals-2"
    title: ClassVar[str] = "Two-way marginals"
    summary: ClassVar[str] = "how far the distribution of two attributes together is from the table's, over all pairs"

    def refuses(self, evidence: Evidence) -> str | None:
        """It takes a pair."""
        pairs = len(_pairs(evidence))
        if not pairs:
            return "there is no pair of attributes with a quasi-identifier in it"
        if pairs > _MOST_PAIRS:
            return f"there are {pairs:,} pairs of attributes; a purpose with fewer attributes has fewer"
        return _MarginalDistance.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The mean, the worst, and each pair's."""
        return self._compare(evidence, _pairs(evidence))


def _pairs(evidence: Evidence) -> list[tuple[str, ...]]:
    quasi = {a.name for a in evidence.view.quasi}
    names = [a.name for a in evidence.view.attributes]
    return [pair for pair in combinations(names, 2) if quasi & set(pair)]


def _spread(shown: Shown, name: str, edges: Integers, *, sets: bool) -> _Spread:
    found = column(shown, name)
    if found is None:  # not published: anything alike
        alike = np.diff(edges) / edges[-1 - sets]
        if sets:
            alike[-1] = 0.0  # a code is taken to be
        return _Spread(alike[None, :], np.zeros(len(shown), np.int64))
    if found.regions is not None:
        return _spread_sets(found, found.regions, edges)
    if found.shares is None:
        last = np.minimum(found.stops[:, None], edges[1:])
        inside = np.maximum(last - np.maximum(found.starts[:, None], edges[:-1]), 0)
        return _Spread(inside / (found.stops - found.starts)[:, None], found.place)
    at = np.searchsorted(edges, found.starts, side="right") - 1
    bins = csr_array((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), len(edges) - 1))
    return _Spread(dense(csr_array(found.shares @ bins)), found.place)


def _spread_sets(found: Column, regions: SetRegions, edges: Integers) -> _Spread:
    """One code under each node of a region, any alike."""
    nodes, node = np.unique(np.stack([regions.starts, regions.stops], axis=1), axis=0, return_inverse=True)
    ones = np.ones(len(regions.starts))
    held = csr_array((ones, (regions.owner, node.ravel())), shape=(len(regions), len(nodes)))
    begin, end = (np.searchsorted(edges, ends) for ends in nodes.T)
    many = end - begin
    bins = np.arange(int(many.sum())) + np.repeat(begin - np.cumsum(many) + many, many)
    share = np.diff(edges)[bins] / np.repeat(nodes[:, 1] - nodes[:, 0], many)
    over = csr_array((share, (np.repeat(np.arange(len(nodes)), many), bins)), shape=(len(nodes), len(edges) - 1))
    return _Spread(held if found.shares is None else csr_array(found.shares @ held), found.place, over)


def _distribution(shown: Shown, spreads: list[_Spread]) -> Any:
    """The distribution over the bins of one attribute or of two, without going through rows one by one."""
    one = spreads[0]
    if len(spreads) == 1:
        sizes = np.bincount(one.place, weights=shown.weights, minlength=one.shares.shape[0])
        found = sizes @ one.shares
    else:
        two = spreads[1]
        shape = (one.shares.shape[0], two.shares.shape[0])
        together = csr_array((shown.weights, (one.place, two.place)), shape=shape)
        found = one.shares.T @ (together @ two.shares)
        if two.over is not None:
            found = found @ two.over
    if one.over is not None:
        found = (one.over.T @ found) if len(spreads) > 1 else found @ one.over
    return found / max(float(found.sum()), np.finfo(float).tiny)
