"""Files that anybody may have written: opened only where they are files, bounded before they are read, and one net.

A bundle is checked by people who do not know who made it. So nothing in it decides how much memory or time a check
takes beyond what the bundle's own size on the disk allows, and no way of being wrong ends in a traceback.
"""

import errno
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from sfumato.errors import InternalError, SfumatoError, VerifyError

MOST_JSON_BYTES: Final = 1 << 26
"""The largest JSON file that is read: 64 MiB, a taxonomy of a million values."""

MOST_FILE_BYTES: Final = 1 << 36
"""The largest file that is read at all: 64 GiB."""

_MOST_VALUES: Final = 8_000_000  # in a JSON file: an empty list takes two bytes there and sixty in memory
_DEEPEST: Final = 100
_MOST_WHOLE: Final = 2**63
_DIGITS: Final = 20  # of a whole number below that, with its sign
_AGAIN: Final = "do not use it, and get it again from who published it"


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, if it is one: no link, no folder, no pipe that never ends, no device."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # before opening: that alone does something to some devices
            raise _no_file(path)
        flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")]
        handle = os.open(path, os.O_RDONLY | flags[0] | flags[1] | flags[2] | flags[3])
    except OSError as error:
        raise _no_file(path) if error.errno == errno.ELOOP else error from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # again: it may have been exchanged
        os.close(handle)
        raise _no_file(path)
    return os.fdopen(handle, "rb")


def size_of(file: IO[bytes]) -> int:
    """How long an open file is."""
    return os.fstat(file.fileno()).st_size


def read_bounded(path: Path, most: int = MOST_JSON_BYTES) -> bytes:
    """The bytes of a file, if there are no more than ``most``."""
    with open_regular(path) as file:
        raw = file.read(most + 1) if size_of(file) <= most else b""
        if len(raw) > most or size_of(file) > most:
            raise VerifyError(f"{printable(path.name)} is larger than {most >> 20} MiB", _AGAIN, code="SF-VERIFY-107")
        return raw


def parse_json(raw: bytes, name: str) -> Any:
    """JSON that somebody else wrote: UTF-8, no name twice, no NaN, whole numbers of 64 bits, not nested deeply.

    >>> parse_json(b'{"a": [1, 0.5]}', "x.json")
    {'a': [1, 0.5]}
    >>> parse_json(b'{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    sfumato.errors.VerifyError: x.json has a name twice. To fix: do not use it, and get it again ...
    """
    if raw.count(b",") > _MOST_VALUES:
        raise VerifyError(f"{name} holds more than {_MOST_VALUES:,} values", _AGAIN, code="SF-VERIFY-108")
    try:
        text = raw.decode()
        content = json.loads(
            text,
            object_pairs_hook=lambda pairs: _once(pairs, name),
            parse_constant=lambda _: _refuse_number(name),
            parse_float=lambda digits: _finite(digits, name),
            parse_int=lambda digits: _whole(digits, name),
        )
        _refuse_depth(content, name)
        if "\\u" in text:  # half a character can be written so, and then never again
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError:
        raise VerifyError(f"{name} is nested too deeply", _AGAIN, code="SF-VERIFY-109") from None
    except ValueError:
        raise VerifyError(f"{name} is not JSON", _AGAIN, code="SF-VERIFY-110") from None
    return content


@contextmanager
def refuse_unexpected(what: str = "the bundle") -> Iterator[None]:
    """The net below everything that reads a bundle: what nobody thought of is an answer about the bundle, no traceback.

    What is inside an exception is not shown: it may quote the bundle. The exception stays in ``__context__``.
    """
    try:
        yield
    except MemoryError:
        raise VerifyError(
            f"{what} cannot be verified: reading it takes more memory than there is. Treat it as damaged or hostile",
            f"{_AGAIN}; if you know that it is sound, read it on a larger machine",
            code="SF-VERIFY-111",
        ) from None
    except InternalError:
        raise _unexpected(what) from None
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - that is what a net is for
        raise _unexpected(what) from None


def printable(text: str, most: int = 200) -> str:
    r"""Text of others as a terminal or a log may have it: short, without control characters and half characters.

    >>> printable("a\x1b[2J\ud800")
    'a�[2J�'
    """
    short = text if len(text) <= most else f"{text[:most]}…"
    return "".join(c if c.isprintable() else "�" for c in short)


def _once(pairs: Sequence[tuple[str, Any]], name: str) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise VerifyError(f"{name} has a name twice", _AGAIN, code="SF-VERIFY-112")
    return found


def _refuse_number(name: str) -> NoReturn:
    raise VerifyError(f"{name} has a number that is none, or too large", _AGAIN, code="SF-VERIFY-113")


def _finite(digits: str, name: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_number(name)


def _whole(digits: str, name: str) -> int:
    if len(digits) > _DIGITS or abs(number := int(digits)) >= _MOST_WHOLE:
        _refuse_number(name)
    return number


def _refuse_depth(content: Any, name: str) -> None:
    level = [content]
    for _ in range(_DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, (dict, list))
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise VerifyError(f"{name} is nested too deeply", _AGAIN, code="SF-VERIFY-109")


def _no_file(path: Path) -> VerifyError:
    return VerifyError(f"{printable(path.name)} is not a regular file", _AGAIN, code="SF-VERIFY-114")


def _unexpected(what: str) -> VerifyError:
    return VerifyError(
        f"{what} cannot be verified: reading it failed in a way that reading a sound one does not. Treat it as "
        "damaged or hostile",
        _AGAIN,
        code="SF-VERIFY-115",
    )
