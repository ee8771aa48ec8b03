"""The records that a tree is grown from, as cells in memory."""

import numpy as np

from sfumato.domains.counts import Cells, Marginal
from sfumato.interactive.decision_tree import Integers
from sfumato.study.view import View


class Records:
    """The full cells in memory: what every count of the tree is made from."""

    def __init__(self, view: View, cells: Cells) -> None:
        place = {name: column for column, name in enumerate(cells.attributes)}
        self.classes = len(view.classes)
        self.counts = cells.counts
        self._target = cells.codes[:, place[view.target.name]]
        self.codes: dict[str, Integers] = {}
        self._ranks: dict[str, tuple[Integers, Integers]] = {}
        for attribute in view.predictors:
            column = np.ascontiguousarray(cells.codes[:, place[attribute.name]], dtype=np.int64)
            self.codes[attribute.name] = column
            self._ranks[attribute.name] = np.unique(column, return_inverse=True)

    def class_counts(self, rows: Integers) -> Integers:
        """How many records of each class some cells hold."""
        counts: Integers = self.by_part(np.zeros(len(rows), dtype=np.int64), rows, 1)[0]
        return counts

    def by_part(self, part: Integers, rows: Integers, parts: int) -> Integers:
        """The class counts of some cells by the part that each is in."""
        flat = np.bincount(
            part * self.classes + self._target[rows], weights=self.counts[rows], minlength=parts * self.classes
        )
        return flat.reshape(parts, self.classes).astype(np.int64)

    def marginal(self, name: str, rows: Integers) -> Marginal:
        """One attribute against the class, in some cells."""
        distinct, ranks = self._ranks[name]
        here = ranks[rows]
        if len(rows) < len(distinct):  # few cells of an attribute with many values: number those that occur
            found, here = np.unique(here, return_inverse=True)
            distinct = distinct[found]
        table = self.by_part(here, rows, len(distinct))
        real = table.any(axis=1)
        return Marginal(distinct[real], table[real])
