"""Own-record loss: how far a release moves belief about a person because that person's own record is in the table.

Privacy loss counts all that a release tells of a person, also what it would tell without them: that smokers fall ill is
no breach of a smoker's privacy. This is the other part. It is 0 in a group where everybody has the same value, where a
privacy loss is largest: neither number stands for the other, and neither is shown alone.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.beliefs.noisy_beliefs import js_terms
from sfumato.evaluate.beliefs.own_noisy import largest_loss, own_losses
from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.evaluate.measures.li_privacy_loss import MOST_LOSS, prior, spread_over
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.evaluate.measures.privacy_loss import noise_unknown, posterior_of
from sfumato.release.shown import NoisyCells, Shown, Values
from sfumato.wording import share_words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

BOUND = "most that ε allows"


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecordLoss(Measure):
    """The largest change of belief that is due to a person's own record; the recoding is held fixed.

    *Exact releases:* a person with value s in an equivalence class of n records, n_s of them with s. Without the record
    the class has (n_s − 1)/(n − 1) of s and all other values keep their proportions, so the divergence is that of two
    numbers: n_s/n and (n_s − 1)/(n − 1); for somebody alone in the class, 1 and the table's share of s. *Noisy counts:*
    the expected belief with the record and without it, over the noise of the person's own cell. *Measured tables:* the
    bound that ε gives, and no more.

    With ε-differential privacy the expected change is at most ln 2 − H(1/(1 + e^ε)) for any adversary, also by what the
    record does to the recoding: the details of a reading have this bound beside it.
    """

    name: ClassVar[str] = "own-record-loss"
    title: ClassVar[str] = "Own-record loss, worst case"
    summary: ClassVar[str] = (
        "how far the release moves belief about a person because their own record is in the table, for the person with "
        "the largest change; of measured tables the largest change that ε allows. 0 where everybody in a group has the "
        "same value, so it is read beside `ploss`"
    )
    kind: ClassVar[Kind] = "privacy loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, MOST_LOSS)
    unit: ClassVar[str] = "nats"
    speed: ClassVar[Speed] = "medium"
    attribute: str | None = None

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "Because a person's own record is in the table, the release moves belief about their sensitive value by at "
            f"most {share_words(value / MOST_LOSS)} of the largest possible divergence. This does not count what the "
            "records of others tell: read it beside the privacy loss."
        )

    def refuses(self, evidence: Evidence) -> str | None:
        """Where nobody's own record can be taken out: samples, and persons with several records."""
        shown = evidence.shown
        if not evidence.protected or not evidence.records:
            return "no record has a sensitive attribute, so there is nothing to learn of a person"
        if _bounded(shown):
            return None
        if isinstance(shown.source, NoisyCells) and shown.stability > 1:
            return (
                f"a person may have up to {shown.stability} records, and this measure takes out one; the bound by ε "
                "holds for all of a person's records"
            )
        if shown.noisy:
            return noise_unknown(evidence)
        if shown.rate < 1:
            return "the release is a sample, and an adversary does not know whether the person's own record is in it"
        return evidence.unpublished(self.attribute) if len(shown) else "the release contains no records"

    def read(self, evidence: Evidence) -> Reading:
        """The largest change, with quantiles over people, and the bound where there is an ε."""
        shown = evidence.shown
        details: dict[str, Any] = {} if shown.epsilon is None else {BOUND: largest_loss(shown.epsilon)}
        if _bounded(shown):
            return Reading(
                value=details[BOUND], details={**details, "kind": "a bound: the loss itself is at most this"}
            )
        every = [_losses(evidence, one.name) for one in evidence.chosen(self.attribute)]
        losses = np.concatenate([found for found, _ in every])
        people = np.concatenate([weights for _, weights in every])
        there = people > 0
        losses, people = losses[there], people[there]
        if not len(losses):
            return Reading(value=0.0, details=details)
        mean = float(np.average(losses, weights=people))
        return Reading(value=float(losses.max()), details={**details, "mean": mean, **spread_over(losses, people)})


def _bounded(shown: Shown) -> bool:
    """Whether only the bound by ε is known: where counts are not independent, and one record may change a model."""
    return shown.noisy and not isinstance(shown.source, NoisyCells) and shown.epsilon is not None


def _losses(evidence: Evidence, name: str) -> tuple[Floats, Floats]:
    """The change for the people of each value in each group, and how many they are."""
    shown, source = evidence.shown, evidence.shown.source
    if isinstance(source, NoisyCells):
        posterior = posterior_of(evidence, source)
        people = posterior.table.table_count.astype(np.float64)
        if name not in posterior.table.regions:  # it is not published
            return np.zeros(len(people)), people
        return own_losses(posterior, name), people
    group, value, counts, edges = _class_counts(shown, shown.values[name])
    return exact_losses(group, counts, _shares_of(value, edges, *prior(evidence, name)))


def exact_losses(group: Integers, counts: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Of exact counts, each of one value in one equivalence class: the change for its records, and how many they are.

    ``shares`` are the table's shares of these values.

    >>> found, people = exact_losses(np.array([0, 0, 1]), np.array([3.0, 1.0, 1.0]), np.array([0.6, 0.4, 0.4]))
    >>> found.round(4).tolist(), people.tolist()
    ([0.0042, 0.0956, 0.2744], [3.0, 1.0, 1.0])
    """
    size = np.bincount(group, weights=counts)[group] if len(group) else counts
    rest = np.where(size > 1, np.maximum(counts - 1, 0) / np.maximum(size - 1, 1), shares)
    one, two = counts / size, np.minimum(rest, 1.0)
    found = js_terms(one, two) + js_terms(1 - one, 1 - two)
    return np.clip(found, 0.0, np.log(2.0)), counts


def _shares_of(values: Integers, edges: Integers | None, codes: Integers, records: Floats) -> Floats:
    """The table's shares of some values: codes or, with edges, regions of codes. Nothing is as long as a domain."""
    if edges is not None:
        codes, at = np.unique(np.searchsorted(edges, codes, side="right") - 1, return_inverse=True)
        records = np.bincount(at.ravel(), weights=records, minlength=len(codes)).astype(np.float64)
    place = np.minimum(np.searchsorted(codes, values), len(codes) - 1)
    return np.where(codes[place] == values, records[place], 0.0) / max(float(records.sum()), 1.0)


def _class_counts(shown: Shown, values: Values) -> tuple[Integers, Integers, Floats, Integers | None]:
    """Counts of the published values in each equivalence class, or bucket: class, value, count, and edges of values.

    Rows of one region that are listed apart are one class, except in buckets, which are told apart by their number.
    """
    table = values.counts if values.published is None else values.published
    edges = values.edges if values.published is None else None
    group = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    value, counts = table.indices.astype(np.int64), table.data.astype(np.float64)
    there = counts > 0
    group, value, counts = group[there], value[there], counts[there]
    own = len(values.pool) == table.shape[0] and np.array_equal(values.pool, np.arange(len(values.pool)))
    if not own or shown.form != "generalised":
        return group, value, counts, edges
    ends = [*shown.starts.T.astype(np.int64), *shown.stops.T.astype(np.int64)]
    region, _ = distinct_rows(ends, len(shown))
    pair, first = distinct_rows([region[group], value], len(group))
    merged = np.bincount(pair, weights=counts, minlength=len(first)).astype(np.float64)
    return region[group][first], value[first], merged, edges
