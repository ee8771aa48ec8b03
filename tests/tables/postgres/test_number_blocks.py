"""Answers of numbers come by column, the same as row by row."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.tables.postgres.number_blocks import ROWS, all_numbers, columns_of
from tests.tables.engines import loader


@pytest.fixture(scope="module")
def engine(request):
    return loader(request)


@pytest.fixture
def session(engine):
    from sfumato.tables.postgres.session import PostgresSession

    found = PostgresSession(f"{engine.address}/postgres", memory=10**9)
    yield found
    found.close()


EACH = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)

MANY = f"""
    SELECT n, (n % 300)::smallint AS small, (n * 7)::int AS whole, n % 3 = 0 AS truth, n * 0.5::float8 AS number,
           (n * 0.25)::float4 AS short, n - 5 AS m FROM GENERATE_SERIES(1::bigint, {2 * ROWS + 17}) AS t(n)
"""


@EACH
@pytest.mark.parametrize(
    "sql",
    [
        MANY,
        "SELECT 1 AS one WHERE FALSE",
        "SELECT MIN(n) AS least, COUNT(*) AS n FROM (SELECT 1 AS n WHERE FALSE) AS nothing",
        "SELECT CASE WHEN n > 2 THEN n END AS n, n AS m FROM GENERATE_SERIES(1, 5) AS t(n)",
        "SELECT 'a' AS word, 1 AS one",
        "SELECT 'NaN'::float8 AS a, 'Infinity'::float8 AS b, -1::smallint AS c",
    ],
)
def test_numbers_by_column_are_those_by_row(session, sql):
    found, expected = session.fetch(sql, doing="asking"), session._fetched_by_row(sql)
    assert found.schema == expected.schema
    for one, other in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one.to_numpy(), other.to_numpy())


@EACH
def test_rows_keep_the_order_that_a_query_asks_for(session):
    found = session.fetch(f"SELECT n FROM ({MANY}) AS t(n, s, w, t, f, r, m) ORDER BY n DESC", doing="asking")
    assert np.all(np.diff(found["n"].to_numpy()) == -1)


@EACH
@pytest.mark.parametrize("rows", [3, 2_000], ids=["travels with the query", "is stored"])
def test_a_lookup_table_is_the_same_on_the_server(session, rows):
    words = [None, "it's", '"a\\b" %s', *(f"word {n}" for n in range(rows - 3))]
    given = pa.table(
        {"v 0": words, "g0": pa.array([None, *range(1, rows)], pa.int64()), "b": [True, *[None] * (rows - 1)]}
    )
    name = session.put(given)
    found = session.fetch(f'SELECT * FROM "{name}"', doing="asking")
    assert sorted(found.to_pylist(), key=str) == sorted(given.to_pylist(), key=str)
    kept = session.keep(f'SELECT "g0" + 1 AS n FROM "{name}" WHERE "v 0" = \'it\'\'s\'', doing="keeping")
    assert session.fetch(f'SELECT * FROM "{kept}"', doing="asking")["n"].to_pylist() == [2]


def test_blocks_may_come_in_any_order_and_a_null_is_seen():
    one, two = np.arange(3, dtype=">i4"), np.arange(3, 5, dtype=">i4")
    assert columns_of([(1, 2, two.tobytes()), (0, 3, one.tobytes())], [23])[0].to_pylist() == [0, 1, 2, 3, 4]
    assert columns_of([(0, 4, one.tobytes())], [23]) is None
    assert columns_of([(0, 4, None)], [23]) is None
    assert all_numbers([20, 16]) and not all_numbers([20, 25]) and not all_numbers([])
