"""Figures 2 and 3 and Table 5 of Sattar et al. 2014: on a made table, and on the real one where it is at hand."""

import csv

import numpy as np
import pytest

from papers import FIGURES, SattarFigure2, SattarFigure3, figure_on
from papers.parallel import side_by_side
from papers.sattar_2014.mondrian import TABLE_5, K
from papers.sattar_2014.suppression import CHOSEN, SIZES, THRESHOLDS, Needed, Tried, _facts, needed
from papers.tables.acs import OCCUPATION, SALARY, Survey
from sfumato.errors import SourceError, UsageError
from sfumato.progress import silent
from tests.papers.figures.made_survey import made_survey

pytestmark = pytest.mark.usefixtures("seeded")

MADE = (400, 900)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("tables"), 3_000)


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_both_are_registered_and_say_what_they_need(monkeypatch, tmp_path):
    monkeypatch.delenv("SFUMATO_SHARED", raising=False)
    for name in ("sattar-2", "sattar-3"):
        assert "occ_sal_view.csv.gz" in FIGURES[name].needs
        with pytest.raises(UsageError, match="--data FOLDER"):
            figure_on(name, None).run(tmp_path)
        with pytest.raises(SourceError, match="does not hold the records"):
            figure_on(name, tmp_path).run(tmp_path)
    with pytest.raises(UsageError, match="takes no folder"):
        figure_on("li-2a", tmp_path)


def test_the_folder_may_be_named_in_the_environment(made, monkeypatch):
    monkeypatch.setenv("SFUMATO_SHARED", str(made))
    assert len(Survey.load(None).table) == 3_000


def test_samples_are_disjoint_and_the_same_each_time(made):
    survey = Survey.load(made)
    numbered = Survey(
        survey.table.append_column("row", [np.arange(3_000)]), survey.education, survey.state, survey.occupations
    )
    first, second = (dict(numbered.samples(MADE)) for _ in range(2))
    drawn = [set(table["row"].to_pylist()) for table in first.values()]
    assert [len(rows) for rows in drawn] == list(MADE)
    assert not drawn[0] & drawn[1]
    assert all(first[size].equals(second[size]) for size in MADE)
    with pytest.raises(SourceError, match="do not fit"):
        list(survey.samples((4_000,)))


def test_salaries_are_in_fifty_classes(made):
    survey = Survey.load(made)
    records = survey.table
    domain = survey.sample(records, SALARY).view.domain(SALARY)
    assert domain.size == 50
    assert domain.encode(records[SALARY].to_pylist()).min() == 0


def test_figure_2_on_a_made_table(made, tmp_path):
    found = SattarFigure2(data=made, sizes=MADE).run(tmp_path, workers=1)
    assert {file.name for file in found.files} == {
        "suppressed.html", "suppressed.png", "suppressed.svg", "suppressed.csv", "table-4.csv", "comparison.md",
        "comparison.json",
    }  # fmt: skip
    rows = rows_of(tmp_path / "suppressed.csv")
    assert len(rows) == 2 * 2 * len(THRESHOLDS) + 4 + 2
    for what in (SALARY, OCCUPATION):
        for size in MADE:
            shares = [float(r["share"]) for r in rows if r["sensitive"] == what and int(r["records"]) == size]
            assert shares[0] >= shares[len(THRESHOLDS) - 1]
            assert all(0 <= share <= 1 for share in shares)
    assert len(found.facts) == 12
    values = {row["attribute"]: int(row["distinct"]) for row in rows_of(tmp_path / "table-4.csv")}
    assert (values["sex"], values["marital"], values["state"], values[OCCUPATION]) == (2, 5, 3, 6), "made so"
    assert all(fact.why for fact in found.facts if fact.agrees is False)
    page = (tmp_path / "suppressed.html").read_text(encoding="utf-8")
    assert "<script src" not in page and "none" in page


@pytest.mark.parametrize(("share", "agrees"), [(0.2, True), (0.05, False)])
def test_suppressed_records_that_are_not_the_rare_ones_are_explained(share, agrees):
    """A release of few suppressed records may hold none of the rare ones: the fact then differs, and says why."""
    found = [Tried(SALARY, 400, "flat", each, 360, 10, 5, 70.0, share) for each in (CHOSEN, THRESHOLDS[-1])]
    (fact,) = (f for f in _facts("Salary", found, found[:1], Needed(0.5, None, 0, 0), 0.1) if "who is" in f.what)
    assert fact.agrees is agrees
    assert fact.why


def test_the_records_beyond_the_threshold_are_counted(made):
    survey = Survey.load(made)
    sample = survey.sample(survey.table, OCCUPATION)
    found = needed(sample)
    assert found.below <= 0.6 < (found.above or 1)
    assert (found.beyond > 0) == (found.above is not None)


def test_figure_3_on_a_made_table(made, tmp_path):
    found = SattarFigure3(data=made, sizes=(200, 400)).run(tmp_path, workers=1)
    assert {file.name for file in found.files} == {
        "broken.html", "broken.png", "broken.svg", "broken.csv", "table-5.csv", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = rows_of(tmp_path / "broken.csv")
    assert len(rows) == 2 * 2 * 3 * len(K)
    assert all(int(row["groups"]) * int(row["k"]) <= int(row["records"]) for row in rows)
    assert [fact.agrees for fact in found.facts if "Avg.k" in fact.what] == [None, None], "not the paper's sizes"


def test_work_side_by_side_comes_back_in_order():
    told = []
    found = side_by_side(divmod, [(7, 2), (9, 4), (5, 5)], 2, lambda what, done, total: told.append((done, total)))
    assert found == side_by_side(divmod, [(7, 2), (9, 4), (5, 5)], 1, silent) == [(3, 1), (2, 1), (1, 0)]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.slow
def test_figure_2_on_the_survey(shared_data, tmp_path):
    found = SattarFigure2(data=shared_data).run(tmp_path, workers=2)
    rows = rows_of(tmp_path / "suppressed.csv")[: 2 * len(SIZES) * len(THRESHOLDS)]
    assert len(rows) == 2 * len(SIZES) * len(THRESHOLDS)
    for what in (SALARY, OCCUPATION):
        at = [float(r["share"]) for r in rows if r["sensitive"] == what and r["distortion"] == "0.6"]
        assert 0.02 < at[0] < 0.05, "not none, as the paper says"
        assert at[-1] < 0.005
    who = [fact for fact in found.facts if "who is suppressed" in fact.what]
    assert [fact.agrees for fact in who] == [True, True]


@pytest.mark.slow
def test_figure_3_on_the_survey(shared_data, tmp_path):
    found = SattarFigure3(data=shared_data).run(tmp_path, workers=2)
    assert len(rows_of(tmp_path / "broken.csv")) == (2 * len(TABLE_5) + 2 * 2 * 2) * len(K)
    for what in ("Salary", "Occupation"):
        (average,) = (fact.ours for fact in found.facts if fact.what == f"{what}: Avg.k by size")
        ours = [float(word) for word in average.split(", ")]
        assert all(abs(one - printed) < 5 for one, (_, printed) in zip(ours, TABLE_5.values(), strict=True))
