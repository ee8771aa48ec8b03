"""From the noisy counts of a table to its likely shape: cell totals, and the class given the cell.

The noise is known, so each cell is weighed by what it can tell: a cell of t records whose class has the share p knows
t·p(1 − p) about it, and noise of variance s leaves t·p(1 − p) / (t·p(1 − p) + s) of that. Effects that add up in
log-odds are fitted first, then what is left of each cell, shrunk to 0; cells that are mostly noise say little.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.measured import StageTable

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MAIN: Final = 2.0  # the prior deviation of an attribute's effect, in log-odds
_OWN: Final = 0.3  # and of what a cell has of its own
_STEPS: Final = 30  # of Newton's method; it converges in about ten
_LONGEST: Final = 1.5  # step in any log-odds
_SURE: Final = 7.0  # log-odds of e^7 : 1 are as far as a table is believed
_FAR: Final = -8.0  # deviations below 0 where a tail is its limit
_FEW: Final = 10.0  # records that a table is taken to have at least


def on_simplex(values: Floats, total: float) -> Floats:
    """The nearest numbers of at least 0 that add up to ``total``.

    >>> on_simplex(np.array([3.0, -1.0, 1.0]), 4.0).tolist()
    [3.0, 0.0, 1.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    return np.asarray(np.maximum(values - excess[np.flatnonzero(falling > excess)[-1]], 0))


def cell_totals(cells: Integers, sizes: Sequence[int], noisy: Floats, variance: float, total: float) -> Floats:
    """How many records each cell has: the product of the table's margins, and of the rest what is not noise."""
    return on_simplex(_shrunken(cells, sizes, noisy, variance, total)[0], total)


def expected_totals(cells: Integers, sizes: Sequence[int], noisy: Floats, variance: float, total: float) -> Floats:
    """How many records each cell has on average, given that there are no fewer than 0.

    `cell_totals` are the likeliest numbers, and 0 for many cells that may well have a record. Whoever knows the noise
    expects something there: the mean of a normal distribution above 0.
    """
    mean, variances = _shrunken(cells, sizes, noisy, variance, total)
    spread = np.sqrt(np.maximum(variances, 1e-12))
    z = mean / spread
    # φ(z)/Φ(z); far below 0 it is −z − 1/z, and what is left of the mean is spread/(−z)
    inverse_mills = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
    return np.asarray(np.where(z < _FAR, spread / np.maximum(-z, 1.0), mean + spread * inverse_mills))


def _shrunken(
    cells: Integers, sizes: Sequence[int], noisy: Floats, variance: float, total: float
) -> tuple[Floats, Floats]:
    """Each cell's number given its noisy count, as if numbers were normal around the product of the margins."""
    mean = np.full(len(noisy), total)
    for place, size in enumerate(sizes):
        sums = np.bincount(cells[:, place], weights=noisy, minlength=size).astype(np.float64)
        margin = on_simplex(sums, total) + 1e-3 * total / size
        mean *= (margin / margin.sum())[cells[:, place]]
    spread = max(0.0, float(np.sum((noisy - mean) ** 2 - variance - mean) / np.sum(mean**2)))
    real = spread * mean**2 + mean
    return mean + (noisy - mean) * real / (real + variance), real * variance / (real + variance)


def expected_cells(table: StageTable) -> Floats:
    """How many records each cell of a stage has on average, whatever their class."""
    noisy = table.counts.astype(np.float64).sum(axis=1)
    variance = table.counts.shape[1] * laplace_variance(table.scale)
    return expected_totals(table.cells, table.sizes, noisy, variance, max(float(noisy.sum()), _FEW))


def class_given_cell(table: StageTable) -> tuple[Floats, Floats]:
    """P(class | cell), a row a cell, and how many records each cell has."""
    sizes, counts = table.sizes, table.counts.astype(np.float64)
    classes, variance = counts.shape[1], laplace_variance(table.scale)
    noisy = counts.sum(axis=1)
    total = max(float(noisy.sum()), _FEW)
    real = cell_totals(table.cells, sizes, noisy, classes * variance, total)
    prior = np.clip(on_simplex(counts.sum(axis=0), total) / total, 0.5 / total, 1 - 0.5 / total)
    found = np.zeros_like(counts)
    two = classes == 2  # noqa: PLR2004 - then one log-odds tells both
    for number in [1] if two else range(classes):
        fit = _OneClass(sizes, counts[:, number], noisy, real, variance, classes)
        found[:, number] = fit.share(float(np.log(prior[number] / (1 - prior[number]))))
    if two:
        found[:, 0] = 1 - found[:, 1]
    return found / found.sum(axis=1, keepdims=True), real


class _OneClass:
    """One class against the others in every cell of a table.

    The cells are a grid of bands and groups, and an effect is the same along an axis, so sums over cells are sums over
    axes: nothing as large as cells × effects is made.
    """

    def __init__(
        self, sizes: Sequence[int], counts: Floats, noisy: Floats, real: Floats, variance: float, classes: int
    ) -> None:
        self._sizes = tuple(sizes)
        self._counts, self._noisy, self._real = (part.reshape(self._sizes) for part in (counts, noisy, real))
        self._variance, self._classes = variance, classes
        self._starts = np.cumsum([1, *sizes])  # where the effects of each axis begin; the first is that of all cells

    def share(self, start: float) -> Floats:
        """P(this class | cell), by Newton's method on the weighted ridge problem, then each cell's own residual."""
        effects = np.zeros(self._starts[-1])
        effects[0] = start
        ridge = np.full(len(effects), _MAIN**-2)
        ridge[0] = 1e-6
        for _ in range(_STEPS):
            _, known, weight, residual = self._state(effects)
            curvature = self._moments(weight * known)
            curvature[np.diag_indices_from(curvature)] += ridge
            step = np.linalg.solve(curvature, self._sums(weight * residual) - ridge * effects)
            longest = float(np.abs(step).max())
            effects += step * min(1.0, _LONGEST / max(longest, 1e-300))
            if longest < 1e-9:  # noqa: PLR2004 - nothing changes any more
                break
        odds, known, weight, residual = self._state(effects)
        own = np.clip(weight * residual / (weight * known + _OWN**-2), -3, 3)
        return np.asarray(1 / (1 + np.exp(-(odds + own)))).ravel()

    def _state(self, effects: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Log-odds, what each cell knows of them, the part of that which noise leaves, and what is unexplained."""
        odds = np.full(self._sizes, effects[0])
        for axis, size in enumerate(self._sizes):
            shape = [1] * len(self._sizes)
            shape[axis] = size
            odds = odds + effects[self._starts[axis] : self._starts[axis + 1]].reshape(shape)
        odds = np.clip(odds, -_SURE, _SURE)
        share = 1 / (1 + np.exp(-odds))
        known = self._real * share * (1 - share)
        noise = self._variance * ((1 - share) ** 2 + share**2 * (self._classes - 1))
        return odds, known, known / (known + noise + 1e-9), self._counts - self._noisy * share

    def _sums(self, cells: Floats) -> Floats:
        """The sum of all cells, and the sums along each axis: what each effect takes part in."""
        axes = range(cells.ndim)
        return np.concatenate(
            [[cells.sum()], *(cells.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes)]
        )

    def _moments(self, cells: Floats) -> Floats:
        """For every two effects the sum of the cells that both take part in."""
        found = np.zeros((self._starts[-1], self._starts[-1]))
        sums = self._sums(cells)
        found[0], found[:, 0] = sums, sums
        np.fill_diagonal(found, sums)
        for one in range(cells.ndim):
            for two in range(one + 1, cells.ndim):
                pair = cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in {one, two}))
                rows, columns = (slice(self._starts[axis], self._starts[axis + 1]) for axis in (one, two))
                found[rows, columns], found[columns, rows] = pair, pair.T
        return found
