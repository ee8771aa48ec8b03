"""For the owner: accuracy of classifiers trained on releases, measured on parts of the study's own table."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sfumato.domains.sets.set_domain import SetCodes, SetDomain
from sfumato.errors import StudyError
from sfumato.evaluate.learning.accuracy import Comparison, classifications
from sfumato.methods import Context, Method, build
from sfumato.privacy.dp.accountant import Accountant
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.study.attribute import Role
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.set_levels import declared_levels, level_codes
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, collecting
from sfumato.workflow.steps.background import with_population
from sfumato.workflow.steps.study_table import open_study_table
from sfumato.workflow.steps.whole_table import refuse_invalid_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


def accuracy(  # noqa: PLR0913 - all but the first come by keyword
    study: Study,
    recipe: Recipe,
    *,
    classifier: str = "decision-tree",
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Comparison:
    """Accuracy of one classifier trained on a recipe's releases: see `accuracies`."""
    return accuracies(
        study, recipe, classifiers=(classifier,), protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress, memory_limit=memory_limit,
    )[classifier]  # fmt: skip


def accuracies(  # noqa: PLR0913 - all but the first come by keyword
    study: Study,
    recipe: Recipe,
    *,
    classifiers: Iterable[str] | None = None,
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Mapping[str, Comparison]:
    """Accuracy of classifiers trained on a recipe's releases (CA), next to raw data (BA) and the majority class (LA).

    For the owner only. It reads raw records and makes drafts that are discarded: nothing is published, nothing is
    recorded in the ledger, and nothing that it returns is covered by a guarantee. Records are divided one by one, so
    they are refused where they do not fit ``memory_limit``, however few combinations of values there are.
    """
    method = build(recipe)
    private = method.needs.private
    if private:
        _refuse_without_target(f"the study '{study.name}'", len(study.with_role(Role.CLASS)))
    view = tailor(study, recipe.purpose, method.needs)
    _refuse_without_target(f"release '{recipe.name}'", sum(a.role is Role.CLASS for a in view.others))
    method.check(view if method.needs.private else declared_levels(view))
    with open_study_table(study, private=private, guesses=True, memory_limit=memory_limit) as table:
        progress("reading the records", 0, 1)
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        with collecting("for accuracy, records are divided into training and test"):
            cells = counter.full_cells([a.name for a in view.attributes])
            counter.refuse_many_records(int(cells.counts.sum()))
        dictionaries = counter.sets
        levels: dict[str, NDArray[np.int64]] = {}
        domains = {a.name: a.domain for a in view.attributes}
        if not private:
            refuse_invalid_values(counter, view, int(cells.counts.sum()), counter.all_rows())
            view, levels = level_codes(view, cells, dictionaries)
    if not private:
        method = with_population(method, study, view, memory_limit=memory_limit)
    make: Callable[..., Any] = partial(draft_of_part, method)
    codes = {name: np.repeat(cells.codes[:, column], cells.counts) for column, name in enumerate(cells.attributes)}
    codes |= {name: SetCodes.of(codes[name], dictionary) for name, dictionary in dictionaries.items()}
    sets = {name: (cast("SetDomain", domains[name]), cast("SetCodes", codes[name])) for name in levels}
    codes |= {name: level[np.asarray(codes[name])] for name, level in levels.items()}
    return classifications(
        view, codes, make, private=private, classifiers=classifiers, protocol=protocol, runs=runs, seed=seed,
        baseline=baseline, workers=workers, progress=progress, sets=sets,
    )  # fmt: skip


def draft_of_part(method: Method, view: View, counts: Any) -> Draft:
    """A draft that is discarded; an accountant of its own pays for its noise."""
    spends = method.spends
    return method.draft(
        view, counts, Context(accountant=None if spends is None else Accountant(spends / view.unit.stability))
    )


def _refuse_without_target(what: str, targets: int) -> None:
    """Accuracy is that of predicting one target: it is accuracy that needs it, whatever the method does."""
    if targets != 1:
        raise StudyError(
            f"accuracy needs exactly one target (class attribute) to predict, and {what} has {targets or 'no'} class "
            f"attribute{'s' * (targets > 1)}",
            "give one attribute `role: class`, and name it in the release's purpose if it has one",
            code="SF-STUDY-208",
        )
