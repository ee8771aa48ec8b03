"""Writing a bundle of records: beside its place, read back, its promise checked, and then there in one step."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial as partial_of
from pathlib import Path
from typing import Any

from sfumato.domains.counts import Cells
from sfumato.errors import PublishError
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.release.bundle.files import FileFacts, write_file
from sfumato.release.bundle.write import AGAIN, BundleWritten, parquet, passed, stage
from sfumato.release.forms.records.datapackage import record_package
from sfumato.release.forms.records.files import write_csv
from sfumato.release.forms.records.manifest import RecordFacts, record_layout, record_manifest
from sfumato.release.forms.records.readme import record_readme, unique_published
from sfumato.release.forms.records.rows import Records, records_of
from sfumato.release.forms.records.runs import Runs
from sfumato.release.forms.records.table import RecordLayout
from sfumato.release.forms.records.verify import inspect_records
from sfumato.release.partition import PartitionDraft
from sfumato.release.storage.seal import render
from sfumato.release.uniqueness import Uniqueness


def write_records(
    draft: PartitionDraft,
    facts: RecordFacts,
    folder: Path,
    *,
    suppression: bool = False,
    source: RandomSource | None = None,
) -> BundleWritten:
    """Publish a draft of records as ``folder/bundle``; all of it is there and keeps its promise, or nothing is.

    The promise is checked on the files that were written, by the models, from the published values alone.
    ``suppression`` says whether the method was allowed to leave records out: then the table has a column that marks
    them, also if there are none. ``source`` gives buckets their numbers and shuffled values their order.
    """
    layout = record_layout(draft, suppression=suppression or draft.partition.suppressed > 0, sets=facts.sets)
    records = records_of(draft, source or SecureSource())
    unique = unique_published(layout, records)
    written = stage(
        folder,
        write=lambda partial: _write(partial, layout, records, draft, facts, unique),
        check=lambda partial: _check(partial, records, draft.view.people),
    )
    return replace(written, unique=unique)


def _write(
    partial: Path,
    layout: RecordLayout,
    records: Records,
    draft: PartitionDraft,
    facts: RecordFacts,
    unique: Uniqueness,
) -> str:
    """All files; the manifest last, since it holds the hashes of the others."""
    jobs: dict[str, Callable[[Any], None]] = {}
    for name, runs in layout.runs(records).items():
        jobs[f"{name}.parquet"] = partial_of(_parquet, runs)
        jobs[f"{name}.csv"] = partial_of(write_csv, runs)
    with ThreadPoolExecutor(len(jobs)) as pool:  # Arrow writes without holding Python up
        written = pool.map(lambda name: write_file(partial / name, jobs[name]), jobs)
        files: dict[str, FileFacts] = dict(zip(jobs, written, strict=True))
    groups = records.statistics(layout.judged)

    def told(so_far: Mapping[str, FileFacts]) -> dict[str, Any]:
        return record_manifest(
            facts, layout, records, groups, models=draft.models, told=draft.facts, files=so_far, rate=draft.rate
        )

    content = told(files)  # for its words and numbers
    package = record_package(layout, content, files)
    text = record_readme(layout, content, unique)
    files["README.md"] = write_file(partial / "README.md", lambda out: out.write(text.encode()))
    files["datapackage.json"] = write_file(partial / "datapackage.json", lambda out: out.write(render(package)))
    return write_file(partial / "manifest.json", lambda out: out.write(render(told(files)))).sha256


def _parquet(runs: Runs, out: Any) -> None:
    """Without statistics, which take longer than all else: the rows are one part, and no reader could skip any."""
    parquet(runs.whole(), out, statistics=False)


def _check(partial: Path, records: Records, people: Cells | None) -> None:
    """Read back and check as a receiver would, and compare with what was to be written."""
    found = passed(lambda: inspect_records(partial, people=lambda _: people))
    if found is None or not found.same(records):
        raise PublishError("the bundle does not read back as it was written", AGAIN)
