"""Round bounds for proposals: what everybody knows of a quantity, or the next round numbers around what occurs.

Computed from raw values for the owner. Rounding hides little (that there is somebody above 90 shows in a bound of 100),
so the bounds are proposed as observed all the same, and differentially private methods refuse them until confirmed.
"""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Final

from sfumato.study.describe.column_kinds import words
from sfumato.study.describe.column_profile import ColumnProfile

_SERIES: Final = (1, 2, 5, 10)
_WIDE: Final = Decimal(10) ** 300  # beyond it a rounded bound may be no float
_MOST_POINTS: Final = 2**52
_STEPS: Final = 1000  # a number whose values are not listed gets about this many steps
_MOST_DIGITS: Final = 30
_LEAST: Final = Decimal("5e-324")  # of all floats above zero
_EXACT: Final = Context(prec=400)
_USUAL: Final = re.compile(r"-?[0-9]{1,12}(?:\.([0-9]{0,12}))?")
_LONG: Final = 15  # years: dates over a longer time get bounds at decades
_YEARS: Final = (1500, 2200)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity whose limits are public: the words that name it, its limits, and why they are the limits."""

    named: tuple[str, ...]
    beside: tuple[str, ...]  # words of which one must be there too, if there are any
    lower: str
    upper: str
    why: str


_QUANTITIES: Final = (
    Quantity(("lat", "latitude"), (), "-90", "90", "latitudes"),
    Quantity(("lon", "lng", "longitude"), (), "-180", "180", "longitudes"),
    Quantity(("age", "ages"), (), "0", "120", "ages of people"),
    Quantity(("hours", "hour", "hrs"), ("week", "weekly", "wk"), "0", "168", "a week has 168 hours"),
    Quantity(("hours", "hour", "hrs"), ("day", "daily"), "0", "24", "a day has 24 hours"),
    Quantity(("weeks", "week", "wks"), ("year", "worked", "annual"), "0", "52", "a year has 52 weeks"),
    Quantity(("days", "day"), ("week", "weekly"), "0", "7", "a week has 7 days"),
    Quantity(("months", "month"), ("year", "annual"), "0", "12", "a year has 12 months"),
    Quantity(("percent", "percentage", "pct"), (), "0", "100", "percentages"),
)
COORDINATES: Final = ("lat", "latitude", "lon", "lng", "longitude")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Proposed bounds as text, and where they are from if that is public knowledge."""

    lower: str
    upper: str
    why: str = ""


def quantity_of(column: ColumnProfile) -> Quantity | None:
    """The known quantity that a column is named like, if all its values are within the limits."""
    if column.kind not in ("integer", "number") or column.lower is None or column.upper is None:
        return None
    name = words(column.name)
    for known in _QUANTITIES:
        named = any(word in name for word in known.named) and (
            not known.beside or any(word in name for word in known.beside)
        )
        if named and Decimal(known.lower) <= Decimal(column.lower) and Decimal(column.upper) <= Decimal(known.upper):
            return known
    return None


def round_bounds(column: ColumnProfile) -> Bounds | None:
    """Bounds that hold every value of a column of numbers or dates; None where it has none.

    >>> made = dict(kind="integer", rows=9, distinct=5, missing=0)
    >>> round_bounds(ColumnProfile(name="age", lower="17", upper="90", **made)).upper
    '120'
    >>> round_bounds(ColumnProfile(name="pay", lower="-398", upper="41310", **made))
    Bounds(lower='-500', upper='50000', why='')
    >>> round_bounds(ColumnProfile(name="born", lower="1932", upper="2004", **made))
    Bounds(lower='1930', upper='2010', why='')
    """
    if column.lower is None or column.upper is None:
        return None
    if column.kind == "date":
        return _round_days(dt.date.fromisoformat(column.lower), dt.date.fromisoformat(column.upper))
    if known := quantity_of(column):
        return Bounds(known.lower, known.upper, known.why)
    low, high = Decimal(column.lower), Decimal(column.upper)
    if max(abs(low), abs(high)) > _WIDE:
        return Bounds(_written(low, ROUND_FLOOR), _written(high, ROUND_CEILING))
    if _YEARS[0] <= low <= high <= _YEARS[1] and column.kind == "integer":
        return Bounds(str(int(low) // 10 * 10), str(-(-int(high + 1) // 10) * 10))
    lower, upper = _round_numbers(low, high)
    return Bounds(_written(lower, ROUND_FLOOR), _written(upper, ROUND_CEILING))


def _round_numbers(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    if low < 0 < high:
        return -_next(-low), _next(high)
    if high <= 0 and low != high:
        lower, upper = _round_numbers(-high, -low)
        return -upper, -lower
    if 0 <= low <= high / 2:
        return Decimal(0), _next(high) if high else Decimal(1)
    span = high - low if high > low else abs(high)
    unit = Decimal(1).scaleb(span.adjusted())
    lower = _EXACT.multiply(_whole(low, unit, ROUND_FLOOR), unit)
    upper = _EXACT.multiply(_whole(high, unit, ROUND_CEILING), unit)
    return lower, upper


def _whole(number: Decimal, unit: Decimal, rounding: str) -> Decimal:
    return _EXACT.divide(number, unit).to_integral_value(rounding=rounding)


def _next(number: Decimal) -> Decimal:
    """The next of 1, 2, 5, 10, 20 and so on."""
    unit = Decimal(1).scaleb(number.adjusted())
    return next(part for part in (digit * unit for digit in _SERIES) if part >= number)


def _written(number: Decimal, rounding: str) -> str:
    """As a study takes it: with an exponent, where there are more than 30 digits before or after the point."""
    plain = f"{number:f}" if number else "0"
    if len(plain.strip("-").partition(".")[0]) <= _MOST_DIGITS and len(plain.partition(".")[2]) <= _MOST_DIGITS:
        return plain
    short = Context(prec=_MOST_DIGITS, rounding=rounding).plus(number).normalize(_EXACT)
    return f"{short:e}"


def _round_days(first: dt.date, last: dt.date) -> Bounds:
    """Whole years, or whole decades over a long time."""
    every = 10 if last.year - first.year > _LONG else 1
    start = max(1, first.year // every * every)
    stop = min(dt.MAXYEAR, (last.year // every + 1) * every - 1)
    return Bounds(dt.date(start, 1, 1).isoformat(), dt.date(stop, 12, 31).isoformat())


def step_of(column: ColumnProfile, bounds: Bounds) -> str | None:
    """The step of a grid; None where that of its type will do.

    The finest decimal place among the values, or a power of ten that gives some hundreds of steps; coarser where there
    would be too many to number.
    """
    low, high = Decimal(bounds.lower), Decimal(bounds.upper)
    span = _EXACT.subtract(high, low)
    if column.kind == "integer":
        return None if span < _MOST_POINTS else _written(Decimal(1).scaleb(span.adjusted() - 12), ROUND_FLOOR)
    places = [exponent for value in column.values if (exponent := _places(column.plain(value))) is not None]
    if places:
        step = Decimal(1).scaleb(-max(places))
    else:
        seen = _EXACT.subtract(Decimal(column.upper or 0), Decimal(column.lower or 0))
        step = Decimal(1).scaleb((seen / _STEPS).adjusted()) if seen > 0 else Decimal(1)
    if _EXACT.divide(span, step) >= _MOST_POINTS:
        step = Decimal(1).scaleb(span.adjusted() - 12)
    return _written(max(step, _LEAST), ROUND_FLOOR)


def _places(value: str) -> int | None:
    """How many decimals a number has; None for what is none."""
    usual = _USUAL.fullmatch(value)
    if usual is not None:  # as digits: most numbers are, and decimals of a context round longer ones
        return len((usual[1] or "").rstrip("0"))
    try:
        exponent = Decimal(value).normalize().as_tuple().exponent
    except ArithmeticError:
        return None
    return max(0, -exponent) if isinstance(exponent, int) else None
