"""Utility loss: how wrong one would be about the sensitive values of large populations (Li & Li, KDD 2009, 4.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.divergence import jensen_shannon
from sfumato.domains.sets.regions import SetRegions
from sfumato.errors import InfeasibleError, UsageError
from sfumato.evaluate.equivalence_classes import by_row
from sfumato.evaluate.evidence import Evidence, alike, dense
from sfumato.evaluate.measures.large_nodes import edges_of
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Reading
from sfumato.evaluate.measures.populations import Populations, large_populations
from sfumato.evaluate.uniform_assumption import column, exact
from sfumato.release.shown import Shown
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST = 50_000_000  # numbers in a table of all populations by all sensitive values
_FULL = 5_000_000  # numbers up to which such a table is held as a whole
_TOGETHER = 2_000_000  # numbers of such a table that are compared at once


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityLoss:
    """Uloss: the mean over large populations y of JS(P_y, P̂_y), since utility is about all of them.

    P_y is the table's distribution of the sensitive attribute in y, P̂_y what the release lets one reconstruct: a row's
    records lie evenly over its region, so the share |region ∩ node| / |region| of each attribute of y is in y (of a set
    it is how likely a record of the region contains the node), and each has any of the values of its group or bucket
    alike. Of a population that the release puts no record into, one would
    take the distribution of the whole release. Of several sensitive attributes it is the mean.
    """

    name: ClassVar[str] = "uloss"
    title: ClassVar[str] = "Utility loss"
    summary: ClassVar[str] = (
        "how far the sensitive values that one reconstructs for large populations are from the true ones, on average; "
        "0: all of them come out right"
    )
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, float(np.log(2.0)))
    unit: ClassVar[str] = "nats"
    min_sup: float = 0.05
    attribute: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.min_sup <= 1:
            raise UsageError(
                f"populations with at least {self.min_sup:g} of the records were asked for",
                "use a `min_sup` above 0 and at most 1",
            )

    def refuses(self, evidence: Evidence) -> str | None:
        """There must be something to learn, something published, and a population to learn it about."""
        if not evidence.protected:
            return "no attribute is sensitive, so there is nothing to learn about a population"
        if not len(evidence.shown):
            return "nothing is published"
        try:
            found = large_populations(evidence, self.min_sup)
        except InfeasibleError as error:
            return error.problem
        if not len(found):
            return f"no population has at least {self.min_sup:g} of the records"
        wide = [a.name for a in evidence.chosen(self.attribute) if len(found) * _size(evidence, a) > _MOST]
        if wide:
            return f"'{wide[0]}' has too many values to compare in each of {len(found):,} populations"
        return None

    def read(self, evidence: Evidence) -> Reading:
        """The mean loss, and how large the populations' losses are."""
        found = large_populations(evidence, self.min_sup)
        losses = np.zeros(len(found))
        chosen = evidence.chosen(self.attribute)
        for attribute in chosen:
            losses += _losses(evidence, attribute, found, self.min_sup) / len(chosen)
        return Reading(
            value=float(losses.mean()),
            details={
                "populations": len(found),
                **({} if found.deepest is None else {"most predicates of a population": found.deepest}),
                "median": float(np.median(losses)),
                "quantile 0.9": float(np.quantile(losses, 0.9)),
                "largest": float(losses.max()),
            },
        )


def _losses(evidence: Evidence, attribute: Attribute, found: Populations, min_sup: float) -> Floats:
    """JS(P_y, P̂_y) of each population y.

    Values that no record of the table has are one value: P_y is 0 there, so each adds ½·P̂_y·log 2, together as apart.
    """
    sides = [_true_amounts(evidence, attribute, found), _shown_amounts(evidence, attribute, found)]
    over = _over_codes(evidence, attribute)
    if len(found) * over.shape[1] > _FULL or max(len(side.lies[0].place) for side in sides) * over.shape[1] > _FULL:
        return _one_by_one(found, sides, over)
    key = f"populations {min_sup!r} of {attribute.name}"
    if key not in evidence.kept:
        evidence.kept[key] = _normal(spread(found, sides[0].lies, sides[0].records))
    truth: Floats = np.pad(evidence.kept[key], ((0, 0), (0, 1)))
    guessed = _normal(spread(found, sides[1].lies, sides[1].records))
    return _apart(truth, np.asarray(guessed @ over))


@dataclass(frozen=True, slots=True, eq=False)
class _Amounts:
    """The rows of the table or a release: where they lie, and how many records have which value or range of values."""

    lies: list["_Lies"]
    records: csr_array  # (rows, values or ranges)


def _true_amounts(evidence: Evidence, attribute: Attribute, found: Populations) -> _Amounts:
    place, people = evidence.people
    codes, of, _ = evidence.occurring(attribute.name)
    amounts = csr_array((evidence.raw.counts.astype(np.float64), (place, of)), shape=(len(people), len(codes)))
    return _Amounts([_lies(exact(evidence), name, 0) for name in found.attributes], amounts)


def _shown_amounts(evidence: Evidence, attribute: Attribute, found: Populations) -> _Amounts:
    shown = evidence.shown
    lies = [_lies(shown, name, evidence.view.domain(name).size) for name in found.attributes]
    return _Amounts(lies, by_row(shown, attribute.name).shares)


def _over_codes(evidence: Evidence, attribute: Attribute) -> csr_array:
    """How the records of each range lie over the values that occur in the table, and all others: (ranges, values)."""
    codes, _, _ = evidence.occurring(attribute.name)
    over = evidence.shown.values[attribute.name].over_ranges()
    place = over.range_of(codes)
    inside = np.flatnonzero(place >= 0)
    rest = over.widths - np.bincount(place[inside], minlength=len(over.starts))
    more = np.flatnonzero(rest > 0)
    ranges = np.concatenate([place[inside], more])
    share = np.concatenate([np.ones(len(inside)), rest[more]]) / over.widths[ranges]
    columns = np.concatenate([inside, np.full(len(more), len(codes))])
    return csr_array((share, (ranges, columns)), shape=(len(over.starts), len(codes) + 1))


def _one_by_one(found: Populations, sides: Sequence[_Amounts], over: csr_array) -> Floats:
    """The same a population at a time, where a table of all populations by all values would be too large."""
    turn = csr_array(over.T)
    whole = [np.asarray(side.records.sum(axis=0), np.float64).ravel() for side in sides]
    losses = np.zeros(len(found))
    for (number, true), (_, guessed) in zip(*(each_population(found, s.lies, s.records) for s in sides), strict=True):
        p, q = (
            of / of.sum() if of.sum() > 0 else every / max(float(every.sum()), np.finfo(float).tiny)
            for of, every in zip((true, guessed), whole, strict=True)
        )
        losses[number] = jensen_shannon(np.append(p, 0.0)[None, :], (turn @ q)[None, :])[0]
    return losses


@dataclass(frozen=True, slots=True, eq=False)
class _Lies:
    """Where the rows lie in one attribute: the distinct regions as ranges of codes, or of sets, and each row's."""

    starts: Integers
    stops: Integers
    place: Integers  # (rows,)
    regions: SetRegions | None = None

    def overlaps(self, low: Integers, high: Integers) -> Floats:
        """The share of each region that is in each node: (nodes, regions)."""
        if self.regions is not None:
            return self.regions.chance(low, high)
        common = np.minimum(self.stops, high[:, None]) - np.maximum(self.starts, low[:, None])
        return np.asarray(np.maximum(common, 0) / (self.stops - self.starts))

    def alike(self, low: Integers, high: Integers) -> tuple[Integers, Floats]:
        """The same with regions as one that lie alike towards every node: each row's, and their overlaps."""
        if self.regions is not None:
            overlaps = self.overlaps(low, high)
            kind, first = alike(list(overlaps), overlaps.shape[1])
            return kind[self.place], overlaps[:, first]
        # A single code is as good as any other that no node tells it from.
        edges = np.concatenate([[-1], edges_of(np.stack([low, high]))])
        single = self.stops - self.starts == 1
        begin = np.where(single, edges[np.searchsorted(edges, self.starts, side="right") - 1], self.starts)
        end = np.where(single, begin + 1, self.stops)
        kind, first = alike([begin, end], len(begin))
        return kind[self.place], _Lies(begin[first], end[first], kind).overlaps(low, high)


def _lies(shown: Shown, name: str, size: int) -> _Lies:
    """Where the rows of a release lie; an attribute that is not published may have any value."""
    found = column(shown, name) if name in shown.attributes else None
    if found is None:
        none = np.zeros(len(shown), np.int64)
        return _Lies(np.array([0]), np.array([size]), none)
    return _Lies(found.starts, found.stops, found.place, found.regions)


def spread(found: Populations, lies: Sequence[_Lies], amounts: csr_array) -> Floats:
    """How much of each column of ``amounts`` falls into each population, and into all records at the end.

    ``lies`` says where the rows lie in each attribute of the trie. Down the trie: a row's share of a population is that
    of the parent times the overlap of its region with one node more. Below one population the rows with the same region
    of the next attribute are added up, and a whole family is one product of matrices. Rows without a share are dropped
    on the way.
    """
    kinds = [lie.alike(*ends) for lie, ends in zip(lies, zip(found.starts, found.stops, strict=True), strict=True)]
    overlaps = [each for _, each in kinds]
    kind, first = alike([place for place, _ in kinds], amounts.shape[0])  # rows alike towards every node as one
    together = csr_array((np.ones(len(kind)), (kind, np.arange(len(kind)))), shape=(len(first), len(kind)))
    regions, mass = [place[first] for place, _ in kinds], dense(csr_array(together @ amounts))
    width = mass.shape[1]
    columns = np.arange(width)
    result = np.zeros((len(found) + 1, width))
    result[-1] = mass.sum(axis=0)
    below, firsts, places = found.families(), found.first.tolist(), found.attribute.tolist()
    todo: list[tuple[int, Integers, Floats, Floats | None]] = [(-1, np.arange(len(mass)), mass, None)]
    while todo:
        above, rows, held, share = todo.pop()
        if share is not None:  # of the parent's rows those with a share: made here, so that few are held at once
            kept = np.flatnonzero(share)
            rows, held = rows[kept], held[kept] * share[kept, None]
        for family in below[above]:
            begin, end = firsts[family], firsts[family + 1]
            region = regions[places[family]][rows]
            overlap = overlaps[places[family]][found.node[begin:end]]
            flat = ((region * width)[:, None] + columns).ravel()
            sums = np.bincount(flat, weights=held.ravel(), minlength=overlap.shape[1] * width)
            result[begin:end] = overlap @ sums.reshape(-1, width)
            todo += [
                (number, rows, held, overlap[number - begin][region]) for number in range(begin, end) if below[number]
            ]
    return result


def each_population(found: Populations, lies: Sequence[_Lies], amounts: csr_array) -> Iterator[tuple[int, Floats]]:
    """The same one population after the other, as its number and its amounts: nothing is held of all of them.

    Depth first, with the rows of the populations on one path alone: those of all siblings would be many times a table.
    """
    kinds = [lie.alike(*ends) for lie, ends in zip(lies, zip(found.starts, found.stops, strict=True), strict=True)]
    below, firsts, places = found.families(), found.first.tolist(), found.attribute.tolist()

    def inside(above: int, rows: Integers, held: Floats) -> Iterator[tuple[int, Integers, Floats]]:
        for family in below[above]:
            place, overlap = kinds[places[family]]
            for number in range(firsts[family], firsts[family + 1]):
                share = held * overlap[found.node[number]][place[rows]]
                kept = np.flatnonzero(share)
                yield number, rows[kept], share[kept]

    start = np.arange(amounts.shape[0])
    path = [inside(-1, start, np.ones(len(start)))]
    while path:
        following = next(path[-1], None)
        if following is None:
            path.pop()
            continue
        number, rows, share = following
        yield number, np.asarray(amounts[rows].T @ share)
        if below[number]:
            path.append(inside(number, rows, share))


def _normal(amounts: Floats) -> Floats:
    """Distributions of the populations; of one without records that of the whole, which stands last."""
    totals = amounts.sum(axis=1, keepdims=True)
    whole = amounts[-1] / max(float(totals[-1, 0]), np.finfo(float).tiny)
    return np.where(totals > 0, amounts / np.where(totals > 0, totals, 1.0), whole)[:-1]


def _apart(one: Floats, two: Floats) -> Floats:
    step = max(1, _TOGETHER // max(1, one.shape[1]))
    parts = [jensen_shannon(one[at : at + step], two[at : at + step]) for at in range(0, len(one), step)]
    return np.concatenate(parts)


def _size(evidence: Evidence, attribute: Attribute) -> int:
    """How many values occur in the table, and one for all others."""
    return len(evidence.occurring(attribute.name)[0]) + 1
