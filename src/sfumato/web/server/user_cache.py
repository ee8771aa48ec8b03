"""Files that take long to make, kept for the next start: in a folder of the user that nobody else may write to.

What is kept here is sent to browsers as our own script, so whoever could put a file into the folder could do there what
the owner of the tables can. Three things forbid it. The folder, and every folder above it, belongs to this user or to
the administrator, and others may not write to it; the exception are folders in which everybody may change their own
entries alone (the sticky bit, as in `/tmp`). The file itself is a plain one of this user, under a name that is made of
all that it was made of. It begins with its hash: one that was torn or changed by a slip is made anew. The hash is no
defence against somebody who may write as this user, from whom no file of theirs is safe.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

_KEPT: Final = 4  # files of one kind: the newest, for versions that are used side by side
_LARGEST: Final = 1 << 26  # bytes
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_HASH: Final = hashlib.sha256().digest_size * 2  # characters


def kept(kind: str, made_of: str, make: Callable[[], bytes]) -> bytes:
    """What ``make`` gives, or has given at an earlier start if it was made of the same.

    Where nothing can be kept safely, it is made each time.
    """
    folder = _safe_folder()
    if folder is None:
        return make()
    path = folder / f"{kind}-{hashlib.sha256(made_of.encode()).hexdigest()[:32]}"
    found = _read(path)
    if found is None:
        found = make()
        with suppress(OSError):  # a full disk, or a folder that is read-only
            _write(path, found)
            _forget(folder, kind)
    return found


def _safe_folder() -> Path | None:
    """The folder, made if need be; None where there is no place for one."""
    try:
        named = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        if not named.is_absolute():  # such a value is to be ignored, says the convention
            return None
        home = named.parent.resolve(strict=True) / named.name
        if not _is_ours_alone(home.parent):  # also: the administrator makes no folder in the home of a user
            return None
        folder = home / "sfumato"
        for one in (home, folder):
            one.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve(strict=True)
        facts = folder.stat()
        ours = facts.st_uid == os.geteuid() and not facts.st_mode & _OTHERS_WRITE
        return folder if ours and _is_ours_alone(folder) else None
    except (OSError, RuntimeError):  # RuntimeError: nobody knows the home of this user
        return None


def _is_ours_alone(folder: Path) -> bool:
    """Whether nobody else but the administrator can put another folder at any part of this path."""
    every = [one.stat() for one in (folder, *folder.parents)]
    return all(
        facts.st_uid in {os.geteuid(), 0} and (not facts.st_mode & _OTHERS_WRITE or facts.st_mode & stat.S_ISVTX)
        for facts in every
    )


def _read(path: Path) -> bytes | None:
    """The content of a file that is ours and whole; else None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        facts = os.fstat(handle)
        plain = stat.S_ISREG(facts.st_mode) and facts.st_size <= _LARGEST
        if not plain or facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS_WRITE:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            raw = file.read(_LARGEST)
    finally:
        os.close(handle)
    said, content = raw[:_HASH], raw[_HASH:]
    return content if said == _hash(content) else None


def _write(path: Path, content: bytes) -> None:
    """Put the whole file in place: two servers that start at once both leave a whole one."""
    partial = path.with_name(f".{path.name}.{token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(partial, flags, 0o600), "wb") as out:
            out.write(_hash(content) + content)
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _forget(folder: Path, kind: str) -> None:
    """Remove all but the newest files of a kind."""
    found = sorted(folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found[_KEPT:]:
        path.unlink(missing_ok=True)
