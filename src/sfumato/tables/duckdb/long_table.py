"""Many columns of a table as one: a record becomes a row for each of them, with the place of the column and its value.

A query over two thousand columns is two thousand expressions, and writing and planning those takes far longer than
counting. Over the long table it is one expression, grouped by place.
"""

from collections.abc import Sequence
from typing import Final

import ibis
import ibis.expr.types as ir
from ibis.expr.datatypes import DataType

from sfumato.tables.duckdb.session import DuckSession, identifier
from sfumato.tables.engine import SourceTable

_WIDE: Final = 100  # columns from which on it is worth it
_MOST_CELLS: Final = 100_000_000  # some gigabytes as text


def is_long_enough(source: SourceTable, columns: int) -> bool:
    """Whether a source has more columns than that, and an engine that can lay them below each other here."""
    return isinstance(source.session, DuckSession) and len(source.table.columns) > columns


def can_be_long(kind: DataType) -> bool:
    """Whether columns of a type can stand below each other: one value is in each cell."""
    return not (kind.is_nested() or kind.is_binary() or kind.is_null())


def long_table(
    source: SourceTable, columns: Sequence[tuple[int, str]], kind: DataType, *, records: int | None = None
) -> ir.Table:
    """The table of ``place`` and ``raw`` of columns of one type, of all records or of some of them."""
    places = ", ".join(str(place) for place, _ in columns)
    cells = ", ".join(identifier(name) for _, name in columns)
    table = identifier(source.table.get_name())
    some = table if records is None else f"(SELECT {cells} FROM {table} LIMIT {records})"  # noqa: S608 - quoted names
    sql = f"SELECT UNNEST([{places}]) AS place, UNNEST([{cells}]) AS raw FROM {some}"  # noqa: S608 - quoted names
    name = source.session.look(sql, doing=f"reading {source.name}")
    return ibis.table({"place": "int32", "raw": kind}, name=name)


def settled_if_wide(source: SourceTable) -> SourceTable:
    """A CSV file of many columns read once, in place of for each query; the source as it is if it has too many cells.

    The table lies in the engine: in memory, and beyond its limit in its private folder.
    """
    if source.read_as.get("format") != "csv" or not is_long_enough(source, _WIDE):
        return source
    view, doing = identifier(source.table.get_name()), f"reading {source.name}"
    counted = source.session.fetch(f"SELECT count(*) AS n FROM {view}", doing=doing)  # noqa: S608 - our own name
    if int(counted["n"][0].as_py()) * len(source.table.columns) > _MOST_CELLS:
        return source
    name = source.session.keep(f"SELECT * FROM {view}", doing=doing)  # noqa: S608 - our own name
    return SourceTable(ibis.table(source.table.schema(), name=name), source.session, source.name, source.read_as)
