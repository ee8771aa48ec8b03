"""Classes of a number: intervals of a grid that a target takes as its values."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import DROP, Categories, Grid
from sfumato.domains.taxonomy.by_rule import flat


@dataclass(frozen=True, kw_only=True)
class NumberClasses(Categories):
    """Categories that are read off numbers: each is an interval of the ``grid``, by where it starts in codes.

    A missing value that is kept is a class of its own, the last. Who gets a release sees categories alone.

    >>> from fractions import Fraction
    >>> pay = Grid(lower=Fraction(0), upper=Fraction(1000), step=Fraction(1), unit="integer")
    >>> classes = NumberClasses.of(pay, (0, 100, 500))
    >>> classes.taxonomy.leaves, classes.encode([99, "100", 5000, None]).tolist()
    (('[0, 100)', '[100, 500)', '[500, 1000]'), [0, 1, 2, -1])
    """

    grid: Grid
    starts: tuple[int, ...]

    @classmethod
    def of(cls, grid: Grid, starts: tuple[int, ...]) -> "NumberClasses":
        """The classes of a grid that begin at these codes, the first at 0."""
        if grid.missing is not None:
            starts = (*starts, grid.missing)
        ends = (*starts[1:], grid.size)
        names = [grid.label(start, stop) for start, stop in zip(starts, ends, strict=True)]
        missing = None if grid.missing is None else len(starts) - 1
        return cls(taxonomy=flat(names), declared=grid.declared, missing=missing, grid=grid, starts=starts)

    @property
    def cut(self) -> Cut:
        """The classes as regions of the grid."""
        return Cut("", self.starts, self.grid.size)

    @property
    def published(self) -> Categories:
        """The same without how they are read."""
        return Categories(taxonomy=self.taxonomy, declared=self.declared, missing=self.missing, other=self.other)

    def encode(self, values: Iterable[object]) -> NDArray[np.int64]:
        """The class of each raw number; numbers outside the bounds are in the nearer one."""
        codes = self.grid.encode(values)
        found: NDArray[np.int64] = np.searchsorted(np.asarray(self.starts), codes, side="right").astype(np.int64) - 1
        return np.where(codes == DROP, DROP, found)
