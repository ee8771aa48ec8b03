"""Utility loss: how wrong one would be about the sensitive values of large populations (Li & Li, KDD 2009, 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.core.attribute import Attribute
from sfumato.core.divergence import jensen_shannon
from sfumato.core.shown import Shown
from sfumato.errors import InfeasibleError, UsageError
from sfumato.measure.evidence import Evidence, alike, dense
from sfumato.measure.measure import MEASURES, Better, Kind, Reading
from sfumato.measure.populations import Populations, edges_of, large_populations

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST = 50_000_000  # numbers in a table of all populations by all sensitive values
_TOGETHER = 2_000_000  # numbers of such a table that are compared at once


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityLoss:
    """Uloss: the mean over large populations y of JS(P_y, P̂_y), since utility is about all of them.

    P_y is the table's distribution of the sensitive attribute in y, P̂_y what the release lets one reconstruct: a row's
    records lie evenly over its region, so the share |region ∩ node| / |region| of each attribute of y is in y, and each
    has any of the values of its group or bucket alike. Of a population that the release puts no record into, one would
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
            truth = _truth(evidence, attribute, found, self.min_sup)
            losses += _apart(truth, _reconstructed(evidence, attribute, found)) / len(chosen)
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


def _truth(evidence: Evidence, attribute: Attribute, found: Populations, min_sup: float) -> Floats:
    """The true distributions; counted once and kept with the evidence."""
    key = f"populations {min_sup!r} of {attribute.name}"
    if key not in evidence.kept:
        place, people = evidence.people
        amounts = csr_array(
            (evidence.raw.counts.astype(np.float64), (place, evidence.column(attribute.name))),
            shape=(len(people), _size(evidence, attribute)),
        )
        evidence.kept[key] = _normal(spread(found, evidence.view.quasi, people.codes, people.codes + 1, amounts))
    kept: Floats = evidence.kept[key]
    return kept


def _reconstructed(evidence: Evidence, attribute: Attribute, found: Populations) -> Floats:
    shown = evidence.shown
    values = shown.values[attribute.name]
    rows = np.arange(len(shown))
    amounts = csr_array((shown.weights, (rows, values.pool)), shape=(len(rows), values.counts.shape[0]))
    shares = csr_array(amounts @ values.shares())
    starts, stops = _regions(shown, evidence.view.quasi)
    return _normal(spread(found, evidence.view.quasi, starts, stops, shares))


def _regions(shown: Shown, quasi: Sequence[Attribute]) -> tuple[Integers, Integers]:
    """The region of each row; an attribute that is not published may have any value."""
    starts = np.zeros((len(shown), len(quasi)), np.int64)
    stops = np.zeros_like(starts)
    for place, attribute in enumerate(quasi):
        if attribute.name in shown.attributes:
            column = shown.attributes.index(attribute.name)
            starts[:, place], stops[:, place] = shown.starts[:, column], shown.stops[:, column]
        else:
            assert attribute.domain is not None, "quasi-identifiers have domains"
            stops[:, place] = attribute.domain.size
    return starts, stops


def spread(
    found: Populations, quasi: Sequence[Attribute], starts: Integers, stops: Integers, amounts: csr_array
) -> Floats:
    """How much of each column of ``amounts`` falls into each population, and into all records at the end.

    Down the trie: a row's share of a population is that of the parent times the overlap of its region with one node
    more. Below one population the rows with the same region of the next attribute are added up, and a whole family is
    one product of matrices. Rows without a share are dropped on the way.
    """
    names = [a.name for a in quasi]
    place = [names.index(name) for name in found.attributes]
    regions, overlaps, mass = _alike(found, starts[:, place], stops[:, place], amounts)
    width = mass.shape[1]
    columns = np.arange(width)
    result = np.zeros((len(found) + 1, width))
    result[-1] = mass.sum(axis=0)
    below, first, places = found.families(), found.first.tolist(), found.attribute.tolist()
    todo: list[tuple[int, Integers, Floats]] = [(-1, np.arange(len(mass)), mass)]
    while todo:
        above, rows, held = todo.pop()
        for family in below[above]:
            begin, end = first[family], first[family + 1]
            region = regions[places[family]][rows]
            overlap = overlaps[places[family]][found.node[begin:end]]
            flat = ((region * width)[:, None] + columns).ravel()
            sums = np.bincount(flat, weights=held.ravel(), minlength=overlap.shape[1] * width)
            result[begin:end] = overlap @ sums.reshape(-1, width)
            for number in range(begin, end):
                if below[number]:
                    share = overlap[number - begin][region]
                    kept = np.flatnonzero(share)
                    todo.append((number, rows[kept], held[kept] * share[kept, None]))
    return result


def _alike(
    found: Populations, starts: Integers, stops: Integers, amounts: csr_array
) -> tuple[list[Integers], list[Floats], Floats]:
    """Rows that lie alike towards every node as one: its region of each attribute, and its amounts.

    The regions are numbered, and each attribute has the overlap of every node with every region. A single code is as
    good as any other that no node tells it from.
    """
    regions, overlaps = [], []
    for place in range(len(found.attributes)):
        low, high = found.starts[place], found.stops[place]
        begin, end = starts[:, place], stops[:, place]
        edges = np.concatenate([[-1], edges_of(np.stack([low, high]))])
        exact = end - begin == 1
        begin = np.where(exact, edges[np.searchsorted(edges, begin, side="right") - 1], begin)
        end = np.where(exact, begin + 1, end)
        region, first = alike([begin, end], len(begin))
        begin, end = begin[first], end[first]
        common = np.minimum(end, high[:, None]) - np.maximum(begin, low[:, None])
        regions.append(region)
        overlaps.append(np.maximum(common, 0) / (end - begin))
    kind, first = alike(regions, len(starts))
    together = csr_array((np.ones(len(kind)), (kind, np.arange(len(kind)))), shape=(len(first), len(kind)))
    return [region[first] for region in regions], overlaps, dense(csr_array(together @ amounts))


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
    return evidence.view.domain(attribute.name).size
