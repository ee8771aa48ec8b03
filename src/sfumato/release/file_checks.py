"""What every check of a bundle begins with: its files, its manifest, their hashes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sfumato.errors import UsageError, VerifyError
from sfumato.release.bundle.files import FileFacts, facts_if_as_told, file_facts
from sfumato.release.forms.noisy_counts.manifest import parse_manifest
from sfumato.release.storage.untrusted import MOST_FILE_BYTES, MOST_JSON_BYTES, printable, read_bounded

MANIFEST: Final = "manifest.json"
DATA: Final = ("data.parquet", "data.csv")
TEXTS: Final = ("README.md", "datapackage.json")  # beside the data in every bundle
_MOST_FOUND: Final = 10_000  # files that are no part of a bundle, after which nobody looks for more
_MOST_NAMED: Final = 10  # files that are no part of a bundle and are named, of how many there may be


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str

    def __post_init__(self) -> None:
        # Some of it is quoted from the bundle, and most readers are terminals.
        object.__setattr__(self, "detail", printable(self.detail, 10_000))


@dataclass(frozen=True)
class Verification:
    """Everything that was looked at; fine when all of it is."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)


def find_bundle(path: Path) -> Path:
    """The bundle at a path: the folder itself, or `bundle` in it."""
    for place in (path, path / "bundle"):
        if os.path.lexists(place / MANIFEST):  # what it is, is looked at where it is opened
            return place
    if not path.is_dir():  # nothing was looked at, so nothing failed to verify
        raise UsageError(f"there is no folder '{path}'", "check the path: name the folder that holds manifest.json")
    raise VerifyError(f"there is no bundle in '{path}'", "name the folder that holds manifest.json")


def names(path: Path, files: Sequence[str]) -> Check:
    """All files of the bundle are there, and no others."""
    wanted, found = {*files, MANIFEST}, set()
    extra: list[str] = []
    others: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                others.append(entry.name)
            elif entry.name in wanted:
                found.add(entry.name)
            else:
                extra.append(entry.name)
            if len(extra) + len(others) > _MOST_FOUND:
                break
    missing, extra = sorted(wanted - found), sorted(extra) + sorted(others)
    problems = [f"missing: {', '.join(missing)}"] * bool(missing)
    if extra:
        named = ", ".join(printable(name, 100) for name in extra[:_MOST_NAMED])
        problems.append(f"not part of it: {named}{' and others' if len(extra) > _MOST_NAMED else ''}")
    return Check("files", not problems, "; ".join(problems) or "all files of a bundle, and no others")


def manifest_of(path: Path, sha256: str | None, checks: list[Check]) -> dict[str, Any] | None:
    """The manifest if it is one; adds what was looked at to ``checks``."""
    try:
        content = parse_manifest(read_bounded(path / MANIFEST))
    except (VerifyError, OSError) as error:
        detail = error.problem if isinstance(error, VerifyError) else "manifest.json cannot be read"
        checks.append(Check("manifest", ok=False, detail=detail))
        return None
    checks.append(Check("manifest", ok=True, detail=f"format version {content['format_version']}, unchanged"))
    if sha256 is not None:
        same_hash = file_facts(path / MANIFEST).sha256 == sha256
        detail = "manifest.json has the expected hash" if same_hash else "manifest.json does not have the expected hash"
        checks.append(Check("expected hash", same_hash, detail))
    return content


def hashes(path: Path, content: Mapping[str, Any], files: Sequence[str], checks: list[Check]) -> dict[str, FileFacts]:
    """A check a file; returns those that are as the manifest says."""
    sound: dict[str, FileFacts] = {}
    if set(content["files"]) != set(files):
        checks.append(Check("manifest files", ok=False, detail="the manifest does not list the files of a bundle"))
    for name in files:
        try:
            most = MOST_JSON_BYTES if name in TEXTS else MOST_FILE_BYTES
            found = facts_if_as_told(path / name, content["files"].get(name), most=most)
        except (VerifyError, OSError) as error:
            detail = error.problem if isinstance(error, VerifyError) else "cannot be read"
            checks.append(Check(name, ok=False, detail=detail))
            continue
        if found is not None:
            sound[name] = found
            checks.append(Check(name, ok=True, detail=f"{found.size:,} bytes, SHA-256 as in the manifest"))
        else:
            checks.append(Check(name, ok=False, detail="changed: its size or SHA-256 is not that of the manifest"))
    return sound
