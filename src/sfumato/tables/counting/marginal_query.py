"""One query for the marginals of many attributes with one other; Ibis has no words for it, so they are written here."""

from collections.abc import Sequence


def marginal_query(coded: str, columns: Sequence[str], by: str, *, dialect: str) -> str:
    """How often each code of each column occurs beside each code of ``by``: `which` column, `code`, `class`, `n`.

    ``coded`` is a query for the columns, which are never null. Where `which` is -1, the records are counted by ``by``
    alone.

    >>> marginal_query("SELECT 1", [], "c0", dialect="duckdb").partition(" FROM")[0]
    'SELECT -1 AS which, COALESCE(-1) AS code, c0 AS class, COUNT(*) AS n'
    """
    if dialect == "pyspark":
        return _stacked(coded, columns, by)
    which = " ".join(f"WHEN {column} IS NOT NULL THEN {place}" for place, column in enumerate(columns))
    code = f"COALESCE({', '.join([*columns, '-1'])})"  # in each row of the result one column is not null
    sets = ", ".join([*(f"({column}, {by})" for column in columns), f"({by})"])
    chosen = f"{f'CASE {which} ELSE -1 END' if columns else '-1'} AS which, {code} AS code, {by} AS class"
    return f"SELECT {chosen}, COUNT(*) AS n FROM ({coded}) AS coded GROUP BY GROUPING SETS ({sets})"  # noqa: S608


def _stacked(coded: str, columns: Sequence[str], by: str) -> str:
    """A row for each code of a record: Spark groups them by three keys three times as fast as by one of many sets."""
    listed = [f"{place}, CAST({column} AS BIGINT)" for place, column in enumerate(columns)]
    rows = f"STACK({len(columns) + 1}, {', '.join([*listed, '-1, CAST(-1 AS BIGINT)'])}) AS (which, code)"
    return (
        f"SELECT which, code, class, COUNT(*) AS n FROM (SELECT {by} AS class, {rows} FROM ({coded}) AS coded) "  # noqa: S608
        "AS stacked GROUP BY which, code, class"
    )
