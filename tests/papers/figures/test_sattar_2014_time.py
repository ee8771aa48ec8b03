"""Figure 10 of Sattar et al. 2014: run time, on a made table."""

import csv

import pytest

from papers import SattarFigure10
from papers.sattar_2014.run_time import CAPPED, MONDRIAN, THRESHOLDS, Timed, facts_of
from tests.papers.figures.made_survey import made_survey

pytestmark = pytest.mark.usefixtures("seeded")


def timed(records, release, distortion, seconds):
    return Timed(records, release, distortion, None, 0.0, seconds, seconds, 10, 1)


def facts(first, last, beside):
    found = [timed(n, CAPPED, each, s) for n, s in ((200, first), (1_000, last)) for each in THRESHOLDS]
    return facts_of([*found, *(timed(n, MONDRIAN, "", beside) for n in (200, 1_000))])


@pytest.mark.parametrize(
    ("first", "last", "beside", "agrees"),
    [(1, 4.9, 3.0, [True, False]), (1, 5.1, 0.9, [False, False]), (1, 1.5, 0.9, [True, True])],
)
def test_what_scales_well_and_what_is_slightly_longer(first, last, beside, agrees):
    found = facts(first, last, beside)
    assert [fact.agrees for fact in found] == [agrees[0]] * len(THRESHOLDS) + agrees[1:]
    assert all(fact.why for fact in found if not fact.agrees)


def test_on_a_made_table(tmp_path):
    made = made_survey(tmp_path / "tables", 2_000)
    figure = SattarFigure10(data=made, base=1_000, sizes=(2_000, 3_000), times=1)
    told = []
    found = figure.run(tmp_path / "out", progress=lambda *what: told.append(what))
    assert {file.name for file in found.files} == {
        "seconds.html", "seconds.png", "seconds.svg", "seconds.csv", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "out" / "seconds.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["records"]) for row in rows] == [2_000] * 4 + [3_000] * 4
    assert all(float(row[part]) > 0 for row in rows for part in ("counting", "grouping", "clock", "seconds"))
    assert all(int(row["k"]) >= 2 for row in rows if row["release"] == MONDRIAN)
    assert any("3,000 records" in what for what, _, _ in told)
