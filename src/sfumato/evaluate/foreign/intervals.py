"""Intervals in the notations that other tools use, as ranges of a grid's codes.

Brackets say which end belongs to an interval (`[20, 40)`, `[20, 40[`, `(20, 40]`), one-sided ones have a sign (`>=80`,
`<20`, `80+`), and two numbers with a dash between them both belong to it (`20-39`). An interval means the values of the
domain that are in it, so one that goes beyond the bounds ends there. An end that lies inside a step of the grid is no
range of codes: such a label is not read, since the nearest range would be another region than the published one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Final

from sfumato.domains.cut import Range
from sfumato.domains.dates import formats_of, read_day
from sfumato.domains.domain import Grid
from sfumato.domains.number_format import read_number

_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_PLAIN: Final = re.compile(_NUMBER)
_BRACKETS: Final = re.compile(r"([\[\](])(.*)([\[\])])", re.DOTALL)
_SIGNED: Final = re.compile(r"(>=|≥|>|<=|≤|<)\s*(.+)", re.DOTALL)
_AND_MORE: Final = re.compile(r"(.+?)\s*\+", re.DOTALL)
_NUMBERS: Final = re.compile(rf"({_NUMBER})\s*(?:-|–|—|−|\.\.|…|to)\s*({_NUMBER})")
_DAYS: Final = re.compile(r"(\S+?)(?:\s+-\s+|\s*(?:–|—|\.\.|…)\s*|\s+to\s+)(\S+)")
_LONGEST: Final = 200  # letters of a label that is a number, a day or an interval
_UNBOUNDED: Final = frozenset({"inf", "+inf", "-inf", "∞", "+∞", "-∞", "*", ""})


@dataclass(frozen=True, slots=True)
class _Interval:
    """Two ends, None where there is none, and whether each belongs to it; ``steps`` where ends are named by steps."""

    low: Fraction | None
    high: Fraction | None
    low_in: bool = True
    high_in: bool = True
    steps: bool = False


def read_interval(grid: Grid, text: str, *, clamp: bool = False) -> Range | None:
    """The codes of an interval, or None if the text is none, or none that the grid can tell.

    ``clamp`` is for domains that keep values beyond their bounds at the nearer bound.

    >>> age = Grid(lower=Fraction(17), upper=Fraction(90), step=Fraction(1), unit="integer")
    >>> [read_interval(age, text) for text in ("20-39", "[20, 40[", "(19, 39]", "<20", ">89", "95-99", "20-")]
    [(3, 23), (3, 23), (3, 23), (0, 3), (73, 74), None, None]
    >>> read_interval(age, "95-99", clamp=True)
    (73, 74)
    """
    found = _parse(grid, text.strip()) if len(text) <= _LONGEST else None
    return None if found is None else _codes(grid, found, clamp=clamp)


def read_point(grid: Grid, text: str) -> Fraction | None:
    """A number as the study's formats or a plain one have it, or a day as its number; None if it is neither."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if grid.unit == "day":
        day = read_day(text, formats_of(grid.formats)) or read_day(text, formats_of(()))
        return None if day is None else Fraction(day.toordinal())
    if _PLAIN.fullmatch(text):
        return Fraction(text)
    number = read_number(text, grid.number_formats) if grid.number_formats else None
    return None if number is None else Fraction(str(number))


def _parse(grid: Grid, text: str) -> _Interval | None:
    if brackets := _BRACKETS.fullmatch(text):
        opening, inside, closing = brackets.groups()
        ends = inside.split(";") if ";" in inside else inside.split(",")
        two = len(ends) == 2  # noqa: PLR2004 - an interval has two ends
        return _between(grid, ends, low_in=opening == "[", high_in=closing == "]") if two else None
    if signed := _SIGNED.fullmatch(text):
        return _one_sided(grid, signed[1], signed[2])
    if more := _AND_MORE.fullmatch(text):
        return _one_sided(grid, ">=", more[1])
    named = (_DAYS if grid.unit == "day" else _NUMBERS).fullmatch(text)
    low, high = (None, None) if named is None else (read_point(grid, end) for end in named.groups())
    return None if low is None or high is None else _Interval(low, high, steps=True)


def _one_sided(grid: Grid, sign: str, end: str) -> _Interval | None:
    point = read_point(grid, end)
    if point is None:
        return None
    if sign[0] in ">≥":
        return _Interval(point, None, low_in=sign != ">")
    return _Interval(None, point, high_in=sign != "<")


def _between(grid: Grid, ends: Sequence[str], *, low_in: bool, high_in: bool) -> _Interval | None:
    free = [end.strip().lower() in _UNBOUNDED for end in ends]
    low, high = (None if open_end else read_point(grid, end) for open_end, end in zip(free, ends, strict=True))
    known = (low is not None or free[0]) and (high is not None or free[1])
    return _Interval(low, high, low_in=low_in, high_in=high_in) if known else None


def _codes(grid: Grid, of: _Interval, *, clamp: bool) -> Range | None:
    """The steps from the first to the last that the interval has, within the bounds."""
    if of.low is not None and of.high is not None and of.low > of.high:
        return None
    low, high = of.low, of.high
    if grid.unit != "number":  # whole values: every interval begins with one and ends before one
        low = None if low is None else Fraction(ceil(low) if of.low_in else floor(low) + 1)
        high = None if high is None else Fraction(floor(high) + 1 if of.high_in else ceil(high))
    elif of.steps and high is not None:
        high += grid.step  # the whole step that the number names
    elif (low is not None and low > grid.lower and not of.low_in) or (
        high is not None and high < grid.upper and of.high_in
    ):
        return None  # a step begins with its own number and ends before the next
    top = high is None or high > grid.upper or (high == grid.upper and of.high_in and grid.unit == "number")
    start, stop = (
        Fraction(0) if low is None or low <= grid.lower else (low - grid.lower) / grid.step,
        Fraction(grid.points) if top or high is None else (high - grid.lower) / grid.step,
    )
    if clamp:
        start, stop = min(start, Fraction(grid.points - 1)), max(stop, Fraction(1))
    inside = 0 <= start < stop <= grid.points
    return (int(start), int(stop)) if inside and start.denominator == stop.denominator == 1 else None
