"""Figures 4, 6, 7 and 8 of Sattar et al. 2014: answers and histograms of releases and with noise, on a made table."""

import csv
from dataclasses import replace
from fractions import Fraction
from math import tanh

import numpy as np
import pytest

from papers import SattarFigure4, SattarFigure6, SattarFigure7, SattarFigure8
from papers.sattar_2014 import histograms, laplace, queries
from papers.sattar_2014 import laplace_answers as noise
from papers.tables.acs import SALARY
from sfumato.privacy.dp.sampling import SecureSource
from tests.papers.figures.made_survey import made_survey

pytestmark = pytest.mark.usefixtures("seeded")

MADE = (1_500, 2_500)  # of fewer a release may not be feasible
FILES = {".html", ".png", ".svg", ".csv"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("tables"), 4_500)


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def named(found, name):
    return {f"{name}{ending}" for ending in FILES} <= {file.name for file in found.files}


def test_noise_for_each_answer_is_charged_for_every_one(monkeypatch):
    asked = []

    class Watched(noise.Accountant):
        def __init__(self, budget):
            super().__init__(budget)
            asked.append(self)

    monkeypatch.setattr(noise, "Accountant", Watched)
    scales = []
    drawn = noise.noisy_counts
    monkeypatch.setattr(
        noise,
        "noisy_counts",
        lambda counts, *, sensitivity, grant, source: (
            scales.append(sensitivity),
            drawn(counts, sensitivity=sensitivity, grant=grant, source=source),
        )[1],
    )
    counts = np.zeros((50, 20), dtype=np.int64)
    each = noise.apiece(counts, Fraction(1, 10), answers=50, source=SecureSource())
    all_of_them = noise.together(counts, Fraction(1, 10), answers=50, source=SecureSource())
    assert [account.spent for account in asked] == [Fraction(5), Fraction(1, 10)]
    assert scales == [50, 50]
    assert each.shape == all_of_them.shape == counts.shape
    # The mean of |noise| is about the scale, 10 and 500; of 1,000 draws a fifth more or less is six standard errors.
    assert 8 < np.abs(each).mean() < 12
    assert 400 < np.abs(all_of_them).mean() < 600


def test_figure_4_on_a_made_table(made, tmp_path):
    quick = queries.Draws(k=(5, 20), queries=0.1)
    found = SattarFigure4(data=made, sizes=MADE, draws=quick).run(tmp_path, workers=1)
    assert named(found, "errors")
    rows = rows_of(tmp_path / "errors.csv")
    releases = {row["release"] for row in rows}
    assert len(releases) == 5
    assert {row["kind"] for row in rows} == set(queries.KINDS)
    assert all(float(row["error"]) >= 0 and int(row["queries"]) > 0 for row in rows)
    assert {row["k"] for row in rows if "Max.k" in row["release"]} <= {"5", "20"}
    assert [fact.printed for fact in found.facts] == ["always"] * 4
    assert all(fact.why for fact in found.facts if fact.agrees is False)


def answer(release, error, kind="small", records=400):
    return queries.Answered(SALARY, records, release, None, kind, error, error, 1_000)


def test_one_point_is_enough_to_contradict_always():
    other = queries.mondrian(queries.TREES, queries.MAX_K)
    same = queries.mondrian(queries.TREES, queries.AVG_K)
    fine = [answer(queries.CAPPED, 0.1), answer(other, 0.2), answer(same, 0.3)]
    broken = [*fine, *(answer(name, 0.1, kind="large") for name in (queries.CAPPED, other, same))]
    assert [fact.agrees for fact in queries.facts_of(fine, [queries.TREES])] == [True, True]
    said = queries.facts_of(broken, [queries.TREES])
    assert [fact.agrees for fact in said] == [False, False]
    assert "2.00 to 2.00 times as large (small)" in said[0].ours


def test_figure_6_on_a_made_table(made, tmp_path):
    found = SattarFigure6(data=made, sizes=MADE, queries=8_000).run(tmp_path, workers=1)
    assert named(found, "unchanged")
    rows = rows_of(tmp_path / "unchanged.csv")
    assert len(rows) == 2 * 2 * len(laplace.EPSILONS)
    for row in rows:
        assert int(row["queries"]) == 8_000
        share, formula = float(row["share"]), tanh(float(row["epsilon"]) / 2)
        if row["published"] == laplace.AS_DRAWN:
            assert abs(share - formula) < 0.03, "more than five standard deviations"
        else:  # an answer of 0 stays 0 wherever noise is not above it: at least half of them
            zeros = int(row["zeros"]) / 8_000
            assert abs(share - formula - zeros * (1 - formula) / 2) < 0.03
    assert found.facts[0].agrees is False
    assert "0.62" in found.facts[0].why


def test_figure_7_on_a_made_table(made, tmp_path):
    found = SattarFigure7(data=made, sizes=MADE[:1], queries=0.1).run(tmp_path, workers=1)
    assert named(found, "errors")
    rows = rows_of(tmp_path / "errors.csv")
    assert {row["release"] for row in rows} == {queries.CAPPED, laplace.APIECE, laplace.TOGETHER}
    by = {(row["sensitive"], row["records"], row["kind"], row["release"]): float(row["error"]) for row in rows}
    for (*key, release), error in by.items():
        if release == laplace.APIECE:
            assert by[(*key, laplace.TOGETHER)] > error, "more than ten times the noise"


def test_the_papers_sentence_is_about_small_queries_alone():
    def said(small, large):
        found = [answer(queries.CAPPED, 0.5), answer(laplace.APIECE, small), answer(laplace.TOGETHER, 9)]
        found += [replace(one, kind="large", error=0.5) for one in found[:1]]
        found += [answer(laplace.APIECE, large, "large"), answer(laplace.TOGETHER, 9, "large")]
        return [fact.agrees for fact in laplace.facts_7(found)]

    assert said(0.6, 0.4) == [True, None, None, None]
    assert said(0.4, 0.6) == [False, None, None, None]


def test_figure_8_on_a_made_table(made, tmp_path):
    found = SattarFigure8(data=made, sizes=MADE[:1], classes=40).run(tmp_path, workers=1)
    assert named(found, "distances")
    rows = rows_of(tmp_path / "distances.csv")
    assert len(rows) == 2 * len(histograms.KINDS) * len(histograms.MEASURES) * 2
    assert all(float(row["distance"]) > 0 and 0 < int(row["classes"]) <= 40 for row in rows)
    wide, narrow = (
        [float(row["in_class"]) for row in rows if row["kind"] == kind] for kind in (histograms.WIDE, histograms.NARROW)
    )
    assert min(wide) > max(narrow)
    assert len(found.facts) == 4
    assert all(fact.why for fact in found.facts if fact.agrees is False)


@pytest.mark.slow
def test_on_the_survey(shared_data, tmp_path):
    """The smallest samples: Mondrian along taxonomies is behind, and noise is ahead where counts are large."""
    four = SattarFigure4(data=shared_data, sizes=(25_000,)).run(tmp_path / "4", workers=2)
    assert [fact.agrees for fact in four.facts[:2]] == [True, True]
    seven = SattarFigure7(data=shared_data, sizes=(25_000,)).run(tmp_path / "7", workers=2)
    assert [fact.agrees for fact in seven.facts[:4]] == [False, None, None, True]
