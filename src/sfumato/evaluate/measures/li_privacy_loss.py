"""Privacy loss as its paper defines it: how far one group's values are from the table's (Li & Li, KDD 2009, 4.1).

Published counts are taken at their word, also where they are noise, and a value that is published as a region stands
for each of its codes alike. The papers' figures use it; to compare releases, `privacy_loss` is fair to noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.release.shown import OverRanges
from sfumato.wording import share_words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_TOGETHER = 2_000_000  # terms of the sums that are held at once
_QUANTILES = (0.5, 0.9, 0.99)
MOST_LOSS = float(np.log(2.0))  # the largest Jensen-Shannon divergence, in nats


@dataclass(frozen=True, slots=True, kw_only=True)
class _AsPublished(Measure):
    """JS(Q, P(t)) of every published record t.

    Q is the table's distribution of the sensitive attribute, P(t) that of t's equivalence class. Of several sensitive
    attributes the largest loss of a record counts. A suppressed record has no loss. For noisy counts P(t) is read off
    the published counts; Q is still the table's. Of sets, Q is the table's distribution over the regions that sets are
    published in.
    """

    kind: ClassVar[Kind] = "privacy loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, MOST_LOSS)
    unit: ClassVar[str] = "nats"
    speed: ClassVar[Speed] = "quick"
    attribute: str | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """Without a sensitive attribute or a class there is nothing to learn of a person."""
        if not evidence.protected:
            return "no attribute is sensitive, so there is nothing to learn of a person"
        return evidence.unpublished(self.attribute) if len(evidence.shown) else "the release contains no records"

    def _losses(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """The loss of each row's records, and how many there are."""
        shown = evidence.shown
        found = np.zeros(len(shown))
        for attribute in evidence.chosen(self.attribute):
            key = f"losses as published of {attribute.name}"
            if key not in evidence.found:  # the worst and the mean are of the same losses
                told = shown.values[attribute.name].as_published()
                evidence.found[key] = from_prior(told, *prior(evidence, attribute.name))
            found = np.maximum(found, evidence.found[key][shown.values[attribute.name].pool])
        return found, shown.weights


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class LiWorstPrivacyLoss(_AsPublished):
    """Ploss of Li & Li: the largest privacy loss of any published record, since privacy concerns each of them."""

    name: ClassVar[str] = "ploss-li"
    title: ClassVar[str] = "Privacy loss of Li & Li, worst case"
    summary: ClassVar[str] = (
        "Ploss as Li & Li define it: the largest Jensen-Shannon divergence, over published records, between the "
        "sensitive values of a record's equivalence class and those of the whole table; noisy counts are taken as true "
        "counts, and a generalised value as each of its values alike"
    )

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "For the record with the largest loss, the divergence between the sensitive values of its equivalence "
            f"class and those of the whole table is {share_words(value / MOST_LOSS)} of the largest possible "
            "divergence."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The largest loss, with quantiles over records."""
        losses, weights = self._losses(evidence)
        return Reading(value=float(losses.max()), details=spread_over(losses, weights))


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class LiMeanPrivacyLoss(_AsPublished):
    """The mean privacy loss of Li & Li over published records; a small mean does not bound the largest."""

    name: ClassVar[str] = "mean-ploss-li"
    title: ClassVar[str] = "Privacy loss of Li & Li, mean"
    summary: ClassVar[str] = "the same divergence as in `ploss-li`, averaged over published records"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "On average over records, the divergence between the sensitive values of the equivalence class and those "
            f"of the whole table is {share_words(value / MOST_LOSS)} of the largest possible divergence. A small mean "
            "does not bound the largest loss."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The weighted mean."""
        losses, weights = self._losses(evidence)
        return Reading(value=float(np.average(losses, weights=weights)))


def spread_over(losses: Floats, weights: Floats) -> dict[str, float]:
    """Quantiles of losses over records, and how many records have the largest."""
    order = np.argsort(losses)
    reached = np.cumsum(weights[order]) / weights.sum()
    quantiles = {
        f"quantile {share:g}": float(losses[order][min(len(order) - 1, int(np.searchsorted(reached, share)))])
        for share in _QUANTILES
    }
    return {**quantiles, "records with the largest": float(weights[losses >= losses.max() - 1e-12].sum())}


def prior(evidence: Evidence, name: str) -> tuple[Integers, Floats]:
    """The codes that occur in the table, and how many records have each; of sets, places of the release.

    Sets that the release has no region for are at a place after its last.
    """
    codes, _, records = evidence.occurring(name)
    if name not in evidence.shown.sets:
        return codes, records
    place = evidence.set_places(name)[codes]
    places, at = np.unique(np.where(place < 0, evidence.shown.sets[name].size, place), return_inverse=True)
    return places, np.bincount(at.ravel(), weights=records, minlength=len(places)).astype(np.float64)


def from_prior(over: OverRanges, codes: Integers, records: Floats) -> Floats:
    """JS(Q, P) of each pool's distribution P from the prior Q, which has so many ``records`` of each of the ``codes``.

    With p and q the two shares of a code, JS = ½Σ(p·log(2p/(p + q)) + q·log(2q/(p + q))), and a code that the pool does
    not have adds ½·q·log 2, so only codes that it has are gone through. Within a range p is the same for every code,
    and codes that equally many records have add the same; those that no record has are one term, p·log 2 each.
    """
    total = max(1.0, float(records.sum()))
    kinds = _Kinds.of(over, codes, records)
    found, seen = np.zeros(over.shares.shape[0]), np.zeros(over.shares.shape[0])
    row, column = np.repeat(np.arange(len(found)), np.diff(over.shares.indptr)), over.shares.indices
    share = over.shares.data / over.widths[column]
    for some in kinds.blocks(column):
        term, kind = kinds.expanded(column[some])
        p, q, many, at = share[some][term], kinds.records[kind] / total, kinds.codes[kind], row[some][term]
        middle = p + q
        each = p * np.log(np.divide(2 * p, middle, out=np.ones_like(p), where=p > 0))
        each += q * np.log(np.divide(2 * q, middle, out=np.ones_like(q), where=q > 0))
        found += np.bincount(at, weights=many * each, minlength=len(found))
        seen += np.bincount(at, weights=many * kinds.records[kind], minlength=len(found))
    found += (float(records.sum()) - seen) / total * np.log(2.0)
    return np.clip(found / 2, 0.0, np.log(2.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """The codes of each range by how many records of the table have them: kinds of codes that count alike."""

    first: Integers  # (ranges + 1,)
    records: Floats  # (kinds,) of one code of the kind
    codes: Floats  # (kinds,) how many codes are of it

    @classmethod
    def of(cls, over: OverRanges, codes: Integers, records: Floats) -> "_Kinds":
        place = over.range_of(codes)
        inside = place >= 0
        there = np.bincount(place[inside], minlength=len(over.starts))
        none = np.flatnonzero(over.widths > there)  # ranges with codes that no record has
        ranges = np.concatenate([place[inside], none])
        often = np.concatenate([records[inside], np.zeros(len(none))])
        many = np.concatenate([np.ones(int(inside.sum())), (over.widths - there)[none]])
        order = np.lexsort((often, ranges))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(ranges[order]) > 0) | (np.diff(often[order]) > 0)
        start = np.flatnonzero(new)
        first = np.searchsorted(ranges[order][start], np.arange(len(over.starts) + 1))
        return cls(first, often[order][start], np.add.reduceat(many[order], start) if len(start) else many)

    def blocks(self, column: Integers) -> Iterator[slice]:
        """Parts of the shares with so many terms at most; one share is never divided."""
        terms = np.cumsum(np.diff(self.first)[column])
        start = 0
        while start < len(column):
            before = int(terms[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(terms, before + _TOGETHER, side="right")))
            yield slice(start, stop)
            start = stop

    def expanded(self, column: Integers) -> tuple[Integers, Integers]:
        """For each kind of each of the ranges: which of them, and the kind."""
        many = np.diff(self.first)[column]
        term = np.repeat(np.arange(len(column)), many)
        within = np.arange(len(term)) - np.repeat(np.cumsum(many) - many, many)
        return term, self.first[column][term] + within
