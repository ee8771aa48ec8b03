"""The data files of records: written and read whole, the same from Parquet and CSV."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sfumato.publish.record_table import RecordLayout, has_line_ends
from sfumato.publish.records import Records

_BLOCK = 1 << 22  # bytes of CSV read at a time, in threads; a row must fit


def write_csv(table: pa.Table, out: Any) -> None:
    """Text in quotes, numbers without, nothing at all where there is no value."""
    pa.csv.write_csv(table, out)


def read_records(path: Path, layout: RecordLayout, ending: str) -> Records:
    """The records of a bundle, from its files with this ending; what does not fit is a `VerifyError`."""
    read = _parquet if ending == "parquet" else _csv
    return layout.records(
        {name: read(path / f"{name}.{ending}", layout, dict(kinds)) for name, kinds in layout.tables.items()}
    )


def _parquet(path: Path, _: RecordLayout, kinds: dict[str, pa.DataType]) -> pa.Table:
    texts = [name for name, kind in kinds.items() if pa.types.is_dictionary(kind)]
    return pa.parquet.read_table(path, read_dictionary=texts, partitioning=None)


def _csv(path: Path, layout: RecordLayout, kinds: dict[str, pa.DataType]) -> pa.Table:
    """Text as it stands: an empty text is one, and only nothing at all is no value."""
    return pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(block_size=_BLOCK),
        parse_options=pa.csv.ParseOptions(newlines_in_values=has_line_ends(layout.columns)),
        convert_options=pa.csv.ConvertOptions(
            column_types=kinds,
            null_values=[""],
            true_values=["true"],
            false_values=["false"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=True,
        ),
    )
