import gzip
import stat

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ibis.expr import operations as ops
from pyarrow import parquet

from sfumato.errors import SourceError, UsageError
from sfumato.tables import ENGINES, open_source
from sfumato.tables.csv.dialect import inspect_csv
from tests.raising import raises_code

SECRET = "Zaphod-4711"


def rows(source) -> list[dict]:
    return source.fetch(source.table).to_pylist()


def read(path, content: str | bytes, **options) -> list[dict]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_source(path, **options) as source:
        return rows(source)


def refused(source, *words: str, **options) -> SourceError:
    """The error that opening gives; nothing of a record may be in it, nor in what it hangs on."""
    with pytest.raises(SourceError) as caught, open_source(source, **options) as opened:
        rows(opened)
    error = caught.value
    for word in words:
        assert word in str(error)
    assert SECRET not in str(error)
    assert error.__cause__ is None and error.__context__ is None
    return error


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_file_is_text_in_any_dialect(tmp_path, delimiter, end):
    lines = [["name", "born", "note"], ["Ann", "007", '"a\r\nb, ""c""; d|e"'], ["", "1.0", "x"]]
    found = read(tmp_path / "people.csv", end.join(delimiter.join(line) for line in lines) + end)
    assert found == [
        {"name": "Ann", "born": "007", "note": 'a\r\nb, "c"; d|e'},
        {"name": None, "born": "1.0", "note": "x"},
    ]


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"],
    ids=["utf-8", "bom", "latin-1", "cp1252", "utf-16"],
)
def test_encodings(tmp_path, encoding):
    text = "città,n\nMünchen,1\n"
    assert read(tmp_path / "x.csv", text.encode(encoding)) == [{"città": "München", "n": "1"}]
    if encoding == "cp1252":
        assert read(tmp_path / "x.csv", "a,b\n€,\x81\n".encode("cp1252", errors="replace")) == [{"a": "€", "b": "?"}]
        assert read(tmp_path / "x.csv", b"a,b\n\x80,\x81\n") == [{"a": "€", "b": "\x81"}]


def test_bad_utf_8_late_in_a_long_file_is_noticed(tmp_path):
    found = read(tmp_path / "x.csv", b"a,b\n" + b"plain,text\n" * 500_000 + b"caf\xe9,1\n")
    assert sum(row["a"] == "café" for row in found) == 1


def test_packed_and_single_quoted_and_one_column(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    with open_source("x.csv.gz", base=tmp_path) as source:
        assert rows(source) == [{"a": "1", "b": "2"}]
        assert source.read_as == {
            "format": "csv",
            "files": "1",
            "delimiter": "\t",
            "quote": '"',
            "encoding": "utf-8",
            "guessed": "",
        }
    assert read(tmp_path / "q.csv", "'a','b'\n'1,5','2'\n") == [{"a": "1,5", "b": "2"}]
    assert read(tmp_path / "one.csv", "a\nx\ny\n") == [{"a": "x"}, {"a": "y"}]
    assert read(tmp_path / "blank.csv", "a,b\n1,2\n\n3,4\n\n") == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_a_very_long_field(tmp_path):
    found = read(tmp_path / "x.csv", "a,b\n1," + "x" * 9_000_000 + '\n2,"' + "y\n" * 3_000_000 + '"\n')
    assert sorted(len(row["b"]) for row in found) == [6_000_000, 9_000_000]


def test_names_that_are_trouble(tmp_path):
    names = ["select", "it's", 'say ""hi""', "größe", "two words", "c0", "rowid", "a;b"]
    found = read(tmp_path / "x.csv", ",".join(f'"{name}"' for name in names) + "\n" + ",".join("abcdefgh") + "\n")
    assert list(found[0]) == [name.replace('""', '"') for name in names]
    assert list(read(tmp_path / "x.csv", ",a\n0,x\n")[0]) == ["unnamed_1", "a"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("\ufeff", "is empty"),
        ("a,b\n", "holds no records"),
        ("a,b,a\n1,2,3\n", "has two columns called 'a'"),
        ("Age,b,age\n1,2,3\n", "the columns 'Age' and 'age'"),
        (f"a,b\n1,2\n{SECRET}\n", "a record has more or fewer fields than the first line has names (line 3)"),
        (f"a,b\n1,{SECRET},3\n1,2\n", "more or fewer fields"),
        (f'a,b\n1,"{SECRET}\n2,3\n', "a quoted field is never closed"),
        (f"39,{SECRET},0\n40,x,1\n", "looks like a record, not like column names"),
    ],
)
def test_a_bad_csv_file_is_refused_without_its_records(tmp_path, content, problem):
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    refused(path, str(path), problem)


def test_paths_that_are_none(tmp_path):
    refused("nowhere.csv", f"there is no file {tmp_path / 'nowhere.csv'}", base=tmp_path)
    refused("*.parquet", f"no file matches {tmp_path / '*.parquet'}", base=tmp_path)
    refused(tmp_path, "is a folder", "*.parquet")
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    refused(tmp_path / "x.xlsx", "does not say what format it has", ".parquet")
    (tmp_path / "x.parquet").write_bytes(SECRET.encode() * 10)
    refused(tmp_path / "x.parquet", "is damaged")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:-20])
    refused(tmp_path / "x.csv.gz", "x.csv.gz")


def test_a_file_without_permission(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n", encoding="utf-8")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sfumato.tables.csv.dialect._open", refuse)
    refused(path, "access is not permitted")


def test_globs_read_files_of_one_kind_with_the_same_columns(tmp_path):
    (tmp_path / "a1.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (tmp_path / "a2.csv").write_bytes("x;y\n3;ü\n".encode("latin-1"))
    with open_source("a*.csv", base=tmp_path) as source:
        assert sorted(row["x"] for row in rows(source)) == ["1", "3"]
        assert source.read_as["encoding"] == "utf-8, windows-1252"
    (tmp_path / "a3.csv").write_text("y,x\n1,2\n", encoding="utf-8")
    refused(tmp_path / "a*.csv", "does not have the same columns in the same order")
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    refused(tmp_path / "*[12b].*", "CSV and Parquet files together")
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "we[i]rd.parquet")
    with open_source(tmp_path / "we[i]rd.parquet") as source:
        assert rows(source) == [{"x": 1}]


def test_parquet_keeps_types_and_refuses_twins(tmp_path):
    parquet.write_table(pa.table({"n": [1, None], "f": [0.5, float("nan")]}), tmp_path / "x.parquet")
    with open_source(tmp_path / "x.parquet") as source:
        assert str(source.table["n"].type()) == "int64"
        assert source.fetch(source.table)["n"].to_pylist() == [1, None]
    parquet.write_table(pa.table([[1], [2]], names=["x", "X"]), tmp_path / "twins.parquet")
    refused(tmp_path / "twins.parquet", "the columns 'x' and 'X'")


FRAME = pd.DataFrame({"n": [1, 2], "t": ["x", None], "c": pd.Categorical(["u", "v"]), "mixed": [1, "a"]})


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        pl.DataFrame(
            {"n": [1, 2], "t": ["x", None], "c": pl.Series(["u", "v"], dtype=pl.Categorical), "mixed": ["1", "a"]}
        ),
        pl.LazyFrame({"n": [1, 2], "t": ["x", None], "c": ["u", "v"], "mixed": ["1", "a"]}),
        pa.table({"n": [1, 2], "t": ["x", None], "c": pa.array(["u", "v"]).dictionary_encode(), "mixed": ["1", "a"]}),
    ],
    ids=["pandas", "polars", "lazy polars", "arrow"],
)
def test_tables_in_memory(table):
    with open_source(table) as source:
        assert rows(source) == [
            {"n": 1, "t": "x", "c": "u", "mixed": "1"},
            {"n": 2, "t": None, "c": "v", "mixed": "a"},
        ]
        assert source.fetch(source.table).num_rows == 2, "it can be read again"


class Capsule:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_streams_are_read_once_and_can_be_counted_often():
    table = pa.table({"a": [1, 2, 3]})
    for stream in (table.to_reader(), Capsule(table), table.to_batches()[0]):
        with open_source(stream) as source:
            assert source.fetch(source.table).num_rows == source.fetch(source.table).num_rows == 3


def test_what_is_no_table_is_refused():
    refused(42, "a int is not a table")
    refused(pa.table({"a": pa.array([], pa.int64())}), "holds no records")
    refused(pa.table([[1], [2]], names=["a", "a"]), "two columns called 'a'")
    refused(pd.DataFrame([[1, 2]], columns=["a", "a"]), "the pandas table has two columns called 'a'")


def test_an_ibis_table_is_read_through_its_own_connection_which_stays_open():
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE t AS SELECT range AS n FROM range(10)")
    table = ibis.table({"n": "int64"}, name="t")
    bound = ops.DatabaseTable(name="t", schema=table.schema(), source=backend).to_expr()
    with open_source(bound.filter(bound.n > 6)) as source:
        assert sorted(row["n"] for row in rows(source)) == [7, 8, 9]
    assert backend.con.execute("SHOW TABLES").fetchall() == [("t",)], "nothing of ours is left behind"


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "clinic.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS n, 'x'::ENUM('x', 'y') AS kind")
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.visits AS SELECT 2 AS n")
        connection.execute('CREATE TABLE "odd ""name" AS SELECT 3 AS n')
    return path


def test_duckdb_files(database):
    with open_source("duckdb:///clinic.db?table=visits&schema=main", base=database.parent) as source:
        assert rows(source) == [{"n": 1, "kind": "x"}]
    with open_source(f"duckdb:///{database}?table=odd%20%22name") as source:
        assert rows(source) == [{"n": 3}]
    with open_source(f"duckdb:///{database}?table=visits&schema=old") as source:
        assert rows(source) == [{"n": 2}]
    refused(f"duckdb:///{database}?table=nope", "no table 'nope'", 'one of: odd "name, visits, old.visits')
    refused(f"duckdb:///{database}", "3 tables to choose from")
    refused("duckdb:///nope.db?table=t", "there is no file", base=database.parent)
    refused("duckdb://?table=t", "not complete")


def test_a_duckdb_file_is_opened_for_reading_only(database):
    with open_source(f"duckdb:///{database}?table=visits&schema=main") as source, pytest.raises(SourceError):
        source.session.run("INSERT INTO source.main.visits VALUES (9, 'y')", doing="writing")


def test_engines_that_are_not_there_are_refused_without_the_address():
    error = refused("oracle://ann:secret@db/x?table=t", "there is no engine for 'oracle:' addresses yet")
    assert "secret" not in str(error)
    assert "duckdb://" in error.fix and "postgresql://" in error.fix
    assert list(ENGINES) == ["duckdb", "postgresql", "sc", "spark", "spark+local"]


def test_limits_that_are_none():
    with raises_code(UsageError, "SF-USAGE-077"):
        open_source(pa.table({"a": [1]}), memory_limit="plenty")


def test_the_private_folder_is_private_and_goes_with_the_source():
    source = open_source(pa.table({"a": [1]}))
    folder = source.session.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    source.close()
    source.close()
    assert not folder.exists()


@pytest.mark.parametrize("length", [10, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20, 3_000_000])
def test_a_long_line_is_known_wherever_it_stands(tmp_path, length):
    long = b"x" * length
    for before, after in ((0, 0), (1, 3), (140_000, 5), (30, 140_000)):
        path = tmp_path / f"{before}.csv"
        path.write_bytes(b"a\n" + b"1\n" * before + long + b"\n" + b"2\n" * after)
        assert length <= inspect_csv(path).longest <= max(length, 1 << 18)
        with open_source(path) as source:
            assert max(len(row["a"]) for row in rows(source)) == length


def test_a_character_between_two_parts_of_a_long_file_is_no_damage(tmp_path):
    for shift in range(4):
        text = "a\n" + "x" * shift + ("plain\n" * 200_000 + "é€😀\n") * 2
        (tmp_path / "x.csv").write_text(text, encoding="utf-8")
        assert inspect_csv(tmp_path / "x.csv").encoding == "utf-8-sig"
    (tmp_path / "x.csv").write_bytes(b"a\n" + b"x" * ((1 << 20) - 3) + b"\xe9" + b"plain\n" * 10)
    assert inspect_csv(tmp_path / "x.csv").encoding == "windows-1252"
