"""Files that are on the disk or not there at all, and the folders they go to."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from sfumato.errors import PublishError, UsageError, VerifyError
from sfumato.release.storage.untrusted import MOST_FILE_BYTES, open_regular, size_of

MANIFEST: Final = "manifest.json"
BUNDLE: Final = "bundle"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """How long a file is, and its SHA-256."""

    size: int
    sha256: str


def find_bundle(path: Path) -> Path:
    """The bundle at a path: the folder itself, or `bundle` in it."""
    for place in (path, path / BUNDLE):
        if os.path.lexists(place / MANIFEST):  # what it is, is looked at where it is opened
            return place
    if not path.is_dir():  # nothing was looked at, so nothing failed to verify
        raise UsageError(
            f"there is no folder '{path}'",
            "check the path: name the folder that holds manifest.json",
            code="SF-USAGE-050",
        )
    raise VerifyError(
        f"there is no bundle in '{path}'", "name the folder that holds manifest.json", code="SF-VERIFY-048"
    )


def claim_folder(path: Path) -> Path:
    """Make the folder of a release; whoever makes it has it, since only one of two can.

    Call this before any budget is spent: a folder that exists already, or cannot be made, is found out here.
    """
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir()
        except FileExistsError:
            raise PublishError(
                f"the folder '{path}' exists already, and a release is never overwritten",
                "choose another folder, or move this one away",
                code="SF-PUBLISH-009",
            ) from None
        sync_folder(path.parent)
    return path


def write_file(path: Path, write: Callable[[IO[bytes]], object]) -> FileFacts:
    """Make a new file, bring it to the disk, and hash what can be read back from it."""
    with path.open("xb") as out:
        write(out)
        out.flush()
        os.fsync(out.fileno())
    return file_facts(path)


def file_facts(path: Path) -> FileFacts:
    """Length and SHA-256 of a regular file."""
    digest = hashlib.sha256()
    size = 0
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return FileFacts(size=size, sha256=digest.hexdigest())


def facts_if_as_stated(
    path: Path, stated: Mapping[str, Any] | None, *, most: int = MOST_FILE_BYTES
) -> FileFacts | None:
    """What `file_facts` returns if it agrees with the manifest, else None; lengths are compared before reading."""
    with open_regular(path) as file:
        size = size_of(file)
    if stated is None or size != stated["size"] or size > most:
        return None
    found = file_facts(path)
    return found if stated == {"size": found.size, "sha256": found.sha256} else None


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Raise errors of the operating system about writing below ``path`` as `PublishError`, with notes that they got."""
    try:
        yield
    except OSError as error:
        failure = _publish_error(path, error)
        for note in getattr(error, "__notes__", ()):
            failure.add_note(note)
        raise failure from error


def _publish_error(path: Path, error: OSError) -> PublishError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return PublishError(
            f"the disk that holds '{path}' is full", "free space on it, or choose another folder", code="SF-PUBLISH-010"
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return PublishError(f"'{path}' cannot be written to", "choose a folder you may write to", code="SF-PUBLISH-011")
    if error.errno in {errno.ENOTDIR, errno.EEXIST}:
        return PublishError(
            f"a part of '{path}' is a file, not a folder", "choose another folder", code="SF-PUBLISH-012"
        )
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return PublishError(
        f"'{path}' could not be written: {reason}", "check the disk, or choose another folder", code="SF-PUBLISH-013"
    )
