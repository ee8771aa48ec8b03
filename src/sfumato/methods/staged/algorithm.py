"""Staged tables: tables of noisy counts, each chosen by what the tables before it leave undecided."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut
from sfumato.errors import StudyError
from sfumato.methods.method import (
    BEST_OF,
    METHODS,
    NOISE_ON,
    Context,
    Exact,
    Forecast,
    PrivateMethod,
    refuse_observed,
    refuse_one_class,
    refuse_sets,
    require_accountant,
)
from sfumato.methods.staged.forecast import forecast
from sfumato.methods.staged.groupings import Groupings, groupings_of
from sfumato.methods.staged.impurity import TICKS
from sfumato.methods.staged.plan import SHARE_OF_REMAINING, SHARE_OF_SIZE, Plan, make_plan
from sfumato.methods.staged.search import Joint, Narrow
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts, scale_for
from sfumato.privacy.dp.mechanisms.noisy_max import noisy_max
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress
from sfumato.release.draft import Draft
from sfumato.release.measured import MOST_CLASSES, MeasuredTables, RemainingTable, StageTable
from sfumato.release.model.plug_in import BANDS, PlugIn
from sfumato.release.model.records import with_records
from sfumato.study.budget import parse_epsilon
from sfumato.study.purpose import Needs
from sfumato.study.view import View

Integers = NDArray[np.int64]

MOST_AT_ONCE: Final = 16
"""Attributes up to which all small sets of them are candidates at once; of more, one is chosen first."""

_FIRST: Final = Fraction(1, 10)  # of a choice's ε, for the attribute that is chosen first
_RARE: Final = 50  # records × ε of the rarest class from which a remaining attribute is counted by predicted class
_PER_CELL: Final = 10  # records × ε of a remaining table's group, on average, at least
_FEWEST: Final = 4  # groups that a remaining attribute may always have


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Staged(PrivateMethod):
    """Choose a few attributes with their groupings, publish their noisy counts by class, and go on with what is left.

    Each stage's table counts score band × groups × class, where the score band of a record follows from the tables
    before and the record's own values: which class leads, and how clearly. So a later table asks what the earlier ones
    leave undecided. The attributes that no stage chose get a small table each.

    Privacy, for tables that differ by one record. Domains, groupings and the plan's rules are public.

    - The number of records costs ε/50 (Δ = 1). The plan is a function of it.
    - A choice: given all earlier outputs, the score band is a fixed function of a record's own values, so that for each
      candidate a record is in exactly one cell. All scores then move by a whole number in [−T, 0] (`impurity`): they
      are monotone with Δ = T ticks, so noisy max at scale T/e is e-differentially private. Of many attributes one is
      chosen first, for a tenth of the choice's ε, then what joins it.
    - A table: a record is in one cell, Δ = 1 in the L1 norm. Every cell gets noise, the empty ones too.
    - A remaining table: a record is in one cell by its group, and by the class that the published model predicts from
      its own values.

    Everything composes adaptively; the sum is at most ε (see `Accountant`). Persons with at most m records: all runs at
    ε/m. The model and synthetic records are computed from the noisy tables alone.
    """

    name: ClassVar[str] = "staged"
    form: ClassVar[str] = "tables"
    summary: ClassVar[str] = "differentially private tables in stages, for prediction, with synthetic records"
    needs: ClassVar[Needs] = Needs(private=True, target=True, random=True)
    epsilon: Exact

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)

    def check(self, view: View) -> None:
        """Refuse observed domains, fewer than two classes or too many, and sets."""
        refuse_observed(view)
        refuse_one_class(view)
        if len(view.classes) > MOST_CLASSES:
            raise StudyError(
                f"the class has {len(view.classes):,} values, and `staged` tells at most {MOST_CLASSES} apart",
                "declare a class with fewer values",
                code="SF-STUDY-225",
            )
        refuse_sets(view, self.name)

    def forecast(self, view: View) -> Forecast:
        """What will be measured, at which price."""
        self.check(view)
        return forecast(view, self.spends / view.unit.stability, groupings_of(view))

    def draft(self, view: View, counts: Counter, context: Context | None = None) -> Draft:
        """Choose and measure."""
        self.check(view)
        accountant, source, progress = require_accountant(context)
        groupings = groupings_of(view)
        progress("counting groups", 0, 1)
        classes = len(view.classes)
        cuts = [*(found.atoms for found in groupings.values()), *view.class_cuts]
        joint = Joint.of(groupings, counts.cell_columns(cuts), classes)
        run = _Run(joint, accountant, source, progress)
        tables = run.measure()
        return Draft(
            view=view,
            content=with_records(tables, view),
            form=self.form,
            guarantee=self.guarantee(view),
            facts={
                "noisy_size": tables.size,
                "stages": len(tables.stages),
                "noise_scale": max(table.scale for table in tables.stages),
            },
        )


class _Run:
    """One run over a table, which spends what its accountant has."""

    def __init__(self, joint: Joint, accountant: Accountant, source: RandomSource, progress: Progress) -> None:
        self._joint, self._accountant, self._source, self._progress = joint, accountant, source, progress
        self._free = list(joint.groupings)
        self._model = PlugIn(())

    def measure(self) -> MeasuredTables:
        """All tables, in the order in which they are paid for; all that is left of ε goes to the last of them."""
        budget = self._accountant.budget
        size = int(self._noisy(np.array([self._joint.counts.sum()]), budget * SHARE_OF_SIZE, "number of records")[0])
        plan = make_plan(size, budget - budget * (SHARE_OF_SIZE + SHARE_OF_REMAINING), self._joint.classes)
        bands: Narrow = np.zeros(len(self._joint), dtype=np.int8)
        predicted = bands
        for number, choice in enumerate(plan.choices):
            self._progress("choosing and measuring tables", number, plan.stages)
            count = BANDS * self._joint.classes if number else 1
            chosen: tuple[Cut, ...] = ()
            if self._free:
                chosen = self._choose(bands, count, choice, number + 1, plan)
                self._free = [name for name in self._free if name not in {cut.attribute for cut in chosen}]
            price = plan.table if self._free else self._accountant.left
            self._model = self._model.with_table(self._table(bands, count, chosen, price, number + 1))
            if not self._free:  # nothing is left to choose from, or to describe
                break
            bands, predicted = self._joint.placed(self._model)
        others = self._remaining(predicted, size, self._accountant.left)
        self._progress("choosing and measuring tables", plan.stages, plan.stages)
        return MeasuredTables(size, self._joint.classes, tuple(stage.table for stage in self._model.stages), others)

    def _choose(self, bands: Narrow, count: int, epsilon: Fraction, number: int, plan: Plan) -> tuple[Cut, ...]:
        """The attributes of a stage, with their groupings; it may be none."""
        first: tuple[str, ...] = ()
        more = plan.attributes
        if len(self._joint.groupings) > MOST_AT_ONCE:
            found, scores = self._candidates([(), *((name,) for name in self._free)], bands, count, plan)
            picked = found[self._best(scores, epsilon * _FIRST, f"first attribute of table {number}")]
            first = tuple(cut.attribute for cut in picked)
            epsilon -= epsilon * _FIRST
            more = plan.attributes - 1 if first else 1
        others = [name for name in self._free if name not in first]
        sets = [(*first, *names) for size in range(more + 1) for names in combinations(others, size)]
        found, scores = self._candidates(sets, bands, count, plan)
        return found[self._best(scores, epsilon, f"attributes and groups of table {number}")]

    def _candidates(
        self, sets: Sequence[Sequence[str]], bands: Narrow, count: int, plan: Plan
    ) -> tuple[list[tuple[Cut, ...]], list[int]]:
        return self._joint.candidates(sets, bands, count, cells=plan.cells, penalty=plan.penalty)

    def _best(self, scores: Sequence[int], epsilon: Fraction, on: str) -> int:
        grant = self._accountant.grant(epsilon, on=on, mechanism=BEST_OF)
        return noisy_max(scores, sensitivity=TICKS, monotone=True, grant=grant, source=self._source)

    def _table(self, bands: Narrow, count: int, cuts: tuple[Cut, ...], epsilon: Fraction, number: int) -> StageTable:
        size = count * prod(cut.total for cut in cuts)
        true = self._joint.count(self._joint.rows(bands, cuts), size)
        noisy = self._noisy(true.ravel(), epsilon, f"counts of table {number}").reshape(true.shape)
        return StageTable(count, cuts, noisy, scale_for(epsilon, sensitivity=1))

    def _remaining(self, predicted: Narrow, size: int, epsilon: Fraction) -> tuple[RemainingTable, ...]:
        """A table for each attribute that no stage has; each gets the same part of what is kept for them."""
        if not self._free or not epsilon:
            return ()
        price = epsilon / len(self._free)
        weight = max(size, 0) * price
        rarest = float(self._model.stages[0].prior.min())
        rows = self._joint.classes if float(weight) * rarest >= _RARE else 1
        widest = max(_FEWEST, int(weight / _PER_CELL))
        found = []
        for name in self._free:
            cut = _finest(self._joint.groupings[name], widest)
            by = predicted if rows > 1 else np.zeros(len(self._joint), dtype=np.int8)
            true = self._joint.sums(self._joint.rows(by, [cut]), rows * cut.total)
            noisy = self._noisy(true, price, f"counts of '{name}'").reshape(rows, cut.total)
            found.append(RemainingTable(cut, noisy, scale_for(price, sensitivity=1)))
        return tuple(found)

    def _noisy(self, counts: Integers, epsilon: Fraction, on: str) -> Integers:
        grant = self._accountant.grant(epsilon, on=on, mechanism=NOISE_ON)
        return noisy_counts(counts.astype(np.int64), sensitivity=1, grant=grant, source=self._source)


def _finest(groupings: Groupings, widest: int) -> Cut:
    """The finest grouping with at most so many groups; the coarsest, where none has so few."""
    few = [cut for cut in groupings.cuts if cut.total <= widest]
    return max(few, key=lambda cut: cut.total) if few else min(groupings.cuts, key=lambda cut: cut.total)
