"""Figure 5 of the DiffGen paper: run time in its parts."""

import csv

import pyarrow as pa
import pytest

from papers import MohammedFigure5
from papers.mohammed_2011 import run_time as figure
from papers.mohammed_2011.run_time import Timed, facts_of
from papers.tables.blowup import blown_up

pytestmark = pytest.mark.usefixtures("seeded")


def times(records, seconds):
    return Timed(records, seconds / 2, seconds / 4, seconds / 4, 9.0, 100, 3)


def test_the_report_is_not_counted():
    assert times(1, 2.0).total == 2.0


@pytest.mark.parametrize(
    ("small", "first", "last", "agree"),
    [(1, 1, 5, [True, True, True]), (31, 100, 181, [False, False, True]), (1, 1, 6, [True, True, False])],
)
def test_what_agrees_with_the_paper(small, first, last, agree):
    found = facts_of([times(45_222, small), times(200_000, first), times(1_000_000, last)])
    assert [fact.agrees for fact in found] == agree


def test_a_table_is_blown_up_by_variations_of_its_records():
    table = pa.table({"a": list(range(100)), "b": [str(n) for n in range(100)]})
    found = blown_up(table, 1_050, as_they_are=["b"])
    assert found.num_rows == 1_050
    assert found.slice(0, 100).equals(table)
    assert found["b"].to_pylist() == [str(n % 100) for n in range(1_050)]
    changed = sum(a != n % 100 for n, a in enumerate(found["a"].to_pylist()))
    assert 220 < changed < 360, "three in ten of 950, but for those that draw the same"
    assert set(found["a"].to_pylist()) <= set(range(100))


def test_on_small_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(figure, "WHOLE", 2_000)
    monkeypatch.setattr("sfumato.workflow.report.MOST_ROWS", 0)  # no report, which takes longest
    found = MohammedFigure5(sizes=(3_000,), times=1).run(tmp_path)
    assert {file.name for file in found.files} == {
        "seconds.html", "seconds.png", "seconds.svg", "seconds.csv", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "seconds.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["records"]) for row in rows] == [2_000, 3_000]
    assert all(float(row[part]) > 0 for row in rows for part in ("reading", "anonymising", "writing", "report"))
    assert len(found.facts) == 3
