"""The owner's report: a published release next to the table it was made from, made whenever its owner wants it.

A release is complete without it. The report reads the bundle as a receiver does, the study's table, and the notes that
publication left in the owner's folder; of the run that made the release it needs nothing. It spends no privacy budget
and adds nothing to the ledger. What it says is computed from raw records and covered by no guarantee: it goes into the
owner's folder and nowhere else.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError, UsageError
from sfumato.evaluate.table_records import TableRecords, table_records
from sfumato.ledger import Ledger
from sfumato.progress import Progress, silent
from sfumato.release.bundle.atomic_files import BUNDLE
from sfumato.release.bundle.owner_folder import OWNER, read_notes, write_report
from sfumato.release.draft import Draft
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.report import Provenance, report_page
from sfumato.study.budget import show
from sfumato.study.set_levels import set_domains
from sfumato.study.study import Study
from sfumato.tables import CodedTable, ManyCellsError, collecting
from sfumato.workflow.evaluate import MEASURING
from sfumato.workflow.reading.read_bundle import Given, ReadBundle, StatedBundle, read_manifest
from sfumato.workflow.reading.report_evidence import MOST_ROWS, ReportMeasures, quick_measures, too_large
from sfumato.workflow.steps.outcome import Published, ledger_of, published_words, remaining_budget, report_words
from sfumato.workflow.steps.study_table import open_study_table
from sfumato.workflow.sweeping.place_on_frontier import FrontierPosition, place_on_frontier


def make_report(
    study: Study,
    release: Given,
    *,
    ledger: Ledger | None = None,
    was: str | None = None,
    data: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Path:
    """Write the owner's report of a published release into its owner's folder, and return its path.

    An earlier report of the release is replaced. ``was`` is what the study was called when the release was made,
    ``data`` where its tables are, if the bundle does not hold them. The table is counted before the release is read: a
    table that does not fit here is refused before all that is published has been brought.
    """
    progress("reading the release", 0, 1)
    stated = read_manifest(study, release, was=was)
    folder = _folder(stated.path)
    notes = read_notes(folder)
    raw, unmeasured = _count_table(study, stated, progress, memory_limit)
    progress("reading the release", 0, 1)
    read = stated.read(data=data, memory_limit=memory_limit)
    looked = None if raw is None else read.to_evidence(raw)
    measured = ReportMeasures(unmeasured=unmeasured) if looked is None else quick_measures(looked, progress)
    among = place_on_frontier(
        study, _recipe(notes).get("purpose"), looked, progress=progress, memory_limit=memory_limit
    )
    progress("writing your report", 0, 1)
    page = report_page(
        _draft(read, notes),
        _how_made(read, notes, among, left=_left(study, read, ledger)),
        beside=None if looked is None else (looked.view, looked.raw, looked.shown),
        tables_sets=None if looked is None else looked.sets,
        sets=set_domains(read.view.attributes),
        measures=measured.results,
        unmeasured=measured.unmeasured,
    )
    return write_report(folder, page)


def report_after(
    study: Study,
    done: Published,
    *,
    ledger: Ledger,
    against: str = "STUDY",
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Published:
    """Make the report of a release that was just published; what goes wrong with it becomes a warning of the release.

    Interrupted, it says that the release is there: nothing that comes after publication can take it back. ``against``
    names the study file in what is said. The report holds every combination of values that the table has. A release
    that was made in parts has more than fit, by the same limit, so for this one neither the table nor the bundle is
    read again, which takes as long as a release.
    """
    if isinstance(done.draft.content, RecordStore):
        return replace(done, warnings=(*done.warnings, _too_large(done, against)))
    try:
        make_report(study, done, ledger=ledger, progress=progress, memory_limit=memory_limit)
    except KeyboardInterrupt as stop:
        stop.add_note(published_words(done.folder, done.bundle, done.epsilon, against=against))
        raise
    except ManyCellsError:
        return replace(done, warnings=(*done.warnings, _too_large(done, against)))
    except Exception as error:  # noqa: BLE001 - the release is complete, whatever happens to its report
        why = error.problem if isinstance(error, SfumatoError) else type(error).__name__
        later = report_words(done.folder, against)
        failed = f"the owner's report could not be made: {why}. The release is published; {later}"
        return replace(done, warnings=(*done.warnings, failed))
    return done


def _too_large(done: Published, against: str) -> str:
    """Why there is no report, and what to do."""
    return (
        "there is no owner's report: it compares every combination of values of the table with the release, and there "
        "are more than fit the memory limit. The release is published and complete. On a machine with more memory, "
        f"{report_words(done.folder, against)} and a larger --memory-limit; a release of fewer columns or coarser "
        "values has a report here; --no-report makes none"
    )


def _count_table(
    study: Study, stated: StatedBundle, progress: Progress, memory_limit: str | None
) -> tuple[TableRecords | None, str]:
    """The records of the table, or why they are not compared with noisy counts.

    A limit that is stated counts in this process, too: a release that kept to it is followed by no report that does
    not.
    """
    progress("reading the table for your report", 0, 1)
    view = stated.view
    with open_study_table(study, private=stated.private, guesses=True, memory_limit=memory_limit) as table:
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        if stated.private and (rows := counter.all_rows()) > MOST_ROWS:
            return None, too_large(rows, len(view.attributes))
        names = [a.name for a in view.attributes]
        with collecting(MEASURING):
            return table_records(view, counter.full_cells(names, in_parts=True), counter.sets), ""


def _folder(place: Path) -> Path:
    """The folder of the release, which holds its bundle and what stays with the owner."""
    if place.name != BUNDLE:
        raise UsageError(
            f"the bundle in '{place}' is not in the folder of its release, so there is no folder for its report",
            f"give the folder that `release` made, which holds `{BUNDLE}` and `{OWNER}`; `sfumato evaluate "
            "measures` measures any bundle",
            code="SF-USAGE-086",
        )
    return place.parent


def _recipe(notes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recipe in the owner's notes; empty where there are none."""
    try:
        found = json.loads(notes.get("recipe", "{}"))
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _draft(read: ReadBundle, notes: Mapping[str, Any]) -> Draft:
    """The release as a draft, with what the owner's notes know beyond the bundle."""
    draft = read.release.to_draft(read.view)
    owner, facts = notes.get("owner"), notes.get("facts")
    return replace(
        draft,
        facts=facts if isinstance(facts, dict) and not read.private else draft.facts,
        owner=owner if isinstance(owner, dict) else {},
    )


def _left(study: Study, read: ReadBundle, ledger: Ledger | None) -> str:
    """What is left of the study's budget, of a release that spent some."""
    if not read.private:
        return ""
    span = read.view.selection.span
    left = show(remaining_budget(study, ledger or ledger_of(study), span) or Fraction(0))
    return left if span is None else f"{left} over {span}"


def _how_made(read: ReadBundle, notes: Mapping[str, Any], among: FrontierPosition, *, left: str) -> Provenance:
    manifest, parameters = read.release.manifest, _recipe(notes).get("parameters")
    odds = manifest["privacy"].get("odds")
    return Provenance(
        study=manifest["study"],
        release=manifest["release"],
        method=manifest["method"]["name"],
        date=manifest["date"],
        parameters=parameters if isinstance(parameters, dict) else manifest["method"]["parameters"],
        chosen=manifest["privacy"]["chosen"],
        rules=manifest["rules"],
        versions=manifest["versions"],
        frontier=among.points,
        frontier_own=among.own,
        frontier_words=among.words,
        stated=(manifest["guarantee"], *([odds] if odds else [])),
        left=left,
    )
