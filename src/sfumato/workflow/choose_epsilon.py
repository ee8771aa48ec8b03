"""Choosing ε: the expected errors of a release as a function of ε, and the ε for a wanted error; nothing is spent.

Noise on counts follows from the declarations and ε alone. What a receiver can learn depends on data: accuracy and the
errors of marginals are measured on a *stand-in*, a table that the owner says is public (an earlier release, a survey,
made-up records), with drafts that are discarded. The study's own table is not read, so nothing here needs a guarantee,
and an ε that is chosen this way tells nothing about the records.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, isfinite, log, log1p, sqrt
from pathlib import Path
from typing import Any, Final

from sfumato.errors import StudyError, UsageError
from sfumato.frontier.grid import Sweep
from sfumato.methods import Method, build, recipe_of
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.privacy.models.differential_privacy import membership_advantage, odds_factor
from sfumato.progress import Progress, silent
from sfumato.release.answer.interval import DEVIATIONS
from sfumato.study.budget import exact_text, parse_epsilon, show
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import is_same_table
from sfumato.workflow.accuracy import accuracy
from sfumato.workflow.sweep import run_frontier

EPSILONS: Final = ("0.05", "0.1", "0.25", "0.5", "1", "2")
"""The ε that are compared unless others are asked for."""

CONFIDENCE: Final = 0.95
"""The share of counts that `within` holds for."""

_LEAST, _MOST = Fraction(1, 10_000), Fraction(100)
_STEPS: Final = 60  # of the bisection: far below the three digits that are kept
_RUNS: Final = 5  # drafts of a stand-in at each ε


@dataclass(frozen=True, kw_only=True)
class EpsilonPoint:
    """What is expected of a release at one ε.

    ``deviation`` is the standard deviation of the noise on a published count, of the table with the most noise where
    there are several, ``within`` how far 95 % of such counts are from the truth at most, ``marginal_deviation`` a
    bound on the standard deviation of the noise on a count of a one-way marginal, before post-processing. The rest is
    measured on a stand-in, None without one: the accuracy and AUC of a decision tree trained on such releases, and
    the mean total variation distance of one- and two-way marginals.
    """

    epsilon: Fraction
    deviation: float
    within: int
    marginal_deviation: float | None
    accuracy: float | None = None
    auc: float | None = None
    marginals_1: float | None = None
    marginals_2: float | None = None

    @property
    def odds_factor(self) -> float:
        """By what factor an adversary's odds that a person is in the table can change at most: e^ε."""
        return float(odds_factor(self.epsilon))

    @property
    def membership_advantage(self) -> float:
        """How far an adversary's guess whether a person is in the table can be better than a coin, at most."""
        return float(membership_advantage(self.epsilon))

    def as_json(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "epsilon": exact_text(self.epsilon),
            "odds_factor": self.odds_factor,
            "membership_advantage": self.membership_advantage,
            "deviation": self.deviation,
            "within": self.within,
            "marginal_deviation": self.marginal_deviation,
            "accuracy": self.accuracy,
            "auc": self.auc,
            "marginals_1": self.marginals_1,
            "marginals_2": self.marginals_2,
        }


@dataclass(frozen=True, kw_only=True)
class EpsilonChoice:
    """The points in the order of ε; ``solved`` is the smallest ε that reaches the wanted error."""

    method: str
    points: tuple[EpsilonPoint, ...]
    solved: EpsilonPoint | None = None
    stand_in: str | None = None
    majority: float | None = None  # accuracy of the majority class of the stand-in
    raw: float | None = None  # accuracy on the stand-in itself

    def as_json(self) -> dict[str, Any]:
        """The choice as plain values."""
        return {
            "method": self.method,
            "points": [point.as_json() for point in self.points],
            "solved": None if self.solved is None else self.solved.as_json(),
            "stand_in": self.stand_in,
            "accuracy_of_majority_class": self.majority,
            "accuracy_on_raw_data": self.raw,
        }


def choose_epsilon(
    study: Study,
    recipe: Recipe,
    *,
    epsilons: Sequence[object] = EPSILONS,
    within: float | None = None,
    records: int | None = None,
    stand_in: object = None,
    progress: Progress = silent,
) -> EpsilonChoice:
    """The expected errors of a release at several ε, and the smallest ε at which 95 % of counts are ``within`` so many.

    ``records`` is about how many records the table has, as far as that is public: some methods plan by it. ``stand_in``
    is a public table with the study's columns: a path, a URL, or a table in memory. The study's own table is refused.
    """
    if stand_in is not None:
        refuse_own_table(study, stand_in)
    method = build(recipe)
    if method.spends is None:
        raise StudyError(
            f"the method '{recipe.method}' spends no ε, so there is none to choose",
            "name a differentially private release",
            code="SF-STUDY-390",
        )
    if records is not None and records < 0:
        raise UsageError(f"{records} is not a number of records", "use a whole number from 0 on", code="SF-USAGE-390")
    view = tailor(study, recipe.purpose, method.needs)
    if "marginals" in method.forecast(view).numbers:
        raise StudyError(
            "with the strategy 'consistent-marginals' a count of many attributes has an error that no noise explains",
            "use another strategy, or measure releases of a public table with `sfumato frontier`",
            code="SF-STUDY-393",
        )
    asked = sorted({parse_epsilon(_number(epsilon)) for epsilon in epsilons})
    points = tuple(_point(method, view, epsilon, records) for epsilon in asked)
    solved = None if within is None else _solve(method, view, within, records)
    found = EpsilonChoice(method=recipe.method, points=points, solved=solved)
    return found if stand_in is None else _on_stand_in(study, recipe, method, found, stand_in, progress)


def refuse_own_table(study: Study, stand_in: object) -> None:
    """Refuse the study's own table as a stand-in, before it is read: an ε that is chosen on it is covered by nothing.

    The two are compared by name (`is_same_table`): the file, whatever leads to it, or the table that an address names.
    """
    if is_same_table(study.source, _source(stand_in), base=study.base):
        raise UsageError(
            "the stand-in is the table of this study", "name another table, which is public", code="SF-USAGE-452"
        )


def _number(epsilon: object) -> Any:
    return epsilon.strip() if isinstance(epsilon, str) else epsilon


def _point(method: Method, view: View, epsilon: Fraction, records: int | None) -> EpsilonPoint:
    """What the method's own forecast says about its noise, at another ε."""
    numbers = _with_epsilon(method, epsilon).forecast(view).numbers
    scale = float(numbers["noise_scale"])
    plans = [plan for plan in numbers.get("plans", ()) if plan["records_from"] <= (records or 0)]
    if plans and records is not None:
        scale = max(float(value) for name, value in plans[-1].items() if name.startswith("noise_scale"))
    deviation, within = sqrt(laplace_variance(scale)), within_of(scale)
    if "count_deviation" in numbers:  # a count is estimated from several measured numbers
        deviation = float(numbers["count_deviation"])
        within = ceil(DEVIATIONS * deviation)
    return EpsilonPoint(
        epsilon=epsilon,
        deviation=deviation,
        within=within,
        marginal_deviation=numbers.get("marginal_deviation"),
    )


def _with_epsilon(method: Method, epsilon: Fraction) -> Method:
    return build(_recipe_at(recipe_of(method, name="draft"), epsilon))


def _recipe_at(recipe: Recipe, epsilon: Fraction) -> Recipe:
    return replace(recipe, parameters={**recipe.parameters, "epsilon": show(epsilon)})


def within_of(scale: float) -> int:
    """The smallest w with P(|noise| ≤ w) ≥ 95 %: P(|noise| > w) = 2α^(w + 1) / (1 + α), α = e^(−1/scale).

    >>> within_of(1.0)
    3
    """
    alpha = exp(-1 / scale)
    return max(0, ceil(scale * (log(2 / (1 - CONFIDENCE)) - log1p(alpha)) - 1 - 1e-9))


def _solve(method: Method, view: View, within: float, records: int | None) -> EpsilonPoint:
    """The smallest ε, in three digits, that is enough: found by halving, since more ε never means more noise.

    Where a method plans otherwise from some ε × records on, noise may rise there for a moment. The result is checked,
    so it is enough in any case; it may then not be the smallest.
    """
    if not within > 0:
        raise UsageError(f"{within} is not an error to reach", "use a number above 0", code="SF-USAGE-391")
    low, high = _LEAST, _MOST
    if _point(method, view, high, records).within > within:
        raise UsageError(
            f"no ε up to {_MOST} makes 95 % of the counts lie within {within:g} of the truth",
            "ask for a larger error, or count fewer groups",
            code="SF-USAGE-392",
        )
    for _ in range(_STEPS):
        middle = Fraction(sqrt(float(low * high)))
        low, high = (low, middle) if _point(method, view, middle, records).within <= within else (middle, high)
        if high < low * Fraction(1001, 1000):
            break
    enough = _round_up(high)
    while _point(method, view, enough, records).within > within:
        enough = _round_up(enough * Fraction(101, 100))
    return _point(method, view, enough, records)


def _round_up(epsilon: Fraction) -> Fraction:
    """Up to three digits: an ε that people can write down."""
    digits = Fraction(1)
    while epsilon * digits < 100:  # noqa: PLR2004 - three digits before the point
        digits *= 10
    return Fraction(ceil(epsilon * digits)) / digits


def _on_stand_in(
    study: Study, recipe: Recipe, method: Method, found: EpsilonChoice, stand_in: object, progress: Progress
) -> EpsilonChoice:
    """The same points with what is measured on a public table."""
    public = replace(study, source=_source(stand_in), name=f"{study.name} (stand-in)")
    recipes = [_recipe_at(recipe, point.epsilon) for point in found.points]
    with tempfile.TemporaryDirectory() as folder:
        frontier = run_frontier(
            public, Sweep(tuple((at.method, at.parameters) for at in recipes)), purpose=recipe.purpose,
            x="marginals-1", y="marginals-2", repeats=_RUNS, workers=1, folder=Path(folder), progress=progress,
        )  # fmt: skip
    errors = {str(one.recipe.parameters["epsilon"]): one.numbers for one in frontier.points if one.recipe is not None}
    points, compared = [], None
    for place, (point, at) in enumerate(zip(found.points, recipes, strict=True)):
        progress("training classifiers on releases of the stand-in", place, len(recipes))
        values = errors.get(str(at.parameters["epsilon"]), {})
        learnt = None
        if tailor(study, recipe.purpose, method.needs).targeted:
            learnt = accuracy(public, at, runs=_RUNS, baseline=compared is None)
            compared = compared or learnt
        points.append(
            replace(
                point,
                accuracy=None if learnt is None else learnt.on_release.mean,
                auc=None if learnt is None or not isfinite(learnt.on_release.auc.mean) else learnt.on_release.auc.mean,
                marginals_1=values.get("marginals-1"),
                marginals_2=values.get("marginals-2"),
            )
        )
    raw = None if compared is None else compared.on_raw
    return replace(
        found,
        points=tuple(points),
        stand_in=stand_in if isinstance(stand_in, str) else Path(stand_in).name if isinstance(stand_in, Path) else "",
        majority=None if compared is None else compared.of_majority.mean,
        raw=None if raw is None else raw.mean,
    )


def _source(stand_in: object) -> Any:
    """A path is given from where the caller stands, not from the study's folder."""
    if isinstance(stand_in, Path) or (isinstance(stand_in, str) and "://" not in stand_in):
        return str(Path(stand_in).absolute())
    return stand_in
