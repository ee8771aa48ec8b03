"""What a Parquet file says of itself, looked at before anything is unpacked: rows, columns, and the size of each page.

The footer tells sizes of columns, and readers do not hold the pages to them: a page of a few bytes may say that it
unpacks to two gigabytes, and the room is made before that is tried.
See https://github.com/apache/parquet-format for the structs; here they are by the numbers of their fields.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from sfumato.errors import VerifyError
from sfumato.release.storage.thrift_compact import Fields, Structs

_MAGIC: Final = b"PAR1"  # at both ends of a file
_WRITER: Final = b"parquet-cpp-arrow"  # what bundles are written by; readers make allowances for some others
_MOST_FOOTER: Final = 1 << 25  # bytes
_MOST_HEADER: Final = 1 << 16  # bytes; the header of a page takes a few dozen, and bounds of values some more
_MOST_PAGES: Final = 1_000_000  # of one column in one group of rows
_KNOWN: Final = (0, 2, 3, 8)  # PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY: values take the room that they say
_ENCODING: Final = {5: 2, 7: 2, 8: 4}  # where the headers of pages have it: of data, a dictionary, newer data
_BYTES: Final = 6  # BYTE_ARRAY, the type of text
_NUMBERS: Final = (0, 1, 2, 4, 5)  # BOOLEAN, INT32, INT64, FLOAT, DOUBLE


@dataclass(frozen=True)
class Chunk:
    """The pages of one column in one group of rows: where they begin and end, and how many values they hold."""

    start: int
    stop: int
    values: int


@dataclass(frozen=True)
class Footer:
    """The rows of a file, those of each of its parts, and the pages of every column in every part."""

    rows: int
    parts: tuple[int, ...]
    chunks: tuple[tuple[Chunk, ...], ...]


def read_footer(file: IO[bytes], names: Sequence[str], texts: Sequence[str]) -> Footer:
    """The footer of a file with these columns; refuses nested ones, and text in columns that are none of ``texts``.

    Text is read as a dictionary, each one once. In any other column a text or a wide value would be copied for every
    row that it stands in.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    file.seek(0)
    if file.read(4) != _MAGIC or tail[4:] != _MAGIC or length > min(size - 12, _MOST_FOOTER):
        raise _broken("a Parquet file cannot be read", code="SF-VERIFY-096")
    file.seek(size - 8 - length)
    fields = Structs(file.read(length)).read()
    try:
        if not fields[6].startswith(_WRITER):
            raise _broken("a Parquet file was not written by Sfumato", code="SF-VERIFY-097")
        _refuse_columns(fields[2], names, texts)
        parts = tuple(_whole(part[3]) for part in fields[4])
        chunks = tuple(tuple(_chunk(column, size) for column in part[1]) for part in fields[4])
        return Footer(_whole(fields[3]), parts, chunks)
    except (KeyError, TypeError, AttributeError, IndexError):
        raise _broken("a Parquet file does not describe itself", code="SF-VERIFY-098") from None


def refuse_large_pages(file: IO[bytes], chunk: Chunk, *, most: int) -> int:
    """The bytes that the pages of a column chunk unpack to; refuses more than ``most``, and unknown encodings.

    A page that is read is one that was looked at here: both go from the chunk's first page to its end, by the sizes in
    the headers.
    """
    start, unpacked = chunk.start, 0
    for _ in range(_MOST_PAGES):
        if start >= chunk.stop:
            return unpacked
        file.seek(start)
        header = Structs(file.read(min(_MOST_HEADER, chunk.stop - start)))
        size, packed = _sizes(header.read())
        unpacked += size
        if unpacked > most:
            raise _broken("a column unpacks to more than the rows of the table take", code="SF-VERIFY-099")
        start += header.place + packed
        if start > chunk.stop:
            raise _broken("a page lies outside its column", code="SF-VERIFY-100")
    raise _broken("a column has too many pages", code="SF-VERIFY-101")


def _refuse_columns(schema: Sequence[Fields], names: Sequence[str], texts: Sequence[str]) -> None:
    root, *columns = schema
    if root.get(5) != len(names) or [column[4] for column in columns] != [name.encode() for name in names]:
        raise _broken("the columns are not the declared ones", code="SF-VERIFY-056")
    for name, column in zip(names, columns, strict=True):
        if column.get(5) or column.get(3) not in (0, 1):  # with columns below it, or repeated
            raise _broken("the columns are not the declared ones", code="SF-VERIFY-056")
        if column.get(1) != _BYTES if name in texts else column.get(1) not in _NUMBERS:
            raise _broken(
                f"'{name}' is not a column of {'text' if name in texts else 'the declared type'}", code="SF-VERIFY-102"
            )


def _chunk(column: Fields, size: int) -> Chunk:
    if column.get(1):
        raise _broken("a column lies in another file", code="SF-VERIFY-103")
    metadata = column[3]
    start, dictionary, packed = _whole(metadata[9]), metadata.get(11), _whole(metadata[7])
    if dictionary is not None and 0 < _whole(dictionary) < start:
        start = dictionary
    values = _whole(metadata[5])
    if not values:  # no page of it is read
        return Chunk(start, start, values)
    if start < len(_MAGIC) or start + packed > size:
        raise _broken("a column lies outside its file", code="SF-VERIFY-104")
    return Chunk(start, start + packed, values)


def _sizes(fields: Fields) -> tuple[int, int]:
    """The bytes that a page unpacks to, and those that it has in the file; refuses an encoding that says neither."""
    for place, at in _ENCODING.items():
        if isinstance(fields.get(place), dict) and fields[place].get(at) not in _KNOWN:
            raise _broken("a page has an encoding that no bundle is written in", code="SF-VERIFY-105")
    return _whole(fields.get(2)), _whole(fields.get(3))


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise _broken("a Parquet file does not describe itself", code="SF-VERIFY-098")
    return value


def _broken(problem: str, *, code: str = "") -> VerifyError:
    return VerifyError(problem, "get the bundle again", code=code)
