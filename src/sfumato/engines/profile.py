"""Profiling: a few queries over every column of a table, before anything is declared about them. For the owner alone."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.types as ir

from sfumato.core.profile import LISTED, ColumnProfile, Kind, Profile, looks
from sfumato.engines.coding import as_day, as_number, category_key, is_missing
from sfumato.engines.engine import SourceTable

_TOGETHER = 100  # columns looked at by one query
_EXACT_CELLS = 50_000_000  # rows × columns up to which distinct values are counted exactly
_NEARLY = 0.9  # of the values distinct by an approximate count: then it is counted exactly, unique columns matter
_FEW = 10  # values that make a category however few records there are
_WORDY = 60  # characters, on average: text that people wrote, not a category
_SAMPLE = 1000  # values from which the form of a long column is told


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of the source, by its place, and the expressions that profile it."""

    place: int
    name: str
    raw: ir.Column

    @property
    def value(self) -> ir.StringColumn:
        """The value as text, null where it is missing."""
        text = category_key(self.raw).cast("string")
        return is_missing(self.raw).ifelse(ibis.null("string"), text)

    @property
    def number(self) -> ir.NumericColumn | None:
        """The value as a number, where it may be one."""
        kind = self.raw.type()
        return as_number(self.raw) if kind.is_string() or (kind.is_numeric() and not kind.is_boolean()) else None

    @property
    def day(self) -> ir.IntegerColumn | None:
        """The value as a day number, where it may be one."""
        kind = self.raw.type()
        return as_day(self.raw) if kind.is_string() or kind.is_date() or kind.is_timestamp() else None

    def sums(self, *, exact: bool) -> dict[str, ir.Scalar]:
        """What is asked about the column, by names that cannot clash."""
        value = self.value
        asked = {
            "present": value.count(),
            "distinct": value.nunique() if exact else value.approx_nunique(),
            "length": value.length().mean(),
        }
        if self.number is not None:
            number = self.number.cast("float64")
            finite = (is_missing(number) | (number.abs() == float("inf"))).ifelse(ibis.null("float64"), number)
            asked |= {"numbers": (~is_missing(number)).sum(), "low": finite.min(), "high": finite.max()}
            asked["whole"] = (finite == finite.round()).sum()
        if self.day is not None:
            asked |= {"days": self.day.count(), "first": self.day.min(), "last": self.day.max()}
        if self.raw.type().is_string():
            asked["led"] = self.raw.re_search(r"^\s*[+-]?0[0-9]").sum()
            asked["truths"] = self.raw.lower().isin(["true", "false"]).sum()
        return {f"{name}{self.place}": question for name, question in asked.items()}


def profile_table(source: SourceTable) -> Profile:
    """What the columns hold. Distinct values are counted exactly in tables up to 50 million values.

    In larger ones the count is approximate (a few per cent off), except for columns that are nearly unique and for
    columns with so few values that they are listed.
    """
    table = source.table
    rows = int(source.fetch(table.aggregate(n=table.count()))["n"][0].as_py())
    columns = [_Column(place, name, table[name]) for place, name in enumerate(source.columns)]
    exact = rows * len(columns) <= _EXACT_CELLS
    facts: dict[str, Any] = {}
    for batch in _batches(columns):
        facts |= _asked(source, {k: v for column in batch for k, v in column.sums(exact=exact).items()})
    if not exact:
        close = [c for c in columns if facts[f"distinct{c.place}"] >= _NEARLY * facts[f"present{c.place}"]]
        for batch in _batches(close):
            facts |= _asked(source, {f"distinct{column.place}": column.value.nunique() for column in batch})
    listed: dict[str, Any] = {}
    for batch in _batches([c for c in columns if facts[f"distinct{c.place}"] <= 2 * LISTED]):
        listed |= _asked(source, {f"{column.place}": column.value.collect(distinct=True) for column in batch})
    samples = _samples(source, [c for c in columns if f"{c.place}" not in listed])
    return Profile(
        rows=rows,
        columns=tuple(_profiled(c, rows, facts, listed.get(f"{c.place}"), samples.get(f"{c.place}")) for c in columns),
    )


def _asked(source: SourceTable, questions: dict[str, ir.Scalar]) -> dict[str, Any]:
    answers: dict[str, Any] = source.fetch(source.table.aggregate(**questions)).to_pylist()[0]
    return answers


def _batches(columns: Sequence[_Column]) -> Iterator[Sequence[_Column]]:
    for start in range(0, len(columns), _TOGETHER):
        yield columns[start : start + _TOGETHER]


def _samples(source: SourceTable, columns: Sequence[_Column]) -> dict[str, list[str | None]]:
    if not columns:
        return {}
    first = source.table.limit(_SAMPLE)
    taken = {f"{c.place}": _Column(c.place, c.name, first[c.name]).value for c in columns}
    found: dict[str, list[str | None]] = source.fetch(first.select(**taken)).to_pydict()
    return found


def _profiled(
    column: _Column, rows: int, facts: dict[str, Any], listed: list[str | None] | None, sample: list[str | None] | None
) -> ColumnProfile:
    own = {name.removesuffix(f"{column.place}"): value for name, value in facts.items() if _of(name, column.place)}
    values = sorted(value for value in listed or () if value is not None)
    present = int(own["present"])
    distinct = len(values) if listed is not None else min(int(own["distinct"]), present)
    kind = _kind(column, own, present=present, distinct=distinct)
    if kind in ("integer", "number"):
        values.sort(key=float)
    lower, upper = _bounds(kind, own)
    return ColumnProfile(
        name=column.name,
        kind=kind,
        rows=rows,
        distinct=distinct,
        missing=rows - present,
        lower=lower,
        upper=upper,
        values=tuple(values) if distinct <= LISTED else (),
        mean_length=float(own["length"] or 0.0),
        looks_like=looks(values or [value for value in sample or () if value is not None]),
    )


def _of(name: str, place: int) -> bool:
    return name.rstrip("0123456789") + f"{place}" == name


def _kind(column: _Column, own: dict[str, Any], *, present: int, distinct: int) -> Kind:
    raw = column.raw.type()
    if raw.is_boolean() or (present and own.get("truths") == present):
        return "boolean"
    if raw.is_date() or raw.is_timestamp() or (present and own.get("days") == present):
        return "date"
    if raw.is_numeric() or (present and own.get("numbers") == present and not own.get("led")):
        return "integer" if own["whole"] == own["numbers"] else "number"
    if raw.is_string() and 0 < distinct <= LISTED and (distinct <= _FEW or 2 * distinct <= present):
        return "category" if own["length"] <= _WORDY else "text"
    return "text"


def _bounds(kind: Kind, own: dict[str, Any]) -> tuple[str | None, str | None]:
    if kind == "date" and own["first"] is not None:
        return _iso(own["first"]), _iso(own["last"])
    if kind in ("integer", "number") and own["low"] is not None:
        return _plain(own["low"]), _plain(own["high"])
    return None, None


def _iso(day: int) -> str:
    return dt.date.fromordinal(max(1, min(int(day), dt.date.max.toordinal()))).isoformat()


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))
