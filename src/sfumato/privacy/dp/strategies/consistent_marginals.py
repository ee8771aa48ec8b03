"""The strategy `consistent-marginals`: all marginals of a low order, made consistent and non-negative.

Barak, Chaudhuri, Dwork, Kale, McSherry & Talwar, "Privacy, accuracy, and consistency too", PODS 2007. The row is a
whole contingency table. A record is in one cell of every marginal, so Δ is the number of marginals. (Barak et al.
measure Fourier coefficients of binary attributes; for attributes with more values we measure the marginals themselves.)

Least squares. A table is the sum of its interactions: for a set T of attributes, m_T is the T-marginal less what
smaller sets say, which sums to 0 along each attribute (P_T projects on such tables). The marginal of S is the sum of
m_T over T ⊆ S, each spread evenly over the attributes of S outside T. Interactions are orthogonal, so each is estimated
by itself: every measured S ⊇ T has P_T of its T-marginal, whose noise has the variance of ∏ nᵢ cells, i in S outside T;
the estimate is their mean with inverse weights, with the variance v_T = 1/Σ 1/∏ nᵢ. So the marginals of the estimated
table are mutually consistent, and the variance of a sum w·x is Σ_T v_T |P_T w_T|²/∏ nᵢ², i outside T, w_T the marginal
of w.

Interactions of more attributes than a marginal has are not measured. A sum that depends on them has no unbiased
estimate: `spans` tells which ones have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, ClassVar

import numpy as np

from sfumato.privacy.dp.strategies.strategy import Floats, Integers

_STEPS = 300  # of the search for the nearest table without negative counts
_CLOSE = 1e-9


@dataclass(frozen=True)
class Marginals:
    """All marginals of ``order`` attributes of a table with these numbers of values, the last attribute fastest."""

    name: ClassVar[str] = "consistent-marginals"
    sizes: tuple[int, ...]
    order: int = 2

    @property
    def size(self) -> int:
        """Cells of the table."""
        return prod(self.sizes)

    @cached_property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        """The attributes of each marginal."""
        return tuple(combinations(range(len(self.sizes)), self.order))

    @property
    def measurements(self) -> int:
        """Cells of all marginals."""
        return sum(self._cells(subset) for subset in self.subsets)

    @property
    def sensitivity(self) -> int:
        """A record is in one cell of each marginal."""
        return len(self.subsets)

    def measure(self, counts: Integers) -> Integers:
        """The marginals, one after the other."""
        return np.asarray(self._marginals(np.asarray(counts)))

    def estimate(self, noisy: Floats) -> Floats:
        """The table with the estimated interactions, and none of more attributes than a marginal has."""
        rows = len(noisy)
        tables = dict(zip(self.subsets, self._split(np.asarray(noisy, dtype=np.float64)), strict=True))
        found = np.zeros((rows, *self.sizes))
        for subset in self._interactions():
            mean = np.zeros((rows, *(self.sizes[i] for i in subset)))
            for whole, table in tables.items():
                if set(subset) <= set(whole):
                    outside = tuple(1 + n for n, i in enumerate(whole) if i not in subset)
                    mean += table.sum(axis=outside) / self._outside(subset, whole)
            spread = self._variance_of(subset) / (self.size / self._cells(subset))
            shape = (rows, *(size if i in subset else 1 for i, size in enumerate(self.sizes)))
            found += (_interaction(mean) * spread).reshape(shape)
        return found.reshape(rows, -1)

    def variance(self, weights: Floats) -> Floats:
        """Of the estimate of w·x in each row; of a sum that `spans` refuses, about a biased estimate."""
        total = np.zeros(len(weights))
        for subset, square in self._squares(weights):
            total += square * self._variance_of(subset) / (self.size / self._cells(subset)) ** 2
        return total

    def spans(self, weights: Floats) -> bool:
        """Whether w·x is a sum of measured interactions alone, so that its estimate is unbiased (one row)."""
        inside = sum(float(square[0]) / (self.size / self._cells(subset)) for subset, square in self._squares(weights))
        whole = float((weights**2).sum())
        return abs(whole - inside) <= _CLOSE * max(whole, 1.0)

    def marginal_variance(self) -> float:
        """The mean over all marginals of the variance of one of their cells, the same for all cells of one."""
        return float(np.mean([self._cell_of(whole) for whole in self.subsets]))

    def cell_variances(self) -> Floats:
        """Of the estimate of a single cell: the same for all."""
        alone = np.zeros((1, self.size))
        alone[0, 0] = 1
        return np.full(self.size, self.variance(alone)[0])

    def non_negative(self, noisy: Floats) -> Floats:
        """The table without negative counts whose marginals are nearest to the noisy ones (one row).

        By projected gradients with momentum (Beck & Teboulle 2009); the curvature is largest along the constant table.
        """
        target = noisy[0]
        curvature = sum(self.size / self._cells(subset) for subset in self.subsets)
        found = ahead = np.maximum(self.estimate(noisy)[0], 0)
        pace = 1.0
        for _ in range(_STEPS):
            gradient = self._spread_out(self._marginals(ahead[None])[0] - target)
            new = np.maximum(ahead - gradient / curvature, 0)
            faster = (1 + (1 + 4 * pace**2) ** 0.5) / 2
            step = new - found
            ahead, found, pace = new + (pace - 1) / faster * step, new, faster
            if np.abs(step).max() <= _CLOSE * (1 + found.max()):
                break
        return np.asarray(found)

    def facts(self) -> dict[str, Any]:
        """Its name, and the marginals."""
        return {"name": self.name, "size": self.size, "sizes": list(self.sizes), "order": self.order}

    def _marginals(self, rows: Any) -> Any:
        table = rows.reshape(len(rows), *self.sizes)
        axes = range(len(self.sizes))
        parts = [table.sum(axis=tuple(1 + i for i in axes if i not in subset)) for subset in self.subsets]
        return np.concatenate([part.reshape(len(rows), -1) for part in parts], axis=1)

    def _spread_out(self, measured: Floats) -> Floats:
        """Every cell of the table gets the sum of what is given for its cells of the marginals: Aᵀ."""
        found = np.zeros(self.sizes)
        for subset, part in zip(self.subsets, self._split(measured[None]), strict=True):
            found += part.reshape([size if i in subset else 1 for i, size in enumerate(self.sizes)])
        return found.ravel()

    def _split(self, measured: Floats) -> list[Floats]:
        ends = np.cumsum([self._cells(subset) for subset in self.subsets])[:-1]
        parts = np.split(measured, ends, axis=1)
        return [
            part.reshape(len(measured), *(self.sizes[i] for i in subset))
            for part, subset in zip(parts, self.subsets, strict=True)
        ]

    @property
    def interactions(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """Every measured interaction by its attributes, with v_T, the variance of its estimate."""
        return tuple((subset, self._variance_of(subset)) for subset in self._interactions())

    def _interactions(self) -> Iterator[tuple[int, ...]]:
        for many in range(self.order + 1):
            yield from combinations(range(len(self.sizes)), many)

    def _squares(self, weights: Floats) -> Iterator[tuple[tuple[int, ...], Floats]]:
        """For every interaction T, |P_T w_T|² in each row."""
        table = weights.reshape(len(weights), *self.sizes)
        for subset in self._interactions():
            marginal = table.sum(axis=tuple(1 + i for i in range(len(self.sizes)) if i not in subset))
            yield subset, (_interaction(marginal).reshape(len(weights), -1) ** 2).sum(axis=1)

    def _variance_of(self, subset: tuple[int, ...]) -> float:
        """v_T."""
        able = [whole for whole in self.subsets if set(subset) <= set(whole)]
        return 1 / sum(1 / self._outside(subset, whole) for whole in able)

    def _cell_of(self, whole: tuple[int, ...]) -> float:
        """The variance of a cell of a marginal: w_T is one cell, times the cells outside S."""
        total = 0.0
        for subset in self._interactions():
            if set(subset) <= set(whole):
                share = prod(1 - 1 / self.sizes[i] for i in subset)
                total += share * self._variance_of(subset) / self._outside(subset, whole) ** 2
        return total

    def _outside(self, subset: tuple[int, ...], whole: tuple[int, ...]) -> int:
        return prod(self.sizes[i] for i in whole if i not in subset)

    def _cells(self, subset: tuple[int, ...]) -> int:
        return prod(self.sizes[i] for i in subset)


def _interaction(table: Floats) -> Floats:
    """P_T: less the mean along each attribute; the first axis is the row."""
    for axis in range(1, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
