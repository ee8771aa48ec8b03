"""Measured tables: noisy counts of public cells, the ground truth of a release from which all else is derived.

A *stage table* counts score bands × groups of a few attributes × classes. The score bands are those of the model that
the earlier tables make, so they are public once those are. A *remaining table* counts the groups of an attribute that
no stage has, by the class that the model predicts, or of all records together. Every cell is listed, the empty ones
too, with its noise: counts may be negative.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut

MOST_GROUPS: Final = 1_000
"""Groups of one attribute in a measured table: a fit takes time with their cube."""

MOST_CLASSES: Final = 100
"""Classes of a release of measured tables."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StageTable:
    """Noisy counts of score bands × groups × classes, a row for each cell of bands and groups, and a column a class."""

    bands: int  # 1 in the first stage, where there is no model yet
    cuts: tuple[Cut, ...]  # the groups of the chosen attributes
    counts: Integers  # (cells, classes)
    scale: float  # of the noise

    def __post_init__(self) -> None:
        assert self.counts.shape[0] == prod(self.sizes), "a row a cell"

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bands there are, and groups of each attribute."""
        return (self.bands, *(cut.total for cut in self.cuts))

    @cached_property
    def cells(self) -> Integers:
        """The band and the groups of every row."""
        return np.stack(np.unravel_index(np.arange(len(self.counts)), self.sizes), axis=1).astype(np.int64)

    def rows(self, bands: Integers, codes: Mapping[str, Integers]) -> Integers:
        """The row that each record is counted in, by its band and its codes."""
        found = bands
        for cut in self.cuts:
            found = found * cut.total + cut.regions(codes[cut.attribute])
        return found


@dataclass(frozen=True, eq=False)
class RemainingTable:
    """Noisy counts of one attribute's groups: a row for each predicted class, or one row for all records."""

    cut: Cut
    counts: Integers  # (predicted classes or 1, groups)
    scale: float


@dataclass(frozen=True, eq=False)
class MeasuredTables:
    """All that was measured: the noisy number of records, the stages, and what remains."""

    size: int
    classes: int
    stages: tuple[StageTable, ...]
    remaining: tuple[RemainingTable, ...] = ()

    @property
    def cuts(self) -> dict[str, Cut]:
        """The groups of every attribute that a table has."""
        staged = {cut.attribute: cut for table in self.stages for cut in table.cuts}
        return staged | {table.cut.attribute: table.cut for table in self.remaining}

    @property
    def counts(self) -> list[Integers]:
        """The counts of all tables, the stages first."""
        return [*(table.counts for table in self.stages), *(table.counts for table in self.remaining)]

    @property
    def total(self) -> float:
        """The number of records that synthetic records stand for."""
        return float(max(self.size, 1))
