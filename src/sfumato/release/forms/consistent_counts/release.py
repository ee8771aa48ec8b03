"""A release of consistent counts as its receiver uses it: queries are answered from the measured numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, log, sqrt

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.domains.query.condition import attributes_of
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.privacy.dp.strategies import Marginals
from sfumato.privacy.dp.strategies.strategy import Floats
from sfumato.release.answer.columns import Mask, Regions
from sfumato.release.answer.estimate import Estimate, Question
from sfumato.release.answer.interval import CONFIDENCE, DEVIATIONS
from sfumato.release.draft import EstimatedGroups
from sfumato.release.forms.consistent_counts.layout import ConsistentLayout
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.storage.untrusted import refuse_unexpected


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentRelease(CountsRelease):
    """Counts that were estimated from noisy sums; the published table has them rounded, and none below 1."""

    consistent: ConsistentLayout = field(repr=False, kw_only=True)

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition: the unbiased estimate, with the interval of its correlated noise.

        The sum over the cells that certainly satisfy the condition is a bound from below, and over those that possibly
        do from above; the two are the same unless a condition divides a region. Each sum is linear in the measured
        numbers, so its variance is known (`privacy.dp.strategies`), and rows of other attributes are independent. A
        condition on more attributes than a measured marginal has is answered from the published table, in an interval
        that does not rely on it; ``modelled`` names these attributes.
        """
        layout = self.consistent
        estimates = self._estimates
        total = max(round(float(estimates.sum())), 0)
        question = self._question(text, estimates.ravel())
        certain, possible = question.found.certain, question.found.possible
        modelled: tuple[str, ...] = ()
        if isinstance(layout.strategy, Marginals) and not self._measured(certain, possible):
            modelled = tuple(dict.fromkeys(attributes_of(question.condition)))
            low, high = self._between_marginals(layout.strategy, question)
            question = self._question(text, self._published().ravel())
        else:
            low, high = self._bounds(question, certain)[0], self._bounds(question, possible)[1]
        least = float(max(low, 0))
        found = question.estimate(least, float(max(high, low, 0)), confidence=CONFIDENCE)
        share = None if found.count is None else (min(found.count / total, 1.0) if total else 0.0)
        return replace(found, total=total, share=share, modelled=modelled)

    def about(self, attribute: str) -> Callable[[str], Estimate]:  # noqa: ARG002 - estimates are asked alike
        """`query`: its noise is correlated, so cells are not counted together."""
        return self.query

    @cached_property
    def _estimates(self) -> Floats:
        groups = self.groups
        assert isinstance(groups, EstimatedGroups), "as read"
        return self.consistent.estimates(groups.measured)

    def _measured(self, *chosen: Mask) -> bool:
        """Whether sums over these cells are sums of measured marginals."""
        strategy = self.consistent.strategy
        assert isinstance(strategy, Marginals), "asked of marginals alone"
        return all(strategy.spans(one.astype(np.float64)[None]) for one in chosen)

    def _between_marginals(self, strategy: Marginals, question: Question) -> tuple[int, int]:
        """Bounds of a sum that no marginal has, by sums that marginals have.

        For every marginal, the cells of it in which all records satisfy the condition hold no more than satisfy it, and
        those in which some may hold no fewer. The best of each is taken; all of them hold together with the confidence,
        since each side of each has its part of the risk. A Laplace variable has the longest tails of such sums.
        """
        shape = self.consistent.sizes
        certain, possible = question.found.certain.reshape(shape), question.found.possible.reshape(shape)
        deviations = max(DEVIATIONS, log(len(strategy.subsets) / (1 - CONFIDENCE)) / sqrt(2) + 0.1)
        lows, highs = [0], []
        for subset in strategy.subsets:
            outside = tuple(axis for axis in range(len(shape)) if axis not in subset)
            every = np.broadcast_to(certain.all(axis=outside, keepdims=True), shape).ravel()
            some = np.broadcast_to(possible.any(axis=outside, keepdims=True), shape).ravel()
            lows.append(self._bounds(question, every, deviations)[0])
            highs.append(self._bounds(question, some, deviations)[1])
        return max(lows), max(min(highs), 0)

    def _published(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """The published table, with 0 where a group is not listed."""
        found = np.zeros(self.consistent.sizes)
        found[(*self.groups.regions.T, self.groups.classes)] = self.groups.counts
        return found.ravel()

    def _question(self, text: str, counts: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Question:
        layout = self.consistent.counts
        cells = np.unravel_index(np.arange(len(counts)), self.consistent.sizes)
        cuts = [*layout.cuts, Cut.finest(layout.class_name, layout.class_domain.size)]
        columns = {
            name: Regions(domain, cut, codes.astype(np.int64))
            for (name, domain), cut, codes in zip(layout.attributes, cuts, cells, strict=False)
        }
        return Question(columns, counts, text)

    def _bounds(self, question: Question, chosen: Mask, deviations: float = DEVIATIONS) -> tuple[int, int]:
        """The sum over the chosen cells, less and more what its noise needs, rounded outward."""
        layout = self.consistent
        variance = float(layout.strategy.variance(layout.rows(chosen.astype(np.float64))).sum())
        half = deviations * sqrt(variance * laplace_variance(layout.scale))
        total = float(question.counts @ chosen)
        return floor(total - half), ceil(total + half)
