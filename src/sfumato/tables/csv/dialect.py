"""How a CSV file is written: encoding, delimiter, quote, names. Found here, so that the engine need not guess.

Every field is read as text. Coding decides what a number is, by the study, and no engine's guess about types or
headers can change what a record says.

For the owner (`describe`, `check`, releases under k-anonymity and the like) a file is looked at, and what does
not fit fails with its line. For a differentially private release nothing is taken from the records: the study and the
line of names decide, and `csv_records` says how records are read then, and why that is private. Two things are still
looked up in the whole file, before any ε is spent: whether all of it is UTF-8 where no `encoding` is declared, and
whether all of it is in the declared encoding where letters of that take several bytes, other than UTF-8 and UTF-16. A
file that is not is refused. That tells that there is such a byte. The way out is to declare an encoding of one byte a
letter, or `utf-8`, by which other bytes are read one by one as the replacement character.
"""

import codecs
import contextlib
import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from sfumato.errors import SourceError
from sfumato.study.source import Source
from sfumato.tables.csv.lenient import Dialect, read_line_of_names
from sfumato.tables.csv.plain import Shape, find_shape
from sfumato.tables.engine import refuse_twins
from sfumato.tables.guard import run_guarded

DELIMITERS = (",", ";", "\t", "|")

_SAMPLE = 1 << 20  # bytes from which delimiter, quote and names are read
_CHUNK = 1 << 20
_LINE = 1 << 18  # bytes; lines up to this length are not measured, which takes far longer than finding that they end
_RECORDS = 200
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFile:
    """What the engine must be told about one CSV file."""

    path: Path
    encoding: str
    delimiter: str
    quote: str
    columns: tuple[str, ...]
    longest: int  # no line has more bytes
    guessed: str  # what of this was guessed from records; nothing where the line of names alone decides
    line_end: str = "\n"  # LF, or CR where the line of names ends in it

    @property
    def dialect(self) -> Dialect:
        """How records are written, in bytes of UTF-8."""
        delimiter, quote, end = (mark.encode("utf-8") for mark in (self.delimiter, self.quote, self.line_end))
        return Dialect(delimiter=delimiter, quote=quote, line_end=end)

    def find_shape(self) -> Shape:
        """What readers may assume of the file."""
        with _open(self.path) as file:
            return find_shape(_chunks(file), self.dialect, len(self.columns))


def inspect_private_csv(path: Path, written: Source | None = None) -> CsvFile:
    """Look at the line of names, for a differentially private release: what is not declared is decided by it alone."""
    said = written or Source(path=path)
    found, longest, sample = run_guarded(lambda: _scan(path), doing=f"reading {path}")
    encoding, guessed = _private_encoding(path, said.encoding, found)
    text = sample.decode(encoding.removesuffix("-damaged"), errors="replace").lstrip("\ufeff\r\n")
    if not text.strip("\x00 \t\r\n"):
        raise SourceError(
            f"{path} is empty", "point to a file with a line of column names and records below it", code="SF-SOURCE-005"
        )
    quote = said.quotes if said.quotes is not None else _quote_of_names(text)
    line, line_end, marks = read_line_of_names(text, quote=quote, marks=DELIMITERS)
    if said.separates is not None:
        _refuse_other_delimiter(line, said.separates, path)
    elif len(marks) > 1:
        guessed.append("delimiter")
    file = CsvFile(
        path=path,
        encoding=encoding,
        delimiter=said.separates or max(marks or [","], key=line.count),
        quote=quote,
        columns=(),
        longest=longest,
        guessed=", ".join(guessed),
        line_end=line_end,
    )
    fields = next(file.dialect.records(text.encode("utf-8", "replace")), [b""])
    names = [f.decode("utf-8", "replace").strip() or f"unnamed_{place}" for place, f in enumerate(fields, start=1)]
    if len({name.casefold() for name in names}) < len(names) and any(map(is_number, names)):
        raise looks_like_record(path)  # naming the twins would quote it
    refuse_twins(names, where=str(path))
    return replace(file, columns=tuple(names))


DAMAGED = "utf-8-damaged"  # declared as UTF-8, which some of it is not


def _private_encoding(path: Path, declared: str | None, found: str) -> tuple[str, list[str]]:
    if declared is None:
        return found, [] if found in {"utf-8-sig", "utf-16"} else ["encoding"]
    if declared in {"utf-8", "utf-8-sig"}:
        return ("utf-8-sig" if found == "utf-8-sig" else DAMAGED), []
    if declared.startswith("utf-16"):
        return declared, []
    return _declared(path, declared, found), []


def is_number(text: str) -> bool:
    """Whether a text is a number, as names of columns seldom are."""
    return _NUMBER.fullmatch(text) is not None


def looks_like_record(source: Path | str) -> SourceError:
    """The error for a first line that holds no names; it quotes nothing of it."""
    return SourceError(
        f"the first line of {source} looks like a record, not like column names",
        "put a line with the names above it (a name that is a number needs a letter in front)",
        code="SF-SOURCE-006",
    )


def inspect_csv(path: Path, written: Source | None = None) -> CsvFile:
    """Look at a file: the whole of it for its encoding and longest line, the beginning for the rest.

    What is declared is taken as declared, and nothing of it is guessed; text that cannot be in the declared encoding is
    refused, where a letter may take several bytes.
    """
    said = written or Source(path=path)
    encoding, longest, sample = run_guarded(lambda: _scan(path), doing=f"reading {path}")
    if said.encoding is not None:
        encoding = _declared(path, said.encoding, encoding)
    text = sample.decode(encoding, errors="replace")
    if not text.strip("\ufeff\x00 \t\r\n"):
        raise SourceError(
            f"{path} is empty", "point to a file with a line of column names and records below it", code="SF-SOURCE-005"
        )
    delimiter, quote = _dialect(text, said)
    guessed = [
        what
        for what, plain in (
            ("encoding", said.encoding is not None or encoding in {"utf-8-sig", "utf-16"}),
            ("quote", said.quotes is not None or quote == _quote_of_names(text)),
            ("delimiter", said.separates is not None or [delimiter] == _marks_of_names(text, quote)),
        )
        if not plain
    ]
    if said.separates is not None:
        _refuse_other_delimiter(text, said.separates, path)
    records = _records(text, delimiter, quote)
    names = [name.strip() or f"unnamed_{place}" for place, name in enumerate(records[0], start=1)]
    _refuse_data_as_names(names, records[1:], path)
    refuse_twins(names, where=str(path))
    return CsvFile(
        path=path,
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        columns=tuple(names),
        longest=longest,
        guessed=", ".join(guessed),
    )


def _declared(path: Path, declared: str, found: str) -> str:
    """The declared encoding, where the file can be read by it; UTF-8 is read with a byte order mark or without.

    Where every byte is a letter, no byte changes how another is read: one without a meaning is read alone, by
    ``transcode``, and its record is treated as any other. Refusing the file would tell that there is such a record.
    Where letters take several bytes there is no such rule, and a file that is not in the encoding is refused.
    """
    if declared in {"utf-8", "utf-8-sig"}:
        if found != "utf-8-sig":
            raise _not_so(path, declared)
        return "utf-8-sig"
    if _one_byte_a_letter(declared):
        return declared
    decoder = codecs.getincrementaldecoder(declared)()
    try:
        with _open(path) as file:
            for chunk in _chunks(file):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        wrong = True
    else:
        wrong = False
    if wrong:  # outside the except block: the decoder's error quotes the file
        raise _not_so(path, declared)
    return declared


def _one_byte_a_letter(encoding: str) -> bool:
    """Whether every byte is read at once and by itself; a decoder of longer letters holds some bytes back.

    >>> [_one_byte_a_letter(name) for name in ("cp1252", "ascii", "cp850", "utf-16", "shift_jis", "gb18030", "utf-7")]
    [True, True, True, False, False, False, False]
    """
    decoder = codecs.getincrementaldecoder(encoding)
    try:
        return all(len(decoder(errors=_AS_LATIN_1).decode(bytes([byte]))) == 1 for byte in range(256))
    except UnicodeError:
        return False


def _not_so(path: Path, declared: str) -> SourceError:
    return SourceError(
        f"{path} is not {declared} text, as its `encoding` says",
        "set `encoding` under `source` to how the file was saved, such as windows-1252 or utf-8",
        code="SF-SOURCE-007",
    )


def transcode(file: CsvFile, target: Path) -> Path:
    """The same file in UTF-8, at ``target``; for encodings that engines do not read alike."""

    def write() -> None:
        encoding = file.encoding.removesuffix("-damaged")
        # Where a letter takes several bytes they may not become letters of their own: one could be a line end.
        decoder = codecs.getincrementaldecoder(encoding)(_AS_LATIN_1 if _one_byte_a_letter(encoding) else "replace")
        with _open(file.path) as source, target.open("xb") as out:
            for chunk in _chunks(source):
                out.write(decoder.decode(chunk).encode("utf-8"))
            out.write(decoder.decode(b"", final=True).encode("utf-8"))

    run_guarded(write, doing=f"reading {file.path}")
    return target


_AS_LATIN_1 = "sfumato-as-latin-1"  # five bytes mean nothing in windows-1252 and a control character in latin-1


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return error.object[error.start : error.end].decode("latin-1"), error.end
    raise error


codecs.register_error(_AS_LATIN_1, _as_latin_1)


def _open(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb")) if is_packed(path) else path.open("rb")


def is_packed(path: Path) -> bool:
    """Whether a file is packed with gzip."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _scan(path: Path) -> tuple[str, int, bytes]:
    """Encoding, how long a line can be at most, and a sample; UTF-8 if all of the file is, else windows-1252."""
    sample = b""
    lines = _Lines()
    decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()
    with _open(path) as file:
        for chunk in _chunks(file):
            if not sample:
                sample = chunk[:_SAMPLE]
            lines.read(chunk)
            if decoder is not None and not (chunk.isascii() and not decoder.getstate()[0]):  # plain ASCII is UTF-8
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    decoder = None
    if decoder is not None:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            decoder = None
    encoding = "utf-8-sig" if decoder is not None else "windows-1252"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    return encoding, lines.longest, sample


class _Lines:
    r"""How long lines are at most, found by leaps: from one line end to the last one within reach, not to the next.

    >>> lines = _Lines()
    >>> lines.read(b"short\n" * 9 + b"long" * 100_000), lines.read(b"er\n")
    (None, None)
    >>> lines.longest
    400002
    """

    def __init__(self) -> None:
        self.longest = _LINE
        self._open = 0  # bytes since the last line end

    def read(self, chunk: bytes) -> None:
        """The next part of the file."""
        at = 0
        while at < len(chunk):
            end = chunk.rfind(b"\n", at, at + _LINE) if self._open == 0 else chunk.find(b"\n", at)
            if end < 0 and self._open == 0 and at + _LINE < len(chunk):
                end = chunk.find(b"\n", at + _LINE)
            self._open += (len(chunk) if end < 0 else end) - at
            self.longest = max(self.longest, self._open)
            at = len(chunk) if end < 0 else end + 1
            if end >= 0:
                self._open = 0


def _records(text: str, delimiter: str, quote: str) -> list[list[str]]:
    """The first records of the sample, blank lines left out."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    if quote:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    found: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # a field longer than the module's limit: what was read so far is enough
        found.extend(islice((record for record in reader if record), _RECORDS + 1))
    return found or [[text.strip()]]


def _dialect(text: str, said: Source) -> tuple[str, str]:
    """The delimiter under which most records have as many fields as the first one, and the quote; unless declared."""
    mark = '"' if said.quotes is None else said.quotes

    def agreement(delimiter: str) -> tuple[float, int]:
        records = _records(text, delimiter, mark)
        width = len(records[0])
        if width == 1:
            return 0.0, 0
        whole = records[1:-1] or records[1:] or records  # the sample may cut the last one short
        return sum(len(record) == width for record in whole) / len(whole), width

    # The first of equals: a comma where there is one column.
    delimiter = said.separates or max(DELIMITERS, key=agreement)
    if said.quotes is not None:
        return delimiter, said.quotes
    cells = [cell.strip() for record in _records(text, delimiter, '"') for cell in record if cell.strip()]
    single = sum(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)
    return delimiter, "'" if '"' not in text and single * 2 > len(cells) else '"'


def _quote_of_names(text: str) -> str:
    """The quote that the line of names shows."""
    return "'" if text.lstrip("\ufeff\r\n").startswith("'") else '"'


def _marks_of_names(text: str, quote: str) -> list[str]:
    """The delimiters that a private release may take the line of names to have: a comma where there is none."""
    return read_line_of_names(text.lstrip("\ufeff\r\n"), quote=quote, marks=DELIMITERS)[2] or [","]


def _refuse_other_delimiter(text: str, declared: str, path: Path) -> None:
    """A line of names without the declared delimiter and with another is not split as the study says."""
    names = text.lstrip("\ufeff\r\n").partition("\n")[0]
    other = next((mark for mark in DELIMITERS if mark in names), None)
    if declared not in names and other is not None:
        raise SourceError(
            f"the line of names of {path} has no {declared!r} in it, the declared delimiter, but {other!r}",
            f"set `delimiter` under `source` to {'tab' if other == chr(9) else repr(other)}",
            code="SF-SOURCE-008",
        )


def _refuse_data_as_names(names: list[str], records: list[list[str]], path: Path) -> None:
    """A first line with numbers where the column has numbers is a record; its fields must not become names."""
    columns = [[r[place] for r in records if len(r) > place and r[place].strip()] for place in range(len(names))]
    numeric = [p for p, values in enumerate(columns) if values and all(_NUMBER.fullmatch(v) for v in values)]
    if numeric and all(_NUMBER.fullmatch(names[place]) for place in numeric):
        raise looks_like_record(path)
