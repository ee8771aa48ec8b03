"""Parquet files of bundles: the footer and the pages are held to what the manifest says before a value is unpacked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.parquet

from sfumato.errors import VerifyError
from sfumato.release.storage.parquet_pages import read_footer, refuse_large_pages
from sfumato.release.storage.untrusted import open_regular

GROUP_ROWS: Final = 1 << 20
"""Rows of a row group: what Arrow makes of a table, too."""

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
    """The table of a file with these columns, each text once; see `read_pieces`."""
    return pa.concat_tables(read_pieces(path, kinds, limits))


def read_pieces(path: Path, kinds: Mapping[str, pa.DataType], limits: ParquetLimits) -> Iterator[pa.Table]:
    """The same piece by piece, one at least; what does not fit the columns or the limits is a `VerifyError`.

    The limits are about the whole file, which is looked at before the first piece is read. Whatever could be read is
    then validated: places in dictionaries, and that text is UTF-8.
    """
    texts = [name for name, kind in kinds.items() if pa.types.is_dictionary(kind)]
    with open_regular(path) as file:
        _refuse(file, list(kinds), texts, limits)
        file.seek(0)
        try:
            with pa.parquet.ParquetFile(file, read_dictionary=texts) as parquet:
                for table in _tables(parquet):
                    table.validate(full=True)
                    yield table
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            raise _broken(f"{path.name} cannot be read", code="SF-VERIFY-092") from None


def _tables(parquet: Any) -> Iterator[pa.Table]:
    """The rows in the groups that the file has, of which a large one is read in parts."""
    if not parquet.num_row_groups:
        yield parquet.read()
    for number in range(parquet.num_row_groups):
        if parquet.metadata.row_group(number).num_rows <= 2 * GROUP_ROWS:
            yield parquet.read_row_group(number)
        else:
            for batch in parquet.iter_batches(batch_size=GROUP_ROWS, row_groups=[number]):
                yield pa.Table.from_batches([batch])


def write_parquet(table: pa.Table, out: Any, *, statistics: bool = True) -> None:
    """Plain columns of text: no Arrow schema, no pandas metadata, nothing that tells how it was made.

    ``statistics`` are the least and greatest value of each column, for readers that skip parts of a file.
    """
    write_groups([table], out, statistics=statistics)


def write_groups(tables: Iterable[pa.Table], out: Any, *, statistics: bool = True) -> None:
    """The same of tables that follow each other, one at least: all but the last of `GROUP_ROWS` rows, or many times.

    The file is then byte by byte that of all of them together.
    """
    rest = iter(tables)
    first = next(rest)
    settings = {"compression": "zstd", "store_schema": False, "write_statistics": statistics}
    with pa.parquet.ParquetWriter(out, first.schema, **settings) as writer:
        for table in chain([first], rest):
            writer.write_table(table, row_group_size=GROUP_ROWS)


def _refuse(file: IO[bytes], names: list[str], texts: list[str], limits: ParquetLimits) -> None:
    """Refuse a file whose footer or pages tell of anything but the declared table."""
    footer = read_footer(file, names, texts)
    rows = footer.rows
    if rows != limits.rows if limits.exact else rows > limits.rows:
        raise _broken("a table does not have as many rows as the manifest says", code="SF-VERIFY-093")
    if rows * len(names) > limits.text_bytes:
        raise _broken("a Parquet file has more rows than its CSV file has room for", code="SF-VERIFY-094")
    contradicts = sum(footer.parts) != rows
    left = _ROOM * limits.text_bytes + _SLACK
    for part, chunks in zip(footer.parts, footer.chunks, strict=True):
        if contradicts or len(chunks) != len(names) or any(chunk.values != part for chunk in chunks):
            raise _broken("a Parquet file contradicts itself about its rows", code="SF-VERIFY-095")
        for chunk in chunks:
            left -= refuse_large_pages(file, chunk, most=left)


def _broken(problem: str, *, code: str = "") -> VerifyError:
    return VerifyError(problem, "get the bundle again", code=code)
