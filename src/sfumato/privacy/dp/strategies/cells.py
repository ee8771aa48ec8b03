"""The strategy `cells`: every count by itself."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.privacy.dp.strategies.strategy import Floats, Integers


@dataclass(frozen=True)
class Cells:
    """Every count is measured once. A record is in one cell: Δ = 1. The noise of a range grows with its cells.

    >>> Cells(74).range_variance()  # (n + 2)/3: the mean number of cells of a range
    25.333333333333332
    """

    name: ClassVar[str] = "cells"
    size: int

    @property
    def measurements(self) -> int:
        """One a cell."""
        return self.size

    @property
    def sensitivity(self) -> int:
        """A record is in one cell."""
        return 1

    @property
    def nodes(self) -> tuple[tuple[int, int, int], ...]:
        """The cells, all on one level."""
        return tuple((1, place, place + 1) for place in range(self.size))

    def measure(self, counts: Integers) -> Integers:
        """The counts themselves."""
        return counts

    def estimate(self, noisy: Floats) -> Floats:
        """The noisy counts."""
        return np.asarray(noisy, dtype=np.float64)

    def variance(self, weights: Floats) -> Floats:
        """Independent noises: Σ wᵢ²."""
        found: Floats = (weights**2).sum(axis=-1)
        return found

    def range_variance(self) -> float:
        """The mean number of cells of a range."""
        return (self.size + 2) / 3

    def cell_variances(self) -> Floats:
        """One noise each."""
        return np.ones(self.size)

    def facts(self) -> dict[str, Any]:
        """Its name and its size."""
        return {"name": self.name, "size": self.size}
