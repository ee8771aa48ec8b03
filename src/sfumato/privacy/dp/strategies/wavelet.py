"""The strategy `wavelet`: Haar coefficients with weighted noise.

Privelet: Xiao, Wang & Gehrke, "Differential privacy via wavelet transforms", ICDE 2010. The cells, padded with empty
ones to a power of two m = 2ˡ, are the leaves of a binary tree. A node with s leaves has the coefficient c = (mean of
its left half − mean of its right half)/2, the base coefficient is the mean of all, and Privelet adds noise of scale λ/s
to c and λ/m to the base, λ = (1 + l)/ε.

Exact on integers. Multiplied by their weights, the coefficients are whole numbers: s·c = L − R, the records in the left
half less those in the right, and m times the base is the number of records N. Noise of scale λ on these is the noise of
Privelet, and discrete noise on integers is exact. A record changes N by 1 and L − R of the l nodes above its cell by 1
each: Δ = 1 + l. Nodes of padding alone have no record whatever the table is, so they are not measured.

The estimate is the inverse transform, as in the paper: L = (N + (L − R))/2 from the root down. Where the cells are a
power of two it is least squares, since the transform is square. Else it makes no use of the padding being empty.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.privacy.dp.strategies.strategy import Floats, Integers


@dataclass(frozen=True)
class Wavelet:
    """Haar coefficients of ``size`` cells.

    >>> Wavelet(4).measure(np.array([[2, 0, 10, 2]])).tolist(), Wavelet(4).sensitivity
    ([[14, -10, 2, 8]], 3)
    """

    name: ClassVar[str] = "wavelet"
    size: int

    @property
    def depth(self) -> int:
        """l, the levels of nodes that have halves."""
        return (self.size - 1).bit_length()

    @property
    def nodes(self) -> tuple[tuple[int, int, int], ...]:
        """The level and the range of cells behind every measurement; the first is the number of records, at level 0."""
        found = [(0, 0, self.size)]
        for level, width in enumerate(self._widths):
            leaves = self._leaves(level)
            found += [(level + 1, place * leaves, min((place + 1) * leaves, self.size)) for place in range(width)]
        return tuple(found)

    @property
    def measurements(self) -> int:
        """The number of records, and a difference a node."""
        return 1 + sum(self._widths)

    @property
    def sensitivity(self) -> int:
        """A record changes the number of records, and one difference of each level."""
        return 1 + self.depth

    def measure(self, counts: Integers) -> Integers:
        """The number of records, and what left halves have more than right ones, from the root down."""
        sums = _padded(np.asarray(counts, dtype=np.int64), 2**self.depth)
        found: list[Integers] = []
        for level in range(self.depth - 1, -1, -1):
            halves = sums.reshape(*sums.shape[:-1], -1, 2)
            found.append((halves[..., 0] - halves[..., 1])[..., : self._widths[level]])
            sums = halves.sum(axis=-1)
        return np.concatenate([sums, *reversed(found)], axis=-1)

    def estimate(self, noisy: Floats) -> Floats:
        """The inverse transform."""
        values = np.asarray(noisy, dtype=np.float64)
        sums, place = values[..., :1], 1
        for level, width in enumerate(self._widths):
            differences = values[..., place : place + width]
            kept = sums[..., :width]
            sums = np.stack([(kept + differences) / 2, (kept - differences) / 2], axis=-1).reshape(*kept.shape[:-1], -1)
            place += width
            assert level < self.depth, "a level below the leaves"
        return sums[..., : self.size]

    def variance(self, weights: Floats) -> Floats:
        """The sum of the squares of what each measurement has in the estimate, from the leaves up.

        With a and b the coefficients of the sums of both halves, the node's sum has (a + b)/2 and its difference
        (a − b)/2.
        """
        have = _padded(np.asarray(weights, dtype=np.float64), 2**self.depth)
        total = np.zeros(have.shape[:-1])
        for _ in range(self.depth):
            halves = have.reshape(*have.shape[:-1], -1, 2)
            total += ((halves[..., 0] - halves[..., 1]) ** 2).sum(axis=-1) / 4
            have = halves.sum(axis=-1) / 2
        found: Floats = total + have[..., 0] ** 2
        return found

    def range_variance(self) -> float:
        """By what each measurement has in the sum of the first t cells, g(t).

        Over all pairs a < b of the n + 1 bounds of ranges, Σ (g(b) − g(a))² = (n + 1) Σ g² − (Σ g)². For N, g(t) = t/m.
        For a difference, g rises to 1/2 over the left half and falls again.
        """
        n = self.size
        bounds = np.arange(n + 1, dtype=np.float64)
        parts = [bounds / 2**self.depth]
        squares = (n + 1) * float((parts[0] ** 2).sum()) - float(parts[0].sum()) ** 2
        for level, width in enumerate(self._widths):
            leaves = self._leaves(level)
            inside = bounds % leaves
            tent = np.minimum(inside, leaves - inside) / leaves
            node = np.minimum(np.arange(n + 1) // leaves, width - 1)  # where the last bound ends a node, the tent is 0
            sums = np.bincount(node, weights=tent, minlength=width)
            squares += (n + 1) * float((tent**2).sum()) - float((sums**2).sum())
        return squares / (n * (n + 1) / 2)

    def cell_variances(self) -> Floats:
        """Of a cell the difference of a node with s leaves has ±1/s, and N has 1/m: the same for all cells."""
        each = 4.0**-self.depth + sum(4.0**-level for level in range(1, self.depth + 1))
        return np.full(self.size, each)

    def facts(self) -> dict[str, Any]:
        """Its name and its size."""
        return {"name": self.name, "size": self.size}

    def _leaves(self, level: int) -> int:
        """The leaves of a node, with padding; level 0 is the root."""
        return 1 << (self.depth - level)

    @property
    def _widths(self) -> tuple[int, ...]:
        """The nodes of each level that are not padding alone, from the root down."""
        return tuple(-(-self.size // self._leaves(level)) for level in range(self.depth))


def _padded(rows: Any, to: int) -> Any:
    return np.concatenate([rows, np.zeros((*rows.shape[:-1], to - rows.shape[-1]), dtype=rows.dtype)], axis=-1)
