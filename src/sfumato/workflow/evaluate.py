"""Measuring a release against the table it was made from, for the owner's eyes only.

A draft, or a bundle read back as its receiver reads it, becomes a `Shown`; the study's table becomes counts of all its
records. Nothing of this goes into a bundle, and no guarantee covers it. Sets are measured at the level at
which they are declared to be published (see `study.set_levels`).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sfumato.domains.counts import Cells
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.foreign import ReadTable, foreign_table, read_foreign
from sfumato.evaluate.measures import MEASURES, Measure, Reading, Refused
from sfumato.evaluate.table_records import TableRecords, table_records
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS
from sfumato.study.purpose import refuse_uncoded, refuse_undecided, selection, wanted_by
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import CodedTable, SourceTable, collecting
from sfumato.workflow.reading.read_bundle import Given, attributes_by_role, find_cap, read_manifest
from sfumato.workflow.steps.study_table import open_study_table

_ORDER = ("privacy loss", "utility loss", "risk", "utility")
MEASURING = "for measures and attacks, each of them is compared with the release"


def measuring_view(study: Study, purpose: str | None = None) -> View:
    """The attributes of a purpose as measures see them; the unit is the record, whatever the study's unit is."""
    wanted = wanted_by(study, purpose)
    refuse_undecided(study, purpose)
    view = attributes_by_role(study, [a.name for a in study.attributes.values() if wanted is None or a.name in wanted])
    refuse_uncoded(view.attributes)
    return replace(view, selection=selection(study, purpose))


def raw_records(
    study: Study,
    view: View,
    *,
    progress: Progress = silent,
    memory_limit: str | None = None,
    private: bool = False,
) -> TableRecords:
    """All records of the table that fit the domains, counted; also where a release takes a few of each person alone.

    A ``private`` release reads CSV files by rules of its own, and its measures read them by the same.
    """
    progress("counting the records", 0, 1)
    with open_study_table(study, private=private, guesses=True, memory_limit=memory_limit) as table:
        counter = CodedTable(table, view.attributes, unit=RecordUnit(), selection=view.selection)
        with collecting(MEASURING):
            cells = counter.full_cells([a.name for a in view.attributes])
        return table_records(view, cells, counter.sets)


def raw_cells(study: Study, view: View, *, progress: Progress = silent, memory_limit: str | None = None) -> Cells:
    """The same for a view without sets."""
    return raw_records(study, view, progress=progress, memory_limit=memory_limit).cells


def both_records(study: Study, view: View, table: SourceTable) -> tuple[CodedTable, TableRecords, Cells]:
    """Who counts the records that drafts are made from, all records as measures see them, and those of drafts."""
    names = [a.name for a in view.attributes]
    counter = CodedTable(table, view.attributes, unit=study.unit, selection=view.selection)
    with collecting("for drafts that are made and measured, all of them are compared"):
        cells = counter.full_cells(names)
        if study.unit == view.unit:
            return counter, table_records(view, cells, counter.sets), cells
        every = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        return counter, table_records(view, every.full_cells(names), every.sets), cells


def evidence_of_draft(
    study: Study,
    purpose: str | None,
    draft: Draft,
    cells: Cells | TableRecords | None = None,
    view: View | None = None,
    *,
    kept: dict[str, Any] | None = None,
    progress: Progress = silent,
) -> Evidence:
    """A draft beside the table.

    Whoever measures several drafts gives them the same ``cells`` (see `raw_cells`, or with sets `raw_records`),
    ``view`` and ``kept``, so that the table is counted once and its large populations are found once.
    """
    view = view or measuring_view(study, purpose)
    if isinstance(cells, Cells):
        cells = TableRecords(cells)
    raw = cells or raw_records(study, view, progress=progress)
    shown = FORMS[draft.form].shown(draft, view, raw.sets)
    cap = find_cap(draft.models)
    return Evidence(view=view, raw=raw.cells, shown=shown, sets=raw.sets, kept={} if kept is None else kept, cap=cap)


def evidence_of_bundle(
    study: Study,
    bundle: Given,
    *,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Evidence:
    """A bundle, read as its receiver reads it, beside the table; over the attributes that the bundle has.

    The two have to fit, see `read_manifest`. The table is counted first: where it does not fit here, that is said
    before all that is published has been read.
    """
    progress("reading the release", 0, 1)
    stated = read_manifest(study, bundle, was=was)
    raw = raw_records(study, stated.view, progress=progress, memory_limit=memory_limit, private=stated.private)
    return stated.read(memory_limit=memory_limit).to_evidence(raw)


def evidence_of_table(
    study: Study,
    table: Any,
    *,
    purpose: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> tuple[Evidence, ReadTable]:
    """A table that another tool published beside the study's own, and what was read of it.

    It is measured over all attributes of the purpose: one that it lacks is not published. Where labels of a given
    hierarchy are no ranges of the study's codes, the view has that hierarchy in place of the study's taxonomy.
    """
    progress("reading the release", 0, 1)
    view = measuring_view(study, purpose)
    read = read_foreign(study, view, foreign_table(table), reorder=True, memory_limit=memory_limit)
    raw = raw_records(study, read.view, progress=progress, memory_limit=memory_limit)
    return Evidence(view=read.view, raw=raw.cells, shown=read.shown, sets=raw.sets), read


def chosen_measures(only: Iterable[str | Measure] | None = None) -> list[Measure]:
    """Measures by name or with parameters of their own, or all registered ones: losses first, then risk and utility."""
    if only is None:
        kinds = sorted(MEASURES.values(), key=lambda kind: (_ORDER.index(kind.kind), kind.name))
        return [kind() for kind in kinds]
    return [MEASURES[one]() if isinstance(one, str) else one for one in ([only] if isinstance(only, str) else only)]


def measure(
    evidence: Evidence, only: Iterable[str | Measure] | None = None, *, progress: Progress = silent
) -> dict[str, Reading | Refused]:
    """What each measure says of a release, by name; one that does not apply says why. For the owner only."""
    measures = chosen_measures(only)
    found: dict[str, Reading | Refused] = {}
    for done, one in enumerate(measures):
        progress(f"measuring {one.name}", done, len(measures))
        reason = one.refuses(evidence)
        found[one.name] = one.read(evidence) if reason is None else Refused(reason=reason)
    return found


def measure_release(
    study: Study,
    release: Given,
    only: Iterable[str | Measure] | None = None,
    *,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> dict[str, Reading | Refused]:
    """Measure a bundle against the study's table. For the owner only: no guarantee covers the result."""
    wanted = None if only is None else chosen_measures(only)  # an unknown name fails before anything is read
    evidence = evidence_of_bundle(study, release, was=was, progress=progress, memory_limit=memory_limit)
    return measure(evidence, wanted, progress=progress)


def measure_table(
    study: Study,
    table: Any,
    only: Iterable[str | Measure] | None = None,
    *,
    purpose: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> tuple[dict[str, Reading | Refused], ReadTable]:
    """Measure a table that another tool published; also what was read of it. For the owner only."""
    wanted = None if only is None else chosen_measures(only)
    evidence, read = evidence_of_table(study, table, purpose=purpose, progress=progress, memory_limit=memory_limit)
    return measure(evidence, wanted, progress=progress), read
