"""Values that a study can hold: what is none of them is refused before anything computes with it."""

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.errors import InternalError, SfumatoError, StudyError

_MOST_BITS: Final = 2_000  # of a whole number: above some thousand digits Python does not even print it
_DEEPEST: Final = 50
_PLAIN: Final = (str, bool, int, float, Fraction, Decimal, dt.date, np.generic, type(None))


def refuse_strange(value: Any, name: str, *, others: tuple[type, ...] = ()) -> None:
    """Refuse a parameter that no study can hold: text, numbers, truth values, and lists and mappings of those.

    ``others`` are kinds that a parameter may be of in Python alone.

    >>> refuse_strange({"t": ["0.1", 2]}, "privacy")
    >>> refuse_strange(b"x", "k")
    Traceback (most recent call last):
    sfumato.errors.StudyError: k is a value of the type 'bytes'. To fix: write text, a number, true or false, ...
    """
    todo: list[tuple[Any, int]] = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if depth > _DEEPEST:
            raise StudyError(f"{name} is nested too deeply", "take some levels out", code="SF-STUDY-174")
        if isinstance(one, Mapping):
            todo += [(part, depth + 1) for pair in one.items() for part in pair]
        elif isinstance(one, (list, tuple)):
            todo += [(part, depth + 1) for part in one]
        elif not isinstance(one, (*_PLAIN, *others)):
            raise StudyError(
                f"{name} is a value of the type '{type(one).__name__}'",
                "write text, a number, true or false, or a list or mapping of those",
                code="SF-STUDY-203",
            )
        elif isinstance(one, int) and one.bit_length() > _MOST_BITS:
            raise StudyError(
                f"{name} is a number of too many digits", "write a number that a table can have", code="SF-STUDY-204"
            )
        elif isinstance(one, str) and not is_text(one):
            raise StudyError(f"{name} holds half a character", "write whole characters", code="SF-STUDY-205")


def is_text(text: str) -> bool:
    r"""Whether every character is one; half of a pair (a surrogate) cannot be written to any file.

    >>> is_text("é"), is_text("\ud800")
    (True, False)
    """
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


@contextmanager
def refuse_misunderstood(what: str) -> Iterator[None]:
    """The net below what reads the words of others: a way of being wrong that nobody thought of is a study error.

    What is inside an exception is not shown: it may quote a file. The exception stays in ``__context__``.
    """
    try:
        yield
    except InternalError:
        raise _misunderstood(what) from None
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001 - that is what a net is for
        raise _misunderstood(what) from None


def _misunderstood(what: str) -> StudyError:
    return StudyError(
        f"{what} cannot be understood: a value in it is of a kind, a size or a depth that no study has",
        "compare each value with the documentation of the study file",
        code="SF-STUDY-206",
    )
