"""Audit the guarantee of a learnt model as a black box, on two small synthetic neighbouring tables."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Final

import numpy as np

from sfumato.domains.counts import Cells, Counter, Marginal
from sfumato.domains.cut import Cut
from sfumato.errors import InternalError
from sfumato.evaluate.audit import Finding, audit
from sfumato.interactive.audit_events import events_of_tree
from sfumato.interactive.growing import DiffPTree
from sfumato.methods.specialization.candidates import domain_of
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.progress import Progress, silent
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View

_FEW: Final = 5
_PLENTY: Final = 4  # so many times the size from which on a root is split, and it is split all but surely
_CONFIDENCE: Final = 0.9999

Row = tuple[frozenset[str], int, int]  # the predictors at their last code (the others at their first), class, records


def audit_tree(
    study: Study, method: DiffPTree, *, purpose: str | None = None, runs: int = 4_000, progress: Progress = silent
) -> Finding:
    """Grow the tree often on neighbouring tables, compare what comes out, and bound the loss from below.

    The tables are made from the declared domains, which are public: the study's own table is not opened, and nothing is
    spent. There are two pairs, since a tree shows things in two ways:

    - *Few records*, too few to split: what shows are the noisy counts, which get nearly all of ε then. One table has
      five records that are alike, the other one record more, alone in the last value of every attribute.
    - *Many records*, so that the root is split: what shows is which attribute it asks for. On one table the first two
      attributes are equally good, on the other the second is better by one record.

    For persons it is one person more, with all the records a person may have. The loss is at least the larger of the
    two bounds; each is stated with half the error, so both hold together with the confidence of the finding.
    """
    view = tailor(study, purpose, method.needs)
    method.check(view)
    many = _PLENTY * int(method.forecast(view).numbers["least_records"])
    pairs = [_few(view, view.unit.stability), _many(view, many, view.unit.stability)]
    found = []
    for number, pair in enumerate(pairs):

        def report(what: str, done: int, total: int, number: int = number) -> None:
            progress(what, number * total + done, len(pairs) * total)

        found.append(_compared(method, view, pair, runs, report))
    best = max(found, key=lambda finding: finding.lower_bound)
    return replace(best, confidence=_CONFIDENCE)


def _compared(method: DiffPTree, view: View, pair: tuple[list[Row], list[Row]], runs: int, report: Progress) -> Finding:
    spends, people = method.spends, view.unit.stability
    tables = [_Made(view, rows) for rows in pair]
    around = {a.name: np.array([0, domain_of(a).size - 1], dtype=np.int64) for a in view.predictors}
    unit = max(1, ceil(people / spends))
    levels = {0, *(count for _, _, count in pair[1])}
    done = 0

    def once(table: int) -> set[Hashable]:
        nonlocal done
        report("learning on synthetic tables", done, 2 * runs)
        done += 1
        tree = method.run(view, tables[table], accountant=Accountant(spends / people), source=SecureSource())
        return events_of_tree(tree, around, levels, unit)

    return audit(once, epsilon=spends, runs=runs, confidence=(1 + _CONFIDENCE) / 2)


def _few(view: View, more: int) -> tuple[list[Row], list[Row]]:
    last, alone = len(view.classes) - 1, frozenset(a.name for a in view.predictors)
    some: list[Row] = [(frozenset(), 0, 3), (frozenset(), last, _FEW - 3)]
    return [*some, (alone, last, more)], some


def _many(view: View, size: int, more: int) -> tuple[list[Row], list[Row]]:
    """Half of the records in the first class; those of the last stand out in the first attribute or in the second."""
    last, half, quarter = len(view.classes) - 1, ceil(size / 2) + more, ceil(size / 4)
    one, two = ([frozenset({a.name}) for a in view.predictors] * 2)[:2]
    some: list[Row] = [(frozenset(), 0, half), (one, last, quarter), (two, last, quarter)]
    return [*some, (two, last, more)], some


class _Made(Counter):
    """A made-up table: some predictors at their last code and the others at their first."""

    def __init__(self, view: View, rows: list[Row]) -> None:
        self._names = tuple(a.name for a in view.attributes)
        found: dict[tuple[int, ...], int] = {}
        for apart, value, count in rows:
            codes = tuple(domain_of(a).size - 1 if a.name in apart else 0 for a in view.predictors)
            found[*codes, value] = found.get((*codes, value), 0) + count
        self._codes = np.array(list(found), dtype=np.int64)
        self._counts = np.array(list(found.values()), dtype=np.int64)

    def marginals(self, attributes: Sequence[str], by: str) -> Mapping[str, Marginal]:
        """Nothing: a tree makes its own from the cells."""
        raise InternalError(f"an audited tree asked for {len(attributes)} marginals by '{by}'")

    def cells(self, cuts: Sequence[Cut]) -> Cells:
        """The full cells: a tree asks for nothing else."""
        if tuple(cut.attribute for cut in cuts) != self._names:
            raise InternalError("an audited tree asked for cells of other attributes")
        return Cells(self._names, self._codes, self._counts)
