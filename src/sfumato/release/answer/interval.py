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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, inf, sqrt
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import VerifyError
from sfumato.release.answer.columns import Mask, Reach

CONFIDENCE: Final = 0.95
DEVIATIONS: Final = 2.3
_MOST: Final = 2.0**53  # numbers beyond this are no counts

T = TypeVar("T", int, float)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What is published of the noise on the counts: see `Undo` and `Totals` of the methods, which write it."""

    scale: float
    groups: float  # of one class, listed or not
    cutoff: tuple[int, ...]  # a class each, as those below
    unlisted: tuple[int, ...]
    factor: tuple[float, ...]
    slack: tuple[float, ...]
    shift: float
    totals: tuple[int, ...] = ()  # a class each, or one in all
    deviation: float = 0.0

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], *, groups: float, classes: int) -> "Noise":
        """From a manifest's facts; releases from before there were intervals say less. Refuses what no release says."""
        threshold = _whole(facts.get("threshold", 1), 1)
        undo, totals = facts.get("noisy_counts", {}), facts.get("noisy_totals", {})
        if not isinstance(undo, Mapping) or not isinstance(totals, Mapping):
            raise _invalid_noise()
        sums = totals.get("counts", [])
        if not isinstance(sums, list) or len(sums) not in {0, 1, classes}:
            raise _invalid_noise()
        return cls(
            scale=_number(facts.get("noise_scale"), 0, _MOST),
            groups=groups,
            cutoff=_each(undo.get("cutoff"), classes, lambda value: _whole(value, 1), threshold),
            unlisted=_each(undo.get("unlisted"), classes, lambda value: _whole(value, 0), threshold - 1),
            factor=_each(undo.get("factor"), classes, lambda value: _number(value, 0, _MOST), 1.0),
            slack=_each(undo.get("slack"), classes, lambda value: _number(value, -1, _MOST), 0.0),
            shift=_number(undo.get("shift", 0.0), -_MOST, _MOST),
            totals=tuple(_whole(value, -int(_MOST)) for value in sums),
            deviation=_number(totals.get("deviation"), 0, _MOST) if sums else 0.0,
        )


def _each(given: Any, classes: int, read: Callable[[Any], T], otherwise: T) -> tuple[T, ...]:
    """A value for every class; one for all where nothing is said."""
    if given is None:
        return (otherwise,) * classes
    if not isinstance(given, list) or len(given) != classes:
        raise _invalid_noise()
    return tuple(read(value) for value in given)


def _number(value: Any, over: float, under: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not over < value < under:
        raise _invalid_noise()
    return float(value)


def _whole(value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _MOST:
        raise _invalid_noise()
    return value


def _invalid_noise() -> VerifyError:
    return VerifyError(
        "the manifest does not state the noise on the counts as a release does",
        "get the bundle again, and verify it",
        code="SF-VERIFY-047",
    )


@dataclass(frozen=True)
class Bound:
    """A number that is known up to a variance; ``slack`` is how far it may be off besides, on the safe side."""

    mean: float
    variance: float
    slack: float = 0.0

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.mean + other.mean, self.variance + other.variance, self.slack + other.slack)

    def __sub__(self, other: "Bound") -> "Bound":
        return Bound(self.mean - other.mean, self.variance + other.variance, self.slack + other.slack)

    @property
    def reach(self) -> float:
        """How far the number may lie from the truth. Of two bounds the one with the smaller reach is taken.

        To take the better of two by their values would prefer the one whose noise was lucky.
        """
        return self.slack + self.half

    @property
    def half(self) -> float:
        """Half the width that the variance needs."""
        return DEVIATIONS * sqrt(self.variance) if self.variance < inf else inf


@dataclass(frozen=True, eq=False)
class Listed:
    """What intervals need of the listed groups, in rows of one or several groups of one class each."""

    classes: NDArray[np.int64]
    groups: NDArray[np.float64]  # how many there are in a row
    noisy: NDArray[np.float64]  # the sum of their noisy counts
    near: NDArray[np.float64]  # the variance of their sum that comes from being listed or not, near the cutoff

    @classmethod
    def of(cls, noise: Noise, counts: NDArray[np.int64], classes: NDArray[np.int64]) -> "Listed":
        """A row a group."""
        cutoff, slack, factor = (np.array(each)[classes] for each in (noise.cutoff, noise.slack, noise.factor))
        noisy = counts / factor + noise.shift
        # Where nothing is slack, the one count below the cutoff was reduced from it.
        noisy = np.where(slack == 0, np.maximum(noisy, cutoff), noisy)
        alpha = exp(-1 / noise.scale)
        # Groups near the cutoff are listed or not by chance, and for each that is there is about one that is not.
        lost = np.minimum(alpha ** np.maximum(noisy - cutoff + 1, 0) / (1 + alpha), 0.5)
        return cls(classes, np.ones(len(counts)), noisy, 2 * noisy**2 * lost * (1 - lost))

    def together(self, row: NDArray[np.int64], first: NDArray[np.int64]) -> "Listed":
        """The groups in other rows: ``row`` has the new row of each, ``first`` one of the old ones for each new."""
        groups, noisy, near = (
            np.bincount(row, weights=each, minlength=len(first)).astype(np.float64)
            for each in (self.groups, self.noisy, self.near)
        )
        return Listed(self.classes[first], groups, noisy, near)


def interval(
    listed: Listed, certain: Mask, possible: Mask, reaches: Sequence[Reach], noise: Noise
) -> tuple[float, float]:
    """From where to where the true answer lies, with `CONFIDENCE`; ``reaches`` has the condition given each class.

    Ends are rounded outward: counts are whole, and a deviation of less than one record says nothing.
    """
    low, high, against = Bound(0.0, 0.0), Bound(0.0, 0.0), Bound(0.0, 0.0)
    for number, reach in enumerate(reaches):
        mine = listed.classes == number
        stratum = _Stratum.of(noise, number, listed, mine)
        below = [stratum.from_below(certain[mine], reach.certain)]
        above = [stratum.from_above(possible[mine], reach.possible)]
        surely_not = stratum.from_below(~possible[mine], reach.impossible)
        if len(noise.totals) == len(reaches):
            noisy, variance = float(noise.totals[number]), noise.deviation**2
            above.append(Bound(max(noisy, 0.0), variance) - surely_not)
            # Not cut off at 0: over many small classes what noise adds would add up, and what it takes be lost.
            below.append(Bound(noisy, variance) - stratum.from_above(~certain[mine], reach.doubtful))
        low += min(below, key=_reach)
        high += min(above, key=_reach)
        against += surely_not
    if len(noise.totals) == 1 < len(reaches):
        total = Bound(float(max(noise.totals[0], 0)), noise.deviation**2)
        high = min(high, total - against, key=_reach)
    least = max(floor(low.mean - low.half), 0) if low.half < inf else 0
    most = ceil(high.mean + high.half) if high.mean + high.half < inf else inf
    if noise.totals:  # nothing is more than everything
        whole = Bound(float(sum(max(total, 0) for total in noise.totals)), len(noise.totals) * noise.deviation**2)
        most = min(most, ceil(whole.mean + whole.half))
    most = max(most, 0)
    return float(min(least, most)), float(max(least, most))


def _reach(bound: Bound) -> float:
    return bound.reach


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The groups of one class: the noisy counts of those that are listed, and what is known of the others."""

    listed: NDArray[np.float64]
    noisy: NDArray[np.float64]
    near: NDArray[np.float64]
    slack: float
    cutoff: int
    unlisted: int
    groups: float
    alpha: float

    @classmethod
    def of(cls, noise: Noise, number: int, listed: Listed, mine: Mask) -> "_Stratum":
        return cls(
            listed.groups[mine], listed.noisy[mine], listed.near[mine], noise.slack[number], noise.cutoff[number],
            noise.unlisted[number], noise.groups, exp(-1 / noise.scale),
        )  # fmt: skip

    def from_below(self, chosen: Mask, share: float) -> Bound:
        """The least that the chosen groups hold; ``share`` of all groups are chosen, at most."""
        listed = float(self.listed[chosen].sum())
        groups = max(share * self.groups, listed)
        rate = self.alpha**self.cutoff / (1 + self.alpha)  # of empty groups that are listed
        mean = self.alpha / (1 - self.alpha)  # of what such a count has beyond the cutoff
        square = self.cutoff**2 + 2 * self.cutoff * mean + mean * (1 + self.alpha) / (1 - self.alpha)
        variance = groups * rate * square + listed * self._variance + float(self.near[chosen].sum())
        off = groups * rate * (self.cutoff + mean) + listed * self.slack
        return Bound(float(self.noisy[chosen].sum()) - off, variance, off)

    def from_above(self, chosen: Mask, share: float) -> Bound:
        """The most that the chosen groups hold; ``share`` of all groups are chosen, at most."""
        listed = float(self.listed[chosen].sum())
        groups = max(share * self.groups, listed)
        off = (groups - listed) * self.unlisted + listed * self.slack
        return Bound(float(self.noisy[chosen].sum()) + off, groups * self._variance, off)

    @property
    def _variance(self) -> float:
        """Of the noise on one count."""
        return 2 * self.alpha / (1 - self.alpha) ** 2
