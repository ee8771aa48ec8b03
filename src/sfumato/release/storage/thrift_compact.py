"""Structs in thrift's compact protocol, as Parquet has them in its footer and before each page.

Arrow reads them too, and some of what it then hands out ends the process where a hostile file contradicts itself. So a
file is looked at with these few lines of Python first, which can only ever raise.
See https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
"""

from typing import Any, Final

from sfumato.errors import VerifyError

Fields = dict[int, Any]

_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 12
_INTEGERS: Final = (4, 5, _I64)
_DEEPEST: Final = 12
_MANY: Final = 15  # a list of so many or more tells its length apart


class Structs:
    """Structs one after another at the beginning of some bytes; ``place`` is where the next one begins.

    >>> Structs(bytes([0x15, 0x06, 0x18, 0x02]) + b"ab" + bytes([0x00])).read()
    {1: 3, 2: b'ab'}
    """

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def read(self, depth: int = 0) -> Fields:
        """The fields of the next struct by their numbers."""
        if depth > _DEEPEST:
            raise _broken()
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 0x0F
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._zigzag()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.read(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind in (_TRUE, _FALSE, _BYTE):  # truth values of a list take a byte each
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise _broken()  # maps are no part of Parquet

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 0x0F
        size = self._varint() if size == _MANY else size
        if size > len(self.raw) - self.place:  # each takes a byte at least
            raise _broken()
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _bytes(self, count: int) -> bytes:
        self.place += count
        if self.place > len(self.raw):
            raise _broken()
        return self.raw[self.place - count : self.place]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the top bit says that more follows
                return found
        raise _broken()

    def _zigzag(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)


def _broken() -> VerifyError:
    return VerifyError("a Parquet file does not describe itself", "get the bundle again", code="SF-VERIFY-098")
