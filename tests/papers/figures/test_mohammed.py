"""Figure 4 of the DiffGen paper: what is called a difference, and what is written."""

import csv
import json

import pytest

from papers import MohammedFigure4
from papers.mohammed_2011.learners import DIFFGEN, EPSILONS, PAPERS_TREE, RAW, TDS, TREES, Series, facts_of


def curves(tree=0.80, tds=0.81):
    """Ten folds each: DiffGen near 82 %, and others."""
    near = {DIFFGEN: 0.82, **dict.fromkeys(TREES, 0.5), PAPERS_TREE: tree, TDS: tds, RAW: 0.85}
    return [
        Series(name, {e: tuple(mean + wobble * 0.001 for wobble in range(-5, 5)) for e in EPSILONS})
        for name, mean in near.items()
    ]


def wobbling(found, name):
    return [
        Series(s.name, {e: tuple(reversed([2 * v - 0.82 for v in runs])) for e, runs in s.folds.items()})
        if s.name == name
        else s
        for s in found
    ]


@pytest.mark.parametrize(("tree", "says"), [(0.80, True), (0.84, False)])
def test_a_difference_that_stands_out_is_called_one(tree, says):
    facts = facts_of(curves(tree=tree))
    assert [fact.agrees for fact in facts[:3]] == [says] * 3
    assert all(fact.why for fact in facts if not fact.agrees)
    assert facts[0].what.startswith("ε = 0.75")


def test_a_difference_within_the_noise_is_not_called_one():
    facts = facts_of(wobbling(curves(tree=0.8195), PAPERS_TREE))
    assert [fact.agrees for fact in facts[:3]] == [None] * 3
    assert "points" in facts[0].ours


def test_what_else_the_paper_says():
    high, tds = facts_of(curves(tree=0.825, tds=0.83))[3:]
    assert (high.agrees, high.ours) == (True, "DiffGen is at most 0.50 points behind")
    assert (tds.agrees, tds.ours) == (False, "ahead at 0 of 5 ε; TDS has 82.95")


def test_table_plot_and_comparison_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(MohammedFigure4, "series", lambda self, **_: curves())
    found = MohammedFigure4().run(tmp_path / "figure")
    assert {file.name for file in found.files} == {
        "figure.csv", "figure.html", "figure.svg", "figure.png", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "figure" / "figure.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(curves()) * len(EPSILONS)
    assert rows[0] == {"series": DIFFGEN, "epsilon": "0.75", "ca": "81.95", "error": "0.096", "folds": "10"}
    assert len(json.loads((tmp_path / "figure" / "comparison.json").read_text(encoding="utf-8"))) == 5


@pytest.mark.slow
def test_the_figure_on_the_packaged_table(tmp_path):
    """Two folds, once: every private curve lies between the most frequent class (75 %) and the raw table."""
    found = {s.name: s for s in MohammedFigure4(folds=2, repeats=1).series(workers=2)}
    assert all(77 < s.mean(e) < found[RAW].mean(e) + 0.5 for s in found.values() for e in EPSILONS)
