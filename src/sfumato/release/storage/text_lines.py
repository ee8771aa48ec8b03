"""Lines of a text: repeated when it is written, and lines alike that follow each other found when it is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import VerifyError
from sfumato.release.forms.records.code_spans import Integers
from sfumato.release.storage.untrusted import open_regular

_END = 10  # a line feed, as a byte
_ROWS = 1 << 13  # lines written at a time: few enough to stay in the processor's cache
_BLOCK = 1 << 24  # bytes of a part of a file
_CHUNK = 1 << 20  # bytes read at a time, for the same reason


def repeat_lines(text: pa.Buffer, times: Integers, *, names: bool = True) -> Iterator[pa.Buffer] | None:
    r"""The first line of a text, and then each other line as often as given; nothing if a row is not just one line.

    Without ``names`` the first line is passed over.

    >>> pieces = repeat_lines(pa.py_buffer(b"x\na\nb\n"), np.array([1, 2]))
    >>> b"".join(piece.to_pybytes() for piece in pieces)
    b'x\na\nb\nb\n'
    """
    lines = _lines(text)
    if lines is None or len(lines) != len(times) + 1:
        return None
    return _pieces(lines, np.append([int(names)], times))


def _pieces(lines: pa.Array, times: Integers) -> Iterator[pa.Buffer]:
    ends = np.cumsum(times)
    for start in range(0, int(ends[-1]), _ROWS):
        rows = np.arange(start, min(start + _ROWS, int(ends[-1])))
        taken = lines.take(pa.array(np.searchsorted(ends, rows, side="right")))
        yield taken.buffers()[2]  # lines are bytes one after another there: the text itself


@dataclass(frozen=True, eq=False)
class LineBlock:
    """A part of a file of lines: the first line of the file, one line for each run of lines alike, and how many it has.

    Of what follows the last line end there is no text.
    """

    start: int  # where it begins in the file
    text: pa.Buffer | None
    times: Integers


def line_blocks(path: Path, *, most: int) -> Iterator[LineBlock]:
    """A file in parts that end with a line.

    A line of more than ``most`` bytes is refused: it would be copied again with every part of the file.
    """
    names, start, rest = b"", 0, b""
    found = _FoundLines()
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            ended = chunk.rfind(b"\n") + 1
            lines = _lines(pa.py_buffer(rest + chunk[:ended])) if ended else None
            rest = chunk[ended:] if ended else rest + chunk
            if len(rest) > most:
                raise VerifyError(
                    "a line of a CSV file is too long to be one of a bundle",
                    "get the bundle again",
                    code="SF-VERIFY-106",
                )
            if lines is None:
                continue
            if not names:  # they are no record, even where one reads like them
                names, lines = lines[0].as_py(), lines[1:]
                found.size = len(names)
            found.add(lines)
            if found.size >= _BLOCK:
                yield found.block(start, names)
                start, found = start + found.size, _FoundLines()
    if found.size:
        yield found.block(start, names)
        start += found.size
    if rest or not names:
        yield LineBlock(start, None, np.empty(0, np.int64))


class _FoundLines:
    """Lines that follow each other, those alike once."""

    def __init__(self) -> None:
        self.size = 0  # bytes of the file
        self._kept: list[pa.Array] = []
        self._runs: list[Integers] = []  # the number of the line that each run begins with
        self._before: bytes | None = None
        self._rows = 0

    def add(self, lines: pa.Array) -> None:
        """The lines that follow."""
        if not len(lines):
            return
        new = np.ones(len(lines), dtype=bool)
        new[1:] = pc.not_equal(lines[1:], lines[:-1]).to_numpy(zero_copy_only=False)
        new[0] = self._before is None or lines[0].as_py() != self._before
        self._kept.append(lines.take(pa.array(np.flatnonzero(new))))
        self._runs.append(np.flatnonzero(new) + self._rows)
        self._before, self._rows = lines[-1].as_py(), self._rows + len(lines)
        self.size += int(pc.sum(pc.binary_length(lines)).as_py())

    def block(self, start: int, names: bytes) -> LineBlock:
        """What there is, with the first line of the file before it."""
        text = b"".join([names, *(memoryview(lines.buffers()[2]) for lines in self._kept if len(lines))])
        runs = np.concatenate([np.empty(0, np.int64), *self._runs])
        return LineBlock(start, pa.py_buffer(text), np.diff(runs, append=self._rows).astype(np.int64))


def _lines(text: pa.Buffer) -> pa.Array | None:
    """The lines with their ends; nothing where the text does not end with one."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _END) + 1
    if not len(ends) or ends[-1] != text.size:
        return None
    offsets = np.append([0], ends).astype(np.int64)
    return pa.Array.from_buffers(pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), text])
