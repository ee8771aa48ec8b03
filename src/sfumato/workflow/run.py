"""All releases of a study, one after the other: the nine steps of Zaman & Obimbo (2014, section VI) for every purpose.

Read, tailor by time and attributes, follow the taxonomies, generalise under differential privacy (or whatever the
release names), publish, classify, evaluate. Each release goes through `release`, so each is claimed, charged, checked
and recorded on its own; its accuracy is measured on raw records, for the owner, and spends nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.errors import BudgetError, SfumatoError
from sfumato.evaluate.learning.accuracy import Comparison
from sfumato.ledger import Ledger
from sfumato.methods import build
from sfumato.privacy.models import population_names
from sfumato.progress import Progress, silent
from sfumato.release.verify import verify_bundle
from sfumato.study.budget import exact_text
from sfumato.study.recipe import Recipe, recipe_from_study
from sfumato.study.study import Study
from sfumato.workflow.accuracy import accuracy
from sfumato.workflow.make_release import release
from sfumato.workflow.plan_release import plan
from sfumato.workflow.report import report_after
from sfumato.workflow.steps.outcome import Published


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One release of a run: what came out, or why nothing did.

    ``accuracy`` is that of classifiers trained on such releases; ``why_not`` says why it was not measured.
    """

    recipe: Recipe
    published: Published | None = None
    verified: bool = False
    failure: SfumatoError | None = None
    accuracy: Comparison | None = None
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        done = self.published
        return {
            "release": self.recipe.name,
            "purpose": self.recipe.purpose,
            "bundle": None if done is None else str(done.bundle),
            "epsilon": None if done is None else exact_text(done.epsilon),
            "left": None if done is None else exact_text(done.left),
            "verified": self.verified,
            "failure": None if self.failure is None else str(self.failure),
            "accuracy": None if self.accuracy is None else self.accuracy.as_json(),
            "why_not": self.why_not or None,
            "warnings": [] if done is None else list(done.warnings),
        }


def run_study(  # noqa: PLR0913 - all but the first two come by keyword
    study: Study,
    names: Iterable[str] | None = None,
    *,
    folder: Callable[[Recipe], Path],
    ledger: Ledger,
    runs: int = 5,
    report: bool = True,
    progress: Progress = silent,
    anyway: bool = False,
    memory_limit: str | None = None,
) -> list[RunResult]:
    """Make, publish, check and classify some or all releases that a study declares, in its order.

    The owner's report of each follows, unless ``report`` is False.

    What can be seen beforehand fails before anything is made: an unknown name, a method that refuses its purpose, a
    release that the budget does not cover even by itself. One that fails on its way does not stop the others.
    """
    recipes = [recipe_from_study(study, name) for name in (study.releases if names is None else names)]
    if not recipes:
        recipes = [recipe_from_study(study)]  # says what is missing
    for recipe in recipes:
        found = plan(study, recipe, ledger=ledger, check=False)  # `release` looks at the table
        if not found.fits:
            raise BudgetError(
                f"release '{recipe.name}' needs more ε than remains, so no release was made",
                f"see `sfumato plan` for '{recipe.name}', or omit it",
                code="SF-BUDGET-007",
            )
    make = partial(release, study, ledger=ledger, progress=progress, anyway=anyway, memory_limit=memory_limit)
    after = partial(report_after, study, ledger=ledger, progress=progress, memory_limit=memory_limit)
    done: list[RunResult] = []
    for recipe in recipes:
        one = _run_release(study, recipe, partial(make, recipe, folder=folder(recipe)), runs, progress, memory_limit)
        if report and one.published is not None:
            one = replace(one, published=after(one.published))
        done.append(one)
    return done


def _run_release(
    study: Study,
    recipe: Recipe,
    make: Callable[[], Published],
    runs: int,
    progress: Progress,
    memory_limit: str | None,
) -> RunResult:
    try:
        done = make()
    except SfumatoError as error:
        return RunResult(recipe=recipe, failure=error)
    named = population_names(getattr(build(recipe), "models", ()))
    verified = verify_bundle(
        done.bundle, sha256=done.sha256, population=named[0] if named else None, base=study.base,
        memory_limit=memory_limit,
    ).ok  # fmt: skip
    try:
        found = accuracy(study, recipe, runs=runs, progress=progress, memory_limit=memory_limit)
    except SfumatoError as error:
        return RunResult(recipe=recipe, published=done, verified=verified, why_not=error.problem)
    return RunResult(recipe=recipe, published=done, verified=verified, accuracy=found)
