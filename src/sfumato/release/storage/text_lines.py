"""Lines of a text: repeated when it is written, and lines alike that follow each other found when it is read."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import VerifyError
from sfumato.release.forms.records.code_spans import Integers
from sfumato.release.storage.untrusted import open_regular

_END = 10  # a line feed, as a byte
_ROWS = 1 << 13  # lines written at a time: few enough to stay in the processor's cache
_CHUNK = 1 << 20  # bytes read at a time, for the same reason


def repeat_lines(text: pa.Buffer, times: Integers) -> Iterator[pa.Buffer] | None:
    r"""The first line of a text, and then each other line as often as given; nothing if a row is not just one line.

    >>> pieces = repeat_lines(pa.py_buffer(b"x\na\nb\n"), np.array([1, 2]))
    >>> b"".join(piece.to_pybytes() for piece in pieces)
    b'x\na\nb\nb\n'
    """
    lines = _lines(text)
    if lines is None or len(lines) != len(times) + 1:
        return None
    return _pieces(lines, np.append([1], times))


def _pieces(lines: pa.Array, times: Integers) -> Iterator[pa.Buffer]:
    ends = np.cumsum(times)
    for start in range(0, int(ends[-1]), _ROWS):
        rows = np.arange(start, min(start + _ROWS, int(ends[-1])))
        taken = lines.take(pa.array(np.searchsorted(ends, rows, side="right")))
        yield taken.buffers()[2]  # lines are bytes one after another there: the text itself


def line_runs(path: Path, *, most: int) -> tuple[pa.Buffer, Integers] | None:
    """The first line and then one line for each run of lines alike, and how many lines each run has.

    Nothing where that saves little, or where the last line does not end. A line of more than ``most`` bytes is refused:
    it would be copied again with every part of the file.
    """
    kept: list[pa.Array] = []
    runs: list[Integers] = []  # the number of the line that each run begins with
    rest, before, rows = b"", None, 0
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
            new = np.ones(len(lines), dtype=bool)
            new[1:] = pc.not_equal(lines[1:], lines[:-1]).to_numpy(zero_copy_only=False)
            new[0] = before is None or lines[0].as_py() != before
            if not rows:
                new[:2] = True  # names are no record, even where one reads like them
            kept.append(lines.filter(pa.array(new)))
            runs.append(np.flatnonzero(new) + rows)
            before, rows = lines[-1].as_py(), rows + len(lines)
            if 2 * sum(map(len, runs)) > rows + 2:
                return None
    if rest or not kept:
        return None
    times = np.diff(np.concatenate(runs), append=rows)[1:]
    return pa.py_buffer(b"".join(b"".join(lines.to_pylist()) for lines in kept)), times.astype(np.int64)


def _lines(text: pa.Buffer) -> pa.Array | None:
    """The lines with their ends; nothing where the text does not end with one."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _END) + 1
    if not len(ends) or ends[-1] != text.size:
        return None
    offsets = np.append([0], ends).astype(np.int64)
    return pa.Array.from_buffers(pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), text])
