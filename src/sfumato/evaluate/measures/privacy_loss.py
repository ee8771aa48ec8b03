"""Privacy loss: how far a release moves belief about a person, whether or not the person took part.

The definition of Li & Li (KDD 2009, 4.1), made fair to noise: an adversary who knows how the release was made starts
from the table's overall distribution P of the sensitive attribute, and ends at Q. On exact counts of single values Q is
the paper's, to the last digit.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.beliefs.graphical_beliefs import graphical_losses
from sfumato.evaluate.beliefs.group_posterior import GroupPosterior
from sfumato.evaluate.beliefs.model_beliefs import model_losses, too_many
from sfumato.evaluate.beliefs.noisy_beliefs import group_losses
from sfumato.evaluate.beliefs.noisy_cells import cell_table
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.li_privacy_loss import MOST_LOSS, prior, spread_over
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.release.measured import MeasuredTables
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.shown import NoisyCells, OverRanges
from sfumato.wording import share_words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def noise_unknown(evidence: Evidence) -> str | None:
    """Why beliefs cannot be worked out from a release with noise: it does not say what the noise is."""
    if evidence.shown.noisy and evidence.shown.source is None:
        return "the release does not state independent noise on its counts, so what they tell of a person is not known"
    return None


def posterior_of(evidence: Evidence, source: NoisyCells) -> GroupPosterior:
    """The adversary's posterior given noisy counts, worked out once for all measures of a release."""
    if "noise posterior" not in evidence.found:
        evidence.found["noise posterior"] = GroupPosterior(cell_table(evidence, source))
    found: GroupPosterior = evidence.found["noise posterior"]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Belief(Measure):
    """JS(P, Q) of every person.

    *Exact releases.* Q is the distribution of the sensitive attribute in the person's equivalence class, and the people
    are the published records; a suppressed record has no loss. A value that is published as a region is spread over its
    codes by P, never evenly, so an attribute that is published as one region has no loss.

    *Noisy counts.* The adversary knows the noise: Q is the expected share of each value in the person's group given all
    counts (`evaluate.beliefs`). *Measured tables and marginals:* Q is the posterior under the published model. In both
    cases the people are all records of the table, those in groups of which nothing is published too.

    Of several sensitive attributes the largest loss of a person counts.
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
        if not evidence.records:
            return "the table contains no records"
        if evidence.shown.synthetic:
            return "another tool made the rows, and its noise is not known; `ploss-li` takes them at their word"
        source = evidence.shown.source
        if isinstance(source, MeasuredTables):
            found = (too_many(evidence, source, one.name) for one in evidence.chosen(self.attribute))
            return next((why for why in found if why is not None), None)
        if evidence.shown.noisy:
            return noise_unknown(evidence)
        return evidence.unpublished(self.attribute) if len(evidence.shown) else "the release contains no records"

    def _losses(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """The loss of each person, and how many have it."""
        every = [losses_of(evidence, one.name) for one in evidence.chosen(self.attribute)]
        return np.maximum.reduce([losses for losses, _ in every]), every[0][1]


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPrivacyLoss(_Belief):
    """Ploss: the largest privacy loss of any person, since privacy concerns each of them."""

    name: ClassVar[str] = "ploss"
    title: ClassVar[str] = "Privacy loss, worst case"
    summary: ClassVar[str] = (
        "how far the release moves belief about the worst-placed person, whether or not they took part: the largest "
        "Jensen-Shannon divergence between the table's distribution of the sensitive attribute and the belief of an "
        "adversary who knows the person's quasi-identifiers and the noise of the release"
    )

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "The release moves belief about the sensitive value of the worst-placed person, whether or not they took "
            f"part, by {share_words(value / MOST_LOSS)} of the largest possible divergence."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The largest loss, with quantiles over people; people are those of whom the table has a record."""
        losses, weights = self._losses(evidence)
        there = weights > 0
        losses, weights = losses[there], weights[there]
        return Reading(value=float(losses.max()), details=spread_over(losses, weights))


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class MeanPrivacyLoss(_Belief):
    """The mean privacy loss over people; a small mean does not bound the largest."""

    name: ClassVar[str] = "mean-ploss"
    title: ClassVar[str] = "Privacy loss, mean"
    summary: ClassVar[str] = "how far the release moves belief about a person, as in `ploss`, averaged over people"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "On average over people, the release moves belief about the sensitive value by "
            f"{share_words(value / MOST_LOSS)} of the largest possible divergence. A small mean does not bound the "
            "largest loss."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The weighted mean."""
        losses, weights = self._losses(evidence)
        return Reading(value=float(np.average(losses, weights=weights)))


def losses_of(evidence: Evidence, name: str) -> tuple[Floats, Floats]:
    """The losses for one attribute, and how many people have each; worked out once for a release."""
    key = f"losses of {name}"
    if key not in evidence.found:
        evidence.found[key] = _losses_of(evidence, name)
    found: tuple[Floats, Floats] = evidence.found[key]
    return found


def _losses_of(evidence: Evidence, name: str) -> tuple[Floats, Floats]:
    shown, source = evidence.shown, evidence.shown.source
    if isinstance(source, MeasuredTables):
        model = model_losses(evidence, source, name)
        return model.losses, model.records
    if isinstance(source, MeasuredMarginals):
        return graphical_losses(evidence, source, name)
    if isinstance(source, NoisyCells):
        posterior = posterior_of(evidence, source)
        people = posterior.table.people
        if name not in posterior.table.regions:  # it is not published
            return np.zeros(len(people)), people
        return group_losses(posterior, name), people
    values = shown.values[name]
    return from_prior(values.as_published(), *prior(evidence, name))[values.pool], shown.weights


def from_prior(over: OverRanges, codes: Integers, records: Floats) -> Floats:
    """JS(P, Q) of each pool's distribution Q from the prior P, which has so many ``records`` of each of the ``codes``.

    Codes of one range are alike: spread by P, the ratio of q to p is the same for each of them, so a range adds what it
    adds as a whole. A range that the pool does not have adds ½·p·log 2, so only those that it has are gone through.
    """
    total = max(1.0, float(records.sum()))
    place = over.range_of(codes)
    inside = place >= 0
    of_range = np.bincount(place[inside], weights=records[inside], minlength=len(over.starts)).astype(np.float64)
    rows = over.shares.shape[0]
    row, column = np.repeat(np.arange(rows), np.diff(over.shares.indptr)), over.shares.indices
    q, p = over.shares.data, of_range[column] / total
    middle = q + p
    each = q * np.log(np.divide(2 * q, middle, out=np.ones_like(q), where=q > 0))
    each += p * np.log(np.divide(2 * p, middle, out=np.ones_like(p), where=p > 0))
    found = np.bincount(row, weights=each, minlength=rows).astype(np.float64)
    seen = np.bincount(row, weights=of_range[column], minlength=rows)
    found += (float(records.sum()) - seen) / total * np.log(2.0)
    return np.clip(found / 2, 0.0, np.log(2.0))
