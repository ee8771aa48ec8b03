"""How a source is written, as the study declares it: encoding, delimiter, quote, and texts that mean nothing."""

import csv
import gzip
from encodings.aliases import aliases

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from sfumato.errors import SourceError, StudyError
from sfumato.study.file import study_from_text
from sfumato.study.source import Source
from sfumato.tables import open_source
from sfumato.tables.csv.dialect import _one_byte_a_letter
from tests.examples import examples

SECRET = "Zaphod-4711"


def rows(source):
    with open_source(source) as table:
        return table.fetch(table.table).to_pylist()


def guessed(source):
    with open_source(source) as table:
        return table.read_as["guessed"]


def written(folder, content, name="x.csv"):
    (folder / name).write_bytes(content)
    return folder / name


def _declarable(encoding):
    try:
        return Source(path="x.csv", encoding=encoding).encoding is not None
    except StudyError:
        return False


def refused(source):
    """The error, which quotes nothing of a record."""
    with pytest.raises(SourceError) as caught:
        rows(source)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    return str(caught.value)


# --- encodings ---


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8", "utf-16", "cp850", "mac_roman", "utf-16-le"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_declared_encoding_is_read_and_nothing_is_guessed(tmp_path, encoding, packed):
    content = "città;n\nMünchen;1\nÅrhus;2\n".encode(encoding)
    path = written(tmp_path, gzip.compress(content) if packed else content, "x.csv.gz" if packed else "x.csv")
    source = Source(path=path, encoding=encoding)
    assert rows(source) == [{"città": "München", "n": "1"}, {"città": "Århus", "n": "2"}]
    assert guessed(source) == ""


def test_a_byte_that_the_guess_would_read_otherwise(tmp_path):
    """0xE9 is é in latin-1 and Ú in cp850: only the owner knows."""
    path = written(tmp_path, b"name,n\n\xe9,1\n")
    assert rows(Source(path=path, encoding="latin-1"))[0]["name"] == "é"
    assert rows(Source(path=path, encoding="cp850"))[0]["name"] == "Ú"


@pytest.mark.parametrize(("encoding", "content"), [
    ("utf-8", f"name,n\n{SECRET},1\nM\xfcnchen,2\n".encode("latin-1")),
    ("utf-16", f"name,n\n{SECRET},1\n".encode()),
    ("shift_jis", f"name,n\n{SECRET},1\n\xff,2\n".encode("latin-1")),
    ("utf-16-le", f"name,n\n{SECRET},1\n".encode("utf-16-le")[:-1]),
])  # fmt: skip
def test_text_in_another_encoding_is_refused_with_the_field_to_set(tmp_path, encoding, content):
    said = refused(Source(path=written(tmp_path, content), encoding=encoding))
    assert " text, as its `encoding` says. To fix: set `encoding` under `source` to how the file was saved" in said


@pytest.mark.parametrize(("encoding", "byte"), [("windows-1252", 0x81), ("ascii", 0xFC), ("cp1253", 0xAA)])
def test_a_byte_without_a_meaning_changes_its_own_field_alone(tmp_path, encoding, byte):
    """Python's own table has no letter for it; latin-1 has one for every byte."""
    with pytest.raises(UnicodeDecodeError):
        bytes([byte]).decode(encoding)
    without = b"name,n\nx,1\ny,2\n"
    source = Source(path=written(tmp_path, without), encoding=encoding)
    before = rows(source)
    written(tmp_path, without + bytes([byte]) + b",3\n")
    assert rows(source) == [*before, {"name": chr(byte), "n": "3"}]
    assert guessed(source) == ""


def test_no_byte_without_a_meaning_can_split_a_record():
    """Read as latin-1, such a byte is never a delimiter, a quote or the end of a line."""
    tables = {name for name in set(aliases.values()) if _declarable(name) and _one_byte_a_letter(name)}
    assert {"cp1252", "cp424", "ascii"} <= tables
    for name in tables:
        undefined = {chr(byte) for byte in range(256) if bytes([byte]).decode(name, "replace") == "\ufffd"}
        assert not undefined & set(",;\t|\"'\r\n"), name


# --- delimiters and quotes ---


@pytest.mark.parametrize(("delimiter", "mark"), [(";", ";"), ("tab", "\t"), ("\t", "\t"), ("^", "^"), ("space", " ")])
def test_a_declared_delimiter(tmp_path, delimiter, mark):
    content = f'a{mark}b\n1{mark}"x, y"\n2{mark}z\n'.encode()
    assert rows(Source(path=written(tmp_path, content), delimiter=delimiter)) == [
        {"a": "1", "b": "x, y"},
        {"a": "2", "b": "z"},
    ]


def test_a_delimiter_that_a_guess_gets_wrong(tmp_path):
    """Decimal commas: most records have as many fields by comma as by semicolon."""
    content = b"a,b;c,d\n1,5;2,5\n3,5;4,5\n"
    path = written(tmp_path, content)
    assert rows(Source(path=path, delimiter=";"))[0] == {"a,b": "1,5", "c,d": "2,5"}
    assert guessed(Source(path=path, delimiter=";")) == ""


def test_another_delimiter_than_the_declared_one_is_refused(tmp_path):
    said = refused(Source(path=written(tmp_path, f"name;n\n{SECRET};1\n".encode()), delimiter=","))
    assert "has no ',' in it, the declared delimiter, but ';'. To fix: set `delimiter` under `source` to ';'" in said
    assert rows(Source(path=written(tmp_path, b"only\nx\ny\n"), delimiter=";")) == [{"only": "x"}, {"only": "y"}]


def test_declared_quotes(tmp_path):
    path = written(tmp_path, b"a,b\n'x, y',it''s\nz,'1'\n")
    assert rows(Source(path=path, quote="'"))[0] == {"a": "x, y", "b": "it''s"}
    assert guessed(Source(path=path, quote="'")) == ""
    path = written(tmp_path, b'a,b\n5" disk,"x\n7,y\n')
    assert rows(Source(path=path, quote="none")) == [{"a": '5" disk', "b": '"x'}, {"a": "7", "b": "y"}]


@settings(max_examples=examples(quick=15, slow=200))
@given(
    table=st.lists(st.tuples(*[st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x00"), max_size=8)] * 2),
                   min_size=1, max_size=6),
    delimiter=st.sampled_from([",", ";", "\t", "|", "^"]), quote=st.sampled_from(['"', "'", "`"]),
)  # fmt: skip
def test_any_declared_way_reads_back_what_was_written(tmp_path_factory, table, delimiter, quote):
    path = tmp_path_factory.mktemp("t") / "x.csv"
    with path.open("w", encoding="latin-1", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quotechar=quote, quoting=csv.QUOTE_ALL)
        writer.writerows([("a", "b"), *table])
    found = rows(Source(path=path, encoding="latin-1", delimiter=delimiter, quote=quote))
    assert [(row["a"] or "", row["b"] or "") for row in found] == table


# --- texts that mean nothing ---


def test_marks_are_missing_values_in_columns_of_text(tmp_path):
    path = written(tmp_path, b"a,b\n?,1\n NA ,2\nx?,NA\nna,?\n")
    assert rows(Source(path=path, missing=("?", "NA"))) == [
        {"a": None, "b": "1"}, {"a": None, "b": "2"}, {"a": "x?", "b": None}, {"a": "na", "b": None},
    ]  # fmt: skip


def test_marks_in_any_kind_of_table(tmp_path):
    table = pa.table({"a": ["?", "x"], "n": [1, 2]})
    parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, table.to_pandas(), tmp_path / "t.parquet"):
        assert rows(Source(path=source, missing=("?",))) == [{"a": None, "n": 1}, {"a": "x", "n": 2}]
    assert rows(Source(path=pd.DataFrame({"n": [1]}), missing=("1",))) == [{"n": 1}], "numbers are no texts"


# --- what does not go ---


def test_only_csv_files_are_written_so(tmp_path):
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    assert "is a Parquet file. To fix: remove it" in refused(Source(path=tmp_path / "t.parquet", encoding="latin-1"))
    assert "it is a table in memory" in refused(Source(path=pa.table({"a": [1]}), quote="'"))


@pytest.mark.parametrize(
    ("source", "line", "problem"),
    [
        ("{path: a.csv, encodng: utf-8}", 2, "there is no field 'encodng' in 'source'. To fix: write 'encoding'"),
        ("{encoding: utf-8}", 2, "the field 'path' is missing in 'source'"),
        ("\n  path: a.csv\n  encoding: klingon", 4, "there is no encoding 'klingon'"),
        ("\n  path: a.csv\n  encoding: rot13", 4, "there is no encoding 'rot13'"),
        ("\n  path: a.csv\n  delimiter: ;;", 4, "the delimiter of a file is one mark, not ';;'"),
        ("\n  path: a.csv\n  delimiter: x", 4, "the delimiter of a file is one mark, not 'x'"),
        ("\n  path: a.csv\n\n  quote: 'double'", 5, "the quote of a file is one mark, not 'double'"),
        ("{path: a.csv, quote: ';', delimiter: ';'}", 2, "the delimiter and the quote of a file are the same"),
        ("{path: ''}", 2, "the study has no source"),
        ("", 2, "the study has no source"),
        ("{path: a.csv, missing: {a: b}}", 2, "a list is expected here"),
    ],
)
def test_what_is_wrong_names_its_line(source, line, problem):
    with pytest.raises(StudyError) as caught:
        study_from_text(f"name: a\nsource: {source}\nattributes: {{sex: {{role: class, values: [f, m]}}}}\n")
    assert str(caught.value).startswith(f"study.yaml, line {line}: {problem}"), str(caught.value)
