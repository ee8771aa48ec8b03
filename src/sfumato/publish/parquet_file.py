"""Parquet files of bundles: the footer and the pages are held to what the manifest says before a value is unpacked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from sfumato.errors import VerifyError
from sfumato.publish.parquet_pages import refuse_large_pages
from sfumato.publish.untrusted import open_regular

_WRITER: Final = "parquet-cpp-arrow"  # what bundles are written by; readers make allowances for some others
_ROOM: Final = 16  # bytes that a value unpacks to, for each byte that it takes as text with what stands beside it
_SLACK: Final = 1 << 20  # for headers, dictionaries and the like, in small files


@dataclass(frozen=True, kw_only=True)
class ParquetLimits:
    """What a table may hold: its rows, and how long the same table is as text, in the CSV file beside it.

    Equal values take nearly no room in Parquet, so a file of a few bytes can hold more rows than fit into memory. As
    text each row takes a byte a column at least: the CSV file shows that whoever made the bundle had so many rows, and
    a receiver sees its size. ``exact`` is false where the manifest tells the most rows there can be.
    """

    rows: int
    text_bytes: int
    exact: bool = True


def read_parquet(path: Path, kinds: Mapping[str, pa.DataType], limits: ParquetLimits) -> pa.Table:
    """The table of a file with these columns, each text once; what does not fit them or the limits is a `VerifyError`.

    Whatever could be read is then validated: places in dictionaries, and that text is UTF-8.
    """
    texts = [name for name, kind in kinds.items() if pa.types.is_dictionary(kind)]
    with open_regular(path) as file:
        try:
            with pa.parquet.ParquetFile(file, read_dictionary=texts, pre_buffer=False) as parquet:
                _refuse(file, parquet, list(kinds), limits)
                table = parquet.read()
            table.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            raise _broken(f"{path.name} cannot be read") from None
    return table


def _refuse(file: Any, parquet: Any, names: list[str], limits: ParquetLimits) -> None:
    """Refuse a file whose footer or pages tell of anything but the declared table."""
    footer = parquet.metadata
    if not str(footer.created_by).startswith(_WRITER):
        raise _broken("a Parquet file was not written by Sfumato")
    _refuse_columns(parquet, names)
    rows = footer.num_rows
    if not (rows == limits.rows if limits.exact else 0 <= rows <= limits.rows):
        raise _broken("a table does not have as many rows as the manifest says")
    if rows * len(names) > limits.text_bytes:
        raise _broken("a Parquet file has more rows than its CSV file has room for")
    groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
    if any(group.num_rows < 0 for group in groups) or sum(group.num_rows for group in groups) != rows:
        raise _broken("a Parquet file contradicts itself about its rows")
    left = _ROOM * limits.text_bytes + _SLACK
    for group in groups:
        for place in range(group.num_columns):
            chunk = group.column(place)
            if chunk.file_path or chunk.num_values != group.num_rows:
                raise _broken("a Parquet file contradicts itself about its rows")
            left -= refuse_large_pages(file, chunk, most=left)


def _refuse_columns(parquet: Any, names: list[str]) -> None:
    """Refuse other columns, nested ones, and those of which every row is a text of its own once it is read."""
    schema = parquet.schema
    columns = [schema.column(place) for place in range(len(schema))]
    if [c.path for c in columns] != names or any(c.max_repetition_level or c.max_definition_level > 1 for c in columns):
        raise _broken("the columns are not the declared ones")
    for name, field in zip(names, parquet.schema_arrow, strict=True):
        if not (pa.types.is_dictionary(field.type) or pa.types.is_primitive(field.type)):
            raise _broken(f"'{name}' is not a column of the declared type")


def _broken(problem: str) -> VerifyError:
    return VerifyError(problem, "get the bundle again")
