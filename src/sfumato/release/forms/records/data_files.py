"""The data files of records: written and read piece by piece, the same from Parquet and CSV."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.release.forms.records.declared_layout import record_limits
from sfumato.release.forms.records.read_pieces import store_of
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import RecordLayout, has_line_ends
from sfumato.release.forms.records.runs import Runs, in_groups
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import GROUP_ROWS, read_pieces, write_groups
from sfumato.release.storage.text_lines import line_blocks, repeat_lines
from sfumato.release.storage.untrusted import open_regular

_BLOCK = 1 << 22  # bytes of CSV parsed at a time, in threads; a row must fit


def write_csv(pieces: Iterable[Runs], out: Any) -> None:
    """Text in quotes, numbers without, nothing at all where there is no value; the pieces of a table, one at least.

    Records alike read alike, so a line is made once for each run and then repeated.
    """
    names = True
    for runs in pieces:
        lines = repeat_lines(_rendered(runs.table), runs.times, names=names)
        for text in lines or [_rendered(runs.whole(), names=names)]:
            out.write(text)
        names = False


def write_parquet_runs(pieces: Iterable[Runs], out: Any) -> None:
    """The same as Parquet, without statistics, which take longer than all else and help no reader here."""
    write_groups(in_groups(pieces, GROUP_ROWS), out, statistics=False)


def read_records(path: Path, layout: RecordLayout, content: Mapping[str, Any], ending: str) -> RecordStore:
    """The records of a bundle, from its files with this ending, folded; what does not fit is a `VerifyError`.

    ``content`` is the manifest, which tells how many rows there are.
    """
    found = {
        name: _file_pieces(path, layout, content, ending, (place, name)) for place, name in enumerate(layout.tables)
    }
    if layout.in_pieces:
        return store_of(layout, next(iter(found.values())))
    return RecordStore.of(layout.records({name: Runs.join(pieces) for name, pieces in found.items()}))


def _file_pieces(
    path: Path, layout: RecordLayout, content: Mapping[str, Any], ending: str, table: tuple[int, str]
) -> Iterator[Runs]:
    """The rows of one file, one piece at least."""
    place, name = table
    kinds = dict(layout.tables[name])
    if ending == "csv":
        return _csv(path / f"{name}.csv", layout, kinds)
    limits = record_limits(content, name, first=place == 0)
    return map(Runs.of, read_pieces(path / f"{name}.parquet", kinds, limits))


def _csv(path: Path, layout: RecordLayout, kinds: dict[str, pa.DataType]) -> Iterator[Runs]:
    """The rows of a CSV file, of which every byte is looked at; lines alike that follow each other are parsed once.

    That is the same as parsing all of them only if each line is a record by itself. It is where the lines, parsed,
    are written as the same lines again: what we write of one record begins and ends with its line. From the first part
    on of which that is not so (another program's quotes or line ends, say) the file is parsed as it stands.
    """
    refuse_header(path, list(kinds))
    spread = has_line_ends(layout.columns)
    for block in () if spread else line_blocks(path, most=_BLOCK):
        found = None if block.text is None else _line_by_line(block.text, len(block.times), kinds)
        if found is None:
            yield from _streamed(path, kinds, block.start, spread=False)
            return
        yield Runs.of(found, block.times)
    if spread:
        yield from _streamed(path, kinds, 0, spread=True)


def _line_by_line(text: pa.Buffer, rows: int, kinds: dict[str, pa.DataType]) -> pa.Table | None:
    """The rows of a text with names, if each of its lines is a row that is written as this line."""
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            read_options=pa.csv.ReadOptions(block_size=_BLOCK),
            parse_options=pa.csv.ParseOptions(newlines_in_values=False),
            convert_options=_conversion(kinds),
        )
    except pa.ArrowException:  # as a part of the file; the whole may be read
        return None
    return table if len(table) == rows and _rendered(table) == text else None


def _streamed(path: Path, kinds: dict[str, pa.DataType], start: int, *, spread: bool) -> Iterator[Runs]:
    """The rows of a file from a byte on at which a row begins, or of all of it."""
    named = {} if start == 0 else {"column_names": list(kinds)}
    with open_regular(path) as file:
        file.seek(start)
        with pa.csv.open_csv(
            pa.PythonFile(file, mode="r"),
            read_options=pa.csv.ReadOptions(block_size=_BLOCK, **named),
            parse_options=pa.csv.ParseOptions(newlines_in_values=spread),
            convert_options=_conversion(kinds),
        ) as reader:
            yield Runs.of(reader.schema.empty_table())
            for batch in reader:
                yield Runs.of(pa.Table.from_batches([batch]))


def _conversion(kinds: dict[str, pa.DataType]) -> pa.csv.ConvertOptions:
    """Text as it stands: an empty text is one, and only nothing at all is no value."""
    return pa.csv.ConvertOptions(
        column_types=kinds,
        null_values=[""],
        true_values=["true"],
        false_values=["false"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=True,
    )


def _rendered(table: pa.Table, *, names: bool = True) -> pa.Buffer:
    out = pa.BufferOutputStream()
    pa.csv.write_csv(table, out, pa.csv.WriteOptions(include_header=names))
    return out.getvalue()
