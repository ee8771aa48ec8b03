"""Folders and files that only their owner may read: what was computed from raw records and is never published."""

import os
from pathlib import Path
from typing import Final

_FOLDER: Final = 0o700
_FILE: Final = 0o600


def private_folder(path: Path) -> Path:
    """Make a folder, with all above it that are missing, for the owner's eyes only; one that exists stays as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=_FOLDER, exist_ok=True)
    return path


def write_private(path: Path, content: bytes) -> Path:
    """Write a file that only its owner may read, also over one that others could; never readable by them in between."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), _FILE), "wb") as out:
        if hasattr(os, "fchmod"):  # not everywhere; the mode above holds for new files
            os.fchmod(out.fileno(), _FILE)
        out.truncate()
        out.write(content)
    return path
