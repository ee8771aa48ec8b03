"""Regions as numbers that a learner can use: one column a numerical attribute, one a node of a cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_cut import SetCut


@dataclass(frozen=True)
class Features:
    """How region numbers of some cuts become columns; an attribute with one region says nothing and gets none.

    A numerical attribute becomes the middle of its interval, a categorical one an indicator a node, and so do sets, of
    which a record may have several nodes. A region that holds a declared missing value gets an indicator too, and its
    middle is that of its numbers alone. A region number of -1 (a record that the release's rules leave out) becomes all
    zeros, and the middle of the whole domain.

    >>> from fractions import Fraction
    >>> age = Grid(lower=Fraction(0), upper=Fraction(100), step=Fraction(1), unit="integer")
    >>> features = Features((Cut("age", (0, 40), 101),), (age,))
    >>> features.names, features.matrix(np.array([[0], [1], [-1]])).tolist()
    (('age',), [[20.0], [70.0], [50.0]])
    """

    cuts: tuple[Cut, ...]
    domains: tuple[Domain, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(name for _, names, _ in self._blocks() for name in names)

    @property
    def numbers(self) -> NDArray[np.bool_]:
        """Which columns stand by themselves: numbers, and nodes of sets. Of the other indicators one a cut is 1."""
        alone = [
            isinstance(self.domains[column], Grid) or isinstance(table, SetCut)
            for column, names, table in self._blocks()
            for _ in names
        ]
        return np.array(alone, dtype=bool)

    def matrix(self, regions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows of region numbers (one a cut) to rows of features."""
        blocks = [
            _held(table, regions[:, column])
            if isinstance(table, SetCut)
            else table[regions[:, column].astype(np.int64)]
            for column, _, table in self._blocks()
        ]
        return np.hstack(blocks) if blocks else np.zeros((len(regions), 0))

    def _blocks(self) -> list[tuple[int, tuple[str, ...], NDArray[np.float64] | SetCut]]:
        """For each cut that says something: its place, column names, and a row of values a region, the last for -1.

        Sets have too many regions to list: of them, the cut.
        """
        blocks: list[tuple[int, tuple[str, ...], NDArray[np.float64] | SetCut]] = []
        for column, (cut, domain) in enumerate(zip(self.cuts, self.domains, strict=True)):
            if isinstance(cut, SetCut):
                names = tuple(f"{cut.attribute}={domain.label(*node)}" for node in cut.ranges)
                blocks += [] if cut.whole else [(column, names, cut)]
            elif len(cut) > 1:
                names, table = _numbers(cut, domain) if isinstance(domain, Grid) else _indicators(cut, domain)
                blocks.append((column, names, table))
        return blocks


def _indicators(cut: Cut, domain: Domain) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    names = tuple(f"{cut.attribute}={domain.label(*region)}" for region in cut.ranges)
    return names, np.vstack([np.eye(len(cut)), np.zeros(len(cut))])


def _held(cut: SetCut, regions: NDArray[Any]) -> NDArray[np.float64]:
    """A 1 for each node that a region contains."""
    held = np.zeros((len(regions), len(cut.starts)))
    held[cut.members(regions)] = 1.0
    return held


def _numbers(cut: Cut, grid: Grid) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    starts = np.append(np.asarray(cut.starts, dtype=np.float64), 0.0)
    stops = np.append(starts[1:-1], [grid.size, grid.points])
    tops = np.minimum(stops, grid.points)
    low = float(grid.lower) + starts * float(grid.step)
    high = np.minimum(float(grid.lower) + tops * float(grid.step), float(grid.upper))
    middle = (low + high) / 2
    if grid.missing is None:
        return (cut.attribute,), middle[:, None]
    lost = stops > grid.points
    lost[-1] = False
    middle[(starts >= grid.points)] = (float(grid.lower) + float(grid.upper)) / 2
    return (cut.attribute, f"{cut.attribute} missing"), np.stack([middle, lost.astype(np.float64)], axis=1)


def region_matrix(cuts: Sequence[Cut], codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Columns of codes to rows of region numbers."""
    return np.stack([cut.regions(column) for cut, column in zip(cuts, codes, strict=True)], axis=1)
