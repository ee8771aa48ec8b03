"""Marginals: the distance of released from true distributions of single attributes and of pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.domains.domain import Grid
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence, Places, dense, narrow
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.evaluate.uniform_assumption import Column, column, exact
from sfumato.release.shown import Floats, Integers, Shown
from sfumato.wording import share_words

_MOST_PAIRS = 100_000  # of attributes: each is a small table
_FULL = 4_000_000  # numbers of a table that is held as a full one, or of a pair at once


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """One attribute of a release: how each distinct range or pool spreads over the bins, and each row's.

    Sets spread over nodes first, ``over`` says how those spread over the bins; there are too many to write it out.
    """

    shares: Floats | csr_array  # (distinct, bins or nodes)
    place: Places  # (rows,)
    over: csr_array | None = None  # (nodes, bins)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return int(self.shares.shape[1] if self.over is None else self.over.shape[1])

    def some(self, first: int, last: int) -> "_Spread":
        """The same for some bins, where there are no nodes between."""
        assert self.over is None, "bins of sets are taken together"
        return _Spread(self.shares[:, first:last], self.place)

    def sums(self) -> Floats:
        """What each range or pool has in all bins."""
        whole = np.ones(self.bins)
        return np.asarray(self.shares @ (whole if self.over is None else self.over @ whole)).ravel()


@dataclass(frozen=True, slots=True, kw_only=True)
class _MarginalDistance(Measure):
    """Total variation ½Σ|p − p̂| between the table's distribution and the release's, both as shares of all records.

    The release's is that of the uniform assumption. A grid of more than ``bins`` codes is looked at in as many parts,
    cut at the quantiles of the table, with heavy values in bins of their own; categories by leaves. Of sets it is the
    distribution of codes (of nodes, where a level is declared), each code of a record counted once: which share of all
    that records hold is this one. A record without codes counts once, as that.
    """

    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"
    bins: int = 20

    def __post_init__(self) -> None:
        if self.bins < 1:
            raise UsageError("bins must be at least 1", "give bins of at least 1", code="SF-USAGE-033")

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs records in the table and in the release."""
        if not evidence.records:
            return "the table has no records"
        return None if len(evidence.shown) else "the release contains no records"

    def _compare(self, evidence: Evidence, names: list[tuple[str, ...]]) -> Reading:
        edges = self._edges(evidence)
        found = {}
        sides = (exact(evidence), evidence.shown)
        spreads = [
            {name: _spread(shown, name, edge, sets=name in evidence.sets) for name, edge in edges.items()}
            for shown in sides
        ]
        for each in names:
            apart = _distance(sides, [[spread[name] for name in each] for spread in spreads])
            found[" × ".join(each)] = min(1.0, apart / 2)
        worst = max(found, key=lambda name: found[name])
        details = {"worst": worst, "distance of the worst": found[worst], **found}
        return Reading(value=sum(found.values()) / len(found), details=details)

    def _edges(self, evidence: Evidence) -> Mapping[str, Integers]:
        """Where the bins of each attribute begin, and the end of its domain."""
        found = {}
        for attribute in evidence.view.attributes:
            domain = evidence.view.domain(attribute.name)
            if isinstance(domain, Grid) and domain.size > self.bins:
                starts = _quantile_bins(domain.size, *evidence.occurring(attribute.name)[::2], bins=self.bins)
            elif isinstance(domain, SetDomain):
                found[attribute.name] = np.array([*domain.starts_at(domain.level), domain.size, domain.size + 1])
                continue
            else:
                starts = _leaves(domain.size, evidence.occurring(attribute.name)[0])
            found[attribute.name] = np.append(starts, domain.size).astype(np.int64)
        return found


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class OneWayDistance(_MarginalDistance):
    """The mean over all attributes of the total variation distance."""

    name: ClassVar[str] = "marginals-1"
    title: ClassVar[str] = "One-way marginals"
    summary: ClassVar[str] = (
        "the total variation distance between released and true marginals of one attribute, averaged over attributes"
    )

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            f"Released and true one-way marginals have a total variation distance of {share_words(value)} on average."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The mean, the worst, and each attribute's."""
        return self._compare(evidence, [(a.name,) for a in evidence.view.attributes])


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWayDistance(_MarginalDistance):
    """The mean over pairs of attributes, at least one of them a quasi-identifier.

    The joint distribution of two other attributes within an equivalence class is not measured.
    """

    name: ClassVar[str] = "marginals-2"
    title: ClassVar[str] = "Two-way marginals"
    summary: ClassVar[str] = (
        "the total variation distance between released and true marginals of two attributes, averaged over pairs"
    )
    speed: ClassVar[Speed] = "slow"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a pair of attributes, and not too many of them."""
        pairs = len(_pairs(evidence))
        if not pairs:
            return "there is no pair of attributes with a quasi-identifier in it"
        if pairs > _MOST_PAIRS:
            return f"there are {pairs:,} pairs of attributes; use a purpose with fewer attributes"
        return _MarginalDistance.refuses(self, evidence)

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            f"Released and true two-way marginals have a total variation distance of {share_words(value)} on average."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The mean, the worst, and each pair's."""
        return self._compare(evidence, _pairs(evidence))


def _leaves(size: int, codes: Integers) -> Integers:
    """Where bins of single leaves begin; where few of many occur, all leaves between two of those are one bin.

    No record of the table is in such a bin, so it is as far off as its leaves are together.
    """
    if size <= 2 * len(codes) + 1:
        return np.arange(size)
    found = np.unique(np.concatenate([[0], codes, codes + 1]))
    return found[found < size]


def _quantile_bins(size: int, codes: Integers, records: Floats, *, bins: int) -> Integers:
    """Where bins of numbers begin: of the ``codes`` that occur in ascending order, with the ``records`` of each.

    A value is heavy if it holds at least as many records as an equal bin of all that are not heavy: it gets a bin of
    its own, and the others are cut at their quantiles into the bins that are left. Quantiles of all records would fall
    on one heavy value many times over and leave a single bin, in which any two distributions are the same. A heavy
    value may also divide a bin of others, so there may be more than ``bins``. Few enough values get a bin each.
    """
    if len(codes) <= bins:
        return _leaves(size, codes)
    light = np.ones(len(codes), bool)
    while True:
        parts = max(1, bins - int((~light).sum()))
        heavy = light & (records * parts >= records[light].sum())
        if not heavy.any():
            break
        light &= ~heavy
    reached = np.cumsum(records[light])
    at = np.searchsorted(reached, records[light].sum() * np.arange(1, parts) / parts, side="right")
    cuts = codes[light][np.minimum(at, len(reached) - 1)] if len(reached) else codes[:0]
    found = np.unique(np.concatenate([[0], cuts, codes[~light], codes[~light] + 1]))
    return found[found < size]


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
        return _Spread(alike[None, :], np.zeros(len(shown), np.uint8))
    if found.regions is not None:
        return _spread_sets(found, found.regions, edges)
    over = _over_bins(found.starts, found.stops, edges)
    table = over if found.shares is None else csr_array(found.shares @ over)
    return _Spread(
        dense(table) if table.shape[0] * table.shape[1] <= _FULL else table, narrow(found.place, table.shape[0])
    )


def _over_bins(starts: Integers, stops: Integers, edges: Integers) -> csr_array:
    """How ranges of codes spread over bins, all codes of a range alike: (ranges, bins)."""
    first = np.searchsorted(edges, starts, side="right") - 1
    many = np.searchsorted(edges, stops) - first
    row = np.repeat(np.arange(len(starts)), many)
    bins = np.arange(len(row)) + np.repeat(first - np.cumsum(many) + many, many)
    inside = np.minimum(stops[row], edges[bins + 1]) - np.maximum(starts[row], edges[bins])
    return csr_array((inside / (stops - starts)[row], (row, bins)), shape=(len(starts), len(edges) - 1))


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
    shares = held if found.shares is None else csr_array(found.shares @ held)
    return _Spread(shares, narrow(found.place, shares.shape[0]), over)


def _distance(sides: Sequence[Shown], spreads: Sequence[Sequence[_Spread]]) -> float:
    """Σ|p − p̂| over the bins of one attribute or of two, with some bins of the first at a time where there are many."""
    if len(spreads[0]) == 1 or all(each.over is not None for spread in spreads for each in spread):
        true, guessed = (_distribution(shown, spread) for shown, spread in zip(sides, spreads, strict=True))
        return float(abs(true - guessed).sum())
    bins = [spreads[0][place].bins for place in (0, 1)]
    step = max(1, _FULL // bins[1]) if spreads[0][0].over is None else bins[0]
    if step >= bins[0]:
        true, guessed = (_distribution(shown, spread) for shown, spread in zip(sides, spreads, strict=True))
        return float(abs(true - guessed).sum())
    totals = [_total(shown, spread) for shown, spread in zip(sides, spreads, strict=True)]
    found = 0.0
    for first in range(0, bins[0], step):
        true, guessed = (
            _amounts(shown, [spread[0].some(first, first + step), spread[1]]) / total
            for shown, spread, total in zip(sides, spreads, totals, strict=True)
        )
        found += float(abs(true - guessed).sum())
    return found


def _total(shown: Shown, spreads: Sequence[_Spread]) -> float:
    """The sum over all bins."""
    rows = shown.weights.copy()
    for each in spreads:
        rows *= each.sums()[each.place]
    return max(float(rows.sum()), np.finfo(float).tiny)


def _distribution(shown: Shown, spreads: Sequence[_Spread]) -> Any:
    """The distribution over the bins of one attribute or of two."""
    found = _amounts(shown, spreads)
    return found / max(float(found.sum()), np.finfo(float).tiny)


def _amounts(shown: Shown, spreads: Sequence[_Spread]) -> Any:
    """How many records are in the bins of one attribute or of two, without going through rows one by one."""
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
    return found
