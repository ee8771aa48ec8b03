"""Learning a model through private answers: the order of a release, with one file in place of a bundle.

What can fail without looking at a record fails first; then the file is claimed; then the ledger entry is committed;
only then is the table counted and noise drawn. Killed anywhere, the process leaves at most spent budget and an empty
file: never half a model, never a spend that is not in the ledger.
"""

import datetime as dt
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeGuard, TypeVar

from sfumato.domains.domain import Categories
from sfumato.errors import InternalError, PublishError, unwritable
from sfumato.interactive.decision_tree import Tree
from sfumato.interactive.growing import DiffPTree
from sfumato.interactive.tree_model import Model
from sfumato.ledger import Ledger
from sfumato.methods.specialization.candidates import domain_of
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.bundle.atomic_files import sync_folder
from sfumato.release.guarantee import NO_GUARANTEE, DpGuarantee
from sfumato.study.budget import show
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable
from sfumato.workflow.steps.budget_words import cost_words, refusal_words
from sfumato.workflow.steps.left_out_guard import guard, with_left_out
from sfumato.workflow.steps.lost_entries import ledger_words, remaining_unless_lost
from sfumato.workflow.steps.outcome import (
    Plan,
    Run,
    given_ledger,
    ledger_of,
    person_rules,
    released_attributes_sentence,
    versions,
)
from sfumato.workflow.steps.reservation import Reservation, refuse_over_budget
from sfumato.workflow.steps.study_table import open_study_table
from sfumato.workflow.steps.value_rules import value_rules


class Learner(Protocol):
    """An estimator that says what it asks for, and takes what was learnt."""

    def method(self) -> DiffPTree:
        """The parameters, checked."""
        ...

    def take(self, model: Model) -> Any:
        """Be fitted by a model."""
        ...


L = TypeVar("L", bound=Learner)


def is_learner(what: object) -> TypeGuard[Learner]:
    """Whether something is learnt, and not released."""
    return callable(getattr(what, "take", None)) and callable(getattr(what, "method", None))


def plan_learning(
    study: Study,
    learner: Learner,
    *,
    purpose: str | None = None,
    ledger: Ledger | None = None,
    check: bool = True,
    memory_limit: str | None = None,
) -> Plan:
    """Describe the cost of a learnt model and the remaining budget; with ``check`` the table is read."""
    method = learner.method()
    view = tailor(study, purpose, method.needs)
    forecast = method.forecast(view)
    book = ledger or ledger_of(study)
    left = remaining_unless_lost(study, book, view.selection.span)
    plan = Plan(
        study=study.name,
        recipe=_recipe(method, purpose, Chosen.IN_ADVANCE),
        epsilon=method.spends,
        budget=study.budget,
        left=left,
        sentences=(
            *ledger_words(study, book),
            *refusal_words(study, method.spends, left, view, "learn"),
            f"method '{method.name}' on {len(view.predictors)} attributes and {len(view.classes)} classes",
            *view.selection.sentences(),
            *person_rules(view.unit),
            *value_rules(view.attributes, private=True),
            *forecast.sentences,
            *cost_words(study, method.spends, left, view),
            released_attributes_sentence(study, view.attributes),
        ),
        numbers=forecast.numbers,
    )
    if not check:
        return plan
    return with_left_out(
        plan, study, view.attributes, unit=view.unit, selection=view.selection, command="learn",
        memory_limit=memory_limit,
    )  # fmt: skip


def learn(  # noqa: PLR0913 - all but the first two come by keyword
    study: Study,
    learner: L,
    *,
    purpose: str | None = None,
    chosen: Chosen = Chosen.IN_ADVANCE,
    out: Path | None = None,
    ledger: Ledger | None = None,
    source: RandomSource | None = None,
    progress: Progress = silent,
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    memory_limit: str | None = None,
    anyway: bool = False,
) -> L:
    """Fit an estimator to a study's table, at the cost of its ε, and write the model to ``out`` if that is given.

    Refused, unless ``anyway``, if more records are left out than the study's ``most_invalid`` allows.
    """
    method = learner.method()
    view = tailor(study, purpose, method.needs)
    method.check(view)
    run = Run(
        folder=Path(), ledger=given_ledger(study, ledger), source=source or SecureSource(), progress=progress,
        clock=clock, memory_limit=memory_limit,
    )  # fmt: skip
    recipe = _recipe(method, purpose, chosen)
    guarantee = DpGuarantee.of(method.spends, view.unit).sentence()
    refuse_over_budget(
        study, run.ledger, epsilon=method.spends, unit=view.unit, span=view.selection.span, at=run.clock()
    )
    progress("opening the table", 0, 1)
    with open_study_table(study, private=True, memory_limit=memory_limit) as table, _claim_until_written(out):
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        guard(study, counter, anyway=anyway)
        entered = Reservation.reserve(
            study,
            recipe,
            run,
            guarantee=guarantee if run.source.secure else NO_GUARANTEE,
            epsilon=method.spends,
            unit=view.unit.key,
            selection=view.selection,
        )
        with entered.fail_on_error():
            accountant = Accountant(method.spends / view.unit.stability)
            tree = method.run(view, counter, accountant=accountant, source=run.source, progress=progress)
            model = _model(study, recipe, method, view, tree, accountant, run, entered.entry.hash)
            text = model.to_text_json().encode()
            if out is not None:
                _write_model(out, text)
    run.ledger.complete(entered.entry.id, hashlib.sha256(text).hexdigest(), at=run.clock())
    learner.take(model)
    return learner


def _recipe(method: DiffPTree, purpose: str | None, chosen: Chosen) -> Recipe:
    return Recipe(name=method.name, method=method.name, purpose=purpose, parameters=method.parameters(), chosen=chosen)


def _model(
    study: Study, recipe: Recipe, method: DiffPTree, view: View, tree: Tree, accountant: Accountant, run: Run, link: str
) -> Model:
    if not isinstance(view.target.domain, Categories):
        raise InternalError(f"the class '{view.target.name}' has no values")
    secure = run.source.secure
    guarantee = DpGuarantee.of(method.spends, view.unit)
    return Model(
        tree=tree,
        domains={a.name: domain_of(a) for a in view.predictors},
        target=view.target.name,
        target_domain=view.target.domain,
        facts={
            "method": method.name,
            "parameters": recipe.plain_parameters(),
            "study": study.name,
            "purpose": recipe.purpose,
            "selection": view.selection.as_json(),
            "chosen": recipe.chosen.value,
            "guarantee": guarantee.statement(chosen=recipe.chosen.value, secure=secure),
            "epsilon": show(method.spends) if secure else None,
            "unit": guarantee.unit,
            "neighbouring": guarantee.neighbouring,
            "composition": guarantee.composition,
            "budget_breakdown": [
                {"on": spend.on, "epsilon": show(spend.epsilon), "mechanism": spend.mechanism}
                for spend in accountant.breakdown
            ],
            "ledger": link,
            "date": run.clock().date().isoformat(),
            "versions": versions(),
        },
    )  # fmt: skip


@contextmanager
def _claim_until_written(out: Path | None) -> Iterator[None]:
    """Make the file, empty; if the block fails before the model is in it, it goes again."""
    if out is None:
        yield
        return
    _claim(out)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if out.stat().st_size == 0:
                out.unlink()
        raise


def _claim(out: Path) -> None:
    """Whoever makes the file has it, since only one of two can."""
    try:
        out.open("x").close()
    except FileExistsError:
        raise PublishError(
            f"'{out}' exists already, and a model is never overwritten",
            "name another file, or move this one away",
            code="SF-PUBLISH-020",
        ) from None
    except OSError as error:
        raise unwritable(out, error) from None


def _write_model(out: Path, text: bytes) -> None:
    """Replace the claimed file by the whole model, in one step."""
    beside = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        with beside.open("xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(out)
        sync_folder(out.parent)
    except OSError as error:
        for ours in (beside, out):  # the claimed file as well: a model that may not be on the disk is no model
            with suppress(OSError):
                ours.unlink()
        raise PublishError(
            f"'{out}' could not be written ({error.strerror})", "check the disk", code="SF-PUBLISH-021"
        ) from None
