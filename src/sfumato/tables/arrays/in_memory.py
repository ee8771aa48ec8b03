"""Tables somebody already has in memory, as Arrow: without a copy where that is possible."""

import datetime as dt
from typing import Any

import pyarrow as pa

from sfumato.domains.domain import as_text
from sfumato.errors import SourceError
from sfumato.tables.engine import refuse_twins
from sfumato.tables.guard import run_guarded


def as_arrow(source: Any) -> tuple[Any, str]:
    """An Arrow table, dataset or stream that holds the same records, and what to call it in messages."""
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source]), "the Arrow table"
    if isinstance(source, (pa.Table, pa.RecordBatchReader)):
        return source, "the Arrow table"
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "columns"):
        return _from_pandas(source), "the pandas table"
    if library == "polars" and hasattr(source, "collect"):
        return run_guarded(lambda: source.collect().to_arrow(), doing="reading the polars table"), "the polars table"
    if library == "polars" and hasattr(source, "columns"):
        return run_guarded(source.to_arrow, doing="reading the polars table"), "the polars table"
    if hasattr(source, "__arrow_c_stream__"):
        stream = run_guarded(lambda: pa.RecordBatchReader.from_stream(source), doing="reading the Arrow stream")
        return stream, "the Arrow stream"
    raise SourceError(
        f"a {type(source).__name__} is not a table",
        "pass a path, a URL, or a pandas, polars, pyarrow or Ibis table",
        code="SF-SOURCE-002",
    )


def _from_pandas(frame: Any) -> pa.Table:
    """Column by column, so that one column of mixed objects becomes text and does not spoil the others."""
    names = [str(name) for name in frame.columns]
    refuse_twins(names, where="the pandas table")
    columns = [_series(frame.iloc[:, place]) for place in range(len(names))]
    return pa.table(columns, names=names)


def _series(series: Any) -> pa.Array | pa.ChunkedArray:
    """A column of objects becomes text, each value by itself: a type guessed from all would let one change the rest.

    So do truth values, whatever their column: pandas keeps them as objects from the first missing one on. Durations and
    periods become text as well, since engines write them otherwise than they are written here.
    """
    if str(series.dtype) != "object":
        try:
            found = pa.Array.from_pandas(series)
        except (pa.ArrowException, TypeError, ValueError):
            pass
        else:
            if not _becomes_text(getattr(found.type, "value_type", found.type)):
                return found
    texts = [None if lost else _text(value) for value, lost in zip(series, series.isna(), strict=True)]
    try:
        return pa.array(texts, pa.string())
    except UnicodeError:  # half of a character, which no declared value has
        return pa.array([text and text.encode(errors="replace").decode() for text in texts], pa.string())


def _becomes_text(kind: pa.DataType) -> bool:
    return pa.types.is_boolean(kind) or pa.types.is_duration(kind) or isinstance(kind, pa.BaseExtensionType)


def _text(value: object) -> str:
    """A value as text that is read as the value would be in a column of its type."""
    return _moment(value) if isinstance(value, dt.datetime) else as_text(value)


def _moment(value: dt.datetime) -> str:
    """A moment as the engine writes those of a column: in UTC, with no more digits than there are.

    >>> _moment(dt.datetime(2020, 1, 1, 10, 20, 30, 500000))
    '2020-01-01 10:20:30.5'
    """
    aware = value.tzinfo is not None
    text = str(value.astimezone(dt.UTC) if aware else value).removesuffix("+00:00" if aware else "")
    return (text.rstrip("0") if "." in text else text) + "+00" * aware
