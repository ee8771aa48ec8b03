"""Measured marginals: noisy counts of the groups of one, two or three attributes, a table each.

Every cell is listed, the empty ones too, with its noise: counts may be negative. One attribute may be in many tables,
always with the same groups.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.model.graphical.fit_model import Measurement

MOST_WAYS: Final = 3
"""Attributes of one table."""

MOST_TABLE_CELLS: Final = 5_000
"""Cells of a table of several attributes."""

MOST_MODEL_CELLS: Final = 125_000
"""Cells of the model's cliques, while tables are chosen: 1 MB of numbers. The attributes' own tables come on top."""

_LEAST_VARIANCE: Final = 1e-3

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MarginalTable:
    """Noisy counts of some attributes' groups, an axis each."""

    attributes: tuple[int, ...]  # places in the list of all attributes, rising
    counts: Integers
    scale: float  # of the noise


@dataclass(frozen=True, eq=False)
class MeasuredMarginals:
    """All that was measured: the noisy number of records, and the tables in the order in which they were paid for."""

    cuts: tuple[Cut, ...]  # the groups of every attribute, the target last where there is one
    size: int
    size_scale: float
    tables: tuple[MarginalTable, ...]

    def __post_init__(self) -> None:
        for table in self.tables:
            assert table.counts.shape == tuple(self.cuts[a].total for a in table.attributes), "an axis an attribute"

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups each attribute has."""
        return tuple(cut.total for cut in self.cuts)

    @property
    def counts(self) -> list[Integers]:
        """The counts of all tables, in order."""
        return [table.counts for table in self.tables]

    @property
    def measurements(self) -> list[Measurement]:
        """The tables as a model is made of them."""
        return [
            Measurement(table.attributes, table.counts.astype(np.float64), _variance(table.scale))
            for table in self.tables
        ]

    @cached_property
    def total(self) -> float:
        """The number of records by all that was measured, weighted by how little noise each sum has; at least 1."""
        sums = [float(self.size), *(float(table.counts.sum()) for table in self.tables)]
        noise = [_variance(self.size_scale)]
        noise += [prod(table.counts.shape) * _variance(table.scale) for table in self.tables]
        weights = 1 / np.array(noise)
        return max(float(weights @ np.array(sums) / weights.sum()), 1.0)


def _variance(scale: float) -> float:
    """The variance of the noise; of hardly any, enough to divide by."""
    return max(laplace_variance(scale), _LEAST_VARIANCE)
