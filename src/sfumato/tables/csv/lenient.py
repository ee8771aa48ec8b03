r"""The records of a CSV file, by rules under which every file is a table: for differentially private releases.

An engine's reader fails where a record has a field too many, a quote that is never closed, or a line that is too long.
In a private release such a failure would tell that there is such a record, and no ε covers that. So nothing here fails:

- Line ends, delimiter, quote and names are decided by the study and by the line of names (`csv_file`), which are
  public. Where the line of names ends in LF or CRLF, records end in LF, and one CR before it belongs to the line end;
  any other CR is a character of its field. Where it ends in a bare CR, records end in CR. Empty lines are no records.
- A field that begins with the quote goes on to the first quote that is not written twice, if what follows that quote is
  a delimiter or the end of the record. If it is not, or if there is none within 64 MB, the field is not quoted: it is
  the text up to the next delimiter or line end, quotes and all.
- A record with another number of fields than there are names is a record whose values are all missing; the study's
  policy for missing values says what happens to it, as to any other record.
- Of a field the first 1 MB is read. Longer text is no declared value, no number and no day with or without the rest.
- Bytes that are no UTF-8 become the replacement character. That never reaches over a delimiter, a quote or a line end:
  those are single bytes that no multi-byte character contains.

The argument. Take the file of a writer that quotes every field which holds a delimiter, a quote or a line end, and
doubles its quotes. Each record then begins and ends outside quotes, and the rules read it from its own bytes alone. A
file with one record more gives a table with one record more: the tables are neighbours, and what is proved for tables
holds for files. Lines that are broken in any other way than by quotes are read alone, too. What remains is a line with
a quote that its writer did not double: it may be joined with the next lines, up to a quote that closes it. Two files
that differ in that line may then differ in more than one record, and the ε of one record does not cover that. No
release fails by it. Who cannot trust the quotes of a file declares `quote: none`, where every line is a record whatever
it holds, or uses Parquet. `sfumato check` reads by the engine's strict rules and names the first line that breaks them.
"""

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

_QUOTED: Final = 1 << 26  # bytes that a quoted field may take
_KEPT: Final = 1 << 20  # bytes of a field that are read
_TOGETHER: Final = 20_000  # records written at once
_LARGE: Final = 1 << 24  # characters written at once

Bytes = bytes | mmap.mmap


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How records are written, in bytes of UTF-8."""

    delimiter: bytes
    quote: bytes  # nothing where fields are never quoted
    line_end: bytes  # LF, which also ends a line as CRLF, or CR

    def records(self, data: Bytes, start: int = 0) -> Iterator[list[bytes]]:
        r"""The fields of every record.

        >>> comma = Dialect(delimiter=b",", quote=b'"', line_end=b"\n")
        >>> list(comma.records(b'1,"a,""b"\r\n\n"never closed,2\n"x"y,3'))
        [[b'1', b'a,"b'], [b'"never closed', b'2'], [b'"x"y', b'3']]
        """
        at, end = start, len(data)
        while at < end:
            stop = self._line_stop(data, at)
            line = data[at:stop]
            if self.quote and self.quote in line:
                fields, at = self._quoted_record(data, at)
                yield fields
                continue
            at = stop + 1
            text = self._without_cr(line)
            if text:
                yield text.split(self.delimiter)

    def _quoted_record(self, data: Bytes, at: int) -> tuple[list[bytes], int]:
        """One record that may hold quoted fields, and where the next one begins."""
        fields: list[bytes] = []
        stop = self._line_stop(data, at)
        while True:
            closed = self._quoted_field(data, at)
            if closed is not None:
                field, at = closed
                if at > stop:
                    stop = self._line_stop(data, at)
                fields.append(field)
                if data[at : at + len(self.delimiter)] == self.delimiter:
                    at += len(self.delimiter)
                    continue
                return fields, stop + 1
            found = data.find(self.delimiter, at, stop)
            if found < 0:
                fields.append(self._without_cr(data[at:stop]))
                return fields, stop + 1
            fields.append(data[at:found])
            at = found + len(self.delimiter)

    def _quoted_field(self, data: Bytes, at: int) -> tuple[bytes, int] | None:
        """What stands between the quotes, and where it ends; None where no field is quoted, or not to its end."""
        size, start = len(self.quote), at + len(self.quote)
        if data[at:start] != self.quote:
            return None
        found = data.find(self.quote, start, at + _QUOTED)
        while found >= 0:
            after = found + size
            if data[after : after + size] != self.quote:
                if not self._ends_field(data, after):
                    return None
                return data[start:found].replace(self.quote * 2, self.quote), after
            found = data.find(self.quote, after + size, at + _QUOTED)
        return None

    def _ends_field(self, data: Bytes, at: int) -> bool:
        rest = data[at : at + max(2, len(self.delimiter))]
        ends = (self.delimiter, self.line_end, *((b"\r\n",) if self.line_end == b"\n" else ()))
        return not rest or rest.startswith(ends) or (self.line_end == b"\n" and rest == b"\r")

    def _line_stop(self, data: Bytes, at: int) -> int:
        found = data.find(self.line_end, at)
        return len(data) if found < 0 else found

    def _without_cr(self, text: bytes) -> bytes:
        return text.removesuffix(b"\r") if self.line_end == b"\n" else text


def read_line_of_names(text: str, *, quote: str, marks: Sequence[str]) -> tuple[str, str, list[str]]:
    r"""The first line, what ends it (LF or CR), and which of the marks stand in it outside quotes.

    >>> read_line_of_names('a;"b,c"\r\n1,2;3', quote='"', marks=",;")
    ('a;"b,c"', '\n', [';'])
    """
    line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    after = text[len(line) : len(line) + 2]
    plain = re.sub(f"{re.escape(quote)}[^{re.escape(quote)}]*{re.escape(quote)}", "", line) if quote else line
    return line, "\r" if after[:1] == "\r" and after != "\r\n" else "\n", [mark for mark in marks if mark in plain]


def write_records(path: Path, target: Path, dialect: Dialect, columns: Sequence[str]) -> Path:
    """The records of a file in UTF-8 as a Parquet file of text, at ``target``; whatever the file holds."""
    from pyarrow import parquet  # noqa: PLC0415 - only here

    schema = pa.schema([(name, pa.string()) for name in columns])
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        records = dialect.records(data, 3 if data[:3] == b"\xef\xbb\xbf" else 0)
        next(records, None)  # the line of names
        with parquet.ParquetWriter(target, schema) as out:
            for rows in _batches(_values(record, len(columns)) for record in records):
                arrays = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
                out.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return target


def _batches(records: Iterator[list[str | None]]) -> Iterator[list[list[str | None]]]:
    """A few records together, fewer where they are long: however long they are, they fit into memory."""
    batch: list[list[str | None]] = []
    size = 0
    for record in records:
        batch.append(record)
        size += sum(len(value) for value in record if value)
        if len(batch) == _TOGETHER or size > _LARGE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _values(fields: list[bytes], width: int) -> list[str | None]:
    """The values of a record: none where it has another number of fields than there are names."""
    if len(fields) != width:
        return [None] * width
    return [field[:_KEPT].decode("utf-8", "replace") if field else None for field in fields]
