"""Making a release, whatever the method: in the order of trust.

Everything that can fail without looking at a record fails first. Then the folder is claimed by creating it, the
owner's guard looks at the table (see `steps.left_out_guard`, which argues what that decides), and the ledger entry is
committed; if any of this fails, the folder is removed again. A differentially private method counts and draws noise
only after that. A syntactic one makes its draft before the entry, since nothing of it can be seen yet, and an
impossible one leaves no entry. The bundle appears under its name in one step, after it was read back and checked.
Killed between any two of these, the process leaves at most spent budget and an empty folder: never half a bundle,
never a spend that is not in the ledger.
"""

import datetime as dt
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.domains.counts import TableParts
from sfumato.errors import InternalError, UsageError
from sfumato.ledger import RECORD, Ledger
from sfumato.methods import Context, Method, build
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.bundle.owner_folder import DATA
from sfumato.release.bundle.stored_tables import table_suffix
from sfumato.release.bundle.write import write_bundle
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS
from sfumato.release.guarantee import NO_GUARANTEE, DpGuarantee
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.uniqueness import unique_words
from sfumato.study.formulas import formula_words
from sfumato.study.left_out import LeftOut
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.set_levels import declared_levels, recode_sets, set_domains
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, collecting
from sfumato.tables.publishing.open_destination import open_destination
from sfumato.workflow.steps.background import with_people, with_population
from sfumato.workflow.steps.earlier_use import overlap_warnings, sweep_warning
from sfumato.workflow.steps.left_out_guard import guard
from sfumato.workflow.steps.lost_entries import budget_words, refuse_lost_entries
from sfumato.workflow.steps.outcome import Published, Run, given_ledger, person_rules, remaining_budget, versions
from sfumato.workflow.steps.reservation import (
    Reservation,
    claim_until_published,
    refuse_over_budget,
    remove_on_failure,
)
from sfumato.workflow.steps.study_table import open_study_table
from sfumato.workflow.steps.value_rules import value_rules
from sfumato.workflow.steps.whole_table import count_whole_table


def release(  # noqa: PLR0913 - all but the first two come by keyword
    study: Study,
    recipe: Recipe,
    *,
    folder: Path,
    ledger: Ledger | None = None,
    source: RandomSource | None = None,
    progress: Progress = silent,
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    memory_limit: str | None = None,
    anyway: bool = False,
    to: str | None = None,
) -> Published:
    """Make, verify and publish one release, and record it in the ledger.

    ``folder`` must not exist; it will hold `bundle/`, which is released, and `owner/`, which stays. ``anyway`` releases
    also if more records are left out than the study's ``most_invalid`` allows. ``to`` is where an engine writes the
    records, in place of files in the bundle.
    """
    method = build(recipe)
    _refuse_small_tables(method, to)
    run = Run(
        folder=folder,
        ledger=given_ledger(study, ledger),
        source=source or SecureSource(),
        progress=progress,
        clock=clock,
        memory_limit=memory_limit,
        anyway=anyway,
    )
    asked = tailor(study, recipe.purpose, method.needs)
    method.check_declared(asked)
    method.check(asked if method.needs.private else declared_levels(asked))
    _refuse_contradiction(method, asked)
    _refuse_unpayable(study, method, asked, run)
    warnings = [*budget_words(study, run.ledger), *sweep_warning(study, recipe), *formula_words(asked.attributes)]
    progress("opening the table", 0, 1)
    if to is not None:
        _refuse_unwritable(to, method, asked, run)
    with ExitStack() as kept:
        with claim_until_published(run.folder):
            counted = _count(kept, study, method, asked, run)
            if not method.needs.private:
                warnings += overlap_warnings(study, run.ledger, asked)
            first = None if method.needs.private else make_draft(counted, run)
            entered = _reserve(study, recipe, counted.method, asked, run)
        with remove_on_failure(run.folder), entered.fail_on_error():
            draft = first or make_draft(counted, run)
            kept.close()  # all is counted; a failure to close must come before the bundle appears, not after
            progress("publishing", 0, 1)
            facts = _facts(study, recipe, asked, draft, run)
            destination = None if to is None else open_destination(to, memory_limit=run.memory_limit)
            written = write_bundle(
                draft,
                replace(facts, ledger=entered.entry.hash),
                run.folder,
                source=run.source,
                destination=None if destination is None else kept.enter_context(destination),
                memory_limit=run.memory_limit,
            )
    with entered.complete_entry(written):
        left = remaining_budget(study, run.ledger, asked.selection.span)
        if written.unique is not None:
            warnings += unique_words(written.unique)
        done = entered.finish_publication(
            draft,
            written,
            notes=_notes(recipe, draft, to),
            data=to,
            left=left,
            warnings=warnings,
            left_out=counted.left_out,
        )
        progress("publishing", 1, 1)
    return done


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What a method gets: its view, and counts of the table."""

    view: View
    counts: Any
    method: Method  # with what files say that it names
    left_out: LeftOut | None


def make_draft(counted: CountedTable, run: Run) -> Draft:
    """The draft of a method, as far as it is published; what ε was spent on goes with it."""
    method, view = counted.method, counted.view
    guarantee = method.guarantee(view)
    context = Context(source=run.source, progress=run.progress)
    if isinstance(guarantee, DpGuarantee):
        accountant = Accountant(guarantee.epsilon / view.unit.stability)
        draft = method.draft(view, counted.counts, replace(context, accountant=accountant))
        draft = replace(draft, guarantee=guarantee.with_breakdown(accountant.breakdown))
    else:
        draft = replace(method.draft(view, counted.counts, context), guarantee=guarantee)
    return FORMS[draft.form].published(draft)


def _refuse_contradiction(method: Method, asked: View) -> None:
    """What a method declares, what it says that it costs and what it guarantees must be one thing.

    The table is opened by what it needs, the budget is checked by what it spends, and the ledger and the bundle say
    what it guarantees: a method in which they differ would spend without an entry, or claim what it did not pay for.
    """
    guarantee = method.guarantee(asked)
    if guarantee.private != method.needs.private or guarantee.epsilon != method.spends:
        raise InternalError(f"the method '{method.name}' guarantees something else than it declares and spends")


def _refuse_small_tables(method: Method, to: str | None) -> None:
    """Only records are written by an engine; fails before anything is read."""
    if to is not None and method.needs.private:
        raise UsageError(
            f"a release by '{method.name}' is a few small tables, which no engine needs to write",
            "leave out --to, and load data.parquet of the bundle",
            code="SF-USAGE-398",
        )


def _refuse_unwritable(to: str, method: Method, asked: View, run: Run) -> None:
    """Fail before anything is read if the tables of the release cannot be written; nothing stays open."""
    suffixes = [table_suffix(name) for name in FORMS[method.form].planned_names(asked)]
    with open_destination(to, memory_limit=run.memory_limit) as destination:
        destination.refuse_unwritable(suffixes)


def _refuse_unpayable(study: Study, method: Method, asked: View, run: Run) -> None:
    """Fail before anything is read if the budget does not allow it, or the ledger is not the one that paid before."""
    if not method.needs.private:
        refuse_lost_entries(study, run.ledger, out=run.folder)
        return
    epsilon = method.spends
    assert epsilon is not None, "as `_refuse_contradiction` has checked"
    refuse_over_budget(study, run.ledger, epsilon=epsilon, unit=asked.unit, span=asked.selection.span, at=run.clock())


def _count(kept: ExitStack, study: Study, method: Method, asked: View, run: Run) -> CountedTable:
    """Open the table and let the guard look at it; a syntactic method gets all cells, with files that it names."""
    private, limit = method.needs.private, run.memory_limit
    table = kept.enter_context(open_study_table(study, private=private, memory_limit=limit))
    counter = CodedTable(table, asked.attributes, unit=asked.unit, selection=asked.selection)
    if private:
        run.progress("comparing the table with the study", 0, 1)
        return CountedTable(asked, counter, method, guard(study, counter, anyway=run.anyway))
    run.progress("counting the records", 0, 1)
    with collecting(f"for `{method.name}`, {method.collects}"):
        whole = count_whole_table(study, asked, counter, anyway=run.anyway, in_parts=method.in_parts)
    if isinstance(whole.cells, TableParts):  # without sets
        return CountedTable(
            with_people(method.models, study, asked, memory_limit=limit), whole.cells, method, whole.left_out
        )
    if method.one_by_one or FORMS[method.form].shuffles:
        with collecting(f"for `{method.name}`, sensitive values are put into random order"):
            counter.refuse_many_records(int(whole.cells.counts.sum()))
    view, cells = recode_sets(asked, whole.cells, counter.sets)
    view = with_people(method.models, study, view, memory_limit=limit)
    known = with_population(method, study, view, memory_limit=limit)
    known.check_declared(asked)
    return CountedTable(view, cells, known, whole.left_out)


def _reserve(study: Study, recipe: Recipe, method: Method, asked: View, run: Run) -> Reservation:
    """Commit the ledger entry: from here on the release is known, whatever happens to it."""
    guarantee = method.guarantee(asked)
    private = guarantee.private
    return Reservation.reserve(
        study,
        recipe,
        run,
        guarantee=guarantee.sentence() if run.source.secure or not private else NO_GUARANTEE,
        epsilon=guarantee.epsilon,
        unit=asked.unit.key if private else RECORD,
        selection=asked.selection,
    )


def _facts(study: Study, recipe: Recipe, asked: View, draft: Draft, run: Run) -> ReleaseFacts:
    """What the manifest says beyond the draft; all of it is public."""
    private = draft.guarantee.private
    drawn = private or FORMS[draft.form].shuffles or draft.rate != 1
    return ReleaseFacts(
        study=study.name,
        release=recipe.name,
        method=recipe.method,
        parameters=recipe.plain_parameters(),
        chosen=recipe.chosen.value,
        versions=versions(),
        date=run.clock().date().isoformat(),
        rules=(
            *asked.selection.sentences(),
            *person_rules(asked.unit),
            *value_rules(asked.attributes, private=private),
            *formula_words(asked.attributes),
        ),
        selection=asked.selection.as_json(),
        secure=run.source.secure or not drawn,
        sets={} if private else {n: codes for n, codes in set_domains(asked.attributes).items() if codes.declared},
    )


def _notes(recipe: Recipe, draft: Draft, to: str | None) -> dict[str, Any]:
    """What the owner's folder keeps of the run; an address holds no password."""
    facts = draft.owner.get("facts", draft.facts)
    notes = {"recipe": recipe.as_json(), "facts": dict(facts), "owner": dict(draft.owner)}
    return notes if to is None else {**notes, DATA: to}
