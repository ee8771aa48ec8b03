"""How the values of columns are distributed: counts over a few bins, or of the most frequent values; for the owner."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from sfumato.study.describe.column_profile import MOST_BINS, ColumnProfile, Distribution
from sfumato.tables.engine import SourceTable


@dataclass(frozen=True, slots=True)
class Asked:
    """A column to count: the column of numbers or ordinals of days, or of text, by name in the derived table."""

    place: int
    profile: ColumnProfile
    name: str


def count_distributions(source: SourceTable, asked: Sequence[Asked], table: ir.Table) -> dict[int, Distribution]:
    """The distribution of each column by its place, from a table that has them all.

    The bins, or values, of all columns are unnested into one column of codes and counted together: one pass over the
    records, and expressions that do not grow with the number of bins.
    """
    binned = [one for one in asked if _edges(one.profile)]
    listed = [one for one in asked if not _edges(one.profile) and _all_listed(one.profile)]
    bins = _count(source, table, [_bin(one, table[one.name]) for one in binned])
    texts = _count(source, table, [f"{one.place}:" + table[one.name] for one in listed])
    return _distributions(asked, bins, texts)


def has_bins(profile: ColumnProfile) -> bool:
    """Whether the distribution of a column is counted by bins."""
    return bool(_edges(profile))


def count_long(source: SourceTable, asked: Sequence[Asked], table: ir.Table) -> dict[int, Distribution]:
    """The same from a table of ``place`` and ``value``, for columns that are all counted by bins, or all by value."""
    if not has_bins(asked[0].profile):
        listed = [one for one in asked if _all_listed(one.profile)]
        table = table.filter(table["value"].notnull())
        counts = source.fetch(table.group_by("place", "value").aggregate(n=table.count())).to_pylist() if listed else []
        return _distributions(listed, {}, {f"{row['place']}:{row['value']}": int(row["n"]) for row in counts})
    edges = source.session.put(pa.table(_steps(asked)))
    steps = ibis.table({"at": "int64", **dict.fromkeys(_STEPS[1:-1], "float64"), "single": "bool"}, name=edges)
    joined = table.inner_join(steps, [table["place"] == steps["at"]])
    value = joined["value"].cast("float64")
    inner = ((value - joined["first"]) / joined["width"]).floor()
    number = (value < joined["low"]).ifelse(0.0, (value >= joined["high"]).ifelse(joined["last"], inner))
    number = joined["single"].ifelse(0.0, number).cast("int64") + joined["place"].cast("int64") * MOST_BINS
    coded = joined.filter(joined["value"].notnull()).select(code=number)
    counted = source.fetch(coded.group_by("code").aggregate(n=coded.count())).to_pylist()
    return _distributions(asked, {row["code"]: int(row["n"]) for row in counted}, {})


_STEPS: Final = ("at", "first", "width", "low", "high", "last", "single")


def _steps(asked: Sequence[Asked]) -> dict[str, list[Any]]:
    """Where the bins of columns lie, a row for each of them."""
    rows: list[tuple[Any, ...]] = []
    for one in asked:
        edges = [float(edge) for edge in _edges(one.profile)]
        last, width = len(edges) - 2, edges[1] - edges[0]
        single = last == 0 or width <= 0
        rows.append((one.place, edges[0], width or 1.0, edges[1], edges[-2], float(last), single))
    return dict(zip(_STEPS, map(list, zip(*rows, strict=True)), strict=True))


def _distributions(
    asked: Sequence[Asked], bins: Mapping[Any, int], texts: Mapping[Any, int]
) -> dict[int, Distribution]:
    """The counts as distributions, by place."""
    binned = [one for one in asked if _edges(one.profile)]
    listed = [one for one in asked if not _edges(one.profile) and _all_listed(one.profile)]
    found: dict[int, Distribution] = {}
    for one in binned:
        labels = _labels(one.profile)
        counts = tuple(bins.get(one.place * MOST_BINS + number, 0) for number in range(len(labels)))
        found[one.place] = Distribution(labels=labels, counts=counts, edges=tuple(_edges(one.profile)))
    for one in listed:
        ranked = sorted(
            ((texts.get(f"{one.place}:{value}", 0), value) for value in one.profile.values), key=lambda p: (-p[0], p[1])
        )
        found[one.place] = Distribution(
            labels=tuple(value for _, value in ranked[:MOST_BINS]),
            counts=tuple(count for count, _ in ranked[:MOST_BINS]),
            others=sum(count for count, _ in ranked[MOST_BINS:]),
        )
    return found


def _all_listed(profile: ColumnProfile) -> bool:
    """Whether every value is in the profile already: counting then brings nothing that describing does not bring."""
    return 0 < profile.distinct <= len(profile.values)


def _count(source: SourceTable, table: ir.Table, codes: Sequence[Any]) -> dict[Any, int]:
    """How many records have each code; a record has one of each column."""
    if not codes:
        return {}
    coded = table.select(code=ibis.array(list(codes)).unnest())
    counted = coded.group_by("code").aggregate(n=coded.count())
    return {row["code"]: int(row["n"]) for row in source.fetch(counted).to_pylist() if row["code"] is not None}


def _bin(one: Asked, column: Any) -> Any:
    """The number of the bin that a value is in, different for all columns; null where there is no value."""
    edges = _edges(one.profile)
    last, width = len(edges) - 2, edges[1] - edges[0]
    if last == 0 or width <= 0:
        number = column.isnull().ifelse(ibis.null("int64"), 0)
    else:
        low, high = edges[1], edges[-2]
        inner = ((column.cast("float64") - edges[0]) / width).floor()
        outer = (column < low).ifelse(0.0, (column >= high).ifelse(float(last), inner))
        number = column.isnull().ifelse(ibis.null("float64"), outer)
    return number.cast("int64") + one.place * MOST_BINS


def _edges(profile: ColumnProfile) -> list[float]:
    """Where bins begin, and where the last one ends; none for a column that has no order, or a single value."""
    if profile.kind not in ("integer", "number", "date") or profile.lower is None or profile.upper is None:
        return []
    low, high = (_number(profile, text) for text in (profile.lower, profile.upper))
    if profile.kind == "number":
        return [low + (high - low) * n / MOST_BINS for n in range(MOST_BINS + 1)] if low < high else [low, high]
    width = max(1, -int(-(high - low + 1) // MOST_BINS))
    return [low + n * width for n in range(int((high - low) // width) + 2)]


def _number(profile: ColumnProfile, text: str) -> float:
    return dt.date.fromisoformat(text).toordinal() if profile.kind == "date" else float(text)


def _labels(profile: ColumnProfile) -> tuple[str, ...]:
    edges = _edges(profile)
    if not edges:
        return profile.values
    if profile.kind == "number":
        return tuple(f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges))
    ends = [(int(low), min(int(high) - 1, int(_number(profile, str(profile.upper))))) for low, high in pairwise(edges)]
    shown = [(_shown(profile, low), _shown(profile, high)) for low, high in ends]
    return tuple(low if low == high else f"{low} to {high}" for low, high in shown)


def _shown(profile: ColumnProfile, number: int) -> str:
    if profile.kind != "date":
        return str(number)
    return dt.date.fromordinal(max(1, min(number, dt.date.max.toordinal()))).isoformat()
