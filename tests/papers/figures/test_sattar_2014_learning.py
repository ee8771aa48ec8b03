"""Figures 5 and 9 of Sattar et al. 2014: classification, on a part of the packaged table."""

import csv

import numpy as np
import pytest

from papers import SattarFigure5, SattarFigure9
from papers.sattar_2014 import classifiers as figure
from papers.sattar_2014.classifiers import CAPPED, FOUR, PRIVATE, RAW, Learnt, facts_5, facts_9, people

pytestmark = pytest.mark.usefixtures("seeded")

FILES = {"accuracy.html", "accuracy.png", "accuracy.svg", "accuracy.csv", "comparison.md", "comparison.json"}


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_both_methods_see_the_same_records():
    who = people(30)
    assert [a.name for a in who.view.quasi] == list(figure.SIX)
    assert len(who.codes["age"]) == len(who.private_codes["age"]) == -(-45_222 // 30)
    assert np.array_equal(who.codes["salary"], who.codes["income"])
    for name in ("age", "race"):
        here, there = who.view.domain(name), next(a.domain for a in who.private.predictors if a.name == name)
        assert [here.label(c, c + 1) for c in who.codes[name][:50]] == [
            there.label(c, c + 1) for c in who.private_codes[name][:50]
        ]
    assert who.sample().cells.counts.sum() == len(who.codes["age"])


def learnt(release, *folds, k=None):
    return [Learnt(release, k, name, folds) for name in FOUR]


@pytest.mark.parametrize(
    ("theirs", "agrees"), [((0.80, 0.81), True), ((0.84, 0.85), False), ((0.81, 0.84), None)]
)  # fmt: skip
def test_better_in_all_cases_means_beyond_the_noise(theirs, agrees):
    found = [*learnt(CAPPED, 0.82, 0.83), *learnt(RAW, 0.825, 0.835), *learnt("Mondrian, Avg.k", *theirs, k=9)]
    against, close = facts_5(found)
    assert against.agrees is agrees
    assert "(k = 9)" in against.what
    assert close.agrees is True
    assert facts_5([*learnt(CAPPED, 0.80, 0.80), *learnt(RAW, 0.83, 0.83)])[0].agrees is False


@pytest.mark.parametrize(
    ("theirs", "agrees"), [((0.78, 0.79), True), ((0.84, 0.85), False), ((0.80, 0.84), None)]
)  # fmt: skip
def test_significantly_lower_is_said_of_the_papers_epsilon_alone(theirs, agrees):
    found = [Learnt(CAPPED, None, FOUR[0], (0.82, 0.83)), *(Learnt(n, None, FOUR[0], theirs) for n in PRIVATE)]
    assert [fact.agrees for fact in facts_9(found)] == [agrees, agrees, None, None, None, None]


def test_figure_5_on_a_part_of_the_table(tmp_path):
    found = SattarFigure5(folds=2, every=60, tried=(5, 50)).run(tmp_path, workers=1)
    assert {file.name for file in found.files} == FILES
    rows = rows_of(tmp_path / "accuracy.csv")
    assert len(rows) == 6 * len(FOUR)
    assert {row["k"] for row in rows if "Max.k" in row["release"]} <= {"5", "50"}
    assert all(60 < float(row["ca"]) < 95 for row in rows)
    assert len(found.facts) == 5


def test_figure_9_on_a_part_of_the_table(tmp_path):
    told = []
    found = SattarFigure9(folds=2, every=30).run(tmp_path, workers=1, progress=lambda *what: told.append(what[1:]))
    assert {file.name for file in found.files} == FILES
    assert len(rows_of(tmp_path / "accuracy.csv")) == 2 + len(PRIVATE)
    assert told == sorted(told)
    assert told[-1] == (2 * (1 + len(PRIVATE)),) * 2


@pytest.mark.slow
def test_on_the_packaged_table(tmp_path):
    """Capped confidence is close to the raw records, and DiffGen at ε = 0.1 is far below."""
    nine = SattarFigure9().run(tmp_path, workers=2)
    assert [fact.agrees for fact in nine.facts[:2]] == [True, True]
    ca = {row["release"]: float(row["ca"]) for row in rows_of(tmp_path / "accuracy.csv")}
    assert 0 < ca[RAW] - ca[CAPPED] + 0.5 < 1.5
