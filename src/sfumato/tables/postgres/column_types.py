"""The types of a server's columns: how each is read, so that all engines see the same values.

NaN and dates at infinity are no values: they become null here, once. Text is compared byte by byte, whatever the
collation of the database: with some collations 'a' equals 'A'. Only its first million characters are read, since the
server fails on patterns over hundreds of megabytes. Decimals lose zeros at their end: 7 and 7.00 are one value. Lists
are rebuilt: the server tells lists apart that begin to count at 0 and at 1, or that are lists of lists, and nobody else
does. A column of any other type is read as text. How a column is read depends on its type, which is public, and never
on a value.
"""

from typing import Final

import ibis
import pyarrow as pa

from sfumato.tables.engine import SourceTable, refuse_no_columns, refuse_no_records, refuse_twins
from sfumato.tables.postgres.session import ARROW, PostgresSession, identifier

_BYTES: Final = 17  # refused where an attribute is declared on it
_PLAIN: Final = frozenset({16, 20, 21, 23, _BYTES})
_FLOATS: Final = frozenset({700, 701})
_TIMES: Final = frozenset({1082, 1114, 1184})
_LISTS: Final = frozenset({1009, 1014, 1015})  # of text
_DECIMAL: Final = 1700
_LONGEST: Final = 1_000_000


def describe_source(session: PostgresSession, sql: str, *, name: str) -> SourceTable:
    """A source from a query."""
    doing = f"reading {name}"
    columns = session.columns(sql, doing=doing)
    refuse_twins([column for column, _ in columns], where=name)
    refuse_no_columns(columns, where=name)
    read = ", ".join(f"{_read(column, kind)} AS {identifier(column)}" for column, kind in columns)
    view = session.look(f"SELECT {read} FROM ({sql}) AS source", doing=doing)  # noqa: S608 - names are quoted
    schema = {column: _ibis_type(kind) for column, kind in columns}
    found = SourceTable(ibis.table(schema, name=view), session, name, {"format": "postgres"})
    refuse_no_records(session, sql, where=name)
    return found


def _read(column: str, kind: int) -> str:
    name = identifier(column)
    if kind in _PLAIN:
        return name
    if kind in _LISTS:
        read = f'LEFT(CAST(e AS TEXT), {_LONGEST}) COLLATE "C"'
        each = f"SELECT {read} FROM UNNEST({name}) WITH ORDINALITY AS u(e, i) ORDER BY i"  # noqa: S608 - quoted
        return f"CASE WHEN {name} IS NOT NULL THEN ARRAY({each}) END"
    if kind in _FLOATS:
        return f"NULLIF({name}, 'NaN')"
    if kind in _TIMES:
        return f"CASE WHEN ISFINITE({name}) THEN {name} END"
    if kind == _DECIMAL:
        return f"CAST(TRIM_SCALE(NULLIF({name}, 'NaN')) AS TEXT) COLLATE \"C\""
    return f'LEFT(CAST({name} AS TEXT), {_LONGEST}) COLLATE "C"'


def _ibis_type(kind: int) -> ibis.DataType:
    if kind == _BYTES:
        return ibis.dtype("binary")
    if kind not in _PLAIN | _FLOATS | _TIMES | _LISTS:
        return ibis.dtype("string")
    if kind in _LISTS:
        return ibis.dtype("array<string>")
    return ibis.Schema.from_pyarrow(pa.schema([("x", ARROW[kind])]))["x"]
