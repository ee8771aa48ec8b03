"""What a strategy for a table of counts is: integers to measure with noise, and what is estimated from them.

A table has rows, and in each row the counts x of n cells. A strategy measures y = Ax + noise in every row, for
a public matrix A of integers, and estimates x from y by a public linear map that undoes A (the matrix mechanism: Li,
Hay, Rastogi, Miklau & McGregor, PODS 2010).

Neighbours, sensitivity, composition. Neighbours differ by one record, which is in one cell of one row. So one column of
A is added to the measurements of one row, and those of all other rows stay as they are: in the L1 norm all measurements
together change by the largest column sum of |A|, Δ = ``sensitivity``, however many rows there are. One draw of exact
discrete Laplace noise of scale Δ/ε on all of them is ε-differentially private (`mechanisms.laplace`). Estimates are
functions of the noisy measurements and of public numbers, and cost nothing.

All noises have the same variance v. The estimate of a sum w·x has the variance v·q(w), and q depends on public numbers
alone: `variance` is q. So the expected error of a strategy is known before anything is spent, and the interval of an
answer is known to whoever knows the strategy and the scale.
"""

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts
from sfumato.privacy.dp.sampling import RandomSource

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Strategy(Protocol):
    """Measurements of rows of ``size`` cells."""

    name: ClassVar[str]

    @property
    def size(self) -> int:
        """Cells of a row."""
        ...

    @property
    def measurements(self) -> int:
        """Numbers that are measured of a row."""
        ...

    @property
    def sensitivity(self) -> int:
        """By how much one record changes all measurements together, in the L1 norm."""
        ...

    def measure(self, counts: Integers) -> Integers:
        """The exact measurements of rows of counts: (rows, size) to (rows, measurements)."""
        ...

    def estimate(self, noisy: Floats) -> Floats:
        """The estimated counts, linear and unbiased, not whole: (rows, measurements) to (rows, size)."""
        ...

    def variance(self, weights: Floats) -> Floats:
        """The variance of the estimate of w·x in each row, where a noise has variance 1: (rows, size) to (rows,)."""
        ...

    def cell_variances(self) -> Floats:
        """`variance` of every single cell: (size,)."""
        ...

    def facts(self) -> dict[str, Any]:
        """What names the strategy to others, as plain values."""
        ...


class OrderedStrategy(Strategy, Protocol):
    """Measurements of rows whose cells have an order in which ranges mean something."""

    @property
    def nodes(self) -> tuple[tuple[int, int, int], ...]:
        """The level and the range of cells that each measurement is about, in their order."""
        ...

    def range_variance(self) -> float:
        """The mean of `variance` over all ranges of at least one cell."""
        ...


def draw_measurements(strategy: Strategy, counts: Integers, *, grant: Grant, source: RandomSource) -> Integers:
    """The measurements of all rows with noise, paid with one grant; see the module for the argument."""
    exact = strategy.measure(counts)
    noisy = noisy_counts(exact.ravel(), sensitivity=strategy.sensitivity, grant=grant, source=source)
    return noisy.reshape(exact.shape)
