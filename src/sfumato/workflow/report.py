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

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells
from sfumato.errors import SfumatoError, UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.ledger import Ledger
from sfumato.progress import Progress, silent
from sfumato.release.bundle.write import BUNDLE, OWNER, read_notes, write_report
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.forms.records.manifest import models_from
from sfumato.release.forms.records.release import RecordsRelease
from sfumato.release.forms.records.rows import Records
from sfumato.release.partition import SUPPRESSED, Partition, PartitionDraft
from sfumato.report import Made, counts_report, partition_report
from sfumato.study.budget import show
from sfumato.study.partition_view import PartitionView
from sfumato.study.study import Study
from sfumato.tables import CodedTable, open_source
from sfumato.workflow.making.outcome import Published, ledger_of, left_over, published_words, report_words
from sfumato.workflow.reading.read_bundle import Given, ReadBundle, read_bundle
from sfumato.workflow.reading.report_evidence import MOST_ROWS, Measured, quick_measures, too_large
from sfumato.workflow.sets.level_views import sets_of, with_domains
from sfumato.workflow.sets.measured import counted
from sfumato.workflow.sweeping.place_on_frontier import Placed, placed

Integers = NDArray[np.int64]


def make_report(
    study: Study,
    release: Given,
    *,
    ledger: Ledger | None = None,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Path:
    """Write the owner's report of a published release into its owner's folder, and give its place.

    An earlier report of the release is replaced. ``was`` is what the study was called when the release was made.
    """
    progress("reading the release", 0, 1)
    read = read_bundle(study, release, was=was)
    folder = _folder(read)
    notes = read_notes(folder)
    looked, measured = _look_at_table(study, read, progress, memory_limit)
    among = placed(study, _recipe(notes).get("purpose"), looked, progress=progress, memory_limit=memory_limit)
    progress("writing your report", 0, 1)
    made = _how_made(read, notes, among)
    if isinstance(read.release, CountsRelease):
        page = _counts_page(study, read, made, looked, measured, ledger or ledger_of(study))
    else:
        page = _records_page(read, read.release, made, looked, measured, notes)
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
    names the study file in what is said.
    """
    try:
        make_report(study, done, ledger=ledger, progress=progress, memory_limit=memory_limit)
    except KeyboardInterrupt as stop:
        stop.add_note(published_words(done.folder, done.bundle, done.epsilon, against=against))
        raise
    except Exception as error:  # noqa: BLE001 - the release is complete, whatever happens to its report
        why = error.problem if isinstance(error, SfumatoError) else type(error).__name__
        later = report_words(done.folder, against)
        failed = f"the owner's report could not be made: {why}. The release is published; {later}"
        return replace(done, warnings=(*done.warnings, failed))
    return done


def _look_at_table(
    study: Study, read: ReadBundle, progress: Progress, memory_limit: str | None
) -> tuple[Evidence | None, Measured]:
    """The release next to the table, and what the measures say that are quick at its size."""
    progress("looking at the table for your report", 0, 1)
    view = read.view
    with open_source(study.source, base=study.base, memory_limit=memory_limit, private=read.private) as table:
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        if read.private and (rows := counter.all_rows()) > MOST_ROWS:
            return None, Measured(unmeasured=too_large(rows, len(view.attributes)))
        raw = counted(view, counter, counter.full_cells([a.name for a in view.attributes]))
    looked = read.beside(raw)
    return looked, quick_measures(looked, progress)


def _folder(read: ReadBundle) -> Path:
    """The folder of the release, which holds its bundle and what stays with the owner."""
    place = read.release.path
    if place.name != BUNDLE:
        raise UsageError(
            f"the bundle in '{place}' is not in the folder of its release, so its report has no place of its own",
            f"give the folder that `release` made, which holds `{BUNDLE}` and `{OWNER}`; any bundle can be measured by "
            "`sfumato evaluate measures`",
        )
    return place.parent


def _recipe(notes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recipe in the owner's notes; empty where there are none."""
    try:
        found = json.loads(notes.get("recipe", "{}"))
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _how_made(read: ReadBundle, notes: Mapping[str, Any], among: Placed) -> Made:
    manifest, parameters = read.release.manifest, _recipe(notes).get("parameters")
    return Made(
        study=manifest["study"],
        release=manifest["release"],
        method=manifest["method"]["name"],
        date=manifest["date"],
        parameters=parameters if isinstance(parameters, dict) else manifest["method"]["parameters"],
        chosen=manifest["privacy"]["chosen"],
        rules=manifest["rules"],
        versions=manifest["versions"],
        frontier=among.points,
        frontier_words=among.words,
    )


def _counts_page(
    study: Study, read: ReadBundle, made: Made, looked: Evidence | None, measured: Measured, ledger: Ledger
) -> str:
    manifest, span = read.release.manifest, read.view.selection.span
    privacy = manifest["privacy"]
    left = show(left_over(study, ledger, span) or Fraction(0))
    return counts_report(
        replace(read.counts_draft(), facts=manifest["method"]["facts"]),
        made,
        promise=[manifest["guarantee"], *([privacy["odds"]] if privacy["odds"] else [])],
        receipt=privacy["receipt"],
        left=left if span is None else f"{left} over {span}",
        beside=None if looked is None else (looked.view, looked.raw, looked.shown),
        sets=None if looked is None else looked.sets,
        measures=measured.told,
        unmeasured=measured.unmeasured,
    )


def _records_page(
    read: ReadBundle,
    release: RecordsRelease,
    made: Made,
    looked: Evidence | None,
    measured: Measured,
    notes: Mapping[str, Any],
) -> str:
    draft = published_partition(release, read.view)
    owner = notes.get("owner")
    facts = notes.get("facts")
    return partition_report(
        replace(
            draft,
            facts=facts if isinstance(facts, dict) else release.manifest["method"]["facts"],
            owner=owner if isinstance(owner, dict) else {},
        ),
        made,
        beside=None if looked is None else (looked.view, looked.raw, looked.shown),
        tables_sets=None if looked is None else looked.sets,
        sets=sets_of(read.view.attributes),
        measures=measured.told,
        unmeasured=measured.unmeasured,
    )


def published_partition(release: RecordsRelease, view: PartitionView) -> PartitionDraft:
    """The groups of a bundle as a draft has them, by what is published and nothing else.

    A cell is a published combination: of generalised records the quasi-identifiers' codes are where their regions
    begin. Which of a bucket's values belongs to which of its records nobody can tell from two tables, so any does.
    """
    records = release.records if release.records.tallies else release.records.folded()
    group, groups = records.groups()
    names = [a.name for a in view.attributes]
    columns: list[Integers] = []
    for name in names:
        if name in records.tallies:
            tally = records.tallies[name]
            order = np.argsort(group, kind="stable")
            codes = np.empty(len(group), np.int64)
            codes[order] = np.repeat(tally.codes, tally.counts)  # both in the order of buckets
            columns.append(codes)
        else:
            spans = records.columns[name]
            columns.append(spans.starts[spans.places])
    codes = np.stack(columns, axis=1) if len(group) else np.zeros((0, len(names)), np.int64)
    counts = records.times
    if records.suppressed:
        codes = np.vstack([codes, np.zeros((1, len(names)), np.int64)])
        counts, group = np.append(counts, records.suppressed), np.append(group, SUPPRESSED)
    partition = Partition(Cells(tuple(names), codes, counts), group, _regions(records, view, groups))
    return PartitionDraft(
        view=with_domains(view, {name: domain for name, domain in release.domains.items() if name in names}),
        partition=partition,
        models=models_from(release.manifest),
        form=release.layout.form,
        rate=Fraction(release.manifest.get("sampled") or 1),
    )


def _regions(records: Records, view: PartitionView, groups: int) -> Boxes:
    """What the quasi-identifiers of each group's records cover."""
    group, _ = records.groups()
    names = tuple(a.name for a in view.quasi)
    starts, stops = np.zeros((groups, len(names)), np.int64), np.zeros((groups, len(names)), np.int64)
    for place, name in enumerate(names):
        spans = records.columns[name]
        starts[:, place] = np.iinfo(np.int64).max
        np.minimum.at(starts[:, place], group, spans.starts[spans.places])
        np.maximum.at(stops[:, place], group, spans.stops[spans.places])
    return Boxes(names, starts, stops)
