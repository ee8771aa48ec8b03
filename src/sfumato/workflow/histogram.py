"""A histogram of the table by a strategy: what was measured, the estimated counts, and sums of them with intervals.

Sums follow from the measured numbers (post-processing), so any number of them costs nothing once the histogram is
paid. The noise of estimated counts is correlated; the variance of a sum takes that into account (`dp.strategies`). An
interval is 2.3 deviations to each side, rounded outward: 96 % of one Laplace variable, 98 % of a sum of many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.errors import StudyError, UsageError
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.privacy.dp.strategies import (
    AUTO,
    MARGINALS,
    SINGLE_CELLS,
    Cells,
    Comparison,
    OrderedStrategy,
    Queries,
    check_strategy,
)  # fmt: skip
from sfumato.privacy.dp.strategies.strategy import Floats, Integers
from sfumato.release.answer.columns import Regions
from sfumato.release.answer.estimate import Question
from sfumato.release.answer.interval import CONFIDENCE, DEVIATIONS

_MOST_RANGES = 100


@dataclass(frozen=True, kw_only=True)
class RangeCount:
    """How many records have one of the values of a condition: unbiased, between ``low`` and ``high`` with 95 %."""

    question: str
    count: float
    low: int
    high: int

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"question": self.question, "count": self.count, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Axis:
    """The cells of one attribute, in order."""

    cut: Cut
    domain: Domain

    @property
    def ordered(self) -> bool:
        """Whether ranges of its values mean something by themselves: numbers and days."""
        return isinstance(self.domain, Grid)

    def label(self, start: int, stop: int) -> str:
        """How neighbouring cells read."""
        return self.domain.label(self.cut.range_at(start)[0], self.cut.range_at(stop - 1)[1])

    def chosen(self, text: str) -> "Floats":
        """1 for every cell that satisfies a condition on the attribute, else 0; refuses to divide a cell."""
        name, size = self.cut.attribute, len(self.cut)
        column = Regions(self.domain, self.cut, np.arange(size, dtype=np.int64))
        found = Question({name: column}, np.ones(size, dtype=np.int64), text).found
        if np.any(found.certain != found.possible):
            raise UsageError(
                f"'{text}' divides a value of '{name}' that is counted as one",
                "let the range begin and end where counted values do",
                code="SF-USAGE-370",
            )
        return found.certain.astype(np.float64)

    def queries(self, ranges: Sequence[str]) -> Queries:
        """The ranges that are declared; single cells where none is."""
        if len(ranges) > _MOST_RANGES:
            raise UsageError(
                f"{len(ranges):,} ranges are declared",
                f"declare at most {_MOST_RANGES}; in Python, `over` of the answer gives any others at no cost",
                code="SF-USAGE-371",
            )
        if not ranges:
            return SINGLE_CELLS
        return Queries("declared", tuple(_runs(self.chosen(text)) for text in ranges))

    def strategy(
        self, name: str, epsilon: Fraction, ranges: Sequence[str]
    ) -> tuple[OrderedStrategy, Comparison | None]:
        """The strategy that a question asks for, and the comparison that `auto` decides by."""
        check_strategy(name)
        queries = self.queries(ranges)
        if name == MARGINALS:
            raise StudyError(
                f"'{MARGINALS}' is for several attributes, and '{self.cut.attribute}' alone has one marginal",
                "use `cells`, `hierarchical`, `wavelet` or `auto`",
                code="SF-STUDY-371",
            )
        if not self.ordered:
            if name in {Cells.name, AUTO}:
                return Cells(len(self.cut)), None
            raise StudyError(
                f"the strategy '{name}' adds up neighbouring values, and those of '{self.cut.attribute}' have no order",
                "use `cells` or `auto`, or count by numbers or days",
                code="SF-STUDY-372",
            )
        comparison = Comparison(len(self.cut), epsilon, queries)
        return comparison.chosen(name), comparison


@dataclass(frozen=True, eq=False)
class Histogram:
    """What was measured of the cells of one attribute, with noise."""

    axis: Axis
    strategy: OrderedStrategy
    scale: float
    measured: Integers  # (measurements,)

    @classmethod
    def of(cls, axis: Axis, strategy: OrderedStrategy, epsilon: Fraction, measured: Integers) -> "Histogram":
        """With the scale that the mechanism used."""
        return cls(axis, strategy, scale_for(epsilon, sensitivity=strategy.sensitivity), measured)

    @cached_property
    def estimates(self) -> Floats:
        """The count of every cell, unbiased."""
        found: Floats = self.strategy.estimate(self.measured[None].astype(np.float64))[0]
        return found

    @property
    def labels(self) -> list[str]:
        """The cells."""
        return [self.axis.label(place, place + 1) for place in range(self.strategy.size)]

    @property
    def counts(self) -> dict[str, float]:
        """The estimated counts by label; as they were drawn where every cell was measured by itself."""
        if isinstance(self.strategy, Cells):
            return dict(zip(self.labels, self.measured.tolist(), strict=True))
        return {label: round(count, 6) for label, count in zip(self.labels, self.estimates.tolist(), strict=True)}

    @property
    def deviation(self) -> float:
        """One standard deviation of the count that is least certain."""
        return sqrt(float(self.strategy.cell_variances().max()) * laplace_variance(self.scale))

    @property
    def within(self) -> int:
        """A bound on the error of each count, with 95 %."""
        return ceil(DEVIATIONS * self.deviation)

    def over(self, text: str) -> RangeCount:
        """The sum over the values that satisfy a condition on the attribute, with its interval; costs nothing."""
        weights = self.axis.chosen(text)
        count = float(weights @ self.estimates)
        half = DEVIATIONS * sqrt(float(self.strategy.variance(weights[None])[0]) * laplace_variance(self.scale))
        low = max(floor(count - half), 0)
        return RangeCount(question=text, count=round(count, 6), low=low, high=max(ceil(count + half), low))

    def as_json(self) -> dict[str, Any]:
        """The strategy with its noise, and all that was measured: enough to recompute every number."""
        found = {**self.strategy.facts(), "sensitivity": self.strategy.sensitivity, "noise_scale": self.scale}
        if isinstance(self.strategy, Cells):
            return found
        measured = zip(self.strategy.nodes, self.measured.tolist(), strict=True)
        nodes = [
            {"level": level, "values": self.axis.label(start, stop), "count": count}
            for (level, start, stop), count in measured
        ]
        return {**found, "confidence": CONFIDENCE, "measured": nodes}


def _runs(chosen: Floats) -> tuple[tuple[int, int], ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0.0], chosen, [0.0]])))
    return tuple((int(start), int(stop)) for start, stop in edges.reshape(-1, 2))
