"""Profiling: a few queries over all columns of a table, before anything is declared about them; for the owner alone."""

import datetime as dt
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import ibis
import ibis.expr.types as ir
from ibis.expr.datatypes import DataType

from sfumato.domains.domain import DROP, Grid, is_missing
from sfumato.domains.number_format import read_number
from sfumato.study.describe.column_profile import LISTED, ColumnProfile, Distribution, Kind, Profile, looks
from sfumato.study.describe.date_guess import Formats, guess_formats
from sfumato.study.describe.number_guess import NumberFormats, guess_number_formats
from sfumato.study.describe.set_guess import MOST_CODES, guess_separator
from sfumato.tables import coding
from sfumato.tables.counting.distribution import Asked, count_distributions, count_long, has_bins
from sfumato.tables.duckdb.long_table import can_be_long, is_long_enough, long_table
from sfumato.tables.engine import SourceTable
from sfumato.tables.missing_tokens import without_marks, without_missing_tokens

T = TypeVar("T")

_TOGETHER = 100  # columns looked at by one query, side by side
_BELOW = 400  # and below each other
_EXACT_CELLS = 50_000_000  # rows × columns up to which distinct values are counted exactly
_NEARLY = 0.9  # of the values distinct by an approximate count: then it is counted exactly, unique columns matter
_FEW = 10  # values that make a category however few records there are
_WORDY = 60  # characters, on average: text that people wrote, not a category
_SAMPLE = 500  # records from which it is told what a column can not be, and what a column of many values looks like
_NUMBERS = Grid(lower=Fraction(0), upper=Fraction(1), step=Fraction(1))
_PLAIN: tuple[NumberFormats, ...] = ((),)  # the one way to read numbers that need no format
_MOSTLY = 0.98  # of the values read as days, or as numbers by a format: then the others are slips


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of the source: its place, a few of its values, and what they do not rule out."""

    place: int
    name: str
    type: DataType
    sample: Sequence[str]
    numbers: tuple[NumberFormats, ...]  # ways to read the values as numbers; none if they are no numbers
    days: tuple[Formats, ...]  # ways to read the values as days; none if they are no days
    truths: bool
    separator: str = ""  # between the codes of a set; nothing if the values are no sets

    @property
    def shape(self) -> Hashable:
        """What columns have in common that are asked the same."""
        return self.type, self.numbers, self.days, self.truths

    def derived(self, raw: ir.Column) -> dict[str, ir.Column]:
        """The value as text (null where missing) and as whatever it may be, by names that cannot clash."""
        text = coding.category_key(raw).cast("string")
        found: dict[str, ir.Column] = {"v": coding.is_missing(raw).ifelse(ibis.null("string"), text)}
        for way, formats in enumerate(self.numbers):
            number = coding.as_number(raw, formats).cast("float64")
            found[f"x{way}_"] = coding.is_missing(number).ifelse(ibis.null("float64"), number)
        found |= {f"d{way}_": coding.as_day(raw, formats) for way, formats in enumerate(self.days)}
        return {f"{letter}{self.place}": column for letter, column in found.items()}

    def questions(self, table: ir.Table, *, exact: bool) -> dict[str, ir.Scalar]:
        """What is asked of the derived columns."""
        value = table[f"v{self.place}"]
        asked: dict[str, ir.Scalar] = {
            "present": value.count(),
            "distinct": value.nunique() if exact else value.approx_nunique(),
            "length": value.length().mean(),
        }
        for way in range(len(self.numbers)):
            number = table[f"x{way}_{self.place}"]
            finite = (number.abs() == float("inf")).ifelse(ibis.null("float64"), number)
            asked |= {f"numbers{way}_": number.count(), f"low{way}_": finite.min(), f"high{way}_": finite.max()}
            asked[f"whole{way}_"] = (number == coding.nearest_whole(number)).sum()
        if self.numbers and self.type.is_string():
            asked["led"] = value.re_search(r"^[^0-9.,]*0[0-9]").sum()
        for way in range(len(self.days)):
            day = table[f"d{way}_{self.place}"]
            asked |= {f"days{way}_": day.count(), f"first{way}_": day.min(), f"last{way}_": day.max()}
        if self.truths:
            asked["truths"] = value.lower().isin(["true", "false"]).sum()
        return {f"{name}{self.place}": question for name, question in asked.items()}


def profile_table(source: SourceTable, marks: Sequence[str] = ()) -> Profile:
    """What the columns hold, ``marks`` read as missing. Distinct values are counted exactly up to 50 million values.

    In larger tables the count is approximate (a few per cent off), except for columns that are nearly unique and for
    columns with so few values that they are listed.
    """
    asking: _Asking = _Long(source, marks) if is_long_enough(source, _TOGETHER) else _Asking(source, marks)
    rows = int(source.fetch(source.table.aggregate(n=source.table.count()))["n"][0].as_py())
    columns = _columns(source, asking.sample())
    exact = rows * len(columns) <= _EXACT_CELLS

    def questions(column: _Column, table: ir.Table) -> dict[str, ir.Scalar]:
        return column.questions(table, exact=exact)

    facts = asking.ask(columns, questions)
    late = _written_late(asking, columns, facts)
    facts |= asking.ask(late, questions)
    columns = [next((c for c in late if c.place == column.place), column) for column in columns]
    close = [c for c in columns if facts[f"distinct{c.place}"] >= _NEARLY * facts[f"present{c.place}"]]
    facts |= asking.ask([] if exact else close, lambda c, t: {f"distinct{c.place}": t[f"v{c.place}"].nunique()})
    few = [c for c in columns if facts[f"distinct{c.place}"] <= 1.2 * LISTED]
    facts |= asking.ask(few, lambda c, t: {f"list{c.place}": t[f"v{c.place}"].collect(distinct=True)})
    profiled = [_profiled(c, rows, facts, facts.get(f"list{c.place}")) for c in columns]
    profiled = [_as_set(asking, c, p) if c.separator else p for c, p in zip(columns, profiled, strict=True)]
    counted = asking.distributions([(c, p) for c, p in zip(columns, profiled, strict=True) if p.lower or p.values])
    found = (replace(p, distribution=counted.get(c.place)) for c, p in zip(columns, profiled, strict=True))
    return Profile(rows=rows, columns=tuple(found))


_Questions = Callable[["_Column", ir.Table], dict[str, ir.Scalar]]


class _Asking:
    """Asks the engine about columns side by side, some at a time."""

    def __init__(self, source: SourceTable, marks: Sequence[str]) -> None:
        self.source = without_missing_tokens(source, marks) if marks else source

    def ask(self, columns: Sequence["_Column"], questions: _Questions) -> dict[str, Any]:
        """The answers to questions about columns, by their names."""
        facts: dict[str, Any] = {}
        for batch in _batches(columns):
            table = self.derived(batch)
            asked = table.aggregate(**{k: v for c in batch for k, v in questions(c, table).items()})
            facts |= self.source.fetch(asked).to_pylist()[0]
        return facts

    def derived(self, columns: Sequence["_Column"]) -> ir.Table:
        """The derived columns of some columns."""
        # Only the columns in question: expressions over a table of 2,000 are slow to build.
        narrow = ibis.table({column.name: column.type for column in columns}, name=self.source.table.get_name())
        return narrow.select(**{k: v for column in columns for k, v in column.derived(narrow[column.name]).items()})

    def sample(self) -> list[Sequence[Any]]:
        """Some values of each column, sorted: what is brought here are values of columns, and never a record."""
        columns = list(self.source.table.schema().items())
        found: list[Sequence[Any]] = [()] * len(columns)  # lists and bytes have no values that a study could declare
        plain = [place for place, (_, kind) in enumerate(columns) if not (kind.is_nested() or kind.is_binary())]
        for some in _batches(plain):
            table = self.source.table
            first = table.select(**{f"s{place}": table[columns[place][0]] for place in some}).limit(_SAMPLE)
            # As text: an engine knows days that Python does not, such as infinity.
            dated = [place for place in some if columns[place][1].is_date() or columns[place][1].is_timestamp()]
            texts = {f"s{place}": first[f"s{place}"].cast("string") for place in dated}
            first = first.mutate(**texts) if texts else first
            asked = first.aggregate(**{n: first[n].collect(order_by=first[n]) for n in first.columns})
            lists = self.source.fetch(asked)
            for place in some:
                found[place] = lists[f"s{place}"][0].as_py() or ()
        return found

    def distributions(self, found: Sequence[tuple["_Column", ColumnProfile]]) -> dict[int, Distribution]:
        """The counts of bins and of frequent values, by place."""
        counted: dict[int, Distribution] = {}
        for batch in _batches(found):
            asked = [Asked(c.place, profile, f"{_read_as(c, profile)}{c.place}") for c, profile in batch]
            counted |= count_distributions(self.source, asked, self.derived([column for column, _ in batch]))
        return counted


class _Long(_Asking):
    """Asks about columns of one type below each other: one question, however many columns there are."""

    def __init__(self, source: SourceTable, marks: Sequence[str]) -> None:
        super().__init__(source, ())
        self._marks = marks

    def ask(self, columns: Sequence["_Column"], questions: _Questions) -> dict[str, Any]:
        facts = super().ask([c for c in columns if not can_be_long(c.type)], questions)
        for some in self._alike([c for c in columns if can_be_long(c.type)], lambda c: c.shape):
            table = self._below(some, some[0])
            asked = questions(replace(some[0], place=0), table)
            for row in self.source.fetch(table.group_by("place").aggregate(**asked)).to_pylist():
                place = row.pop("place")
                facts |= {f"{name.removesuffix('0')}{place}": answer for name, answer in row.items()}
        return facts

    def derived(self, columns: Sequence["_Column"]) -> ir.Table:
        if any(not can_be_long(column.type) for column in columns):
            return super().derived(columns)
        (column,) = columns
        raw = self._raw([(column.place, column.name)], column.type)
        return raw.select(**column.derived(raw["raw"]))

    def sample(self) -> list[Sequence[Any]]:
        columns = list(self.source.table.schema().items())
        found: list[Sequence[Any]] = [()] * len(columns)
        places = [place for place, (_, kind) in enumerate(columns) if can_be_long(kind)]
        for some in self._alike(places, lambda place: columns[place][1]):
            kind = columns[some[0]][1]
            first = self._raw([(place, columns[place][0]) for place in some], kind, records=_SAMPLE)
            first = first.mutate(raw=first["raw"].cast("string")) if kind.is_date() or kind.is_timestamp() else first
            asked = first.group_by("place").aggregate(values=first["raw"].collect(order_by=first["raw"]))
            for row in self.source.fetch(asked).to_pylist():
                found[row["place"]] = row["values"] or ()
        return found

    def distributions(self, found: Sequence[tuple["_Column", ColumnProfile]]) -> dict[int, Distribution]:
        counted = super().distributions([one for one in found if not can_be_long(one[0].type)])
        plain = [one for one in found if can_be_long(one[0].type)]
        for some in self._alike(plain, lambda one: (one[0].shape, _read_as(*one), has_bins(one[1]))):
            read = _read_as(*some[0])
            table = self._below([column for column, _ in some], some[0][0])
            asked = [Asked(column.place, profile, "value") for column, profile in some]
            counted |= count_long(self.source, asked, table.select("place", value=table[f"{read}0"]))
        return counted

    def _below(self, columns: Sequence["_Column"], like: "_Column") -> ir.Table:
        raw = self._raw([(column.place, column.name) for column in columns], like.type)
        return raw.select("place", **replace(like, place=0).derived(raw["raw"]))

    def _raw(self, columns: Sequence[tuple[int, str]], kind: DataType, *, records: int | None = None) -> ir.Table:
        raw = long_table(self.source, columns, kind, records=records)
        marked = kind.is_string() and self._marks
        return raw.mutate(raw=without_marks(raw["raw"], self._marks)) if marked else raw

    @staticmethod
    def _alike(items: Sequence[T], shape: Callable[[T], Hashable]) -> Iterator[Sequence[T]]:
        groups: dict[Hashable, list[T]] = {}
        for item in items:
            groups.setdefault(shape(item), []).append(item)
        for group in groups.values():
            yield from _batches(group, _BELOW)


def _as_set(asking: _Asking, column: _Column, found: ColumnProfile) -> ColumnProfile:
    """A column whose values are sets, with all their codes; as it is where it is something else, or has too many."""
    if found.kind not in ("category", "text"):
        return found
    value = asking.derived([column])[f"v{column.place}"]
    parts = value.split(column.separator).unnest().name("code").as_table().distinct().limit(MOST_CODES + 1)
    codes = {code.strip() for code in asking.source.fetch(parts)["code"].to_pylist() if code is not None} - {""}
    if len(codes) > MOST_CODES:
        return found
    return replace(found, kind="set", separator=column.separator, codes=tuple(sorted(codes)), values=())


def _read_as(column: "_Column", found: ColumnProfile) -> str:
    """The derived column that the distribution is of, without its place."""
    if found.kind == "date":
        return f"d{column.days.index(found.formats)}_"
    if found.kind in ("integer", "number"):
        return f"x{column.numbers.index(found.number_formats)}_"
    return "v"


def _columns(source: SourceTable, sample: Sequence[Sequence[Any]]) -> list[_Column]:
    """All columns, each with what a few of its values leave possible: one word rules out a column of numbers."""
    found: list[_Column] = []
    for place, (name, kind) in enumerate(source.table.schema().items()):
        values = [str(value) for value in sample[place] if not is_missing(value)]
        text = kind.is_string()
        numbers, days = _number_ways(kind, values), _ways(kind, values)
        found.append(
            _Column(
                place,
                name,
                kind,
                values,
                numbers=numbers,
                days=days,
                truths=text and all(value.lower() in {"true", "false"} for value in values),
                separator=guess_separator(values) or "" if text and not (numbers or days) else "",
            )
        )
    return found


def _number_ways(kind: DataType, values: Sequence[str]) -> tuple[NumberFormats, ...]:
    """The ways in which a column may hold numbers."""
    if kind.is_numeric() or (kind.is_string() and _all_in(_NUMBERS, values)):
        return _PLAIN
    return guess_number_formats(values) if kind.is_string() else ()


def _written_late(asking: _Asking, columns: Sequence[_Column], facts: dict[str, Any]) -> list[_Column]:
    """Columns whose first values are plain numbers and whose later ones need a format: below 1,000 nobody sees it."""
    found: list[_Column] = []
    for column in columns:
        plain, present = (int(facts.get(f"{name}{column.place}") or 0) for name in ("numbers0_", "present"))
        if column.numbers != _PLAIN or not column.type.is_string() or not 0 < plain < present:
            continue
        derived = asking.derived([column])
        others = derived.filter(derived[f"x0_{column.place}"].isnull() & derived[f"v{column.place}"].notnull())
        shown = asking.source.fetch(others.select(value=others[f"v{column.place}"]).limit(_SAMPLE))["value"].to_pylist()
        ways = guess_number_formats([*shown, *column.sample])
        found += [replace(column, numbers=ways)] if ways else []
    return found


def _all_in(grid: Grid, values: Sequence[str]) -> bool:
    """Whether all the values are numbers; the first few nearly always tell."""
    return all(bool((grid.encode(part) != DROP).all()) for part in (values[:5], values[5:]))


def _ways(kind: DataType, values: Sequence[str]) -> tuple[Formats, ...]:
    """The ways in which a column may hold days."""
    if kind.is_date() or kind.is_timestamp():
        return ((),)
    return (guess_formats(values) or ()) if kind.is_string() else ()


def _batches(columns: Sequence[T], size: int = _TOGETHER) -> Iterator[Sequence[T]]:
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def _profiled(column: _Column, rows: int, facts: dict[str, Any], listed: list[str | None] | None) -> ColumnProfile:
    asked = ("present", "distinct", "length", "led", "truths")
    own: dict[str, Any] = {name: facts.get(f"{name}{column.place}") for name in asked}
    way, either = _best_way(column, "days", len(column.days), facts)
    own |= {name: facts.get(f"{name}{way}_{column.place}") for name in ("days", "first", "last")}
    written, or_so = _best_way(column, "numbers", len(column.numbers), facts)
    own |= {name: facts.get(f"{name}{written}_{column.place}") for name in ("numbers", "low", "high", "whole")}
    formats = column.numbers[written] if column.numbers else ()
    values = sorted(value for value in listed or () if value is not None)
    present = int(own["present"])
    distinct = len(values) if listed is not None else min(int(own["distinct"]), present)
    kind = _kind(column, own, present=present, distinct=distinct)
    days, numbers = kind == "date", kind in ("integer", "number")
    if numbers:
        values.sort(key=lambda value: _order(value, formats))
    lower, upper = _bounds(kind, own)
    read = own["days"] if days else own["numbers"] if numbers and formats else present
    return ColumnProfile(
        name=column.name,
        kind=kind,
        rows=rows,
        distinct=distinct,
        missing=rows - int(read),  # what is no day, or no number by a format, is read as missing
        lower=lower,
        upper=upper,
        values=tuple(values) if distinct <= LISTED else (),
        mean_length=float(own["length"] or 0.0),
        looks_like=looks(values or column.sample),
        formats=column.days[way] if days else (),
        number_formats=formats if numbers else (),
        ambiguous=(days and either) or (numbers and or_so),
    )


def _order(value: str, formats: NumberFormats) -> float:
    number = read_number(value, formats) if formats else float(value)
    return float("inf") if number is None else number


def _best_way(column: _Column, what: str, ways: int, facts: dict[str, Any]) -> tuple[int, bool]:
    """The way that reads most values as days, or as numbers, and whether another reads as many."""
    counts = [int(facts[f"{what}{way}_{column.place}"] or 0) for way in range(ways)]
    best = counts.index(max(counts)) if counts else 0
    return best, counts.count(max(counts)) > 1 if counts else False


def _kind(column: _Column, own: dict[str, Any], *, present: int, distinct: int) -> Kind:
    raw = column.type
    if raw.is_boolean() or (present and own.get("truths") == present):
        return "boolean"
    if raw.is_date() or raw.is_timestamp() or (present and (own.get("days") or 0) >= _MOSTLY * present):
        return "date"
    enough = present if column.numbers == _PLAIN else _MOSTLY * present
    if raw.is_numeric() or (present and (own.get("numbers") or 0) >= enough and not own.get("led")):
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
