"""Cuts: a partition of one attribute's codes into ranges, exactly one node on each root-to-leaf path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError

Range = tuple[int, int]
WORD: Final = 62  # bits of a region's number that fit a machine integer with room for a sign


@dataclass(frozen=True, slots=True)
class Cut:
    """The ranges of codes an attribute is published in, by where each begins, and the size of the domain.

    >>> age = Cut("age", (0,), 121).specialize((0, 121), [(0, 40), (40, 121)])
    >>> age.ranges
    ((0, 40), (40, 121))
    >>> age.regions(np.array([39, 40])).tolist()
    [0, 1]
    """

    attribute: str
    starts: tuple[int, ...] | range  # a range for the finest cut: a grid may have millions of points
    size: int

    def __post_init__(self) -> None:
        if isinstance(self.starts, range):
            sound = self.starts == range(self.size) and self.size > 0
        else:
            sound = self.starts[:1] == (0,) and all(a < b for a, b in pairwise((*self.starts, self.size)))
        if not sound:
            raise InternalError(f"the cut of '{self.attribute}' is not a partition of its {self.size} codes")

    @classmethod
    def finest(cls, attribute: str, size: int) -> "Cut":
        """Every code a region of its own."""
        return cls(attribute, range(size), size)

    @property
    def is_finest(self) -> bool:
        """Whether every code is a region of its own."""
        return len(self.starts) == self.size

    def range_at(self, region: int) -> Range:
        """One region as a half-open range of codes."""
        return self.starts[region], self.starts[region + 1] if region + 1 < len(self.starts) else self.size

    @property
    def ranges(self) -> tuple[Range, ...]:
        """Every region as a half-open range of codes."""
        return tuple(pairwise((*self.starts, self.size)))

    def ends(self, regions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where some regions begin and end, by their numbers; memory is theirs, never that of a fine domain.

        >>> [end.tolist() for end in Cut("age", (0, 40), 121).ends(np.array([1, 0]))]
        [[40, 0], [121, 40]]
        """
        if self.is_finest:
            return regions, regions + 1
        edges = np.asarray((*self.starts, self.size), np.int64)
        return edges[regions], edges[regions + 1]

    def spans(self, regions: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many codes beyond one some regions have."""
        starts, stops = self.ends(regions)
        return stops - starts - 1

    @property
    def total(self) -> int:
        """How many regions there are; of sets it may be more than `len` can say."""
        return len(self.starts)

    def __len__(self) -> int:
        return len(self.starts)

    def specialize(self, region: Range, into: Sequence[Range]) -> "Cut":
        """The same cut with one region replaced by its children."""
        if region not in self.ranges or into[0][0] != region[0] or into[-1][1] != region[1]:
            raise InternalError(f"the children do not make up the region they replace in '{self.attribute}'")
        starts = sorted({*self.starts, *(start for start, _ in into)})
        return replace(self, starts=tuple(starts))

    def regions(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which region each code falls into; `DROP` stays what it is."""
        if self.is_finest:
            return codes
        found: NDArray[np.int64] = np.searchsorted(np.asarray(self.starts), codes, side="right").astype(np.int64) - 1
        return found


def plain_numbers(cut: Cut, column: NDArray[Any]) -> NDArray[Any]:
    """A column of region numbers as machine integers where its cut has no larger ones; subsets of codes may have.

    Beside a column that needs Python's integers, others in the same array are Python's, too.
    """
    return column.astype(np.int64) if column.dtype == object and cut.total < 2**WORD else column


def cross_product(cuts: Sequence[Cut]) -> int:
    """How many groups the cuts make together, occupied or not."""
    return prod(cut.total for cut in cuts)
