"""Writing a bundle: beside its place, read back, checked, and then there in one step."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count as counting
from pathlib import Path
from typing import Any, Final

from sfumato.domains.counts import Cells
from sfumato.errors import PublishError, SfumatoError, VerifyError
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.release.bundle.atomic_files import BUNDLE, MANIFEST, FileFacts, explain_os_errors, sync_folder, write_file
from sfumato.release.bundle.croissant import CROISSANT
from sfumato.release.bundle.datapackage import datapackage
from sfumato.release.bundle.receiver_files import croissant_of, page_of
from sfumato.release.bundle.stored_tables import write_stored
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS, Form
from sfumato.release.manifest.compose import ReleaseFacts, build_manifest
from sfumato.release.page.render_page import PAGE
from sfumato.release.storage.seal import Json, render
from sfumato.release.storage.untrusted import parse_json, read_bounded
from sfumato.release.uniqueness import Uniqueness
from sfumato.release.verify import inspect
from sfumato.tables.publishing.destination import Destination

_AGAIN: Final = "check the disk and publish again; if that fails too, it is a bug in Sfumato: please report it"


@dataclass(frozen=True, kw_only=True)
class WrittenBundle:
    """Where a bundle is, and the SHA-256 of its manifest, which holds those of all its other files.

    Of records also how many are unique over all published columns, from the published table alone.
    """

    path: Path
    sha256: str
    unique: Uniqueness | None = None


def write_bundle(
    draft: Draft,
    facts: ReleaseFacts,
    folder: Path,
    *,
    source: RandomSource | None = None,
    destination: Destination | None = None,
    memory_limit: str | None = None,
) -> WrittenBundle:
    """Publish a draft as ``folder/bundle``; all of it is there, checked, or nothing is.

    Everything is written to a folder beside it, brought to the disk, read back and checked as a receiver would,
    privacy models included, and then renamed. An existing bundle is never overwritten, and after a failure nothing is
    left behind. ``source`` gives what is random in a form its order. With a ``destination`` the tables are written
    there in place of data files: others see them in the moment before the bundle has its name, and if it cannot get
    that name, they are removed again.
    """
    form = FORMS[draft.form]
    layout, content = form.prepare(draft, facts, source or SecureSource())
    unique = form.unique(layout, content)
    place = folder / BUNDLE
    _refuse_existing(place)
    stored: Json | None = None
    with explain_os_errors(folder), _partial(folder) as partial:
        if destination is not None:
            stored = write_stored(destination, form, layout, content, memory_limit=memory_limit)
        sha256 = _write(partial, form, draft, facts, (layout, content, unique), stored)
        sync_folder(partial)
        _check(partial, form, content, draft.view.people, destination, memory_limit)
        _refuse_existing(place)
        names = [table["name"] for table in (stored or {"tables": {}})["tables"].values()]
        with _committed(destination, partial, names):
            partial.rename(place)
    with suppress(OSError):  # the bundle is there: what is left is how soon its name is on the disk
        sync_folder(folder)
    return WrittenBundle(path=place, sha256=sha256, unique=unique)


def published_bundle(folder: Path, ledger: str) -> WrittenBundle | None:
    """The bundle of an entry of the ledger, by its hash, if it has its name: it gets that once it is whole and checked.

    Somebody else may have put a bundle of theirs there; then there is none of this entry.
    """
    place = folder / BUNDLE
    with suppress(OSError, VerifyError):
        raw = read_bounded(place / MANIFEST)
        stated = parse_json(raw, MANIFEST)
        if isinstance(stated, dict) and stated.get("ledger") == ledger:
            return WrittenBundle(path=place, sha256=hashlib.sha256(raw).hexdigest())
    return None


@contextmanager
def _committed(destination: Destination | None, partial: Path, names: Sequence[str]) -> Iterator[None]:
    """Let others see the tables; if the block fails before it renames the bundle, nobody sees them again."""
    if destination is None:
        yield
        return
    try:
        destination.commit()
        yield
    except BaseException as failure:
        if not os.path.lexists(partial):  # interrupted right after the bundle got its name: it needs its tables
            raise
        try:
            destination.withdraw()
        except SfumatoError:
            left = " and ".join(f"'{name}'" for name in names)
            failure.add_note(f"the records may be visible in {left}, without a bundle: drop the table")
        raise


def _write(
    partial: Path,
    form: Form,
    draft: Draft,
    facts: ReleaseFacts,
    prepared: tuple[Any, Any, Uniqueness | None],
    stored: Json | None,
) -> str:
    """All files; the manifest last, since it holds the hashes of the others."""
    layout, content, unique = prepared
    files: dict[str, FileFacts] = {}
    if stored is None:
        writers = form.writers(layout, content)
        with ThreadPoolExecutor(len(writers)) as pool:  # Arrow writes without holding Python up
            written = pool.map(lambda name: write_file(partial / name, writers[name]), writers)
            files = dict(zip(writers, written, strict=True))
    own = form.fields(draft, layout, content)
    manifest = build_manifest(draft, facts, own, files, stored)  # for its words and numbers
    text = form.readme(layout, manifest, unique).encode()
    package = render(datapackage(form.columns(layout, manifest), manifest, files, about=form.about()))
    described = croissant_of(form, manifest, layout, files)
    page = page_of(form, manifest, layout, content)
    files["README.md"] = write_file(partial / "README.md", lambda out: out.write(text))
    files["datapackage.json"] = write_file(partial / "datapackage.json", lambda out: out.write(package))
    files[CROISSANT] = write_file(partial / CROISSANT, lambda out: out.write(described))
    files[PAGE] = write_file(partial / PAGE, lambda out: out.write(page))
    whole = render(build_manifest(draft, facts, own, files, stored))
    return write_file(partial / MANIFEST, lambda out: out.write(whole)).sha256


def _check(
    partial: Path,
    form: Form,
    content: Any,
    people: Cells | None,
    data: Destination | None,
    memory_limit: str | None,
) -> None:
    """Read back and check as a receiver would, and compare with what was to be written."""

    def crowd(_: Mapping[str, Any]) -> Cells | None:
        return people

    try:
        found = inspect(partial, people=crowd, data=data, memory_limit=memory_limit)
    except VerifyError as error:
        raise PublishError(f"the bundle does not read back: {error.problem}", _AGAIN, code="SF-PUBLISH-014") from error
    if not found.verification.ok:
        failed = next(check for check in found.verification.checks if not check.ok)
        raise PublishError(
            f"the bundle does not pass its own check '{failed.name}': {failed.detail}", _AGAIN, code="SF-PUBLISH-015"
        )
    if not form.same(found.content, content):
        raise PublishError("the bundle does not read back as it was written", _AGAIN, code="SF-PUBLISH-016")


def _refuse_existing(place: Path) -> None:
    if os.path.lexists(place):
        raise PublishError(
            f"'{place}' exists already, and a release is never overwritten",
            "choose another folder, or move it away",
            code="SF-PUBLISH-017",
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
