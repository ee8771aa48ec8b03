"""Coding in the engine: the same codes that `domains.domain` gives in Python, as expressions over a column.

Tests check that for every raw value ``domain.encode([value])`` and the expression here agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from sfumato.domains.dates import MONTHS, PIVOT, DayFormat, formats_of
from sfumato.domains.domain import DROP, SLACK, Categories, Grid, truth_texts
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.number_format import LEADING_MINUS, NumberFormat
from sfumato.errors import InternalError, SourceError
from sfumato.study.attribute import Attribute, InvalidValuePolicy
from sfumato.tables.counting.folding import region

FEW = 16  # values that a CASE finds about as fast as a join does; a query with hundreds of joins is never fast

NO = ibis.literal(False)  # noqa: FBT003 - it is the value

_EPOCH = 719_163  # the day number of 1970-01-01
_EXACT = 2**53  # whole numbers below it are exact in a float
_NOTHING = 1e-250  # far below the slack of any step
_WHOLE = 1e15  # as in core.domain: whole numbers below it are matched without a fraction
_BLANK = (  # what str.strip() takes away, and nothing else
    r"^[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*$"
)


@dataclass(frozen=True, slots=True)
class Coding:
    """The expressions for one attribute; none of them is ever null."""

    code: ir.IntegerColumn
    missing: ir.BooleanColumn
    outside: ir.BooleanColumn


def code_type(domain: Categories | Grid) -> dt.DataType:
    """The smallest integer type that holds every code: what is kept in the engine stays small."""
    return next(
        kind for kind, bits in ((dt.int8, 7), (dt.int16, 15), (dt.int32, 31), (dt.int64, 63)) if domain.size < 2**bits
    )


def refuse_unfit_type(attribute: Attribute, kind: dt.DataType, source: str) -> None:
    """A column whose type can never hold what the study declares is the owner's mistake, and is reported at once."""
    domain = attribute.domain.grid if isinstance(attribute.domain, NumberClasses) else attribute.domain
    if isinstance(domain, Categories):
        fits = kind.is_string() or kind.is_numeric() or kind.is_boolean() or kind.is_date() or kind.is_timestamp()
        wants = "categories, which need text, numbers, dates or truth values"
    elif isinstance(domain, Grid) and domain.unit == "day":
        fits = kind.is_string() or kind.is_date() or kind.is_timestamp()
        wants = "dates, which need dates or text"
    else:
        fits = kind.is_string() or kind.is_numeric() or kind.is_boolean()
        wants = "numbers, which need numbers or text"
    if isinstance(domain, Categories) and kind.is_integer() and any(map(_is_too_wide, domain.codes())):
        raise SourceError(
            f"column '{attribute.name}' of {source} has whole numbers, and the study declares one that needs more than "
            "64 bits as a value of it",
            f"correct the values of '{attribute.name}', or give the column as text",
            code="SF-SOURCE-622",
        )
    if not fits and not kind.is_uuid() and not kind.is_null():
        raise SourceError(
            f"column '{attribute.name}' of {source} has the type {kind}, and the study declares {wants}",
            f"convert the column, or declare '{attribute.name}' differently",
            code="SF-SOURCE-004",
        )


def code_column(attribute: Attribute, column: ir.Column, found: ir.IntegerColumn | None = None) -> Coding:
    """Code a column; ``found`` is the result of a join with `known_values` where there are many values."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return _code_grid(attribute, domain, column)
    if isinstance(domain, NumberClasses):
        return _code_classes(attribute, domain, column)
    if isinstance(domain, Categories):
        return _code_categories(domain, column, found)
    raise InternalError(f"'{attribute.name}' has no domain and cannot be coded")


# --- categories ---


def known_values(domain: Categories, kind: dt.DataType) -> dict[Any, int]:
    """The codes of the declared values, by what `category_key` makes of a raw value."""
    known = {label: code for label, code in truth_texts(domain.codes()).items() if label.strip()}
    if kind.is_integer():
        least = 0 if kind == dt.uint64 else -(2**63)  # what a column without a sign has none of is not looked for
        whole = {int(label): code for label, code in known.items() if _is_plain_integer(label)}
        return {value: code for value, code in whole.items() if least <= value < least + 2**64}
    if kind.is_boolean():
        pairs = ((truth, known.get(str(truth).lower(), known.get(str(truth)))) for truth in (False, True))
        return {truth: code for truth, code in pairs if code is not None}
    return dict(known)


def category_key(column: ir.Column) -> ir.Column:
    """A raw value as it is compared with the declared ones: numbers of whole columns as they are, the rest as text."""
    kind = column.type()
    if kind.is_string() or kind.is_integer() or kind.is_boolean():
        return column
    if kind.is_floating():
        nearest = nearest_whole(column)
        text = (column == nearest).ifelse(nearest.cast("string"), column.cast("string"))
        return column.isnan().ifelse(ibis.null("string"), text)
    return column.cast("string")


def nearest_whole(number: ir.FloatingColumn) -> ir.IntegerColumn:
    """The whole number next to a float, of those that have an exact, plain text."""
    return ibis.greatest(ibis.least(number, _exact(_WHOLE - 1)), _exact(1 - _WHOLE)).round().cast("int64")


def _code_categories(domain: Categories, column: ir.Column, found: ir.IntegerColumn | None) -> Coding:
    kind = column.type()
    lost = DROP if domain.missing is None else domain.missing
    other = DROP if domain.other is None else domain.other
    if found is None:
        found = lookup(category_key(column), known_values(domain, kind), "int64")
    missing = is_missing(column)
    strays = missing.ifelse(lost, other) if lost != other else ibis.literal(lost)
    code = strays if found is None else ibis.coalesce(found, strays)
    outside = ~missing if found is None else ~missing & found.isnull()
    return Coding(code.cast(code_type(domain)), missing, outside)


def lookup(key: ir.Column, values: Mapping[Any, Any], kind: str) -> Any:
    """The value that belongs to a key, or null, by a CASE; None where there are no values at all."""
    if not values:
        return None
    wide = key.type() == dt.uint64  # a number beyond 2⁶³ is a literal of no other type
    cases = [(ibis.literal(value, "uint64") if wide else value, found) for value, found in values.items()]
    return key.cases(*cases, else_=ibis.null(kind))


def _is_plain_integer(label: str) -> bool:
    return label.lstrip("-").isascii() and label.lstrip("-").isdigit() and str(int(label)) == label


def _is_too_wide(label: str) -> bool:
    """Whether a label is a whole number that no column of whole numbers has."""
    return _is_plain_integer(label) and not -(2**63) <= int(label) < 2**64


def is_missing(column: ir.Column) -> ir.BooleanColumn:
    """Null, NaN, and text of nothing but blanks."""
    kind = column.type()
    if kind.is_string():
        return column.isnull() | column.re_search(_BLANK)
    if kind.is_floating():
        return column.isnull() | column.isnan()
    return column.isnull()


# --- grids ---


def _code_grid(attribute: Attribute, domain: Grid, column: ir.Column) -> Coding:
    number = as_day(column, domain.formats) if domain.unit == "day" else as_number(column, domain.number_formats)
    missing = is_missing(number)
    outside = ((number < _exact(domain.lower)) | (number > _exact(domain.upper))) & ~missing
    lost = DROP if domain.missing is None else domain.missing
    last = domain.points - 1
    if number.type().is_integer() and _plain_steps(domain):
        low = int(domain.lower)
        steps = ibis.greatest(ibis.least(number.cast("int64"), low + last), low) - low
    else:
        # Clamped before anything is computed, and what is next to nothing is nothing: some engines fail where a float
        # becomes too large or too small, and one record must not make a query fail.
        inside = ibis.greatest(ibis.least(number.cast("float64"), _exact(domain.upper)), _exact(domain.lower))
        above = inside - _exact(domain.lower)
        above = (above < _exact(_NOTHING)).ifelse(_exact(0), above)
        steps = ibis.least(above / _exact(domain.step) + _exact(SLACK), _exact(last)).floor()
    code = missing.ifelse(lost, steps)
    if attribute.outside is not InvalidValuePolicy.KEEP:
        code = outside.ifelse(DROP, code)
    return Coding(code.cast(code_type(domain)), missing, outside)


def _code_classes(attribute: Attribute, domain: NumberClasses, column: ir.Column) -> Coding:
    """The classes of numbers: the codes of the grid, by region."""
    number = _code_grid(attribute, domain.grid, column)
    code = (number.code < 0).ifelse(DROP, region(number.code, domain.cut))
    return Coding(code.cast(code_type(domain)), number.missing, number.outside)


def _plain_steps(domain: Grid) -> bool:
    """Whether codes are whole numbers minus a whole number, so that floats are not needed."""
    ends = abs(domain.lower) < _EXACT and abs(domain.upper) < _EXACT
    return domain.step == 1 and domain.lower.denominator == 1 and ends


def _exact(value: Any) -> ir.FloatingScalar:
    """A float in SQL, digit for digit: written as a decimal it could be rounded twice."""
    return ibis.literal(repr(float(value))).cast("float64")


def as_number(column: ir.Column, formats: tuple[NumberFormat, ...] = ()) -> ir.NumericColumn:
    """The column as numbers; null or NaN where it holds none. Text is read by the formats, if there are any."""
    kind = column.type()
    if kind.is_string() and formats:
        written = column.strip()
        readings = [reading for form in formats for reading in _plain(written, form)]
        return ibis.cases(*readings, else_=ibis.null("string")).try_cast("float64")
    if kind.is_string():
        # The engine also takes 1_000 and +-5 for numbers; the rule in core.domain does not.
        odd = column.contains("_") | column.contains("+-")
        return odd.ifelse(ibis.null("float64"), column.try_cast("float64"))
    if kind.is_integer() and kind != dt.uint64:
        return column
    if kind.is_decimal():
        return column.cast("string").cast("float64")  # correctly rounded, as Python's float(Decimal) is
    return column.cast("float64")


def _plain(written: ir.StringColumn, form: NumberFormat) -> list[tuple[ir.BooleanColumn, ir.StringColumn]]:
    """For each shape of a format: whether a text has it, and the number as the engine reads it."""
    readings = []
    for shape in form.shapes:
        number = written.re_extract(shape.pattern, 1)
        for mark in form.removed:
            number = number.replace(mark, "")
        if form.decimal != ".":
            number = number.replace(form.decimal, ".")
        minus = ibis.literal("-") if shape.negative else written.re_search(LEADING_MINUS).ifelse("-", "")
        readings.append((written.re_search(shape.pattern), minus + number))
    return readings


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def timezone(zone: str, moment) -> dt.timestamp:  # type: ignore[no-untyped-def]  # noqa: ANN001 - of any zone
    """The engine's: what the clocks of a zone show at a moment."""


def as_day(column: ir.Column, formats: tuple[str, ...] = ()) -> ir.IntegerColumn:
    """Day numbers as Python's ``date.toordinal`` counts them; text is read by the formats of `domains.dates`."""
    kind = column.type()
    if kind.is_string():
        written = column.strip()
        if formats:
            readings = [(written.re_search(form.pattern), _iso(written, form)) for form in formats_of(formats)]
        else:
            readings = _usual(written)
        date = ibis.cases(*readings, else_=ibis.null("string")).try_cast("date")
    elif isinstance(kind, dt.Timestamp) and kind.timezone is not None:
        date = timezone("UTC", column).date()  # a day may not depend on where the session thinks it is
    elif kind.is_timestamp():
        date = column.date()
    else:
        date = column.cast("date")
    return date.epoch_days() + _EPOCH


def _usual(written: ir.StringColumn) -> list[tuple[ir.BooleanColumn, ir.StringColumn]]:
    """The formats that are always known, cut out by place: several times as fast as by patterns."""
    iso = written.re_search(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]|$)") & ~written.startswith("0000")
    dotted = written.re_search(r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$") & ~written.endswith(".0000")
    parts = written.split(".")
    turned = parts[2] + "-" + parts[1].lpad(2, "0") + "-" + parts[0].lpad(2, "0")
    return [(iso, written.substr(0, 10)), (dotted, turned)]


def _iso(written: ir.StringColumn, form: DayFormat) -> ir.StringColumn:
    """A text of this format as year-month-day; null for the year 0, which engines have and Python has not."""
    parts = {part: written.re_extract(form.pattern, place) for place, part in enumerate(form.groups, start=1)}
    if "year" in parts:
        year = parts["year"].nullif("0000")
    else:
        year = (parts["short"] >= f"{PIVOT:02d}").ifelse("19", "20") + parts["short"]
    if "name" in parts:
        names = {name: f"{number:02d}" for number, name in enumerate(MONTHS, start=1)}
        month = lookup(parts["name"].substr(0, 3).lower(), names, "string")
    else:
        month = parts["month"].lpad(2, "0") if "month" in parts else ibis.literal("01")
    day = parts["day"].lpad(2, "0") if "day" in parts else ibis.literal("01")
    return year + "-" + month + "-" + day
