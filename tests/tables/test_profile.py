import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.tables import find_missing_tokens, missing_tokens, open_source, profile, profile_table
from sfumato.tables.duckdb.session import DuckSession

TABLE = pa.table(
    {
        "id": [f"P{n:05}" for n in range(100)],
        "age": [str(n % 40) for n in range(99)] + [""],
        "weight": [f"{n / 4}" for n in range(100)],
        "zip": [f"0{n % 20:04}" for n in range(100)],
        "job": ["cook", "baker", None, " "] * 25,
        "seen": [f"2024-01-{n % 28 + 1:02}" for n in range(100)],
        "born": [dt.date(1980, 1, 1) + dt.timedelta(days=n) for n in range(100)],
        "ill": ["True", "false"] * 50,
        "flag": [True, None] * 50,
        "whole": [1.0, 2.0, None, float("nan")] * 25,
        "real": [0.5, float("inf"), None, -2.0] * 25,
        "late": ["1"] * 99 + ["x"],
        "nothing": pa.array([None] * 100, pa.string()),
        "list": [[1]] * 100,
    }
)


@pytest.fixture(params=["exact", "approximate", "below each other"])
def columns(request, monkeypatch):
    if request.param == "approximate":
        monkeypatch.setattr(profile, "_EXACT_CELLS", 0)
    if request.param == "below each other":  # as a table of more than a hundred columns is read
        monkeypatch.setattr(profile, "_TOGETHER", 0)
    with open_source(TABLE) as source:
        found = profile_table(source)
    assert found.rows == 100
    return {column.name: column for column in found.columns}


def test_kinds(columns):
    assert {name: column.kind for name, column in columns.items()} == {
        "id": "text",
        "age": "integer",
        "weight": "number",
        "zip": "category",
        "job": "category",
        "seen": "date",
        "born": "date",
        "ill": "boolean",
        "flag": "boolean",
        "whole": "integer",
        "real": "number",
        "late": "category",
        "nothing": "text",
        "list": "text",
    }


def test_numbers_of_values(columns):
    found = {name: (column.distinct, column.missing) for name, column in columns.items()}
    assert found["id"] == (100, 0)
    assert found["age"] == (40, 1)
    assert found["job"] == (2, 50)
    assert found["flag"] == (1, 50)
    assert found["whole"] == (2, 50)
    assert found["nothing"] == (0, 100)


def test_bounds_and_values(columns):
    bounds = {name: (column.lower, column.upper) for name, column in columns.items() if column.lower is not None}
    assert bounds == {
        "age": ("0", "39"),
        "weight": ("0", "24.75"),
        "seen": ("2024-01-01", "2024-01-28"),
        "born": ("1980-01-01", "1980-04-09"),
        "whole": ("1", "2"),
        "real": ("-2", "0.5"),
    }
    assert columns["job"].values == ("baker", "cook")
    assert columns["whole"].values == ("1", "2")
    assert columns["age"].values[:4] == ("0", "1", "2", "3")
    assert columns["job"].mean_length == 4.5
    assert "code" in columns["id"].looks_like


def test_values_are_not_listed_where_there_are_many():
    with open_source(pa.table({"n": [str(n) + "x" for n in range(1_001)] * 2})) as source:
        (column,) = profile_table(source).columns
    assert column.distinct == 1_001
    assert column.values == ()


def test_many_columns():
    with open_source(pa.table({f'say "{n}"': ["a", "b"] for n in range(201)})) as source:
        found = profile_table(source)
    assert [column.name for column in found.columns] == [f'say "{n}"' for n in range(201)]
    assert all(column.values == ("a", "b") for column in found.columns)


def test_distributions(columns):
    found = {name: column.distribution for name, column in columns.items()}
    assert found["nothing"] is None
    assert (found["job"].labels, found["job"].counts) == (("baker", "cook"), (25, 25))
    assert (found["id"].counts, found["id"].others) == ((1,) * 20, 80)
    assert found["late"].counts == (99, 1)
    assert found["age"].labels[0] == "0 to 1"
    assert found["age"].counts[0] == 6 and sum(found["age"].counts) == 99
    assert found["real"].counts == (25, *(0,) * 18, 50)  # infinity is in the last bin
    assert found["seen"].labels[0] == "2024-01-01 to 2024-01-02" and sum(found["seen"].counts) == 100
    assert found["whole"].counts == (25, 25)
    assert all(len(one.counts) == len(one.labels) <= 20 for one in found.values() if one)


def described(source):
    """What is found in a table, also in the way of a table with very many columns."""
    with open_source(source) as table:
        marks = find_missing_tokens(table)
        return marks, profile_table(table, marks)


CELLS = st.one_of(
    st.none(), st.sampled_from(["", " ", "NA", "?", "DE", "FR", "true", "x y",
        "1,5 €", "2004-01-31", "31/1/2004", "007"]),
    st.integers(-5, 40).map(str), st.floats(-3, 3, width=16).map(str),
)  # fmt: skip


@settings(max_examples=12)
@given(
    texts=st.lists(st.lists(CELLS, min_size=6, max_size=6), min_size=1, max_size=6),
    numbers=st.lists(st.lists(st.none() | st.floats(width=32), min_size=6, max_size=6), max_size=2),
    days=st.lists(st.lists(st.none() | st.dates(), min_size=6, max_size=6), max_size=2),
)
def test_columns_below_each_other_are_found_to_be_what_they_are_side_by_side(texts, numbers, days):
    table = pa.table(
        {f"t{n}": pa.array(cells, pa.string()) for n, cells in enumerate(texts)}
        | {f"n{n}": pa.array(cells, pa.float64()) for n, cells in enumerate(numbers)}
        | {f"d{n}": pa.array(cells, pa.date32()) for n, cells in enumerate(days)}
        | {"list": pa.array([[1]] * 6), "nothing": pa.array([None] * 6)}
    )
    side_by_side = described(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "_TOGETHER", 0)
        patch.setattr(missing_tokens, "_TOGETHER", 0)
        below = described(table)
    assert below == side_by_side


def test_a_wide_csv_file_is_read_a_few_times_however_many_columns_it_has(tmp_path, monkeypatch):
    """The file is read for its form, and once by the engine; then it lies in the engine."""
    names = [f"c{n}" for n in range(250)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *(",".join(str(n * k % 7) for n in range(250)) for k in range(20))]))
    asked = []
    fetch = DuckSession.fetch

    def watched(self, sql, *, doing):
        plan = self._connection.sql(f"EXPLAIN {sql}").fetchall()[0][1]
        asked.append("READ_CSV" in plan.upper())
        return fetch(self, sql, doing=doing)

    monkeypatch.setattr(DuckSession, "fetch", watched)
    found = sf.describe(str(path))
    assert len(found.columns) == 250 and found.columns[6].column.distinct == 7
    assert sum(asked) <= 3  # whether it has a record, how many, and into the engine
    assert len(asked) <= 30


def test_an_abbreviation_for_nothing_does_not_make_numbers_text(tmp_path):
    """Incomes with a few `k.A.` among them were proposed as an identifier: nearly every record had its own text."""
    rows = [f"{800 + 7 * n},{n % 10}0;1" if n % 20 else "k.A.;1" for n in range(400)]
    (tmp_path / "pay.csv").write_text("\n".join(["Einkommen;x", *rows]) + "\n", encoding="utf-8")
    proposal = sf.describe(tmp_path / "pay.csv")
    assert proposal.columns[0].column.kind == "number" and proposal.role("Einkommen") == "sensitive"
    assert proposal.written["missing"] == ["k.A."]
