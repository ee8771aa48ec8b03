"""Exact privacy budgets: ε is the number the user typed, never the nearest float."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import InternalError, StudyError

Epsilon: TypeAlias = Fraction
"""A privacy loss (ε), exact: ten times 1/10 is 1 without a tolerance."""

SMALLEST: Final = Fraction(1, 10**12)
LARGEST: Final = Fraction(10**12)

# Digits are bounded: `Fraction("1e999999999")` would fill the memory before anyone could refuse it.
_DECIMAL = r"(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?"
_NUMBER = re.compile(rf"{_DECIMAL}|\d{{1,40}} */ *\d{{1,40}}", re.ASCII)


def parse_epsilon(text: str | float | Fraction | Decimal) -> Epsilon:
    """Read ε exactly: a decimal (``0.1``, ``1e-2``) or a fraction (``1/3``), from 10⁻¹² to 10¹².

    A float stands for the decimal it is printed as, so 0.1 is one tenth.

    >>> parse_epsilon("0.1") * 10 == 1
    True
    >>> parse_epsilon("1/3"), parse_epsilon(0.25)
    (Fraction(1, 3), Fraction(1, 4))
    >>> parse_epsilon("inf")
    Traceback (most recent call last):
    sfumato.errors.StudyError: 'inf' is not a privacy budget (ε). To fix: write a positive number ... [SF-STUDY-116]
    """
    if isinstance(text, bool):
        raise _not_a_budget(str(text))
    if isinstance(text, Fraction):
        value = text
    else:
        written = (repr(text) if isinstance(text, float) else str(text)).strip()
        value = _read(written)
    if value <= 0:
        raise StudyError(
            f"ε = {_shorten(str(text))} is not positive",
            "write a positive number such as 1, 0.1 or 1/3",
            code="SF-STUDY-114",
        )
    if not SMALLEST <= value <= LARGEST:
        raise StudyError(
            f"ε = {_shorten(str(text))} is out of range",
            "choose ε between 10^-12 and 10^12; usual values are 0.1 to 10",
            code="SF-STUDY-115",
        )
    return value


def show(value: Fraction) -> str:
    """ε as text that reads back as the same number: a short decimal where it is one, else a fraction.

    >>> show(Fraction(1, 10)), show(Fraction(1, 3)), show(Fraction(2))
    ('0.1', '1/3', '2')
    """
    for places in range(13):
        if 10**places % value.denominator == 0:
            return str(value) if places == 0 else _decimal(value, places)
    return str(value)


def exact_text(value: Fraction | None) -> str | None:
    """`show` for a value that there may not be, as JSON has it."""
    return None if value is None else show(value)


def round_up_scale(value: Fraction) -> float:
    """The smallest float that is not below ``value``: more noise, never less.

    >>> Fraction(round_up_scale(Fraction(1, 3))) >= Fraction(1, 3)
    True
    """
    nearest = _nearest(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest float that is not above ``value``.

    >>> Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    nearest = _nearest(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _read(written: str) -> Fraction:
    negative = written.startswith("-")
    digits = written.removeprefix("-").removeprefix("" if negative else "+")
    if _NUMBER.fullmatch(digits) is None:
        raise _not_a_budget(written)
    try:
        value = Fraction(digits.replace(" ", ""))
    except ZeroDivisionError:
        raise _not_a_budget(written) from None
    return -value if negative else value


def _not_a_budget(written: str) -> StudyError:
    return StudyError(
        f"'{_shorten(written)}' is not a privacy budget (ε)",
        "write a positive number such as 1, 0.1 or 1/3",
        code="SF-STUDY-116",
    )


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[:most] + "…"


def _decimal(value: Fraction, places: int) -> str:
    whole, rest = divmod(abs(value.numerator) * (10**places // value.denominator), 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{places}d}"


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InternalError("a noise scale does not fit a float") from None
