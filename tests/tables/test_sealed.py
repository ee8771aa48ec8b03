"""What an engine may reach: the very files that were named, and nothing that a database's views would like to read."""

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from sfumato.errors import SourceError
from sfumato.study.source import Source
from sfumato.tables import open_source
from tests.raising import raises_code

SECRET = "Zaphod-4711"


def rows(source) -> list[dict]:
    with open_source(source) as table:
        return table.fetch(table.table).to_pylist()


# --- names of files that look like patterns ---

DECOYS = {
    "visits[1]": "visits1", "w*": "wx", "u?": "ux", "[!a]": "b", "a[b-d]e": "ace", "d[1]/x": "d1/x", "**/y": "k/y",
    "~": "plain", "it's [1]": "it's 1",
}  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", DECOYS)
def test_a_file_is_read_by_its_name_even_if_the_name_looks_like_a_pattern(tmp_path, name, ending):
    for stem, value in ((DECOYS[name], "decoy"), (name, "own")):
        path = tmp_path / f"{stem}.{ending}"
        path.parent.mkdir(exist_ok=True)
        if ending == "csv":
            path.write_text(f"a\n{value}\n", encoding="utf-8")
        else:
            parquet.write_table(pa.table({"a": [value]}), path)
    assert rows(tmp_path / f"{name}.{ending}") == [{"a": "own"}]
    with open_source(f"{name}.{ending}", base=tmp_path) as table:
        assert table.fetch(table.table).to_pylist() == [{"a": "own"}]


def test_a_pattern_that_is_no_file_is_a_pattern(tmp_path):
    for place in (1, 2):
        (tmp_path / f"v{place}.csv").write_text(f"a\n{place}\n", encoding="utf-8")
        (tmp_path / f"v[{place}].csv").write_text(f"a\n-{place}\n", encoding="utf-8")
    assert sorted(row["a"] for row in rows(tmp_path / "v?.csv")) == ["1", "2"]
    assert sorted(row["a"] for row in rows(tmp_path / "v*.csv")) == ["-1", "-2", "1", "2"]


def test_only_the_source_is_a_pattern_and_not_the_folder_it_starts_at(tmp_path):
    for folder, value in (("study [1]", "own"), ("study 1", "decoy")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v1.csv").write_text(f"a\n{value}\n", encoding="utf-8")
    with open_source("v*.csv", base=tmp_path / "study [1]") as table:
        assert table.fetch(table.table).to_pylist() == [{"a": "own"}]
    with raises_code(SourceError, "SF-SOURCE-034", match="there is no file"):
        open_source("v2.csv", base=tmp_path / "study [1]")


def test_a_file_in_another_encoding_is_read_by_its_name(tmp_path):
    (tmp_path / "v[1].csv").write_bytes("a\nü\n".encode("latin-1"))
    (tmp_path / "v1.csv").write_bytes(b"a\ndecoy\n")
    assert rows(Source(path=tmp_path / "v[1].csv", encoding="latin-1")) == [{"a": "ü"}]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_path_adds_no_column_to_a_file(tmp_path, ending):
    (tmp_path / "age=30").mkdir()
    if ending == "csv":
        (tmp_path / "age=30" / "x.csv").write_text("age\n7\n", encoding="utf-8")
    else:
        parquet.write_table(pa.table({"age": ["7"]}), tmp_path / "age=30" / "x.parquet")
    assert rows(tmp_path / "age=30" / f"x.{ending}") == [{"age": "7"}]


# --- what a query can reach ---


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.csv").write_text(f"a\n{SECRET}\n", encoding="utf-8")
    parquet.write_table(pa.table({"a": [SECRET]}), tmp_path / "secret.parquet")
    with duckdb.connect(str(tmp_path / "other.db")) as other:
        other.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS a")
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT range % 90 AS age, 'y' AS ill FROM range(200)")
        connection.execute("CREATE VIEW old AS FROM visits WHERE age > 60")
        for name, query in {
            "csv": f"FROM read_csv('{tmp_path}/secret.csv')",
            "pattern": f"FROM read_csv('{tmp_path}/s*.csv')",
            "file": f"FROM '{tmp_path}/secret.parquet'",
            "text": f"FROM read_text('{tmp_path}/secret.csv')",
            "listing": f"FROM glob('{tmp_path}/*')",
        }.items():
            connection.execute(f"CREATE VIEW {name} AS {query}")
    return tmp_path


@pytest.mark.parametrize("view", ["csv", "pattern", "file", "text", "listing"])
def test_a_view_of_a_database_reaches_no_other_file(folder, view):
    with pytest.raises(SourceError) as caught:
        rows(f"duckdb:///{folder / 'clinic.db'}?table={view}")
    assert "reads other files" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_view_of_the_databases_own_tables_is_read(folder):
    assert {row["age"] for row in rows(f"duckdb:///{folder / 'clinic.db'}?table=old")} == set(range(61, 90))


SOURCES = {
    "DuckDB": lambda folder: f"duckdb:///{folder / 'clinic.db'}?table=visits",
    "CSV": lambda folder: folder / "secret.csv",
    "Parquet": lambda folder: folder / "secret.parquet",
    "memory": lambda _: pa.table({"a": [1]}),
    "stream": lambda _: pa.table({"a": [1]}).to_reader(),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_sealed_stays_sealed(folder, kind):
    (folder / "elsewhere.csv").write_text("a\n1\n", encoding="utf-8")
    with open_source(SOURCES[kind](folder)) as source:
        for sql in (
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            f"SET allowed_directories = ['{folder}']",
            f"ATTACH '{folder / 'other.db'}' AS other",
            f"FROM read_csv('{folder / 'elsewhere.csv'}')",
            f"COPY (SELECT 1) TO '{folder / 'out.csv'}'",
            "INSTALL spatial",
        ):
            with pytest.raises(SourceError):
                source.session.run(sql, doing="trying")
    assert not (folder / "out.csv").exists()


def test_a_sealed_engine_spills_to_its_private_folder(folder):
    with open_source(SOURCES["DuckDB"](folder), memory_limit="60MB", threads=1) as source:
        kept = source.session.keep("SELECT range AS n, repeat('x', 60) || range AS t FROM range(1_500_000)", doing="-")
        assert sum(f.stat().st_size for f in source.session.folder.iterdir()) > 1_000_000
        found = source.session.fetch(f"SELECT count(DISTINCT t) AS n FROM {kept}", doing="counting")
    assert found["n"][0].as_py() == 1_500_000


def test_names_in_python_are_no_tables(folder):
    """DuckDB would find this frame by the name of the variable; a view may not read the memory of the process."""
    hidden = pa.table({"a": [SECRET]})
    assert hidden.num_rows
    with open_source(SOURCES["DuckDB"](folder)) as source, pytest.raises(SourceError):
        source.session.run("FROM hidden", doing="trying")
