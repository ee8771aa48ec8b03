"""Two names of one table are noticed, and two tables are told apart; nothing is opened."""

import os

import pyarrow as pa
import pytest

from sfumato.study.source import Source
from sfumato.tables import is_same_table

TABLE = pa.table({"a": [1]})


@pytest.fixture
def base(tmp_path):
    for name in ("a.csv", "b.csv", "a.db", "sub/c.parquet", "odd[1].csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "soft.csv").symlink_to("a.csv")
    os.link(tmp_path / "a.csv", tmp_path / "hard.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.csv", "./sub/../a.csv"),
        ("a.csv", "soft.csv"),
        ("a.csv", "hard.csv"),
        ("*.csv", "b.csv"),
        ("a.csv", "[ab].csv"),
        ("odd[1].csv", "odd[1].csv"),
        ("gone.csv", "./gone.csv"),
        (Source(path="a.csv", encoding="latin1"), "a.csv"),
        ("sub/c.parquet", "spark+local://?path=sub"),
        ("sub/*.parquet", "spark+local://?path=sub/c.parquet&scratch=x"),
        ("duckdb:///a.db?table=t", "duckdb:///./a.db?schema=main&table=t"),
        ("duckdb:///a.db?table=t", "DUCKDB:///a.db"),  # the only table there
        ("postgresql://h/d?table=t", "postgres://me@H:5432/d?table=t&schema=public&scratch=desk"),
        ("postgresql:///d?table=t", "postgresql://localhost/d?table=t&sslmode=require"),
        ("postgresql://h/d?table=t", "postgresql:///d?host=h&table=t"),
        ("postgresql://h/d?table=t", "postgresql://h?dbname=d&table=t"),
        ("postgresql://h?table=t", "postgresql://h/d?table=t"),  # a database by the name of the user
        ("sc://h:15002?table=db.T&scratch=x", "sc://H:15002?table=db.t"),
        ("spark://h:7077?path=/p", "spark://h:7077?path=/p&scratch=q"),
        (TABLE, TABLE),
        (Source(path=TABLE, missing=("?",)), TABLE),
    ],
)
def test_one_table(base, one, other):
    assert is_same_table(one, other, base=base)
    assert is_same_table(other, one, base=base)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.csv", "b.csv"),
        ("a.csv", "gone.csv"),
        ("gone.csv", "sub/gone.csv"),
        ("duckdb:///a.db?table=t", "duckdb:///a.db?table=public"),
        ("duckdb:///a.db?table=t", "duckdb:///b.db?table=t"),
        ("postgresql://h/d?table=t", "postgresql://h/d?table=t&schema=survey"),
        ("postgresql://h/d?table=t", "postgresql://h/d?table=T"),
        ("postgresql://h/d?table=t", "postgresql://h/e?table=t"),
        ("postgresql://h/d?table=t", "postgresql://g/d?table=t"),
        ("postgresql://h/d?table=t", "postgresql://h:5433/d?table=t"),
        ("sc://h:15002?table=t", "sc://h:15002?table=s"),
        ("a.csv", "postgresql://h/d?table=a.csv"),
        ("postgresql://h:x/d?table=t", "a.csv"),  # nobody can open it
        (TABLE, pa.table({"a": [1]})),
        (TABLE, "a.csv"),
    ],
)
def test_two_tables(base, one, other):
    assert not is_same_table(one, other, base=base)
    assert not is_same_table(other, one, base=base)
