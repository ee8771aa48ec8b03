"""A release of consistent counts as its receiver uses it: queries are answered from the measured numbers."""

from dataclasses import dataclass, field, replace
from math import ceil, floor, sqrt

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.answer.columns import Mask, Regions
from sfumato.release.answer.estimate import Estimate, Question
from sfumato.release.answer.interval import CONFIDENCE, DEVIATIONS
from sfumato.release.draft import EstimatedGroups
from sfumato.release.forms.consistent_counts.layout import ConsistentLayout
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.storage.untrusted import refuse_unexpected


@dataclass(frozen=True, eq=False)
class ConsistentRelease(CountsRelease):
    """Counts that were estimated from noisy sums; the published table has them rounded, and none below 1."""

    consistent: ConsistentLayout = field(repr=False, kw_only=True)

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition: the unbiased estimate, with the interval of its correlated noise.

        The sum over the cells that certainly satisfy the condition is a bound from below, and over those that possibly
        do from above; the two are the same unless a condition divides a region. Each sum is linear in the measured
        numbers, so its variance is known (`privacy.dp.strategies`), and rows of other attributes are independent.
        """
        layout, groups = self.consistent, self.groups
        assert isinstance(groups, EstimatedGroups), "as read"
        estimates = layout.estimates(groups.measured)
        question = self._question(text, estimates.ravel())
        low, _ = self._bounds(question, question.found.certain)
        _, high = self._bounds(question, question.found.possible)
        least = float(max(low, 0))
        found = question.estimate(least, float(max(high, low, 0)), confidence=CONFIDENCE)
        total = max(round(float(estimates.sum())), 0)
        share = None if found.count is None else (min(found.count / total, 1.0) if total else 0.0)
        return replace(found, total=total, share=share)

    def _question(self, text: str, counts: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Question:
        layout = self.consistent.counts
        cells = np.unravel_index(np.arange(len(counts)), self.consistent.sizes)
        cuts = [*layout.cuts, Cut.finest(layout.class_name, layout.class_domain.size)]
        columns = {
            name: Regions(domain, cut, codes.astype(np.int64))
            for (name, domain), cut, codes in zip(layout.attributes, cuts, cells, strict=False)
        }
        return Question(columns, counts, text)

    def _bounds(self, question: Question, chosen: Mask) -> tuple[int, int]:
        """The sum over the chosen cells, less and more what its noise needs, rounded outward."""
        layout = self.consistent
        variance = float(layout.strategy.variance(layout.rows(chosen.astype(np.float64))).sum())
        half = DEVIATIONS * sqrt(variance * laplace_variance(layout.scale))
        total = float(question.counts @ chosen)
        return floor(total - half), ceil(total + half)
