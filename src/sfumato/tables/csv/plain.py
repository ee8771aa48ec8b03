"""Whether a CSV file is plain: so regular that any reader finds the same records in it as `csv_records` does.

A plain file is handed to the engine as it is, which reads it many times as fast. The check looks at all of the file.
It may: both ways give the same table, so which one was taken shows in nothing but time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.tables.csv.lenient import Dialect

_LF, _CR, _NUL = b"\n"[0], b"\r"[0], 0
_LONGEST: Final = 1 << 20  # bytes; far below any engine's limit for a record
_BLOCK: Final = 1 << 22  # bytes looked at together; a record is never longer

Codes = NDArray[np.uint8]


class Shape(Enum):
    """What readers may assume of a file."""

    LINES = "plain, and every line is a record"
    FIELDS = "plain, and quoted fields hold line ends"  # an engine that starts in the middle of one is lost
    ODD = "not plain"


def find_shape(chunks: Iterable[bytes], dialect: Dialect, width: int) -> Shape:
    r"""Whether all records have so many fields, all lines the same end, and all quotes their place.

    >>> comma = Dialect(delimiter=b",", quote=b'"', line_end=b"\n")
    >>> files = (b'a,b\n1,"x\n""y"\n', b'a,b\n1,"2"\n', b"a,b\n1\n", b"a,b\n1,2\n\n", b"a,b\r\n1,2\n")
    >>> [find_shape([text], comma, 2).name for text in files]
    ['FIELDS', 'LINES', 'ODD', 'ODD', 'ODD']
    """
    single = len(dialect.delimiter) == 1 and len(dialect.quote) <= 1 and dialect.line_end == b"\n"
    if not single or not dialect.delimiter.isascii() or not (dialect.quote or b'"').isascii():
        return Shape.ODD
    seen = _Seen()
    if not all(_is_plain(block, dialect, width, seen) for block in _blocks(chunks, dialect)) or len(seen.crlf) > 1:
        return Shape.ODD
    return Shape.FIELDS if seen.quoted_ends else Shape.LINES


@dataclass(slots=True)
class _Seen:
    """What the parts of a file have shown so far."""

    crlf: set[bool] = field(default_factory=set)  # whether lines end in CRLF
    quoted_ends: bool = False


def _blocks(chunks: Iterable[bytes], dialect: Dialect) -> Iterator[bytes]:
    """The file in parts that end where a line ends and no quote is open; a part that is too long comes as it is."""
    rest = b""
    first = True
    for chunk in chunks:
        rest += chunk
        if first:
            rest, first = rest.removeprefix(b"\xef\xbb\xbf"), False
        if len(rest) >= _BLOCK:
            stop = _last_end(rest, dialect)
            yield rest[:stop]
            rest = rest[stop:]
    if rest:
        yield rest if rest.endswith((b"\n", b"\r")) else rest + (b"\r\n" if b"\r\n" in rest else b"\n")


def _last_end(text: bytes, dialect: Dialect) -> int:
    """Where the last line ends that ends outside quotes; the end of the text if there is none."""
    at = text.rfind(b"\n")
    while at >= 0 and dialect.quote and text.count(dialect.quote, 0, at) % 2:
        at = text.rfind(b"\n", 0, text.rfind(dialect.quote, 0, at))
    return at + 1 or len(text)


def _inside(codes: Codes, dialect: Dialect) -> NDArray[np.bool_]:
    """Which bytes follow an odd number of quotes."""
    return (np.add.accumulate(codes == dialect.quote[0], dtype=np.uint8) & 1).view(np.bool_)


def _is_plain(block: bytes, dialect: Dialect, width: int, seen: _Seen) -> bool:
    codes = np.frombuffer(block, np.uint8)
    if _NUL in block or not block.endswith(b"\n"):
        return False
    lines, marks = codes == _LF, codes == dialect.delimiter[0]
    returns = np.flatnonzero(codes == _CR)
    if (codes[returns + 1] != _LF).any():  # the last byte is a line end, so there is a next one
        return False
    if dialect.quote and dialect.quote in block:
        if not _quotes_fit(codes, dialect):
            return False
        outside = ~_inside(codes, dialect)
        seen.quoted_ends |= bool((lines & ~outside).any())
        lines, marks = lines & outside, marks & outside
        returns = returns[outside[returns]]
    stops = np.flatnonzero(lines)
    if not stops.size or stops[-1] != codes.size - 1:
        return False
    lengths = np.diff(stops, prepend=-1)
    fields = np.diff(np.searchsorted(np.flatnonzero(marks), stops), prepend=0) + 1
    crlf = bool(returns.size)
    seen.crlf.add(crlf)
    return bool(
        (fields == width).all()
        and lengths.min() > 1 + crlf  # no line is empty
        and lengths.max() <= _LONGEST
        and returns.size in {0, stops.size}
    )


def _quotes_fit(codes: Codes, dialect: Dialect) -> bool:
    """Whether quotes open where a field begins, close where it ends, and stand twice everywhere else."""
    quotes = np.flatnonzero(codes == dialect.quote[0])
    if quotes.size % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    twice = opening[1:] == closing[:-1] + 1
    before = np.where(opening > 0, codes[opening - 1], _LF)
    begins = (before == dialect.delimiter[0]) | (before == _LF)
    after = codes[closing + 1]  # the last byte is a line end
    stops = (after == dialect.delimiter[0]) | (after == _LF) | (after == _CR)
    begins[1:] |= twice
    stops[:-1] |= twice
    return bool(begins.all() and stops.all())
