"""Columns of numbers in a file without a name: gone with this process, however that ends.

What is put there is what a release publishes, or has published: nothing of the source that would not be in the bundle.
Nobody else can open the file, since it has no name from the moment it is made.
"""

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import UsageError

Column = NDArray[np.signedinteger]


class Spool:
    """Pieces of a table, written once and read any number of times, also by several threads.

    >>> spool = Spool()
    >>> spool.append([np.array([1, 2], np.int8), np.array([3, 4])])
    >>> [column.tolist() for column in spool.read(0)], len(spool)
    ([[1, 2], [3, 4]], 1)
    """

    def __init__(self) -> None:
        with _explain_full():
            self._file: Any = tempfile.TemporaryFile(prefix="sfumato-", buffering=0)  # noqa: SIM115 - open as long as this
        self._lock = threading.Lock()
        self._pieces: list[tuple[int, tuple[tuple[np.dtype[Any], int], ...]]] = []
        self._end = 0

    def append(self, columns: Sequence[Column]) -> None:
        """Write the columns of a piece."""
        start = self._end
        with self._lock, _explain_full():
            self._file.seek(start)
            for column in columns:
                rest = np.ascontiguousarray(column).view(np.uint8).data
                while len(rest):  # a file without a buffer may take a part
                    rest = rest[self._file.write(rest) :]
            self._end = self._file.tell()
        self._pieces.append((start, tuple((column.dtype, len(column)) for column in columns)))

    def read(self, number: int) -> list[Column]:
        """The columns of a piece."""
        start, kinds = self._pieces[number]
        found: list[Column] = [np.empty(length, kind) for kind, length in kinds]
        with self._lock:
            self._file.seek(start)
            for column in found:
                rest = column.view(np.uint8).data
                while len(rest):
                    rest = rest[self._file.readinto(rest) :]
        return found

    def __len__(self) -> int:
        return len(self._pieces)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


@contextmanager
def _explain_full() -> Iterator[None]:
    """What the system says of a folder for temporary files, as an error of ours."""
    try:
        yield
    except OSError:
        raise UsageError(
            "the folder for temporary files cannot be written to, or its disk is full",
            "free space there, or name another folder in TMPDIR",
            code="SF-USAGE-601",
        ) from None
