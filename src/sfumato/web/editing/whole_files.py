"""Files that are written as a whole, in folders that other people may write to as well."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

_USUAL = 0o666  # of a new file; the owner's umask takes from it


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else who locks the folder is inside at the same time; a process that ends lets go."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_file(path: Path, raw: bytes) -> None:
    """Put a whole file in place of another, which keeps its rights; readers see the old or the new one.

    The new file is made under a name that nobody knows before: a link under a name that can be guessed would send what
    is written elsewhere.
    """
    partial = path.with_name(f".{path.name}.{token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(partial, flags, _USUAL)
    try:
        with os.fdopen(handle, "wb") as out:
            if path.exists():
                os.fchmod(out.fileno(), path.stat().st_mode & 0o777)
            out.write(raw)
        partial.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            partial.unlink()
        raise
