"""The data files of records: written and read whole, the same from Parquet and CSV."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.release.forms.records.declared_layout import record_limits
from sfumato.release.forms.records.record_table import RecordLayout, has_line_ends
from sfumato.release.forms.records.rows import Records
from sfumato.release.forms.records.runs import Runs
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import read_parquet
from sfumato.release.storage.text_lines import line_runs, repeat_lines
from sfumato.release.storage.untrusted import open_regular

_BLOCK = 1 << 22  # bytes of CSV read at a time, in threads; a row must fit


def write_csv(runs: Runs, out: Any) -> None:
    """Text in quotes, numbers without, nothing at all where there is no value.

    Records alike read alike, so a line is made once for each run and then repeated.
    """
    text = _rendered(runs.table)
    for piece in repeat_lines(text, runs.times) or [_rendered(runs.whole())]:
        out.write(piece)


def read_records(path: Path, layout: RecordLayout, content: Mapping[str, Any], ending: str) -> Records:
    """The records of a bundle, from its files with this ending, folded; what does not fit is a `VerifyError`.

    ``content`` is the manifest, which tells how many rows there are.
    """
    found = {}
    for place, (name, kinds) in enumerate(layout.tables.items()):
        if ending == "parquet":
            limits = record_limits(content, name, first=place == 0)
            found[name] = Runs.of(read_parquet(path / f"{name}.parquet", dict(kinds), limits))
        else:
            found[name] = _csv(path / f"{name}.csv", layout, dict(kinds))
    return layout.records(found)


def _csv(path: Path, layout: RecordLayout, kinds: dict[str, pa.DataType]) -> Runs:
    """The table in a CSV file, of which every byte is looked at; lines alike that follow each other are parsed once.

    That is the same as parsing all of them only if each line is a record by itself. It is where the lines, parsed,
    are written as the same lines again: what we write of one record begins and ends with its line. A file in which
    they are not (another program's quotes or line ends, say) is parsed whole.
    """
    refuse_header(path, list(kinds))
    spread = has_line_ends(layout.columns)
    found = None if spread else line_runs(path, most=_BLOCK)
    if found is not None:
        text, times = found
        table = _parsed(pa.BufferReader(text), kinds, spread=False)
        if len(table) == len(times) and _rendered(table) == text:
            return Runs.of(table, times)
    with open_regular(path) as file:
        return Runs.of(_parsed(file, kinds, spread=spread))


def _rendered(table: pa.Table) -> pa.Buffer:
    out = pa.BufferOutputStream()
    pa.csv.write_csv(table, out)
    return out.getvalue()


def _parsed(source: Any, kinds: dict[str, pa.DataType], *, spread: bool) -> pa.Table:
    """Text as it stands: an empty text is one, and only nothing at all is no value."""
    return pa.csv.read_csv(
        source,
        read_options=pa.csv.ReadOptions(block_size=_BLOCK),
        parse_options=pa.csv.ParseOptions(newlines_in_values=spread),
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
