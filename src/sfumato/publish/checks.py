"""What every check of a bundle begins with: its files, its manifest, their hashes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sfumato.errors import UsageError, VerifyError
from sfumato.publish.files import FileFacts, file_facts
from sfumato.publish.manifest import parse_manifest

MANIFEST: Final = "manifest.json"
DATA: Final = ("data.parquet", "data.csv")
TEXTS: Final = ("README.md", "datapackage.json")  # beside the data in every bundle


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str


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
        if (place / MANIFEST).is_file():
            return place
    if not path.is_dir():  # nothing was looked at, so nothing failed to verify
        raise UsageError(f"there is no folder '{path}'", "check the path: name the folder that holds manifest.json")
    raise VerifyError(f"there is no bundle in '{path}'", "name the folder that holds manifest.json")


def names(path: Path, files: Sequence[str]) -> Check:
    """All files of the bundle are there, and no others."""
    with os.scandir(path) as entries:
        found = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
        others = sorted({entry.name for entry in path.iterdir()} - found)
    missing, extra = sorted({*files, MANIFEST} - found), sorted(found - {*files, MANIFEST}) + others
    problems = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"not part of it: {', '.join(extra)}"] * bool(
        extra
    )
    return Check("files", not problems, "; ".join(problems) or "all files of a bundle, and no others")


def manifest_of(path: Path, sha256: str | None, checks: list[Check]) -> dict[str, Any] | None:
    """The manifest if it is one; adds what was looked at to ``checks``."""
    try:
        content = parse_manifest((path / MANIFEST).read_bytes())
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
        told = content["files"].get(name)
        try:
            found = file_facts(path / name)
        except OSError:
            checks.append(Check(name, ok=False, detail="cannot be read"))
            continue
        if told is not None and told == {"size": found.size, "sha256": found.sha256}:
            sound[name] = found
            checks.append(Check(name, ok=True, detail=f"{found.size:,} bytes, SHA-256 as in the manifest"))
        else:
            checks.append(Check(name, ok=False, detail="changed: its size or SHA-256 is not that of the manifest"))
    return sound
