"""The candidates of a stage, with their scores: every grouping of every small set of attributes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import CellColumns
from sfumato.domains.cut import Cut
from sfumato.methods.staged.groupings import Groupings
from sfumato.methods.staged.impurity import scores
from sfumato.release.model.plug_in import PlugIn, band_of

Integers = NDArray[np.int64]
Narrow = NDArray[np.signedinteger]

EVERY = slice(None)

_DENSE = 1_000_000  # cells × classes that are counted in an array; more are sorted
_WORD = 2**62
_BLOCK = 1_000_000  # combinations that are scored at once: scores are wide


@dataclass(frozen=True, eq=False)
class Joint:
    """The table by atoms: distinct combinations of all attributes' atoms and the class, and how many records have each.

    It is read and never published: stages look at sums of it. Everything that is as long as the table is kept in
    integers as narrow as its values.
    """

    groupings: Mapping[str, Groupings]
    atoms: Mapping[str, Narrow]  # the atom of each combination, by attribute
    labels: Narrow  # its class
    counts: Integers
    classes: int

    @classmethod
    def of(cls, groupings: Mapping[str, Groupings], cells: CellColumns, classes: int) -> "Joint":
        """From the cells of the atoms and the class, in this order."""
        *atoms, labels = cells.columns
        return cls(groupings, dict(zip(groupings, atoms, strict=True)), labels, cells.counts, classes)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The counts as `np.bincount` takes them; none where every combination has one record."""
        return None if int(self.counts.max(initial=0)) == 1 else self.counts.astype(np.float64)

    def codes(self, names: Iterable[str], part: slice = EVERY) -> dict[str, Integers]:
        """A code of each atom: what a model that is made of groups sees of it is the same for all its codes."""
        return {
            name: np.asarray(self.groupings[name].atoms.starts, dtype=np.int64)[self.atoms[name][part]]
            for name in names
        }

    def placed(self, model: PlugIn) -> tuple[Narrow, Narrow]:
        """The score band of each combination by a model, and the class that it predicts; a block at a time."""
        names = {cut.attribute for stage in model.stages for cut in stage.table.cuts}
        bands = np.empty(len(self), dtype=np.int16)
        predicted = np.empty(len(self), dtype=np.int8)
        for start in range(0, len(self), _BLOCK):
            part = slice(start, min(start + _BLOCK, len(self)))
            found = model.scores(self.codes(names, part), part.stop - part.start)
            bands[part], predicted[part] = band_of(found), found.argmax(axis=1)
        return bands, predicted

    def rows(self, bands: Narrow, cuts: Sequence[Cut]) -> Integers:
        """The cell of bands × groups that each combination is in."""
        found = bands.astype(np.int64)
        for cut in cuts:
            found *= cut.total
            found += self._group_of[cut][self.atoms[cut.attribute]]
        return found

    def count(self, rows: Integers, size: int) -> Integers:
        """The class counts of so many cells, each combination being in the cell that ``rows`` says."""
        key = rows * self.classes
        key += self.labels
        return self.sums(key, size * self.classes).reshape(size, self.classes)

    def sums(self, place: Integers, size: int) -> Integers:
        """How many records are in each of so many places; sums below 2⁵³ are exact."""
        return np.bincount(place, weights=self.weights, minlength=size).astype(np.int64)

    def candidates(
        self, sets: Iterable[Sequence[str]], bands: Narrow, band_count: int, *, cells: int, penalty: int
    ) -> tuple[list[tuple[Cut, ...]], list[int]]:
        """The groupings of these sets of attributes whose tables have at most so many cells, and their scores."""
        found: list[tuple[Cut, ...]] = []
        found_scores: list[int] = []
        keys = _Keys(self, bands, band_count)
        for names in sets:
            choices = [
                cuts
                for cuts in product(*(self.groupings[name].cuts for name in names))
                if band_count * prod(cut.total for cut in cuts) <= max(cells, band_count)
            ]
            if not choices:
                continue
            found += choices
            found_scores += self._scores(names, choices, keys, penalty).tolist()
        return found, found_scores

    def _scores(
        self, names: Sequence[str], choices: Sequence[tuple[Cut, ...]], keys: "_Keys", penalty: int
    ) -> Integers:
        """The scores of some groupings of one set of attributes."""
        place, counts = self._by_atoms(names, keys)
        sizes = [keys.bands * prod(cut.total for cut in cuts) for cuts in choices]
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

    def _by_atoms(self, names: Sequence[str], keys: "_Keys") -> tuple[list[Integers], Integers]:
        """The occupied combinations of bands and atoms: a column each, and the class counts, a row a class."""
        sizes = [keys.bands, *(self.groupings[name].atoms.total for name in names)]
        size = prod(sizes)
        if size * self.classes <= _DENSE:
            counts = self.sums(keys.of(names), size * self.classes).reshape(self.classes, size)
            occupied = np.flatnonzero(counts.any(axis=0))
        else:
            assert size * self.classes < _WORD, "three attributes of at most some thousand atoms"
            distinct, place = np.unique(keys.of(names), return_inverse=True)
            occupied, at = np.unique(distinct % size, return_inverse=True)
            counts = np.zeros((self.classes, len(occupied)), dtype=np.int64)
            counts[distinct // size, at] = self.sums(place.ravel(), len(distinct))
            return [np.asarray(c, np.int64) for c in np.unravel_index(occupied, sizes)], counts
        return [np.asarray(c, np.int64) for c in np.unravel_index(occupied, sizes)], counts[:, occupied]


class _Keys:
    """The cell of class × band × atoms that each combination is in, as one number, for one set of attributes at a time.

    Sets come in an order in which neighbours begin alike, so that the numbers of what they begin with are kept.
    """

    def __init__(self, joint: Joint, bands: Narrow, band_count: int) -> None:
        self._joint, self.bands = joint, band_count
        first = joint.labels.astype(np.int64)
        first *= band_count
        first += bands
        self._kept: list[tuple[str, Integers]] = [("", first)]

    def of(self, names: Sequence[str]) -> Integers:
        """The numbers for some attributes, in their order; the class is the leading digit."""
        known = 0
        while known < len(self._kept) - 1 and known < len(names) - 1 and self._kept[known + 1][0] == names[known]:
            known += 1
        del self._kept[known + 1 :]
        for name in names[known:-1]:
            self._kept.append((name, self._with(name)))
        return self._with(names[-1]) if names else self._kept[0][1]

    def _with(self, name: str) -> Integers:
        found = self._kept[-1][1] * self._joint.groupings[name].atoms.total
        found += self._joint.atoms[name]
        return found
