"""What stays with the owner beside a bundle: notes of the publication, and the report."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sfumato.release.bundle.atomic_files import explain_os_errors, write_file
from sfumato.release.storage.seal import as_json_value, render

OWNER: Final = "owner"
NOTES: Final = "draft.json"
REPORT: Final = "report.html"
DATA: Final = "data"  # in the notes, for the owner to read: where the tables are, if not in the bundle


def write_owner(folder: Path, draft_json: Mapping[str, Any], log: Sequence[str]) -> Path:
    """Write what stays with the owner when a release is published: `draft.json`, `log.txt`, for their eyes only."""
    place = folder / OWNER
    with explain_os_errors(place):
        place.mkdir(mode=0o700, exist_ok=True)
        write_file(place / NOTES, lambda out: out.write(render(as_json_value(draft_json))))
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
    with explain_os_errors(place):
        place.mkdir(mode=0o700, exist_ok=True)
        partial = place / f".{REPORT}.{os.getpid()}"
        partial.unlink(missing_ok=True)
        try:
            write_file(partial, lambda out: out.write(report.encode()))
            partial.replace(place / REPORT)
        finally:
            partial.unlink(missing_ok=True)
    return place / REPORT
