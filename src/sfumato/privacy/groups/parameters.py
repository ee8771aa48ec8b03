"""Parameters of models: numbers exactly as typed, and what is compared with them without rounding."""

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import StudyError
from sfumato.privacy.groups.statistics import Truths
from sfumato.study.budget import show

Exact = Fraction | Decimal | int | float | str  # a number as people give it; a float stands for what it is printed as

TOLERANCE: Final = 1e-12  # where a logarithm or a sum of quotients is compared: a group exactly at the bound holds

# Digits are bounded: `Fraction("1e999999999")` would fill the memory before anyone could refuse it.
_NUMBER = re.compile(
    r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,2})?|[+-]?\d{1,99} */ *0{0,30}[1-9]\d{0,98}", re.ASCII
)
_LARGEST: Final = 2**63 - 1
_MOST_BITS: Final = 2_000  # above some thousand digits Python does not even print a number


def parse_exact(value: Exact, parameter: str) -> Fraction:
    """A parameter as an exact number.

    >>> parse_exact("0.2", "t"), parse_exact(3.5, "l"), parse_exact("1/3", "α")
    (Fraction(1, 5), Fraction(7, 2), Fraction(1, 3))
    >>> parse_exact("many", "k")
    Traceback (most recent call last):
    sfumato.errors.StudyError: k is 'many', which is no number. To fix: write a number such as 5, ... [SF-STUDY-074]
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise StudyError(
            f"{parameter} is a number of too many digits", "write a number such as 5, 0.2 or 1/3", code="SF-STUDY-073"
        )
    written = (repr(float(value)) if isinstance(value, float) else str(value)).strip()
    if isinstance(value, bool) or _NUMBER.fullmatch(written) is None:
        raise StudyError(
            f"{parameter} is '{written[:40]}', which is no number",
            "write a number such as 5, 0.2 or 1/3",
            code="SF-STUDY-074",
        )
    found = Fraction(written.replace(" ", ""))
    if _NUMBER.fullmatch(show(found)) is None:  # a manifest has it so, and it has to read as the same number there
        raise StudyError(
            f"{parameter} is '{written[:40]}', which has too many digits",
            "write a number of fewer digits",
            code="SF-STUDY-075",
        )
    return found


def parse_whole(value: Exact, parameter: str) -> int:
    """A parameter that counts something: a whole number from 1 on.

    >>> parse_whole("10", "k")
    10
    """
    number = parse_exact(value, parameter)
    if number.denominator != 1 or number < 1:
        raise StudyError(f"{parameter} is {show(number)}", "use a whole number from 1 on", code="SF-STUDY-076")
    if number > _LARGEST:
        raise StudyError(f"{parameter} is larger than any table", "use a smaller whole number", code="SF-STUDY-077")
    return int(number)


def parse_in_range(
    value: Exact, parameter: str, low: Exact, high: Exact | None = None, *, above: bool = False
) -> Fraction:
    """A parameter between two bounds; ``above`` leaves the lower one out.

    >>> parse_in_range("1.5", "α", 0, 1, above=True)
    Traceback (most recent call last):
    sfumato.errors.StudyError: α is 1.5. To fix: choose a number above 0 and up to 1. [SF-STUDY-078]
    """
    number, least = parse_exact(value, parameter), parse_exact(low, parameter)
    most = None if high is None else parse_exact(high, parameter)
    if number < least or (above and number == least) or (most is not None and number > most):
        start = f"above {show(least)}" if above else f"from {show(least)}"
        joint = " and" if above else ""
        end = f"{joint} up to {show(most)}" if most is not None else "" if above else " on"
        raise StudyError(f"{parameter} is {show(number)}", f"choose a number {start}{end}", code="SF-STUDY-078")
    return number


def round_down_text(value: float) -> str:
    """A few digits of a number, never more than it is.

    >>> round_down_text(2.82842712)
    '2.8284'
    """
    return show(Fraction(math.floor((value + TOLERANCE) * 10_000), 10_000))


def model_parameters(model: Any) -> dict[str, Any]:
    """The parameters of a model as a study gives them."""
    names = sorted((field.name for field in fields(model)), key=lambda name: name == "attribute")  # that one last
    given = {name: getattr(model, name) for name in names}
    return {name: _plain(value) for name, value in given.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


def share_at_most(counts: NDArray[Any], sizes: NDArray[Any], share: Fraction) -> Truths:
    """Whether counts / sizes ≤ share, in whole numbers: no rounding at the bound.

    >>> share_at_most(np.array([1, 2]), np.array([3, 3]), Fraction(1, 3)).tolist()
    [True, False]
    """
    return np.asarray(multiply(counts, share.denominator) <= multiply(sizes, share.numerator), dtype=np.bool_)


def multiply(left: NDArray[Any], right: NDArray[Any] | int) -> NDArray[Any]:
    """The product in whole numbers; Python's own where 64 bits would not hold it."""
    factor = right if isinstance(right, int) else _top(right)
    if _top(left) * factor <= _LARGEST and factor <= _LARGEST:
        product: NDArray[Any] = left * right
        return product
    wide: NDArray[Any] = left.astype(object) * (right if isinstance(right, int) else right.astype(object))
    return wide


def _top(numbers: NDArray[Any]) -> int:
    return int(numbers.max()) if len(numbers) else 0
