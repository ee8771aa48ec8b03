"""The model that measured tables make of the class: scores that add up over the stages.

F starts at the logarithm of the class shares. Each stage adds log P(class | cell) − log P(class | band): what its
attributes tell beyond what the stages before have told. All of it is computed from published counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.release.measured import StageTable
from sfumato.release.model.fit import class_given_cell

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MARGINS: Final = (0.5, 1.5, 3.0)
"""How far the leading class is ahead of the next, in log-odds: the score bands of one class lie between these."""

BANDS: Final = len(MARGINS) + 1
"""Score bands of one class."""

_LEAST: Final = 1e-4  # no class is taken to be rarer in a cell


def band_of(scores: Floats) -> Integers:
    """The score band of each row: which class leads, and how clearly."""
    ordered = np.sort(scores, axis=1)
    ahead = ordered[:, -1] - ordered[:, -2]
    return np.asarray(scores.argmax(axis=1) * BANDS + np.searchsorted(MARGINS, ahead), dtype=np.int64)


def softmax(scores: Floats) -> Floats:
    """Scores as probabilities."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Stage:
    """One table with what follows from it."""

    table: StageTable

    @cached_property
    def fit(self) -> tuple[Floats, Floats]:
        """P(class | cell), and how many records each cell has."""
        return class_given_cell(self.table)

    @cached_property
    def weights(self) -> Floats:
        """How many records each cell has of each class, by the fit."""
        share, totals = self.fit
        return share * totals[:, None]

    @cached_property
    def prior(self) -> Floats:
        """The class shares in each band."""
        cells = self.table.cells[:, 0]
        sums = [np.bincount(cells, weights=column, minlength=self.table.bands) for column in self.weights.T]
        found = np.stack(sums, axis=1).astype(np.float64) + 1e-3
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @cached_property
    def update(self) -> Floats:
        """What each cell adds to the scores."""
        share, _ = self.fit
        return np.asarray(np.log(np.maximum(share, _LEAST)) - np.log(self.prior)[self.table.cells[:, 0]])


class PlugIn:
    """The model of some stages.

    It scores any records by their codes; one that a table cannot place (a value that is left out) keeps its scores.
    """

    def __init__(self, tables: Sequence[StageTable]) -> None:
        self.stages = tuple(Stage(table) for table in tables)

    def with_table(self, table: StageTable) -> "PlugIn":
        """The model of one stage more; what was fitted stays fitted."""
        found = PlugIn(())
        found.stages = (*self.stages, Stage(table))
        return found

    @property
    def first(self) -> Floats:
        """The scores before anything is known of a record."""
        return np.asarray(np.log(self.stages[0].prior[0]))

    def scores(self, codes: Mapping[str, Integers], size: int) -> Floats:
        """The scores of so many records, a column a class."""
        found = np.tile(self.first, (size, 1))
        for number, stage in enumerate(self.stages):
            bands = band_of(found) if number else np.zeros(size, dtype=np.int64)
            known = np.ones(size, dtype=np.bool_)
            for cut in stage.table.cuts:
                known &= codes[cut.attribute] >= 0
            found[known] += stage.update[stage.table.rows(bands, codes)[known]]
        return found
