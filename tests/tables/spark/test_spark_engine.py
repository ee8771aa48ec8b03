"""Tables of Spark: addresses, types, errors, and what is left behind."""

import datetime as dt
import os
import stat
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import SourceError, UsageError
from sfumato.tables import ENGINES, CodedTable, Limits, open_source, reads_once
from sfumato.tables.spark import starting
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid

SECRET = "Mrs Dalloway"
AGE = attribute("age", grid(0, 9, unit="integer"))
MANY = attribute("job", categories("a", "b", *(f"x{n}" for n in range(40))))  # a lookup table is made for it


def left_behind(spark, tables):
    asked = ("SHOW DATABASES", "SHOW VIEWS IN global_temp", "SHOW TABLES IN default")
    named = [str(row) for question in asked for row in spark.sql(question).collect() if "sfumato" in str(row)]
    return [*named, *(path.name for path in (tables.folder / "temporary").iterdir())]


def counted(source, *attributes):
    cells = CodedTable(source, attributes).full_cells()
    return dict(zip(map(tuple, cells.codes.tolist()), cells.counts.tolist(), strict=True))


def coded(source, domain):
    marked = CodedTable(source, [attribute("x", domain)]).records.marked(keep=["place"])
    return source.fetch(marked.order_by("k0"))["c0"].to_pylist()


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("spark://ann:secret@127.0.0.1?table=t", "SF-SOURCE-385"),
        ("sc://127.0.0.1:15002/;token=secret?table=t", "SF-SOURCE-385"),
        ("spark://[secret/x?table=t", "SF-SOURCE-384"),
        ("spark+local:///secret.parquet", "SF-SOURCE-386"),
        ("spark://127.0.0.1?table=t&secret=1", "SF-SOURCE-387"),
        ("spark://127.0.0.1?table=t&table=secret", "SF-SOURCE-387"),
        ("spark://127.0.0.1", "SF-SOURCE-388"),
        ("spark://127.0.0.1?table=t&path=secret", "SF-SOURCE-388"),
        ("spark+local://?path=t&format=secret", "SF-SOURCE-389"),
        ("spark+local://secret?path=t", "SF-SOURCE-390"),
        ("spark://127.0.0.1?table=secret", "SF-SOURCE-393"),
        ("sc://127.0.0.1?table=secret", "SF-SOURCE-393"),
        ("spark+local://?path=nothing.parquet", "SF-SOURCE-011"),
    ],
)
def test_addresses_that_are_refused(address, code):
    with raises_code(SourceError, code) as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


def test_without_the_library_the_extra_is_named(monkeypatch, tmp_path):
    pq.write_table(pa.table({"age": [1]}), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with raises_code(SourceError, "SF-SOURCE-394"):
        open_source("spark+local://?path=t.parquet", base=tmp_path)


def test_spark_is_not_loaded_before_it_is_needed():
    code = "import sys, sfumato, sfumato.tables; sys.exit('pyspark' in sys.modules or 'py4j' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tables_in_memory_are_left_to_the_built_in_engine():
    for name in ("spark", "sc", "spark+local"):
        with raises_code(UsageError, "SF-USAGE-393"):
            ENGINES[name].load(pa.table({"x": [1]}), name="a table", limits=Limits())


def test_nothing_is_left_behind(spark, tables):
    place = tables.store(pa.table({"age": [1, 2, 2], "job": ["a", "b", "b"]}))
    with open_source(place) as source:
        assert counted(source, AGE, MANY) == {(1, 0): 1, (2, 1): 2}
        [folder] = (tables.folder / "temporary").iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert left_behind(spark, tables)
    source.close()  # again: nothing happens
    assert left_behind(spark, tables) == []
    forgotten = open_source(place)
    counted(forgotten, AGE)
    del forgotten
    assert left_behind(spark, tables) == []


def test_large_tables_are_stored_and_not_sent_with_queries(spark, tables, monkeypatch):
    monkeypatch.setattr("sfumato.tables.spark.session._SMALL", 10)
    with open_source(tables.store(pa.table({"age": [1, 2, 2], "job": ["a", "b", "b"]}))) as source:
        assert counted(source, AGE, MANY) == {(1, 0): 1, (2, 1): 2}
    assert left_behind(spark, tables) == []


def test_results_are_kept_where_the_address_says(spark, tables):
    place = tables.store(pa.table({"age": [1, 2, 2]}))
    (tables.folder / "desk").mkdir()
    with open_source(f"{place}&scratch=file:{tables.folder}/desk") as source:
        assert counted(source, AGE) == {(1,): 1, (2,): 2}
        assert list((tables.folder / "desk").rglob("*.parquet"))
    assert not list((tables.folder / "desk").iterdir())
    with open_source(f"{place}&scratch=default") as source:
        assert counted(source, AGE) == {(1,): 1, (2,): 2}
        assert left_behind(spark, tables)
    assert left_behind(spark, tables) == []


def test_a_table_of_the_catalog(spark, tables):
    spark.sql("CREATE TABLE visits USING PARQUET AS SELECT 3 AS age")
    try:
        for name in ("visits", "default.visits", "spark_catalog.`default`.`visits`"):
            with open_source(f"spark+local://?table={name}") as source:
                assert counted(source, AGE) == {(3,): 1}
    finally:
        spark.sql("DROP TABLE visits")
    with raises_code(SourceError, "SF-SOURCE-021"):
        open_source("spark+local://?table=nothing")
    assert left_behind(spark, tables) == []


def test_paths_are_taken_literally_first(spark, tables):
    for name, age in (("visits[1].parquet", 1), ("visits1.parquet", 2), ("a b{c}%20ü.parquet", 3)):
        pq.write_table(pa.table({"age": [age]}), tables.folder / name)
    for name, age in (("visits[1].parquet", 1), ("visits[0-9].parquet", 2), ("a b{c}%2520ü.parquet", 3)):
        with open_source(f"spark+local://?path={name}", base=tables.folder) as source:
            assert counted(source, AGE) == {(age,): 1}
    with open_source("spark+local://?path=visits*.parquet", base=tables.folder) as source:
        assert counted(source, AGE) == {(1,): 1, (2,): 1}


def test_files_that_cannot_be_read(spark, tables):
    (tables.folder / "damaged.parquet").write_text(SECRET)
    with raises_code(SourceError, "SF-SOURCE-026") as caught:
        open_source("spark+local://?path=damaged.parquet", base=tables.folder)
    assert SECRET not in str(caught.value)
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), tables.folder / "empty.parquet")
    with raises_code(SourceError, "SF-SOURCE-371"):
        open_source("spark+local://?path=empty.parquet", base=tables.folder)
    with raises_code(SourceError, "SF-SOURCE-381"):
        open_source("spark+local://?path=empty.parquet&format=delta", base=tables.folder)
    pq.write_table(pa.table({"x": pa.array([1], pa.timestamp("ns"))}), tables.folder / "nano.parquet")
    with raises_code(SourceError, "SF-SOURCE-383"):
        open_source("spark+local://?path=nano.parquet", base=tables.folder)
    assert left_behind(spark, tables) == []


@pytest.mark.parametrize("failing", ["CAST(name AS INT)", "raise_error(name)"])
def test_an_error_quotes_no_value(spark, tables, failing, capfd):
    strict = spark.newSession()
    strict.conf.set("spark.sql.ansi.enabled", "true")
    strict.createDataFrame([("1",), (SECRET,)], "name string").createOrReplaceTempView("names")
    frame = strict.sql(f"SELECT {failing} AS age FROM names")
    with raises_code(SourceError, "SF-SOURCE-029") as caught, open_source(frame) as source:
        counted(source, attribute("age", categories("1", "2")))
    assert SECRET not in repr(caught.value) and caught.value.__cause__ is None and caught.value.__context__ is None
    assert SECRET not in "".join(capfd.readouterr())
    assert left_behind(spark, tables) == []


def test_a_table_that_somebody_has_in_python(spark, tables):
    import ibis

    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = spark.createDataFrame(pa.table({"age": [1, 2, 2]}))
    assert not reads_once(frame)
    with open_source(frame) as source:
        assert counted(source, AGE) == {(1,): 1, (2,): 2}
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    spark.conf.unset("spark.sql.session.timeZone")
    others = spark.newSession()  # Ibis changes the settings of a session that it uses
    others.createDataFrame(pa.table({"age": [1, 2, 2]})).createOrReplaceTempView("ages")
    table = ibis.pyspark.connect(others).table("ages")
    with open_source(table.join(ibis.memtable({"age": [2]}), "age")) as source:
        assert counted(source, AGE) == {(2,): 2}
    assert left_behind(spark, tables) == []


def test_another_spark_in_the_process_is_not_replaced(spark):
    with raises_code(SourceError, "SF-SOURCE-396", match="local"):
        open_source("spark://127.0.0.1:1?table=t&scratch=desk")


DIGITS = grid(0, 9, missing=True)
LETTERS = ["a\x0bb", "a\x0cb", "a\x07b"]
YEAR = grid(dt.date(2024, 1, 1).toordinal(), dt.date(2024, 12, 31).toordinal(), unit="day", missing=True)
TEXTS = [0.1, 12345678.5, 0.0005, 1e-05, 1.5e-07, 1e22, -2.5e300, float("inf"), -float("inf"), 1e15, 0.001]
TYPES = [
    ("double", "VALUES (1.5D, 0), (double('nan'), 1), (double('-inf'), 2), (null, 3)", DIGITS, [1, 10, 0, 10]),
    ("float", "VALUES (float(1.5), 0), (float('nan'), 1)", DIGITS, [1, 10]),
    ("decimal", "VALUES (1.50BD, 0), (9.99BD, 1)", grid(0, 9, "1/2"), [3, 18]),
    ("any case", "VALUES ('a' COLLATE UTF8_LCASE, 0), ('A' COLLATE UTF8_LCASE, 1)", categories("a", "A"), [0, 1]),
    ("moment", "VALUES (timestamp'2024-01-01 01:00:00+03:00', 0), (timestamp'2024-01-02 00:00:00Z', 1)", YEAR, [0, 1]),
    ("clock", "VALUES (timestamp_ntz'2024-01-01 23:59:59', 0), (null, 1)", YEAR, [0, 366]),
    ("interval", "VALUES (INTERVAL 1 YEAR, 0)", categories("INTERVAL '1' YEAR"), [0]),
    ("nothing", "VALUES (null, 0)", categories("a", missing=True), [1]),
    ("truth", "VALUES (true, 0), (false, 1), (null, 2)", categories("true", "false", missing=True), [0, 1, 2]),
    ("letters", "VALUES ('a\x0bb', 0), ('a\x0cb', 1), ('a\x07b', 2)", categories(*LETTERS), [0, 1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "domain", "expected"), [t[1:] for t in TYPES], ids=[t[0] for t in TYPES])
def test_types_of_spark(spark, values, domain, expected):
    with open_source(spark.sql(f"SELECT col1 AS x, col2 AS place FROM {values}")) as source:
        assert coded(source, domain) == expected


def test_floats_have_the_text_that_python_gives_them(spark, tables):
    domain = categories(*map(str, TEXTS))
    with open_source(tables.store(pa.table({"x": TEXTS, "place": range(len(TEXTS))}))) as source:
        assert coded(source, domain) == domain.encode(TEXTS).tolist()


def test_columns_of_other_types_are_left_alone(spark):
    odd = "3 AS age, X'00ff' AS b, map('a', 1) AS m, struct(1 AS x) AS s, array(array(1)) AS l, parse_json('1') AS v"
    with open_source(spark.sql(f"SELECT {odd}")) as source:
        assert counted(source, AGE) == {(3,): 1}
        for name in "bms":
            with raises_code(SourceError, "SF-SOURCE-004"):
                CodedTable(source, [attribute(name, categories("a"))])
        assert counted(source, attribute("v", categories("1"))) == {(0,): 1}


def test_decimals_with_many_places(spark, tables):
    table = pa.table(
        {"x": pa.array([Decimal("0.00000001"), Decimal(0), Decimal("12.5")], pa.decimal128(20, 8)), "place": range(3)}
    )
    with open_source(tables.store(table)) as source:
        assert coded(source, grid(0, 20)) == [0, 0, 12]


def test_a_study_is_proposed(spark, tables):
    table = pa.table({"age": [str(n % 50) for n in range(200)], "town": ["?", "Ulm", "Bonn", "Jena"] * 50})
    written = sf.describe(tables.store(table)).to_yaml()
    assert '"?"' in written and "Bonn" in written


@pytest.mark.slow
def test_spark_that_is_started_here_keeps_its_files_private_and_removes_them(tmp_path):
    """In a process of its own: this one has a Spark already."""
    pq.write_table(pa.table({"age": [1, 2, 2]}), tmp_path / "t.parquet")
    program = (
        "import sys, tempfile, pathlib\n"
        "from sfumato.tables import CodedTable, open_source\n"
        "from tests.tables.spark.test_spark_engine import AGE, counted\n"
        "source = open_source('spark+local://?path=t.parquet', base=sys.argv[1], threads=1, memory_limit='20MB')\n"
        "assert counted(source, AGE) == {(1,): 1, (2,): 2}\n"
        "modes = {path.stat().st_mode & 0o777 for path in pathlib.Path(tempfile.gettempdir()).glob('sfumato-*')}\n"
        "assert modes == {0o700}, modes\n"
    )
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        check=True,
        capture_output=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        cwd=Path(__file__).parents[3],
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert [path.name for path in (tmp_path / "temporary").iterdir() if "sfumato" in path.name] == []


def test_without_java_it_is_said(spark, tmp_path):
    program = (
        "from sfumato.errors import SourceError\n"
        "from sfumato.tables import open_source\n"
        "try:\n    open_source('spark+local://?table=t')\n"
        "except SourceError as error:\n    assert error.code == 'SF-SOURCE-379', error\n"
        "else:\n    raise AssertionError\n"
    )
    (tmp_path / "bash").symlink_to("/bin/bash")
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PATH": str(tmp_path), "TMPDIR": str(tmp_path)}, cwd=tmp_path
    )


@pytest.mark.parametrize(
    ("limit", "java"), [("4 GiB", "4096m"), ("1GB", "953m"), ("1.5GiB", "1536m"), ("512", "512m"), ("20MB", "512m")]
)
def test_memory_is_said_as_java_reads_it_and_is_enough_to_start(limit, java):
    assert starting._java_memory(limit) == java
