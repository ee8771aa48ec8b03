"""Marginals: noisy counts of the sets of attributes that a model of the earlier ones describes worst."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut
from sfumato.errors import StudyError
from sfumato.methods.marginals.candidate_scores import Joint, sensitivity
from sfumato.methods.marginals.forecast import forecast
from sfumato.methods.marginals.groups import cuts_of
from sfumato.methods.marginals.plan import SHARE_OF_CHOICE, SHARE_OF_SIZE, one_way_shares, plan_for
from sfumato.methods.marginals.workload import Workload, parse_workload, workload_of
from sfumato.methods.method import (
    BEST_OF,
    METHODS,
    NOISE_ON,
    Context,
    Exact,
    Forecast,
    PrivateMethod,
    cells_by_class,
    refuse_observed,
    refuse_sets,
    require_accountant,
)
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts, scale_for
from sfumato.privacy.dp.mechanisms.noisy_max import noisy_max
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress
from sfumato.release.draft import Draft
from sfumato.release.measured import MOST_CLASSES, MOST_GROUPS
from sfumato.release.measured_marginals import MOST_MODEL_CELLS, MarginalTable, MeasuredMarginals
from sfumato.release.model.graphical.fit_model import Fit, fit
from sfumato.release.model.graphical.junction_tree import model_cells
from sfumato.release.model.graphical.records import with_model_records
from sfumato.study.budget import parse_epsilon
from sfumato.study.purpose import Needs
from sfumato.study.view import View

Integers = NDArray[np.int64]
Set = tuple[int, ...]

_FEWEST_GROUPS: Final = 2
_STEPS: Final = 60  # of a fit between two rounds, which starts from the one before
_DOING: Final = "choosing and measuring marginals"


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Marginals(PrivateMethod):
    """Publish one-way marginals, then those of the workload that the model of what is published describes worst.

    After each measurement a graphical model of all attributes is fitted to the noisy tables
    (`release.model.graphical`), and the next table is chosen where the model is farthest from the records: adaptive
    selection as in MWEM+PGM and AIM (McKenna, Mullins, Sheldon & Miklau 2022), under pure ε. Where a measurement tells
    no more than its noise, the later ones are fewer and get twice the ε each.

    Privacy, for tables that differ by one record. Domains, groups, the workload and the plan's rules are public.

    - The number of records costs ε/50 (Δ = 1). The plan is a function of it.
    - A table: a record is in one cell, Δ = 1 in the L1 norm. Every cell gets noise, the empty ones too.
    - A choice: the candidates, their weights and the model are functions of earlier outputs. One record moves every
      score by at most Δ = ticks × the largest weight, in either direction (`candidate_scores` has the argument), so
      noisy max at scale 2Δ/e is e-differentially private.
    - Which candidates are small enough, how much the next round gets and when to stop follow from earlier outputs.

    Everything composes adaptively; the sum is ε (see `Accountant`). Persons with at most m records: all runs at ε/m.
    The model and synthetic records are computed from the noisy tables alone.
    """

    name: ClassVar[str] = "marginals"
    form: ClassVar[str] = "marginals"
    summary: ClassVar[str] = "differentially private marginals for a declared workload, with synthetic records"
    needs: ClassVar[Needs] = Needs(private=True, random=True)
    epsilon: Exact
    workload: Any = None
    groups: Any = 50

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)
        object.__setattr__(self, "workload", parse_workload(self.workload))
        groups = self.groups
        if isinstance(groups, bool) or not isinstance(groups, int) or not _FEWEST_GROUPS <= groups <= MOST_GROUPS:
            raise StudyError(
                f"groups is not a whole number from {_FEWEST_GROUPS} to {MOST_GROUPS:,}",
                "write how many groups an attribute may have at most, as in `groups: 20`",
                code="SF-STUDY-304",
            )

    def check(self, view: View) -> None:
        """Refuse observed domains, sets, too many classes, and a workload that the view does not have."""
        refuse_observed(view)
        if len(view.classes) > MOST_CLASSES:
            raise StudyError(
                f"the class has {len(view.classes):,} values, and `marginals` counts at most {MOST_CLASSES}",
                "declare a class with fewer values, or give the attribute another role",
                code="SF-STUDY-305",
            )
        refuse_sets(view, self.name)
        self._workload(cuts_of(view, self.groups), view)

    def forecast(self, view: View) -> Forecast:
        """What can be measured, at which price."""
        self.check(view)
        cuts = cuts_of(view, self.groups)
        return forecast(self.spends / view.unit.stability, cuts, self._workload(cuts, view))

    def draft(self, view: View, counts: Counter, context: Context | None = None) -> Draft:
        """Choose and measure."""
        self.check(view)
        accountant, source, progress = require_accountant(context)
        cuts = cuts_of(view, self.groups)
        progress("counting groups", 0, 1)
        predictors = cuts[: len(view.predictors)]
        cells = cells_by_class(counts, predictors, view)
        joint = Joint(cells.codes[:, : len(cuts)], cells.counts, [cut.total for cut in cuts])
        run = self.run(joint, cuts, self._workload(cuts, view), accountant, source, progress)
        measured = run.measure()
        return Draft(
            view=view,
            content=with_model_records(measured, targeted=view.targeted),
            form=self.form,
            guarantee=self.guarantee(view),
            facts={
                "noisy_size": measured.size,
                "tables": len(measured.tables),
                "rounds": run.rounds,
                "noise_scale": max(table.scale for table in measured.tables),
            },
        )

    def run(self, *given: Any) -> "MarginalRun":
        """One run over a table; experiments with other noise replace it."""
        return MarginalRun(*given)

    def _workload(self, cuts: Sequence[Cut], view: View) -> Workload:
        names, sizes = [cut.attribute for cut in cuts], [cut.total for cut in cuts]
        return workload_of(self.workload, names, sizes, targeted=view.targeted)


class MarginalRun:
    """One run over a table, which spends what its accountant has."""

    def __init__(
        self, joint: Joint, cuts: tuple[Cut, ...], workload: Workload, accountant: Accountant, source: RandomSource,
        progress: Progress,
    ) -> None:  # fmt: skip
        self.joint, self._cuts, self.accountant, self._source = joint, cuts, accountant, source
        self._progress = progress
        self._sizes = tuple(cut.total for cut in cuts)
        self.weights = dict(zip(workload.candidates, workload.weights, strict=True))
        self.tables: list[MarginalTable] = []
        self.rounds = 0

    def measure(self) -> MeasuredMarginals:
        """The number of records, one-way marginals, and rounds until all of ε is spent."""
        budget = self.accountant.budget
        price = budget * SHARE_OF_SIZE
        size = int(self._noisy(np.array([self.joint.size]), price, "number of records")[0])
        self._size, self._size_scale = size, scale_for(price, sensitivity=1)
        plan = plan_for(size, budget)
        telling = telling_attributes(self._sizes)
        left = self.accountant.left
        one_way = left * plan.one_way if self.weights else left
        for a, share in zip(telling, one_way_shares(one_way, [self._sizes[a] for a in telling]), strict=True):
            self.measure_table((a,), share)
        if self.weights:
            self._rounds(self.accountant.left / plan.rounds_for(len(self.weights)))
        self._progress(_DOING, 100, 100)
        return self._measured()

    def _rounds(self, step: Fraction) -> None:
        """Choose and measure, fit, and go on with as much ε, or twice as much, until nothing is left."""
        found = self._fit(None)
        while self.accountant.left:
            self._progress(_DOING, int(100 * self.accountant.spent / self.accountant.budget), 100)
            left = self.accountant.left
            step = left if left < 2 * step else step
            price = step - step * SHARE_OF_CHOICE
            scale = scale_for(price, sensitivity=1)
            total = self._measured().total
            expected = {one: found.model.marginal(one) * total for one in self._open(step)}
            chosen = next(iter(expected))
            if len(expected) > 1:
                chosen = self.choose(expected, step - price, scale)
            else:  # nothing to choose from: all of it is for the counts
                price = step
            self.measure_table(chosen, price)
            self.rounds += 1
            if not self.accountant.left:
                return
            found = self._fit(found)
            moved = float(np.abs(found.model.marginal(chosen) * total - expected[chosen]).sum())
            if moved <= scale * expected[chosen].size:
                step *= 2

    def _open(self, step: Fraction) -> list[Set]:
        """The candidates that leave the model small enough after a round of so much ε.

        The limit grows with what is spent, so that a first large table does not use up the room of all others. What the
        cliques of the present tables have is always small enough.
        """
        spent = (self.accountant.spent + step) / self.accountant.budget
        tables = [table.attributes for table in self.tables]
        room = sum(self._sizes)
        most = MOST_MODEL_CELLS + room
        cells = {one: model_cells(self._sizes, [*tables, one], most=most) for one in self.weights}
        found = [one for one in self.weights if cells[one] <= MOST_MODEL_CELLS * spent + room]
        return found or [one for one in self.weights if cells[one] <= most]

    def choose(self, expected: dict[Set, NDArray[np.float64]], epsilon: Fraction, scale: float) -> Set:
        """The candidate that the model describes worst."""
        scores = self.joint.scores(expected, self.weights, scale)
        largest = sensitivity([self.weights[one] for one in expected])
        grant = self.accountant.grant(epsilon, on=f"attributes of table {len(self.tables) + 1}", mechanism=BEST_OF)
        place = noisy_max(scores, sensitivity=largest, monotone=False, grant=grant, source=self._source)
        return list(expected)[place]

    def measure_table(self, attributes: Set, epsilon: Fraction) -> None:
        """Noisy counts of some attributes, added to what is measured."""
        names = ", ".join(f"'{self._cuts[a].attribute}'" for a in attributes)
        true = self.joint.marginal(attributes)
        noisy = self._noisy(true.ravel(), epsilon, f"counts of table {len(self.tables) + 1}: {names}")
        self.tables.append(MarginalTable(attributes, noisy.reshape(true.shape), scale_for(epsilon, sensitivity=1)))

    def _noisy(self, counts: Integers, epsilon: Fraction, on: str) -> Integers:
        grant = self.accountant.grant(epsilon, on=on, mechanism=NOISE_ON)
        return noisy_counts(counts.astype(np.int64), sensitivity=1, grant=grant, source=self._source)

    def _fit(self, start: Fit | None) -> Fit:
        measured = self._measured()
        return fit(self._sizes, measured.measurements, measured.total, steps=_STEPS, start=start)

    def _measured(self) -> MeasuredMarginals:
        return MeasuredMarginals(self._cuts, self._size, self._size_scale, tuple(self.tables))


def telling_attributes(sizes: Sequence[int]) -> list[int]:
    """The attributes that get a table of their own: those with several groups; the first, if none has."""
    return [a for a, size in enumerate(sizes) if size > 1] or [0]
