"""Checks of a bundle: what was looked at, and what every check begins with: files and their hashes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sfumato.errors import VerifyError
from sfumato.release.bundle.atomic_files import MANIFEST, FileFacts, facts_if_as_stated
from sfumato.release.storage.untrusted import MOST_FILE_BYTES, MOST_JSON_BYTES, printable

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

    def as_json(self) -> dict[str, Any]:
        """The check as plain values."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail}


@dataclass(frozen=True)
class Verification:
    """Everything that was looked at; fine when all of it is."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """The checks as plain values."""
        return {"ok": self.ok, "checks": [check.as_json() for check in self.checks]}


def check_names(path: Path, files: Sequence[str]) -> Check:
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
        problems.append(f"not part of the bundle: {named}{' and others' if len(extra) > _MOST_NAMED else ''}")
    return Check("files", not problems, "; ".join(problems) or "all files of a bundle, and no others")


def check_hashes(
    path: Path, content: Mapping[str, Any], files: Sequence[str], checks: list[Check]
) -> dict[str, FileFacts]:
    """One check per file; returns the files that agree with the manifest."""
    sound: dict[str, FileFacts] = {}
    if set(content["files"]) != set(files):
        checks.append(Check("manifest files", ok=False, detail="the manifest does not list the files of a bundle"))
    for name in files:
        try:
            most = MOST_JSON_BYTES if name in TEXTS else MOST_FILE_BYTES
            found = facts_if_as_stated(path / name, content["files"].get(name), most=most)
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
