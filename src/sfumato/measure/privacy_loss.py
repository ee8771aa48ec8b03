"""Privacy loss: how far what is seen of one person's group is from what anybody knew (Li & Li, KDD 2009, 4.1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.divergence import jensen_shannon
from sfumato.core.shown import Values
from sfumato.measure.evidence import Evidence, dense
from sfumato.measure.measure import MEASURES, Better, Kind, Reading

Floats = NDArray[np.float64]

_TOGETHER = 4_000_000  # numbers of a full table that are held at once
_QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FromPrior:
    """JS(Q, P(t)) of every published record t.

    Q is the table's distribution of the sensitive attribute, P(t) that of t's group. Of several sensitive attributes a
    record's loss is the largest.
    A suppressed record shows nothing of itself and has no loss. For noisy counts P(t) is read off the published counts,
    since that is what somebody sees; Q is the table's all the same. Sets are told apart as far as the release does: Q
    is then the table's distribution over the regions that sets are published in.
    """

    kind: ClassVar[Kind] = "privacy loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, float(np.log(2.0)))
    unit: ClassVar[str] = "nats"
    attribute: str | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """Without a sensitive attribute or a class there is nothing to learn of a person."""
        if not evidence.protected:
            return "no attribute is sensitive, so there is nothing to learn of a person"
        return None if len(evidence.shown) else "nothing is published"

    def _losses(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """The loss of each row's records, and how many there are."""
        shown = evidence.shown
        found = np.zeros(len(shown))
        for attribute in evidence.chosen(self.attribute):
            values = shown.values[attribute.name]
            found = np.maximum(found, _from(values, _prior(evidence, attribute.name))[values.pool])
        return found, shown.weights


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPrivacyLoss(_FromPrior):
    """Ploss: the largest privacy loss of any published record, since privacy is about each of them."""

    name: ClassVar[str] = "ploss"
    title: ClassVar[str] = "Privacy loss, worst case"
    summary: ClassVar[str] = (
        "how far the sensitive values of the worst record's group are from those of the table; 0: one learns nothing"
    )

    def read(self, evidence: Evidence) -> Reading:
        """The largest loss, with quantiles over records."""
        losses, weights = self._losses(evidence)
        order = np.argsort(losses)
        reached = np.cumsum(weights[order]) / weights.sum()
        quantiles = {
            f"quantile {share:g}": float(losses[order][min(len(order) - 1, int(np.searchsorted(reached, share)))])
            for share in _QUANTILES
        }
        worst = float(losses.max())
        there = float(weights[losses >= worst - 1e-12].sum())
        return Reading(value=worst, details={**quantiles, "records with the largest": there})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class MeanPrivacyLoss(_FromPrior):
    """The mean privacy loss over published records; a small mean says nothing of the worst."""

    name: ClassVar[str] = "mean-ploss"
    title: ClassVar[str] = "Privacy loss, mean"
    summary: ClassVar[str] = "the same as the worst case, on average over published records"

    def read(self, evidence: Evidence) -> Reading:
        """The weighted mean."""
        losses, weights = self._losses(evidence)
        return Reading(value=float(np.average(losses, weights=weights)))


def _prior(evidence: Evidence, name: str) -> Floats:
    """The distribution in the table of what the release tells apart; of sets the last is what it has no region for."""
    overall = evidence.overall(name)
    if name not in evidence.shown.sets:
        return overall
    place, size = evidence.placed(name), evidence.shown.sets[name].size
    found = np.bincount(np.where(place < 0, size, place), weights=overall[:-1], minlength=size + 1)
    return np.asarray(found, np.float64)


def _from(values: Values, prior: Floats) -> Floats:
    """The distance of each pool's distribution from the prior."""
    shares = values.as_told()
    found = np.zeros(shares.shape[0])
    step = max(1, _TOGETHER // max(1, shares.shape[1]))
    for start in range(0, len(found), step):
        some = dense(shares[start : start + step])
        some = np.pad(some, ((0, 0), (0, len(prior) - some.shape[1])))
        found[start : start + step] = jensen_shannon(some, prior[None, :])
    return found
