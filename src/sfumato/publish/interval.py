"""Intervals for counts from a release with noisy counts: from published numbers alone, so they spend no budget.

A condition S is satisfied by all records of some groups, by none of others, and by an unknown part of the rest. So the
true answer lies between T₁, the records of the groups that certainly satisfy it, and T₂, those of all groups that
possibly do. Each is a sum of true counts n over groups of which only noisy counts y = n + X are known, and only those
from a cutoff t on; X is discrete Laplace noise of scale b, α = e^(−1/b).

*From below.* Let y⁺ = y where y ≥ t and else 0, so that Z = Σ y⁺ is the sum of the listed counts. An empty group adds
E[X·1(X ≥ t)] = β to it on average; a group that has records adds at most that much too much, since
E[y⁺] − n = −E[(n + X)·1(n + X < t)] falls in n. So Z − Mβ, M the number of groups in the sum, listed or not, is on
average at most T. Or T = N − T′ as below, with a bound from above on T′, those that may not satisfy the condition: the
better of the two.

*From above*, the better of two. Of a group that is not listed n = y − X ≤ m − X, m the most that is not listed:
T ≤ Z + u·m − ΣX with u groups that are not listed. And T = N − T′, N the number of records in all and T′ those that
certainly do not satisfy the condition: a noisy total and a bound from below.

Deviations are added up as variances, of groups near the cutoff with what being listed or not makes, and taken 2.3
times, which is 97.5 % on each side for a single Laplace variable and for sums of many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.publish.asked import Mask, Reach

CONFIDENCE: Final = 0.95
_DEVIATIONS: Final = 2.3


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What is published of the noise on the counts: see `Undo` and `Totals` of the methods, which write it."""

    scale: float
    groups: float  # of one class, listed or not
    cutoff: tuple[int, ...]  # a class each
    unlisted: tuple[int, ...]
    factor: tuple[float, ...]
    shift: float
    totals: tuple[int, ...] = ()  # a class each, or one in all
    deviation: float = 0.0

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], *, groups: float, classes: int) -> "Noise | None":
        """From a manifest's facts; None where no scale is published. Older releases say less."""
        scale = facts.get("noise_scale")
        if not isinstance(scale, (int, float)) or isinstance(scale, bool) or not 0 < scale < inf:
            return None
        undo, totals = facts.get("noisy_counts") or {}, facts.get("noisy_totals") or {}
        threshold = int(facts.get("threshold", 1))
        return cls(
            scale=float(scale),
            groups=groups,
            cutoff=tuple(undo.get("cutoff", ())) or (threshold,) * classes,
            unlisted=tuple(undo.get("unlisted", ())) or (threshold - 1,) * classes,
            factor=tuple(undo.get("factor", ())) or (1.0,) * classes,
            shift=float(undo.get("shift", 0.0)),
            totals=tuple(totals.get("counts", ())),
            deviation=float(totals.get("deviation", 0.0)),
        )


@dataclass(frozen=True)
class Bound:
    """A number that is known up to a variance."""

    mean: float
    variance: float

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.mean + other.mean, self.variance + other.variance)

    @property
    def least(self) -> float:
        """What it hardly ever lies under."""
        return self.mean - _DEVIATIONS * sqrt(self.variance) if self.variance < inf else -inf

    @property
    def most(self) -> float:
        """What it hardly ever lies over."""
        return self.mean + _DEVIATIONS * sqrt(self.variance) if self.mean < inf and self.variance < inf else inf


def interval(
    counts: NDArray[np.int64],
    classes: NDArray[np.int64],
    certain: Mask,
    possible: Mask,
    reaches: Sequence[Reach],
    noise: Noise,
) -> tuple[float, float]:
    """From where to where the true answer lies, with `CONFIDENCE`; ``reaches`` has the condition given each class."""
    strata = [_Stratum.of(noise, number, counts[classes == number]) for number in range(len(reaches))]
    low, above, opposite = Bound(0.0, 0.0), Bound(0.0, 0.0), Bound(0.0, 0.0)
    for number, (stratum, reach) in enumerate(zip(strata, reaches, strict=True)):
        mine = classes == number
        below = stratum.from_below(certain[mine], reach.certain)
        against = stratum.from_below(~possible[mine], reach.impossible)
        over = stratum.from_above(possible[mine], reach.possible)
        if len(noise.totals) == len(strata):
            total = Bound(float(max(noise.totals[number], 0)), noise.deviation**2)
            over = min(over, _less(total, against), key=lambda bound: bound.most)
            others = stratum.from_above(~certain[mine], reach.doubtful)
            rest = Bound(total.mean - others.mean, total.variance + others.variance)
            below = max(below, rest, key=lambda bound: bound.least)
        low = low + below if below.least > 0 else low  # no count is below 0, whatever the noise
        opposite = opposite + against if against.least > 0 else opposite
        above = above + over
    if len(noise.totals) == 1 and len(strata) > 1:
        total = Bound(float(max(noise.totals[0], 0)), noise.deviation**2)
        above = min(above, _less(total, opposite), key=lambda bound: bound.most)
    least = max(low.least, 0.0)
    return least, max(above.most, least)


def _less(total: Bound, against: Bound) -> Bound:
    """What is left of a total; nothing is taken off it that is not surely there."""
    if against.least <= 0:
        return total
    return Bound(total.mean - against.mean, total.variance + against.variance)


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The groups of one class: the noisy counts of those that are listed, and what is known of the others."""

    noisy: NDArray[np.float64]
    cutoff: int
    unlisted: int
    groups: float
    alpha: float

    @classmethod
    def of(cls, noise: Noise, number: int, counts: NDArray[np.int64]) -> "_Stratum":
        cutoff = noise.cutoff[number]
        noisy = np.maximum(counts / noise.factor[number] + noise.shift, cutoff)
        return cls(noisy, cutoff, noise.unlisted[number], noise.groups, exp(-1 / noise.scale))

    def from_below(self, chosen: Mask, share: float) -> Bound:
        """The least that the chosen groups hold; ``share`` of all groups are chosen, at most."""
        groups = max(share * self.groups, float(chosen.sum()))
        rate = self.alpha**self.cutoff / (1 + self.alpha)  # of empty groups that are listed
        mean = self.alpha / (1 - self.alpha)  # of what such a count has beyond the cutoff
        square = self.cutoff**2 + 2 * self.cutoff * mean + mean * (1 + self.alpha) / (1 - self.alpha)
        y = self.noisy[chosen]
        # Groups near the cutoff are listed or not by chance, and for each that is there is about one that is not.
        lost = self.alpha ** (y - self.cutoff + 1) / (1 + self.alpha)
        near = float(np.sum(2 * y**2 * lost * (1 - lost)))
        variance = groups * rate * square + len(y) * self._variance + near
        return Bound(float(y.sum()) - groups * rate * (self.cutoff + mean), variance)

    def from_above(self, chosen: Mask, share: float) -> Bound:
        """The most that the chosen groups hold; ``share`` of all groups are chosen, at most."""
        groups = max(share * self.groups, float(chosen.sum()))
        hidden = groups - float(chosen.sum())
        return Bound(float(self.noisy[chosen].sum()) + hidden * self.unlisted, groups * self._variance)

    @property
    def _variance(self) -> float:
        """Of the noise on one count."""
        return 2 * self.alpha / (1 - self.alpha) ** 2
