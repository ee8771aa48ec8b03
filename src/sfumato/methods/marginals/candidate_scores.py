"""How far the model is from the table at each candidate, in whole ticks: the score that marginals are chosen by.

For a candidate c with weight w_c, true counts x and the model's expected counts x̂, let

    score(c) = w_c · (Σ_cells |T·x − round(T·x̂)| − round(T · cells · E|noise|)),

in ticks of 1/T of a record. The second sum is what a measurement of c would add by its noise alone, so the score is
what measuring c is expected to bring (McKenna et al. 2022, AIM).

**Sensitivity.** Weights, x̂ and the noise of a measurement are public: x̂ is computed from earlier outputs. T, w_c and
all rounded terms are whole numbers, the same for neighbouring tables. A record more is in exactly one cell of c, where
x rises by 1, so that |T·x − round(T·x̂)| changes by a whole number from −T to T (the triangle inequality), and no other
term changes. So every score moves by at most w_c·T ≤ W·T with W the largest weight: Δ = W·T. The record may bring one
candidate nearer to its model and another away from it, so the scores are **not** monotone: noisy max needs the scale
2Δ/ε. Nothing is computed in floating point from a true count.
"""

from collections.abc import Mapping, Sequence
from math import sinh
from typing import Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

TICKS: Final = 16
"""Ticks of a record."""

_LARGEST: Final = 2.0**35  # ticks that an expected count is cut off at, before it is rounded: a public number
_MOST_NOISE: Final = 2.0**46  # and the noise of a table; times any weight (below 2¹⁵) it fits 62 bits


def in_ticks(expected: Floats) -> Integers:
    """Expected counts as whole ticks."""
    return np.rint(np.clip(expected * TICKS, 0, _LARGEST)).astype(np.int64)


def noise_ticks(cells: int, scale: float) -> int:
    """What noise of this scale adds to the distance of so many cells, on average: E|X| = 1/sinh(1/scale).

    >>> noise_ticks(10, 100.0)
    16000
    """
    inverse = 1 / scale
    mean = 1 / sinh(inverse) if inverse < 700 else 0.0  # noqa: PLR2004 - beyond, it is 0 in floating point
    return round(min(TICKS * cells * mean, _MOST_NOISE))


def score(true: Integers, expected: Integers, noise: int, weight: int) -> int:
    """The score of one candidate, from its true counts, the expected ones in ticks, and the noise in ticks.

    >>> score(np.array([3, 0]), np.array([16, 16]), noise=8, weight=2)  # 2·(|48 − 16| + |0 − 16| − 8)
    80
    """
    return weight * (int(np.abs(true * TICKS - expected).sum()) - noise)


def sensitivity(weights: Sequence[int]) -> int:
    """How far one record can move any score."""
    return TICKS * max(weights)


class Joint:
    """The table by groups: the occupied combinations of all attributes' groups, and how many records have each.

    It is read and never published: choices and measurements look at sums of it.
    """

    def __init__(self, codes: Integers, counts: Integers, sizes: Sequence[int]) -> None:
        self._columns = [np.ascontiguousarray(column, dtype=np.int64) for column in codes.T]
        self._counts, self._sizes = counts.astype(np.float64), tuple(sizes)
        self._known: dict[tuple[int, ...], Integers] = {}
        self.size = int(counts.sum())

    def marginal(self, attributes: tuple[int, ...]) -> Integers:
        """The true counts of some attributes' groups, an axis each; kept, since every round asks again."""
        found = self._known.get(attributes)
        if found is None:
            shape = tuple(self._sizes[a] for a in attributes)
            place = np.zeros(len(self._counts), dtype=np.int64)
            for a, size in zip(attributes, shape, strict=True):
                place = place * size + self._columns[a]
            flat = np.bincount(place, weights=self._counts, minlength=int(np.prod(shape)))
            found = self._known[attributes] = flat.astype(np.int64).reshape(shape)  # sums below 2⁵³ are exact
        return found

    def scores(
        self, expected: Mapping[tuple[int, ...], Floats], weights: Mapping[tuple[int, ...], int], scale: float
    ) -> list[int]:
        """The scores of the candidates with these expected counts."""
        return [
            score(self.marginal(one), in_ticks(counts), noise_ticks(counts.size, scale), weights[one])
            for one, counts in expected.items()
        ]
