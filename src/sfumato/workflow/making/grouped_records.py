"""Releases of records in groups: syntactic promises, which cost no ε and are checked on what is published.

The order is again that of trust. What can fail without looking at a record fails first, then the folder is claimed.
The draft is made before the ledger is asked, since nothing of it can be seen yet; the entry is committed before the
bundle is written. A release that fails leaves no folder behind.
"""

from collections.abc import Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Grid
from sfumato.domains.sets.domain import SetDomain
from sfumato.errors import InfeasibleError, SourceError, StudyError
from sfumato.ledger import Ledger
from sfumato.methods import PartitionMethod, is_partition
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress
from sfumato.release.forms.records.bundle import write_records
from sfumato.release.forms.records.manifest import LIMITS, RecordFacts
from sfumato.release.partition import PartitionDraft
from sfumato.release.uniqueness import exact_words, unique_words
from sfumato.study.attribute import Attribute, InvalidValuePolicy, observed
from sfumato.study.formulas import formula_words
from sfumato.study.left_out import LeftOut
from sfumato.study.partition_purpose import tailor_partition
from sfumato.study.partition_view import PartitionView
from sfumato.study.recipe import Recipe
from sfumato.study.selection import may_overlap
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, count_left_out, count_replaced, open_source, stand_ins
from sfumato.workflow.making.background import with_people, with_population
from sfumato.workflow.making.left_out_guard import guard, with_left_out
from sfumato.workflow.making.lost_entries import budget_words, ledger_words, left_unless_lost, refuse_lost_entries
from sfumato.workflow.making.outcome import (
    Plan,
    Published,
    Run,
    leaving,
    ledger_of,
    left_over,
    left_words,
    named,
    person_rules,
    unit_words,
    versions,
)
from sfumato.workflow.making.reservation import Reservation, claim_until_published, remove_on_failure
from sfumato.workflow.making.sweep_notice import swept
from sfumato.workflow.sets.level_views import by_level, foreseen, set_rules, sets_of
from sfumato.workflow.sets.published import as_shown, refuse_named_sets

_NAMED = 8  # earlier releases a warning names


def plan_partition(
    study: Study, recipe: Recipe, method: PartitionMethod, *, ledger: Ledger | None = None, check: bool = False
) -> Plan:
    """Say in words what a release would do to each column; with ``check`` it looks at the table."""
    asked = tailor_partition(study, recipe.purpose)
    refuse_named_sets(method, asked)
    refuse_observed_values(method, asked)
    view = foreseen(asked)
    book = ledger or ledger_of(study)
    left = left_unless_lost(study, book, view.selection.span)
    method.check(view)
    forecast = method.forecast(view)
    sentences = [
        *ledger_words(study, book),
        f"method '{recipe.method}' on {len(view.quasi)} quasi-identifiers",
        *view.selection.sentences(),
        *person_rules(view.unit),
        *_changes(asked, _form(method)),
        *(said for said in _promised(method) if said not in forecast.sentences),
        *forecast.sentences,
        *_rules(asked),
        *set_rules(asked.attributes),
        *_stops(view),
        *formula_words(asked.attributes),
    ]
    if names := observed(asked.attributes):
        sentences.append(f"domains read off the table are published with it, for {named(names, len(view.attributes))}")
    if _may_suppress(method):
        sentences.append("records may be suppressed: they are published as rows that only say so")
    sentences += [
        leaving(study, view.attributes),
        "it spends no privacy budget (syntactic guarantee) and is recorded in the ledger"
        + left_words(study, left, view.selection.span),
        *overlaps(study, book, view),
        *swept(study, recipe),
        LIMITS[:1].lower() + LIMITS[1:].removesuffix("."),
    ]
    plan = Plan(
        study=study.name, recipe=recipe, epsilon=None, budget=study.budget, left=left, sentences=tuple(sentences),
        numbers=forecast.numbers,
    )  # fmt: skip
    if not check:
        return plan
    return with_left_out(plan, study, asked.attributes, unit=asked.unit, selection=asked.selection, command="release")


def release_partition(study: Study, recipe: Recipe, method: PartitionMethod, run: Run) -> Published:
    """Make, re-check and publish records in groups, and enter the release into the ledger."""
    progress = run.progress
    asked = tailor_partition(study, recipe.purpose)
    refuse_named_sets(method, asked)
    refuse_observed_values(method, asked)
    method.check(foreseen(asked))
    refuse_lost_entries(study, run.ledger, out=run.folder)
    progress("opening the table", 0, 1)
    with open_source(study.source, base=study.base, memory_limit=run.memory_limit) as table:
        counter = CodedTable(table, asked.attributes, unit=asked.unit, selection=asked.selection)
        with claim_until_published(run.folder):
            progress("counting the records", 0, 1)
            cells, rows = counter.cells_and_rows()
            refuse_invalid_values(counter, asked, cells, rows)
            left_out = guard(study, counter, anyway=run.anyway, look=partial(_left_out, counter, cells, rows))
            view, cells = by_level(asked, counter, cells)
            view = with_people(getattr(method, "models", ()), study, view)
            known = with_population(method, study, view)
            refuse_named_sets(known, asked)
            draft = make_draft(known, view, cells, run.source, progress)
            shown = as_shown(draft, asked.attributes)  # all that leaves is made from this
            promise = " ".join(model.sentence() for model in draft.models)
            warnings = [
                *budget_words(study, run.ledger),
                *overlaps(study, run.ledger, view),
                *swept(study, recipe),
                *formula_words(asked.attributes),
            ]
            entered = Reservation.reserve(study, recipe, run, promise=promise, selection=view.selection)
    with remove_on_failure(run.folder), entered.fail_on_error():
        progress("publishing", 0, 1)
        facts = RecordFacts(
            study=study.name,
            release=recipe.name,
            method=recipe.method,
            parameters=recipe.plain_parameters(),
            unit=unit_words(view.unit),
            chosen=recipe.chosen.value,
            versions=versions(),
            date=run.clock().date().isoformat(),
            rules=(
                *view.selection.sentences(),
                *person_rules(view.unit),
                *_rules(asked),
                *set_rules(asked.attributes),
                *formula_words(asked.attributes),
            ),
            selection=view.selection.as_json(),
            secure=run.source.secure or (draft.form == "generalised" and draft.rate == 1),
            ledger=entered.entry.hash,
            sets={name: codes for name, codes in sets_of(asked.attributes).items() if codes.declared},
        )
        written = write_records(shown, facts, run.folder, suppression=_may_suppress(method), source=run.source)
    with entered.completing(written):
        left = left_over(study, run.ledger, view.selection.span)
        if written.unique is not None:
            warnings += unique_words(written.unique)
        return entered.hand_over(
            shown, written, notes=_notes(recipe, draft), left=left, warnings=warnings, left_out=left_out
        )


def overlaps(study: Study, ledger: Ledger, view: PartitionView) -> list[str]:
    """A warning if earlier releases without ε may hold the same people; nothing if none does.

    A promise about the groups of each release is none about both together: whoever knows that a person is in two groups
    knows that the person is in what the groups have in common, which may be one record.
    """
    asked = (view.selection.span, view.selection.where)
    persons = isinstance(study.unit, PersonUnit)
    older = [
        entry
        for entry in ledger.entries(study.name)
        if entry.epsilon is None
        and entry.state != "failed"
        and (persons or may_overlap(asked, (entry.span, entry.where), study.attributes))
    ]
    if not older:
        return []
    names = "; ".join(
        f"entry {entry.id} ('{entry.purpose}' by {entry.method}, {entry.at:%Y-%m-%d}"
        f"{'' if entry.span is None else f', {entry.span}'}{f', {entry.where}' if entry.where else ''})"
        for entry in older[-_NAMED:]
    )
    more = f"{len(older) - _NAMED} more and " if len(older) > _NAMED else ""
    whom = "people" if persons else "records"
    said = f"it may hold the same {whom} as {more}{names}: whoever gets two such releases can intersect their groups"
    return [f"{said}, and the promise of neither covers that"]


def make_draft(
    method: PartitionMethod, view: PartitionView, cells: Cells, source: RandomSource, progress: Progress
) -> PartitionDraft:
    """The draft; a method that draws at random gets the source of randomness."""
    if "source" not in signature(method.draft).parameters:
        return method.draft(view, cells, progress=progress)
    drawing: dict[str, Any] = {"source": source}
    return method.draft(view, cells, progress=progress, **drawing)


def draws_at_random(method: object) -> bool:
    """Whether two drafts of the same table may differ: by noise, by a sample, or by buckets that are drawn."""
    return not is_partition(method) or "source" in signature(method.draft).parameters


def refuse_invalid_values(counter: CodedTable, view: PartitionView, cells: Cells, rows: int) -> None:
    """Stop at values that the study calls an error. Only if records were left out is the table looked at again."""
    strict = {a.name: a for a in view.attributes if InvalidValuePolicy.ERROR in (a.missing, a.outside)}
    if strict and int(cells.counts.sum()) < rows:
        wrong = [
            found.attribute
            for found in counter.domain_violations()
            if (attribute := strict.get(found.attribute)) is not None
            and (
                (found.missing and attribute.missing is InvalidValuePolicy.ERROR)
                or (found.outside and attribute.outside is InvalidValuePolicy.ERROR)
            )
        ]
        if wrong:
            raise SourceError(
                "the study calls it an error if a value is missing or outside its domain, and there are such values in "
                + ", ".join(repr(name) for name in wrong),
                "look at them with `sfumato check`, then declare how they are written (`format`), widen the domain, or "
                "say `missing:` or `outside:` `keep` or `suppress`",
            )
    if not len(cells):
        raise InfeasibleError(
            "no record of the table takes part in the release",
            "check the table with `sfumato check`: how values are written (`format`), their `bounds` or `values`, and "
            "`missing` and `outside` in the study",
        )


def _left_out(counter: CodedTable, cells: Cells, rows: int) -> LeftOut:
    """How many records take no part, or with another value; the table is looked at again only if there may be some."""
    if int(cells.counts.sum()) == rows:
        columns = zip(counter.attributes, cells.codes.T, strict=True)
        again = [attribute for attribute, codes in columns if np.isin(codes, stand_ins(attribute)).any()]
        return LeftOut(records=rows, left_out=0, replaced=count_replaced(counter.records, again))
    return count_left_out(counter.records)


def refuse_observed_values(method: PartitionMethod, view: PartitionView) -> None:
    """Refuse a domain that was read off the table where the method may leave records out.

    A domain is published with the release. One that was read off the table has the values of every record, also of one
    that is suppressed or not drawn: a town where a single person lives, the greatest age. Sets are told by what is
    published of them alone (see `set_shown`).
    """
    plain = [a for a in view.attributes if not isinstance(a.domain, SetDomain)]
    names = observed(plain)
    if names and (_may_suppress(method) or _samples(method)):
        raise StudyError(
            f"the domain of '{names[0]}' was read off the table, and is published, and the method may leave records "
            "out: values that only those have would be told",
            "check the domain and declare it (take `observed` away), or use a method that publishes every record",
        )


def _samples(method: PartitionMethod) -> bool:
    """Whether the method draws a part of the records."""
    return str(getattr(method, "rate", 1)) not in {"1", "1.0"}


def _changes(view: PartitionView, form: str) -> list[str]:
    """What is done to each column, in words."""
    quasi = ", ".join(_as_published(a) for a in view.quasi)
    names = ", ".join(a.name for a in view.quasi)
    hidden = ", ".join(a.name for a in view.sensitive)
    if form == "generalised":
        found = [f"these columns are generalised, by equivalence class: {quasi}"]
    elif form == "anatomy":
        found = [
            f"these columns stay exact, with a bucket for each record: {names}",
            f"these are taken out into a second table, counted by bucket: {hidden}",
        ]
    else:
        found = [
            f"these columns stay exact, with a bucket for each record: {names}",
            f"the values of these are put into random order within each bucket: {hidden}",
        ]
    return [*found, *exact_words(view, form)]


def _as_published(attribute: Attribute) -> str:
    domain = attribute.domain
    if isinstance(domain, Grid):
        return f"{attribute.name} (to intervals)"
    if isinstance(domain, SetDomain):
        return f"{attribute.name} (to sets of nodes of its taxonomy)"
    return f"{attribute.name} (to nodes of its taxonomy)"


def _rules(view: PartitionView) -> list[str]:
    """What happened to missing values and to values outside the domains, for whoever reads the release.

    Sets have rules of their own for what is kept (see `set_rules`).
    """
    attributes = view.attributes
    plain = [a for a in attributes if not isinstance(a.domain, SetDomain)]
    return _sentences(
        attributes,
        (
            ([a for a in plain if a.missing is InvalidValuePolicy.KEEP], "a missing value is a value of its own"),
            (
                [a for a in attributes if a.missing is InvalidValuePolicy.SUPPRESS],
                "a record is left out if a value is missing",
            ),
            (
                [a for a in attributes if a.outside is InvalidValuePolicy.SUPPRESS],
                "a record is left out if a value is outside its domain",
            ),
            (
                [a for a in attributes if isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
                "a number or date outside the bounds counts as the nearer bound",
            ),
            (
                [a for a in plain if not isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
                "a value outside the domain counts as one value of its own",
            ),
        ),
    )


def _stops(view: PartitionView) -> list[str]:
    """What stops the release; a syntactic promise allows that."""
    attributes = view.attributes
    return _sentences(
        attributes,
        (
            (
                [a for a in attributes if a.missing is InvalidValuePolicy.ERROR],
                "the release stops if a value is missing",
            ),
            (
                [a for a in attributes if a.outside is InvalidValuePolicy.ERROR],
                "the release stops if a value is outside its domain",
            ),
        ),
    )


def _sentences(attributes: Sequence[Attribute], rules: Sequence[tuple[list[Attribute], str]]) -> list[str]:
    return [f"{rule}, for {named([a.name for a in found], len(attributes))}" for found, rule in rules if found]


def _promised(method: PartitionMethod) -> list[str]:
    """The promises as sentences of a plan."""
    said = [model.sentence() for model in getattr(method, "models", ())]
    return [f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}" for sentence in said]


def _form(method: PartitionMethod) -> str:
    """What the method publishes of a record; see `PartitionDraft`."""
    return str(getattr(method, "form", "generalised"))


def _may_suppress(method: PartitionMethod) -> bool:
    """Whether the recipe lets the method leave records out."""
    share = getattr(method, "suppress", None)
    return share is not None and share is not False and str(share) not in {"0", "0.0"}


def _notes(recipe: Recipe, draft: PartitionDraft) -> dict[str, Any]:
    sizes = draft.partition.statistics(draft.view).sizes
    return {
        "recipe": recipe.as_json(),
        "facts": dict(draft.facts),
        "owner": dict(draft.owner),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()) if len(sizes) else 0,
        "records": int(draft.partition.cells.counts.sum()),
        "suppressed": draft.partition.suppressed,
    }
