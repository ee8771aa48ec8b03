"""The distinct rows of a published table, and how often each stands in it: counted where the table lies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import ibis.expr.datatypes as dt
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import VerifyError
from sfumato.memory_limit import MEMORY, most_cells, parse_memory, refuse_many_cells
from sfumato.tables.engine import SourceTable

_PIECE: Final = 1 << 19  # rows that are here at once, of a table that can be looked at in pieces


def count_distinct_rows(
    source: SourceTable, kinds: Mapping[str, pa.DataType], *, rows: int, memory_limit: str | None, in_pieces: bool
) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
    """The rows of a table with exactly these columns, in any order; refused if there are not ``rows`` of them.

    Anybody may have made the table. So it is counted before rows are fetched. They come ``in_pieces``, or more than fit
    are refused.
    """
    if list(source.columns) != list(kinds):
        raise VerifyError(
            f"{source.name} does not have the declared columns", "check that it is the table of this release",
            code="SF-VERIFY-140",
        )  # fmt: skip
    table = source.table
    wrong = [name for name, kind in kinds.items() if not _is_declared(table.schema()[name], kind)]
    if wrong:  # a conversion could make different tables equal
        raise VerifyError(
            f"{source.name} has a column of another type than declared", "check that it is the table of this release",
            code="SF-VERIFY-142",
        )  # fmt: skip
    if int(source.fetch(table.aggregate(n=table.count()))["n"][0].as_py()) != rows:
        raise VerifyError(
            f"{source.name} does not have as many rows as the manifest says",
            "check that it is the table of this release",
            code="SF-VERIFY-141",
        )
    names = [f"c{number}" for number in range(len(kinds))]
    read = table.select(**{short: table[name] for short, name in zip(names, kinds, strict=True)})
    most = most_cells(parse_memory(memory_limit or MEMORY), len(kinds))
    if rows > most and not in_pieces:
        distinct = read.distinct()
        found = int(source.fetch(distinct.aggregate(n=distinct.count()))["n"][0].as_py())
        refuse_many_cells(found, most, attributes=len(kinds), where=source.name)
    counted = read.group_by(names).aggregate(n=read.count())
    pieces = source.fetch_pieces(counted, rows=min(most, _PIECE), most=rows) if in_pieces else [source.fetch(counted)]
    return (_with_times(piece, names, kinds) for piece in pieces)


def _with_times(
    counted: pa.Table, names: Sequence[str], kinds: Mapping[str, pa.DataType]
) -> tuple[pa.Table, NDArray[np.int64]]:
    columns = [_as_declared(counted[short], kind) for short, kind in zip(names, kinds.values(), strict=True)]
    times: NDArray[np.int64] = counted["n"].to_numpy().astype(np.int64)
    return pa.table(columns, names=list(kinds)), times


def _is_declared(found: dt.DataType, kind: pa.DataType) -> bool:
    """Whether a column has the type that its release was written with; integers may be narrower."""
    if pa.types.is_dictionary(kind):
        return bool(found.is_string())
    if pa.types.is_boolean(kind):
        return bool(found.is_boolean())
    if pa.types.is_integer(kind):
        return bool(found.is_integer())
    return bool(found.is_date() if pa.types.is_date(kind) else found.is_float64())


def _as_declared(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that bundles have; texts as places in a dictionary."""
    if pa.types.is_dictionary(kind):
        return column.cast(pa.string()).dictionary_encode().cast(kind)
    return column.cast(kind)
