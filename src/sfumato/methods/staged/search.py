"""The candidates of a stage, with their scores: every grouping of every small set of attributes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.methods.staged.groupings import Groupings
from sfumato.methods.staged.impurity import scores

Integers = NDArray[np.int64]

_DENSE = 500_000  # cells that are counted in an array; more are sorted
_WORD = 2**62


@dataclass(frozen=True, eq=False)
class Joint:
    """The table by atoms: distinct combinations of all attributes' atoms and the class, and how many records have each.

    It is read and never published: stages look at sums of it.
    """

    groupings: Mapping[str, Groupings]
    atoms: Mapping[str, Integers]  # the atom of each combination, by attribute
    labels: Integers  # its class
    counts: Integers
    classes: int

    @classmethod
    def of(cls, groupings: Mapping[str, Groupings], cells: Cells, classes: int) -> "Joint":
        """From the cells of the atoms and the class, in this order."""
        codes = cells.codes.T
        atoms = {name: np.ascontiguousarray(codes[place], dtype=np.int64) for place, name in enumerate(groupings)}
        return cls(groupings, atoms, np.ascontiguousarray(codes[-1], dtype=np.int64), cells.counts, classes)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def codes(self) -> dict[str, Integers]:
        """A code of each atom: what a model that is made of groups sees of it is the same for all its codes."""
        return {
            name: np.asarray(found.atoms.starts, dtype=np.int64)[self.atoms[name]]
            for name, found in self.groupings.items()
        }

    def count(self, rows: Integers, size: int) -> Integers:
        """The class counts of so many cells, each combination being in the cell that ``rows`` says."""
        flat = np.bincount(rows * self.classes + self.labels, weights=self.counts, minlength=size * self.classes)
        return flat.astype(np.int64).reshape(size, self.classes)  # sums below 2⁵³ are exact

    def candidates(
        self, sets: Iterable[Sequence[str]], bands: Integers, band_count: int, *, cells: int, penalty: int
    ) -> tuple[list[tuple[Cut, ...]], list[int]]:
        """The groupings of these sets of attributes whose tables have at most so many cells, and their scores."""
        found: list[tuple[Cut, ...]] = []
        found_scores: list[int] = []
        for names in sets:
            choices = [
                cuts
                for cuts in product(*(self.groupings[name].cuts for name in names))
                if band_count * prod(cut.total for cut in cuts) <= max(cells, band_count)
            ]
            if not choices:
                continue
            found += choices
            found_scores += self._scores(names, choices, bands, band_count, penalty).tolist()
        return found, found_scores

    def _scores(
        self, names: Sequence[str], choices: Sequence[tuple[Cut, ...]], bands: Integers, band_count: int, penalty: int
    ) -> Integers:
        """The scores of some groupings of one set of attributes."""
        place, counts = self._by_atoms(names, bands, band_count)
        sizes = [band_count * prod(cut.total for cut in cuts) for cuts in choices]
        starts = np.cumsum([0, *sizes])
        tables = np.empty((self.classes, starts[-1]), dtype=np.int64)
        for cuts, start, size in zip(choices, starts, sizes, strict=False):
            at = place[0]
            for cut, atom in zip(cuts, place[1:], strict=True):
                at = at * cut.total + self._group_of[cut][atom]
            for number, of_class in enumerate(counts):
                tables[number, start : start + size] = np.bincount(at, weights=of_class, minlength=size)
        return scores(tables, starts[:-1], penalty)

    @cached_property
    def _group_of(self) -> dict[Cut, Integers]:
        """The group of each cut that each atom is in."""
        return {cut: found.to_groups(cut) for found in self.groupings.values() for cut in found.cuts}

    def _by_atoms(self, names: Sequence[str], bands: Integers, band_count: int) -> tuple[list[Integers], Integers]:
        """The occupied combinations of bands and atoms: a column each, and the class counts, a row a class."""
        sizes = [band_count, *(self.groupings[name].atoms.total for name in names)]
        columns = [bands, *(self.atoms[name] for name in names)]
        size = prod(sizes)
        if size <= _DENSE:
            key = np.ravel_multi_index(columns, sizes)
            flat = np.bincount(self.labels * size + key, weights=self.counts, minlength=size * self.classes)
            counts = flat.reshape(self.classes, size)
            occupied = np.flatnonzero(counts.any(axis=0))
            return [np.asarray(c, np.int64) for c in np.unravel_index(occupied, sizes)], counts[:, occupied]
        key, so_far = columns[0], band_count
        for column, more in zip(columns[1:], sizes[1:], strict=True):
            if so_far * more >= _WORD:
                _, key = np.unique(key, return_inverse=True)
                so_far = int(key.max(initial=0)) + 1
            key, so_far = key * more + column, so_far * more
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        flat = np.bincount(
            self.labels * len(first) + place.ravel(), weights=self.counts, minlength=len(first) * self.classes
        )
        return [column[first] for column in columns], flat.reshape(self.classes, len(first))
