"""The types of Spark's columns: how each is read, so that all engines see the same values.

NaN is no value: it becomes null here, once. So does text that is not valid UTF-8: Spark takes any bytes for text, and
two of them may be the same text elsewhere. Text is compared letter by letter, whatever the collation of the column or
of the texts in a list. Only its first million characters are read: values of sets are brought here, and one of
gigabytes would make that fail. A column of a type that nothing here can use is read as text. How a column is read
depends on its type, which is public, and never on a value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import ibis
import ibis.expr.datatypes as dt
from ibis.backends.pyspark.datatypes import PySparkType
from pyspark.sql import types

from sfumato.errors import SourceError
from sfumato.tables.engine import SourceTable, refuse_no_columns, refuse_no_records, refuse_twins
from sfumato.tables.spark.scratch import identifier
from sfumato.tables.spark.session import SparkQueries

_FLOATS = (types.FloatType, types.DoubleType)
_PLAIN = (
    types.BooleanType, types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.DecimalType,
    types.DateType, types.TimestampNTZType, types.BinaryType,
)  # fmt: skip
_REFUSED = (types.StructType, types.MapType)  # an attribute that is declared on one is refused
_ANY_CASE = "UTF8_BINARY"  # the collation that tells all texts apart
_LONGEST = 1_000_000


def describe_source(
    session: SparkQueries, sql: str, *, name: str, read_as: Mapping[str, str] | None = None
) -> SourceTable:
    """A source from a query."""
    doing = f"reading {name}"
    columns = session.columns(sql, doing=doing)
    refuse_twins([column for column, _ in columns], where=name)
    refuse_no_columns(columns, where=name)
    _refuse_variables(columns, where=name)
    read = ", ".join(f"{_read(identifier(column), kind)} AS {identifier(column)}" for column, kind in columns)
    view = session.look(f"SELECT {read} FROM ({sql}) AS source", doing=doing)  # noqa: S608 - names are quoted
    schema = {column: _ibis_type(kind) for column, kind in columns}
    refuse_no_records(session, sql, where=name)
    return SourceTable(ibis.table(schema, name=view), session, name, {"format": "spark", **(read_as or {})})


def _refuse_variables(columns: Sequence[tuple[str, Any]], *, where: str) -> None:
    """Stop at a name that holds a variable: the reader of Parquet files replaces it, and finds no such column."""
    if any("${" in column for column, _ in columns):
        raise SourceError(
            f"{where} has a column with ${{ in its name, which Spark takes for a variable",
            "rename the column",
            code="SF-SOURCE-623",
        )


def _read(name: str, kind: Any) -> str:
    if isinstance(kind, _FLOATS):
        return f"CASE WHEN NOT ISNAN({name}) THEN {name} END"
    if isinstance(kind, types.StringType):
        return _read_text(name, kind)
    if _is_list(kind) and isinstance(kind.elementType, types.StringType):
        return f"TRANSFORM({name}, e -> {_read_text('e', kind.elementType)})"
    if isinstance(kind, (*_PLAIN, *_REFUSED, types.TimestampType)) or _is_list(kind):
        return name
    if isinstance(kind, (types.VariantType, types.ArrayType)):  # Spark's own text of [["a, b"]] is that of [["a", "b"]]
        return _read_text(f"TO_JSON({name})", types.StringType())
    return _read_text(f"CAST({name} AS STRING)", types.StringType())


def _read_text(sql: str, kind: types.StringType) -> str:
    text = sql if kind.collation == _ANY_CASE else f"COLLATE({sql}, '{_ANY_CASE}')"
    valid = f"TRY_VALIDATE_UTF8({text})"
    # Marked where it is cut, so that it does not become a number or a declared value by that.
    return f"CASE WHEN OCTET_LENGTH({sql}) > {_LONGEST} THEN CONCAT(LEFT({valid}, {_LONGEST}), '…') ELSE {valid} END"


def _ibis_type(kind: Any) -> dt.DataType:
    if isinstance(kind, types.TimestampType):
        return dt.Timestamp(timezone="UTC")
    if isinstance(kind, types.StringType) or not isinstance(kind, (*_FLOATS, *_PLAIN, *_REFUSED, types.ArrayType)):
        return dt.string
    if isinstance(kind, types.ArrayType) and not _is_list(kind):
        return dt.string
    return PySparkType.to_ibis(kind)


def _is_list(kind: Any) -> bool:
    """Whether a column can hold sets: a list of texts or numbers."""
    return isinstance(kind, types.ArrayType) and isinstance(kind.elementType, (*_PLAIN, *_FLOATS, types.StringType))
