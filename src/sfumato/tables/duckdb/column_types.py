"""The types of DuckDB's columns: which are read as they are, and which as text.

A table is a source whatever else is in it: a column of a type that nothing here can use must not keep the other columns
from being described, checked and released. Such a column is read as text. Whether it is depends on the column's type,
which is public, and never on a value.
"""

import re
from collections.abc import Mapping
from typing import Final

import ibis

from sfumato.errors import SourceError
from sfumato.tables.duckdb.session import DuckSession, identifier
from sfumato.tables.engine import SourceTable, refuse_twins

_FLOATS: Final = ("FLOAT", "DOUBLE")
_NUMBER: Final = r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)"
_TIMES: Final = r"DATE|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?"
_MICROSECONDS: Final = ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_FAR: Final = 6 * 10**18  # microseconds
_REFUSED: Final = r"BLOB|(STRUCT|MAP)\(.*\)"  # Ibis knows these; an attribute that is declared on one is refused
_AS_IT_IS: Final = re.compile(rf"BOOLEAN|VARCHAR|\"NULL\"|(VARCHAR|{_NUMBER})(\[\])?|{_TIMES}|{_REFUSED}")


def describe_source(
    session: DuckSession, sql: str, *, name: str, read_as: Mapping[str, str] | None = None
) -> SourceTable:
    """A source from a query: its names are checked, it gets a name, and columns of unusual types are read as text."""
    doing = f"reading {name}"
    kinds = _kinds(session, sql, doing=doing)
    refuse_twins([column for column, _ in kinds], where=name)
    read = {c: f"CAST({identifier(c)} AS VARCHAR)" for c, kind in kinds if not _AS_IT_IS.fullmatch(kind)}
    read |= {c: _near(identifier(c)) for c, kind in kinds if kind in _MICROSECONDS}
    view = session.look(_replacing(sql, read), doing=doing)
    first = session.fetch(f"FROM {identifier(view)} LIMIT 1", doing=doing)
    if first.num_rows == 0:
        raise SourceError(f"{name} holds no records", "point to a table with at least one record", code="SF-SOURCE-009")
    schema = ibis.Schema.from_pyarrow(first.schema)
    return SourceTable(ibis.table(schema, name=view), session, name, dict(read_as or {}))


def _near(column: str) -> str:
    """A time that is more than some 200,000 years away is no value: the engine fails on it where it needs its day."""
    return f"CASE WHEN epoch_us({column}) BETWEEN -{_FAR} AND {_FAR} THEN {column} END"


def hide_statistics(session: DuckSession, sql: str, *, doing: str) -> str:
    """The query with NaN as null, in a way that no statistics of a file can optimise away.

    For queries that somebody else wrote: they may read Parquet files whose statistics leave NaN out, and the engine
    then replaces ``isnan(x)`` by false. Statistics do not follow a value through a list.
    """
    floats = [column for column, kind in _kinds(session, sql, doing=doing) if kind in _FLOATS]
    seen = {
        c: f"CASE WHEN isnan(list_extract([{identifier(c)}], 1)) THEN NULL ELSE {identifier(c)} END" for c in floats
    }
    return _replacing(sql, seen)


def _kinds(session: DuckSession, sql: str, *, doing: str) -> list[tuple[str, str]]:
    """The names and types of the columns, in order."""
    shape = session.fetch(f"DESCRIBE {sql}", doing=doing).to_pydict()
    return list(zip(map(str, shape["column_name"]), map(str, shape["column_type"]), strict=True))


def _replacing(sql: str, columns: Mapping[str, str]) -> str:
    if not columns:
        return sql
    replaced = ", ".join(f"{expression} AS {identifier(column)}" for column, expression in columns.items())
    return f"SELECT * REPLACE ({replaced}) FROM ({sql})"  # noqa: S608 - names are quoted
