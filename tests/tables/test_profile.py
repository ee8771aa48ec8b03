import datetime as dt

import pyarrow as pa
import pytest

from sfumato.tables import open_source, profile, profile_table

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


@pytest.fixture(params=["exact", "approximate"])
def columns(request, monkeypatch):
    if request.param == "approximate":
        monkeypatch.setattr(profile, "_EXACT_CELLS", 0)
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
