"""The pages of a Parquet file, looked at before anything is unpacked: how large each says it is, and how it is encoded.

The footer tells sizes of columns, and readers do not hold the pages to them: a page of a few bytes may say that it
unpacks to two gigabytes, and the room is made before that is tried. Headers of pages are thrift structs in the compact
protocol (https://github.com/apache/parquet-format, `PageHeader`); no more of it is read here than their numbers.
"""

from collections.abc import Iterator
from typing import IO, Any, Final

from sfumato.errors import VerifyError

_MOST_HEADER: Final = 1 << 16  # bytes; what a header is needed for takes a few dozen, and bounds of values some more
_MOST_PAGES: Final = 1_000_000  # of one column in one group of rows
_BOOLS: Final = (1, 2)
_INTEGERS: Final = (4, 5, 6)
_KNOWN: Final = (0, 2, 3, 8)  # PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY: values take the room that they say
_ENCODING: Final = {
    5: 2,
    7: 2,
    8: 4,
}  # where the header of a data page, dictionary page and second kind of data page has it
_DEEPEST: Final = 8
_BEGINS: Final = 4  # the first byte of the first page: a magic number stands before it

Fields = dict[int, Any]


def refuse_large_pages(file: IO[bytes], chunk: Any, *, most: int) -> int:
    """The bytes that the pages of a column chunk unpack to; refuses more than ``most``, and unknown encodings.

    ``chunk`` is the footer's entry. A page that is read is one that was looked at here: both go from the chunk's first
    page to its end, by the sizes in the headers.
    """
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
        start = min(start, chunk.dictionary_page_offset)
    stop, unpacked = start + chunk.total_compressed_size, 0
    if start == stop:  # a table without rows
        return 0
    if start < _BEGINS or stop < start:
        raise _broken("a column lies outside its file")
    for _ in range(_MOST_PAGES):
        if start >= stop:
            return unpacked
        file.seek(start)
        raw = file.read(min(_MOST_HEADER, stop - start))
        header = _Header(raw)
        fields = header.struct()
        size, packed = _sizes(fields)
        unpacked += size
        if unpacked > most:
            raise _broken("a column unpacks to more than the rows of the table take")
        start += header.place + packed
        if start > stop:
            raise _broken("a page lies outside its column")
    raise _broken("a column has too many pages")


def _sizes(fields: Fields) -> tuple[int, int]:
    """The bytes that a page unpacks to, and those that it has in the file; refuses an encoding that says neither."""
    for place, at in _ENCODING.items():
        if isinstance(fields.get(place), dict) and fields[place].get(at) not in _KNOWN:
            raise _broken("a page has an encoding that no bundle is written in")
    size, packed = fields.get(2), fields.get(3)
    if type(size) is not int or type(packed) is not int or size < 0 or packed < 0:
        raise _broken("a page does not say how large it is")
    return size, packed


class _Header:
    """One thrift struct at the beginning of some bytes."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def struct(self, depth: int = 0) -> Fields:
        """The fields by number; integers and structs as such, the rest passed over."""
        if depth > _DEEPEST:
            raise _broken("the header of a page is nested too deeply")
        fields: Fields = {}
        number = 0
        for kind, step in self._fields():
            number = number + step if step else self._zigzag()
            fields[number] = self._value(kind, depth)
        return fields

    def _fields(self) -> Iterator[tuple[int, int]]:
        while head := self._byte():
            yield head & 0x0F, head >> 4

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _BOOLS:
            return kind == 1
        if kind in _INTEGERS:
            return self._zigzag()
        if kind == 12:  # noqa: PLR2004 - a struct
            return self.struct(depth + 1)
        if kind == 3:  # noqa: PLR2004 - a byte
            return self._skip(1)
        if kind == 7:  # noqa: PLR2004 - a double
            return self._skip(8)
        if kind == 8:  # noqa: PLR2004 - bytes
            return self._skip(self._varint())
        raise _broken("the header of a page is not one")

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.raw):
            raise _broken("the header of a page is too long")

    def _byte(self) -> int:
        self._skip(1)
        return self.raw[self.place - 1]

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the top bit says that more follows
                return found
        raise _broken("the header of a page has a number that does not end")

    def _zigzag(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)


def _broken(problem: str) -> VerifyError:
    return VerifyError(problem, "get the bundle again")
