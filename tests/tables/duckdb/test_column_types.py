"""Columns of unusual types, and NaN: what a table holds beside its plain columns does not change how those are read."""

import math

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.study.attribute import Attribute, Role
from sfumato.tables import CodedTable, open_source, profile_table
from tests.raising import raises_code
from tests.small_domains import flat, grid

pytestmark = pytest.mark.error_rate(1e-12, reason="noise at ε = 10⁶ is 0 but with a chance below e^(-10⁵)")

AGES = [float(age % 90) for age in range(300)]
HOLES = (3, 50, 100, 200)
WITH_NAN = [math.nan if place in HOLES else age for place, age in enumerate(AGES)]
AGE = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 90))


def as_parquet(folder, table, *, statistics):
    parquet.write_table(table, folder / "t.parquet", write_statistics=statistics)
    return folder / "t.parquet"


def as_database(folder, table):
    with duckdb.connect(str(folder / "t.db")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t AS FROM given")
    return f"duckdb:///{folder / 't.db'}?table=t"


def as_ibis(folder, table):
    """A query of somebody else's over a Parquet file, whose statistics say nothing of NaN."""
    parquet.write_table(table, folder / "i.parquet")
    backend = ibis.duckdb.connect()
    backend.con.execute(f"CREATE VIEW t AS FROM read_parquet('{folder / 'i.parquet'}')").fetchall()
    return backend.table("t")


KINDS = {
    "Parquet with statistics": lambda folder, table: as_parquet(folder, table, statistics=True),
    "Parquet without statistics": lambda folder, table: as_parquet(folder, table, statistics=False),
    "Arrow": lambda _, table: table,
    "pandas": lambda _, table: table.to_pandas(),
    "polars": lambda _, table: pl.from_arrow(table),
    "DuckDB": as_database,
    "Ibis over Parquet": as_ibis,
    "Ibis in memory": lambda _, table: ibis.memtable(table),
}


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own call
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("way", KINDS)
def test_nan_is_a_missing_value_whatever_a_file_says_of_its_columns(tmp_path, way, kind):
    table = pa.table({"age": pa.array(WITH_NAN, kind)})
    with open_source(KINDS[way](tmp_path, table)) as source:
        coded = CodedTable(source, [AGE])
        [report] = coded.domain_violations()
        assert (report.missing, report.outside) == (4, 0)
        assert coded.full_cells().counts.sum() == 296, "the other records alone are counted"
        [column] = profile_table(source).columns
        assert (column.missing, column.upper) == (4, "89")


def test_nan_in_a_parquet_file_is_told_and_not_released(tmp_path):
    path = as_parquet(tmp_path, pa.table({"age": WITH_NAN, "ill": ["y", "n"] * 150}), statistics=True)
    study = sf.Study.from_mapping(
        {
            "name": "nan",
            "source": str(path),
            "privacy": {"budget": "2000000"},
            "attributes": {
                "age": {
                    "role": "quasi_identifier",
                    "type": "number",
                    "bounds": [0, 90],
                    "step": 1,
                    "missing": "suppress",
                },
                "ill": {"role": "class", "values": ["y", "n"]},
            },
        }
    )
    assert [report.missing for report in study.check()] == [4, 0]
    # By the discrete Laplace distribution of ε = 10⁶ the noise is 0 but with a chance far below 1e-9.
    assert study.ask("age <= 90", epsilon="1000000").count == 296


EXOTIC = {
    "uuid": "uuid()", "json": "'{\"a\": 1}'::JSON", "span": "INTERVAL 3 DAY", "tagged": "union_value(a := 1)",
    "kind": "'x'::ENUM('x', 'y')", "bytes": "'ab'::BLOB", "pair": "{'a': 1, 'b': 'x'}", "pairs": "MAP([1], ['x'])",
    "list": "[1, 2]", "words": "['a']", "nested": "[[1], [2]]", "structs": "[{'a': 1}]", "array": "[1, 2]::INTEGER[2]",
    "price": "1.50::DECIMAL(9, 2)", "huge": "'170141183460469231731687303715884105727'::HUGEINT",
    "unsigned": "'340282366920938463463374607431768211455'::UHUGEINT", "small": "7::UTINYINT",
    "nanos": "'2020-01-01 10:00:00.123456789'::TIMESTAMP_NS", "seconds": "'2020-01-01'::TIMESTAMP_S",
    "zoned": "'2020-01-01 10:00+00'::TIMESTAMPTZ", "clock": "'10:00'::TIME", "bits": "'101'::BIT", "nothing": "NULL",
    "long": "'5'::BIGNUM",
}  # fmt: skip


@pytest.fixture
def exotic(tmp_path):
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        columns = ", ".join(f'{value} AS "{name}"' for name, value in EXOTIC.items())
        connection.execute(f"CREATE TABLE t AS SELECT range % 2 AS n, {columns} FROM range(40)")
    return f"duckdb:///{tmp_path / 't.db'}?table=t"


def test_a_table_with_columns_of_unusual_types_is_described_checked_and_released(exotic, tmp_path):
    proposal = sf.describe(exotic)
    for name in EXOTIC:
        assert name in str(proposal)
    study = sf.Study.from_mapping(
        {
            "name": "exotic",
            "source": exotic,
            "privacy": {"budget": 2},
            "attributes": {
                "n": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 1], "step": 1},
                "kind": {"role": "class", "values": ["x", "y"]},
            },
        }
    )
    assert all(report.fits for report in study.check())
    assert sf.verify_bundle(study.release(sf.DiffGen(epsilon="1", h=1), out=tmp_path / "out", report=False).bundle).ok


@pytest.mark.parametrize(
    ("column", "values"),
    [("json", ['{"a": 1}']), ("span", ["3 days"]), ("clock", ["10:00:00"]), ("bits", ["101"]), ("kind", ["x"]),
     ("huge", ["170141183460469231731687303715884105727"]), ("tagged", ["1"]), ("long", ["5"])],
)  # fmt: skip
def test_values_that_have_a_text_can_be_categories(exotic, column, values):
    attribute = Attribute(name=column, role=Role.QUASI_IDENTIFIER, domain=flat(*values, "other"))
    with open_source(exotic) as source:
        assert CodedTable(source, [attribute]).domain_violations()[0].fits


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S"])
def test_days_that_python_does_not_know_are_described(tmp_path, kind):
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT unnest(['infinity', '2020-01-01'])::{kind} AS x")
    with open_source(f"duckdb:///{tmp_path / 't.db'}?table=t") as source:
        assert [(c.kind, c.lower) for c in profile_table(source).columns] == [("date", "2020-01-01")]


@pytest.mark.parametrize("column", ["bytes", "pair", "pairs"])
def test_bytes_and_structures_cannot_be_categories(exotic, column):
    attribute = Attribute(name=column, role=Role.QUASI_IDENTIFIER, domain=flat("x", "y"))
    with (
        open_source(exotic) as source,
        raises_code(SourceError, "SF-SOURCE-004", match=rf"column '{column}' of .* has the type"),
    ):
        CodedTable(source, [attribute])


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis's own call
def test_ibis_tables_in_memory_are_read_alone_and_beside_tables_of_a_database():
    """Ibis registers them only when it runs a query itself, which does not work with every DuckDB."""
    table = ibis.memtable(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}))
    for expression, expected in ((table, 3), (table.filter(table.a > 1), 2), (table.union(table), 6)):
        with open_source(expression) as source:
            assert source.fetch(source.table).num_rows == source.fetch(source.table).num_rows == expected
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE t AS SELECT range AS a FROM range(3)").fetchall()
    with open_source(backend.table("t").join(table, "a")) as source:
        found = sorted(row["b"] for row in source.fetch(source.table).to_pylist())
    assert found == ["x", "y"]
    assert backend.con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == []


def test_a_pandas_frame_as_an_ibis_table_is_read():
    with open_source(ibis.memtable(pd.DataFrame({"a": [1.5, None]}))) as source:
        assert source.fetch(source.table)["a"].to_pylist() == [1.5, None]
