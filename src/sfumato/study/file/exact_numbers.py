"""Numbers and dates of a study, exactly as typed."""

import datetime as dt
import re
from fractions import Fraction
from functools import lru_cache

from sfumato.domains.domain import Unit
from sfumato.errors import StudyError

# Digits are bounded: `Fraction("1e999999999")` would fill the memory before anyone could refuse it.
_NUMBER = re.compile(
    r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?|[+-]?\d{1,30}/[1-9]\d{0,29}", re.ASCII
)

_TINIEST, _HUGEST = Fraction(5, 10**324), Fraction(2**1024)  # what floats hold, rounded outwards


@lru_cache(maxsize=10_000)  # of a study of thousands of columns most have the bounds of another one
def point(text: str, unit: Unit) -> Fraction:
    """Read a number exactly, or a date as its day.

    >>> point("0.1", "number"), point("1970-01-01", "day")
    (Fraction(1, 10), Fraction(719163, 1))
    """
    if unit == "day":
        try:
            return Fraction(dt.date.fromisoformat(text).toordinal())
        except ValueError:
            raise StudyError(
                f"'{text}' is not a date", "write dates as year-month-day: 2004-01-31", code="SF-STUDY-134"
            ) from None
    if not _NUMBER.fullmatch(text):
        raise StudyError(f"'{text[:40]}' is not a number", "write a number such as 0, -5 or 0.25", code="SF-STUDY-135")
    value = Fraction(text)
    if value and not _TINIEST <= abs(value) < _HUGEST:
        raise StudyError(
            f"'{text[:40]}' is no number of a table: floats end near 1.8e308, and near 5e-324 at zero",
            "write a number such as 0, -5 or 0.25", code="SF-STUDY-830",
        )  # fmt: skip
    if unit == "integer" and value.denominator != 1:
        raise StudyError(
            f"{text} is not a whole number", "write a whole number, or use `type: number`", code="SF-STUDY-136"
        )
    return value


def positive(text: str, field: str, unit: Unit = "number") -> Fraction:
    """Read a number above 0; ``field`` names it in the error.

    >>> positive("0.5", "step")
    Fraction(1, 2)
    """
    value = point(text, unit)
    if value <= 0:
        raise StudyError(f"`{field}` is {text}", "write a number above 0", code="SF-STUDY-137")
    return value
