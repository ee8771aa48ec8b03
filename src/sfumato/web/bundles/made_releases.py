"""Releases that were made: their entries in the ledger, and where their bundles lie."""

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sfumato.errors import UsageError
from sfumato.ledger import Entry
from sfumato.study.study import Study
from sfumato.web.workspace import OpenStudy

MANIFEST: Final = "manifest.json"
REPORT: Final = ("owner", "report.html")
_CHUNK: Final = 1 << 18
_LARGEST_MANIFEST: Final = 64 * 1024**2


@dataclass(frozen=True, kw_only=True)
class MadeRelease:
    """An entry of the ledger that is done, with its bundle where it lies beside the study."""

    entry: Entry
    folder: Path | None  # holds bundle/ and owner/; None where the bundle is not below the study's releases
    manifest: dict[str, Any]

    @property
    def bundle(self) -> Path:
        """The folder to publish."""
        assert self.folder is not None, "asked for only where there is one"
        return self.folder / "bundle"

    @property
    def report(self) -> Path | None:
        """The owner's report; None if it is not made yet."""
        if self.folder is None:
            return None
        place = self.folder.joinpath(*REPORT)
        return place if place.is_file() and not place.is_symlink() else None

    def files(self) -> list[dict[str, Any]]:
        """The files of the bundle, with their sizes: those that the manifest lists, and itself."""
        listed = [*(str(name) for name in self.manifest.get("files", {})), MANIFEST]
        found = []
        for name in dict.fromkeys(listed):
            path = self.bundle / name
            if Path(name).name == name and stat.S_ISREG(_mode(path)):
                found.append({"name": name, "size": path.stat().st_size})
        return found

    def zipped(self) -> Iterator[bytes]:
        """The bundle as a zip archive, piece by piece: a large one is never in memory."""
        assert self.folder is not None, "asked for only where there is one"
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in self.files():
                with (
                    os.fdopen(os.open(self.bundle / one["name"], os.O_RDONLY | os.O_NOFOLLOW), "rb") as source,
                    archive.open(f"{self.folder.name}/{one['name']}", "w", force_zip64=True) as place,
                ):
                    while chunk := source.read(_CHUNK):
                        place.write(chunk)
                        yield sink.taken()
                yield sink.taken()
        yield sink.taken()


class _Sink:
    """Where an archive is written to, and taken from as it grows. It cannot seek, so the archive does not try."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found


def entries_of(declared: Study) -> tuple[Entry, ...]:
    """The entries of the study, oldest first."""
    from sfumato.api import Study as Studied  # noqa: PLC0415 - it imports the engines

    return Studied(declared).ledger.entries(declared.name)


def made_release(opened: OpenStudy, declared: Study, number: int) -> MadeRelease:
    """The release of an entry by its number."""
    for entry in entries_of(declared):
        if entry.id == number and entry.bundle is not None:
            folder = folder_of(opened, declared, entry.bundle)
            return MadeRelease(entry=entry, folder=folder, manifest={} if folder is None else _manifest(folder))
    raise UsageError(
        f"the ledger has no finished release with the number {number}", "see the ledger", code="SF-USAGE-445"
    )


def folder_of(opened: OpenStudy, declared: Study, sha256: str) -> Path | None:
    """The folder below the study's releases whose manifest has this SHA-256."""
    return bundle_folders(opened, declared).get(sha256)


def bundle_folders(opened: OpenStudy, declared: Study) -> dict[str, Path]:
    """The folders below the study's releases by the SHA-256 of their manifests, the first of those that are the same.

    A manifest that is as it was is not read again.
    """
    before: dict[tuple[str, int, int], str] = opened.cache.get("manifests", {})
    hashes: dict[tuple[str, int, int], str] = {}
    found: dict[str, Path] = {}
    for place in sorted((declared.base / "releases").glob(f"*/bundle/{MANIFEST}")):
        try:
            facts = place.lstat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_MANIFEST:
                continue
            key = (str(place), facts.st_mtime_ns, facts.st_size)
            hashes[key] = before.get(key) or hashlib.sha256(place.read_bytes()).hexdigest()
        except OSError:  # it was removed meanwhile, or nobody may read it
            continue
        found.setdefault(hashes[key], place.parent.parent)
    opened.cache["manifests"] = hashes
    return found


def _manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "bundle" / MANIFEST).read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
