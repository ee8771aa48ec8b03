"""Writing a bundle: beside its place, read back, checked, and then there in one step."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count as counting
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sfumato.errors import PublishError, VerifyError
from sfumato.release.bundle.files import FileFacts, sync_folder, telling, write_file
from sfumato.release.draft import Draft, Groups
from sfumato.release.file_checks import Verification
from sfumato.release.forms.noisy_counts.datapackage import datapackage
from sfumato.release.forms.noisy_counts.manifest import ManifestFacts, layout_of, manifest, plain, render
from sfumato.release.forms.noisy_counts.readme import readme
from sfumato.release.forms.noisy_counts.table import Layout, put_in_order, same
from sfumato.release.uniqueness import Uniqueness
from sfumato.release.verify import inspect

T = TypeVar("T")

BUNDLE: Final = "bundle"
OWNER: Final = "owner"
NOTES: Final = "draft.json"
REPORT: Final = "report.html"
AGAIN: Final = "check the disk and publish again; if that fails too, it is our bug: please report it"


@dataclass(frozen=True, kw_only=True)
class BundleWritten:
    """Where a bundle is, and the SHA-256 of its manifest, which holds those of all its other files.

    Of records also how many are unique over all published columns, counted for the README.
    """

    path: Path
    sha256: str
    unique: Uniqueness | None = None


def write_bundle(draft: Draft, manifest_facts: ManifestFacts, folder: Path) -> BundleWritten:
    """Publish a draft as ``folder/bundle``; all of it is there, checked, or nothing is.

    Everything is written to a folder beside it, brought to the disk, read back and checked as a receiver would, and
    then renamed. An existing bundle is never overwritten, and after a failure nothing is left behind.
    """
    layout = layout_of(draft)
    groups = put_in_order(draft.groups)
    return stage(
        folder,
        write=lambda partial: _write(partial, layout, groups, manifest_facts),
        check=lambda partial: _check(partial, groups),
    )


def stage(folder: Path, *, write: Callable[[Path], str], check: Callable[[Path], None]) -> BundleWritten:
    """Put a bundle into place as `write_bundle` says; ``write`` gives the hash of the manifest."""
    place = folder / BUNDLE
    _refuse_existing(place)
    with telling(folder), _partial(folder) as partial:
        sha256 = write(partial)
        sync_folder(partial)
        check(partial)
        _refuse_existing(place)
        partial.rename(place)
    with suppress(OSError):  # the bundle is there: what is left is how soon its name is on the disk
        sync_folder(folder)
    return BundleWritten(path=place, sha256=sha256)


def write_owner(folder: Path, draft_json: Mapping[str, Any], log: Sequence[str]) -> Path:
    """Write what stays with the owner when a release is published: `draft.json`, `log.txt`, for their eyes only."""
    place = folder / OWNER
    with telling(place):
        place.mkdir(mode=0o700, exist_ok=True)
        write_file(place / NOTES, lambda out: out.write(render(plain(draft_json))))
        write_file(place / "log.txt", lambda out: out.write("".join(f"{line}\n" for line in log).encode()))
    return place


def read_notes(folder: Path) -> dict[str, Any]:
    """What publication noted for the owner in `draft.json`; nothing where it cannot be read."""
    try:
        found = json.loads((folder / OWNER / NOTES).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_report(folder: Path, report: str) -> Path:
    """Write the owner's report beside the notes; it is there as a whole or not at all, in place of an earlier one."""
    place = folder / OWNER
    with telling(place):
        place.mkdir(mode=0o700, exist_ok=True)
        partial = place / f".{REPORT}.{os.getpid()}"
        partial.unlink(missing_ok=True)
        try:
            write_file(partial, lambda out: out.write(report.encode()))
            partial.replace(place / REPORT)
        finally:
            partial.unlink(missing_ok=True)
    return place / REPORT


def _write(partial: Path, layout: Layout, groups: Groups, facts: ManifestFacts) -> str:
    """All files; the manifest last, since it holds the hashes of the others."""
    table = layout.table(groups)
    files: dict[str, FileFacts] = {
        "data.parquet": write_file(partial / "data.parquet", lambda out: parquet(table, out)),
        "data.csv": write_file(partial / "data.csv", lambda out: pa.csv.write_csv(table, out)),
    }
    draft = manifest(facts, layout, listed=len(groups), files=files)  # for its words and numbers
    numbers = draft["groups"]
    package = datapackage(
        layout, study=facts.study, release=facts.release, guarantee=draft["guarantee"],
        least_count=numbers["least_count"], files=files,
    )  # fmt: skip
    text = readme(
        layout, study=facts.study, release=facts.release, date=facts.date, guarantee=draft["guarantee"],
        odds=draft["privacy"]["odds"], rules=facts.rules, listed=len(groups), combinations=numbers["combinations"],
        facts=facts.facts,
    )  # fmt: skip
    files["README.md"] = write_file(partial / "README.md", lambda out: out.write(text.encode()))
    files["datapackage.json"] = write_file(partial / "datapackage.json", lambda out: out.write(render(package)))
    whole = manifest(facts, layout, listed=len(groups), files=files)
    return write_file(partial / "manifest.json", lambda out: out.write(render(whole))).sha256


def parquet(table: pa.Table, out: Any, *, statistics: bool = True) -> None:
    """Plain columns of text: no Arrow schema, no pandas metadata, nothing that tells how it was made.

    ``statistics`` are the least and greatest value of each column, for readers that skip parts of a file.
    """
    pa.parquet.write_table(table, out, compression="zstd", store_schema=False, write_statistics=statistics)


def _check(partial: Path, groups: Groups) -> None:
    """Read back and check as a receiver would, and compare with what was to be written."""
    found = passed(lambda: inspect(partial))
    if found is None or not same(found, groups):
        raise PublishError("the bundle does not read back as it was written", AGAIN)


def passed(look: Callable[[], tuple[Verification, T | None]]) -> T | None:
    """What a check reads from a bundle that passes it; an error for one that does not."""
    try:
        verification, found = look()
    except VerifyError as error:
        raise PublishError(f"the bundle does not read back: {error.problem}", AGAIN) from error
    if not verification.ok:
        failed = next(check for check in verification.checks if not check.ok)
        raise PublishError(f"the bundle does not pass its own check '{failed.name}': {failed.detail}", AGAIN)
    return found


def _refuse_existing(place: Path) -> None:
    if os.path.lexists(place):
        raise PublishError(
            f"'{place}' exists already, and a release is never overwritten", "choose another folder, or move it away"
        )


@contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """A folder beside the bundle's place that is gone afterwards unless it was renamed."""
    path = _unused(folder)
    path.mkdir()
    try:
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _unused(folder: Path) -> Path:
    """A name that no process has; a killed one that had the same number may have left its folder."""
    names = (folder / f".bundle.partial-{os.getpid()}-{number}" for number in counting())
    return next(path for path in names if not os.path.lexists(path))
