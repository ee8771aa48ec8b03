"""Drafts of candidates, for the owner alone: the table read once, and what a draft of any recipe would show of it.

A draft is made, looked at and thrown away. Nothing is published, nothing is entered into the ledger, no ε is spent, and
nothing that is found out here is covered by a guarantee.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetCodes
from sfumato.errors import SfumatoError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import Measure
from sfumato.evaluate.table_records import TableRecords
from sfumato.methods import ContingencyTable, Mondrian, build
from sfumato.methods.grouping.declared_checks import refuse_named_sets
from sfumato.privacy.models import population_names
from sfumato.progress import Progress
from sfumato.release.form import FORMS
from sfumato.release.shown import Shown
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.set_levels import declared_levels, recode_sets
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, collecting, read_people, refuse_many_records
from sfumato.tables.arrays.array_counter import ArrayCounter
from sfumato.workflow.accuracy import draft_of_part
from sfumato.workflow.evaluate import both_records, measuring_view
from sfumato.workflow.steps.background import Shares, population_file, population_shares, with_shares
from sfumato.workflow.steps.study_table import open_study_table, refuse_guesses
from sfumato.workflow.steps.whole_table import refuse_invalid_values
from sfumato.workflow.sweeping.stored_points import digest

_V = TypeVar("_V")


@dataclass(frozen=True, eq=False)
class Groups:
    """What partition methods see: sets are categories of the sets of nodes at their level (`asked` has the sets)."""

    asked: View
    view: View
    cells: Cells


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a worker needs to make and measure any draft: the records, the views, and what is shared between drafts."""

    view: View  # what is measured
    raw: TableRecords  # all records, which drafts are measured against
    cells: Cells  # the records that drafts are made from; of persons with many records only some
    sets: Mapping[str, Sets]  # that the codes of sets in these are places in
    most_records: int | None  # that may be taken apart, each by itself; None: any number
    for_groups: "Groups | SfumatoError"  # what partition methods see, or why none can run
    for_counts: View | SfumatoError
    measures: Mapping[str, Measure]  # by the names of their numbers
    populations: Mapping[str, Shares | SfumatoError] = field(default_factory=dict)  # what named files say
    people: Mapping[str, Cells | SfumatoError] = field(
        default_factory=dict
    )  # who is in named files, for privacy models
    said: Mapping[str, str] = field(default_factory=dict)  # a hash of what each of these files says
    kept: dict[str, Any] = field(default_factory=dict)


def read_table(
    study: Study,
    purpose: str | None,
    measures: Mapping[str, Measure],
    progress: Progress,
    *,
    memory_limit: str | None = None,
) -> Table:
    """The records, counted once; the source is closed before any other process begins."""
    view = measuring_view(study, purpose)
    for_counts = value_or_error(lambda: tailor(study, purpose, ContingencyTable.needs))
    progress("reading the table", 0, 1)
    with open_study_table(study, memory_limit=memory_limit) as table:
        counter, raw, cells = both_records(study, view, table)
        for_groups = value_or_error(lambda: _groups(study, purpose, counter, cells))
        if isinstance(for_counts, View):
            for_counts = _refusal(lambda: refuse_guesses(table)) or for_counts
        sets = counter.sets
    return Table(
        view=view, raw=raw, cells=cells, sets=sets, most_records=counter.most_records, for_groups=for_groups,
        for_counts=for_counts, measures=measures,
    )  # fmt: skip


def _groups(study: Study, purpose: str | None, counter: CodedTable, cells: Cells) -> Groups:
    """The view and the records of partition methods; refuses what they would refuse."""
    asked = tailor(study, purpose, Mondrian.needs)
    declared_levels(asked)
    refuse_invalid_values(counter, asked, int(cells.counts.sum()), counter.all_rows())
    return Groups(asked, *recode_sets(asked, cells, counter.sets))


def with_files(study: Study, table: Table, recipes: Sequence[Recipe], *, memory_limit: str | None = None) -> Table:
    """The table with what the files say that candidates name; each is read, and hashed, once."""
    populations = _populations(study, table, recipes, memory_limit)
    people = _people(study, table, recipes, memory_limit)
    said = {}
    for name in dict.fromkeys([*populations, *people]):
        crowd = people.get(name)
        said[name] = digest(populations.get(name), crowd if isinstance(crowd, Cells) else None)
    return replace(table, populations=populations, people=people, said=said)


def _populations(
    study: Study, table: Table, recipes: Sequence[Recipe], memory_limit: str | None
) -> dict[str, Shares | SfumatoError]:
    """What the files say that candidates name as public statistics, each read once; or why one cannot be read."""
    if isinstance(table.for_groups, SfumatoError):
        return {}
    view = table.for_groups.view
    files = dict.fromkeys(population_file(value_or_error(partial(build, recipe))) for recipe in recipes)
    read = partial(population_shares, study=study, view=view, memory_limit=memory_limit)
    return {name: value_or_error(partial(read, name)) for name in files if name is not None}


def _people(
    study: Study, table: Table, recipes: Sequence[Recipe], memory_limit: str | None
) -> dict[str, Cells | SfumatoError]:
    """The people of the populations that candidates' models name, each read once; or why one cannot be read."""
    if isinstance(table.for_groups, SfumatoError):
        return {}
    view = table.for_groups.asked
    files = dict.fromkeys(name for recipe in recipes for name in crowds(value_or_error(partial(build, recipe))))
    read = partial(
        read_people, attributes=view.quasi, selection=view.selection, base=study.base, memory_limit=memory_limit
    )
    return {name: value_or_error(partial(read, name)) for name in files}


def crowds(method: object) -> tuple[str, ...]:
    """The populations that a method's models compare with."""
    return population_names(getattr(method, "models", ()))


def value_or_error(look: Callable[[], _V]) -> _V | SfumatoError:
    """What looking gives, or the error that it raises: it may concern only some candidates."""
    try:
        return look()
    except SfumatoError as error:
        return error


def _refusal(look: Callable[[], None]) -> SfumatoError | None:
    """The error that looking raises, as a value: every draft that it stops fails with it."""
    try:
        look()
    except SfumatoError as error:
        return error
    return None


def shown_of(table: Table, recipe: Recipe) -> Shown:
    """What the draft of a recipe would show."""
    method = build(recipe)
    if not method.needs.private:
        if isinstance(table.for_groups, SfumatoError):
            raise table.for_groups
        groups = table.for_groups
        view = groups.view
        shares = table.populations.get(population_file(method) or "")
        method = method if shares is None else with_shares(method, cast("Shares", shares), view)
        refuse_named_sets(method, groups.asked)
        method.check(view)
        if method.one_by_one:
            _refuse_many_records(table, method.name)
        for name in crowds(method):
            view = replace(view, people=cast("Cells", table.people[name]))
        draft = draft_of_part(method, view, groups.cells)
        return FORMS[draft.form].shown(draft, groups.asked, table.raw.sets)
    if isinstance(table.for_counts, SfumatoError):
        raise table.for_counts
    view_of_counts = table.for_counts
    method.check(view_of_counts)
    codes = dict(zip(table.cells.attributes, table.cells.codes.T, strict=True))
    codes |= {name: SetCodes.of(codes[name], dictionary) for name, dictionary in table.sets.items()}
    sizes = {view_of_counts.target.name: len(view_of_counts.classes)}
    counter = ArrayCounter(codes, sizes, times=table.cells.counts)
    made = draft_of_part(method, view_of_counts, counter)
    return FORMS[made.form].shown(made, table.view, table.raw.sets)


def _refuse_many_records(table: Table, name: str) -> None:
    records, attributes = int(table.cells.counts.sum()), len(table.view.attributes)
    with collecting(f"for `{name}`, sensitive values are put into random order"):
        refuse_many_records(records, table.most_records, attributes=attributes, where="the table")


def evidence_of(table: Table, shown: Shown) -> Evidence:
    """A draft beside the table, as measures see both."""
    return Evidence(view=table.view, raw=table.raw.cells, shown=shown, sets=table.raw.sets, kept=table.kept)
