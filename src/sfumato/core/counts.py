"""Counts: all that a method ever sees of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.cut import Cut


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """One attribute against the class: the codes that occur, in order, and a row of class counts for each.

    Codes that do not occur are not listed: a grid may have billions of points.
    """

    codes: NDArray[np.int64]  # (k,), strictly increasing
    counts: NDArray[np.int64]  # (k, classes)

    def __post_init__(self) -> None:
        assert self.codes.ndim == 1 and self.counts.shape[:1] == self.codes.shape, "a row of counts a code"
        assert np.all(np.diff(self.codes) > 0), "codes in order, each once"

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.shape[1])

    def within(self, start: int, stop: int) -> "Margin":
        """The part with codes in ``[start, stop)``."""
        first, last = np.searchsorted(self.codes, [start, stop])
        return Margin(self.codes[first:last], self.counts[first:last])

    def total(self, start: int, stop: int) -> NDArray[np.int64]:
        """The class counts of the records with a code in ``[start, stop)``."""
        total: NDArray[np.int64] = self.within(start, stop).counts.sum(axis=0)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Distinct combinations of codes with how many records have each; every combination once, none with 0."""

    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (cells, attributes)
    counts: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        assert self.codes.shape == (len(self.counts), len(self.attributes)), "a code an attribute"

    def __len__(self) -> int:
        return len(self.counts)


class Counter(Protocol):
    """Whoever counts for a method: an engine with a table, or an array in a test.

    All counts are of the same records: those of the view (purpose, span, contribution bound) that no policy leaves out.
    """

    def margins(self, attributes: Sequence[str], by: str) -> Mapping[str, Margin]:
        """Every attribute against ``by``, in one pass."""
        ...

    def cells(self, cuts: Sequence[Cut]) -> Cells:
        """How many records fall into each combination of regions of the cuts; only the occupied ones."""
        ...
