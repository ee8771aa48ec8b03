"""Table II and section VI of Zaman & Obimbo 2014: the worked example, and the pipeline on a made table."""

import csv
from fractions import Fraction

import pytest

from papers import ZamanPipeline, ZamanTable2, figure_on
from papers.zaman_2014 import purposes as pipeline
from papers.zaman_2014 import worked_example as table
from papers.zaman_2014.purposes import CLASSES, PURPOSES, WIDE, Classified, facts_of
from sfumato.errors import SourceError, UsageError
from tests.papers import test_zaman_2014 as typed_again
from tests.papers.figures.made_encounters import made_encounters

pytestmark = pytest.mark.usefixtures("seeded")


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_the_tables_are_those_typed_in_elsewhere():
    assert list(table.TABLE_I) == typed_again.TABLE_I
    assert table.TABLE_II == typed_again.TABLE_II


def test_table_2(tmp_path):
    found = ZamanTable2().run(tmp_path)
    assert {file.name for file in found.files} == {
        "table-2.html", "table-2.png", "table-2.svg", "table-2.csv", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = {(row["sex"], row["codes"], row["target"]): row for row in rows_of(tmp_path / "table-2.csv")}
    assert {group: int(row["printed"]) for group, row in rows.items()} == table.TABLE_II
    # Counted by hand from Table I: who has codes of both nodes, and who of 1* alone.
    assert {group: int(row["exact"]) for group, row in rows.items()} == {
        ("Female", "1*", "Y"): 1, ("Female", "1*", "N"): 1, ("Male", "1*", "Y"): 0, ("Male", "1*", "N"): 1,
        ("Female", "1*, 3*", "Y"): 1, ("Female", "1*, 3*", "N"): 2, ("Male", "1*, 3*", "Y"): 2,
        ("Male", "1*, 3*", "N"): 0,
    }  # fmt: skip
    assert all(int(row["containing"]) == int(row["printed"]) for row in rows.values()), "that is what the paper counts"
    assert [fact.agrees for fact in found.facts] == [False] * 3 + [True] * 5 + [False, True]


def test_noise_is_off_at_a_huge_epsilon_alone(monkeypatch):
    spent = []

    class Watched(table.Accountant):
        def __init__(self, budget):
            super().__init__(budget)
            spent.append(self)

    monkeypatch.setattr(table, "Accountant", Watched)
    assert sum(table.counted(10**6).values()) == 8
    assert any(table.counted(1) != table.counted(1) for _ in range(20)), "twenty pairs alike would be no noise"
    assert {one.budget for one in spent} == {Fraction(10**6), Fraction(1)}
    assert all(one.spent == one.budget for one in spent)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_encounters(tmp_path_factory.mktemp("tables"), 700)


def test_the_pipeline_on_a_made_table(made, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.workflow.report.MOST_ROWS", 0)  # no report, which takes longest
    found = ZamanPipeline(data=made, runs=2).run(tmp_path, workers=1)
    assert {file.name for file in found.files} >= {"accuracy.html", "accuracy.png", "accuracy.svg", "accuracy.csv"}
    rows = rows_of(tmp_path / "accuracy.csv")
    assert [(row["target"], row["purpose"]) for row in rows] == [
        (target, purpose) for target in CLASSES for purpose in (*PURPOSES, WIDE)
    ]
    ba = {(row["target"], row["purpose"]): float(row["ba"]) - float(row["la"]) for row in rows}
    assert ba["readmitted", "planner"] > 5 and ba["change", "planner"] > 5, "made so"
    facts = {fact.what: fact for fact in found.facts}
    assert facts["step 3b, insurer: the attributes of the release"].agrees is True
    assert facts["step 3b, planner: the attributes of the release"].agrees is True
    assert "ε = 2 of 2" in next(fact.ours for what, fact in facts.items() if what.startswith("step 5"))
    assert facts["step 6: published, and verified from the bundle alone"].ours == "2 of 2"


def test_a_study_has_what_its_purposes_want(made, tmp_path):
    place = pipeline.diabetes.folder(made)
    study = pipeline.study_of("change", place, pipeline.diabetes.unpacked(place, tmp_path))
    assert set(study.attributes) == {"change", *sum(PURPOSES.values(), ())}
    assert study.target.name == "change"
    assert study.budget == 2


@pytest.mark.parametrize(("wide", "agrees"), [(58.0, True), (62.0, False), (60.1, None)])
def test_efficient_is_said_beyond_the_noise(wide, agrees):
    def one(purpose, ca):
        return Classified("change", purpose, "1", 3, 10, ca, 0.1, 61.0, 0.1, 55.0, 5)

    *_, said = facts_of([one("insurer", 56.0), one("planner", 60.0), one(WIDE, wide)])
    assert said.agrees is agrees


def test_it_says_what_to_give(tmp_path, monkeypatch):
    monkeypatch.delenv("SFUMATO_SHARED", raising=False)
    with pytest.raises(UsageError, match=r"--data FOLDER.*diabetes130"):
        figure_on("zaman-pipeline", None).run(tmp_path)
    with pytest.raises(SourceError, match="does not hold the records of diabetic patients"):
        figure_on("zaman-pipeline", tmp_path).run(tmp_path)
    place = made_encounters(tmp_path, 10) / "diabetes130"
    (place / "diag_hierarchy.csv").unlink()
    with pytest.raises(SourceError, match=r"'diag_hierarchy.csv' cannot be read"):
        figure_on("zaman-pipeline", tmp_path).run(tmp_path)


@pytest.mark.slow
def test_the_pipeline_on_the_encounters(shared_data, tmp_path):
    """Three runs: what raw records teach of changed medication is mostly kept for the planner."""
    ZamanPipeline(data=shared_data, runs=3).run(tmp_path, workers=2)
    rows = {(row["target"], row["purpose"]): row for row in rows_of(tmp_path / "accuracy.csv")}
    planner = rows["change", "planner"]
    assert float(planner["la"]) + 3 < float(planner["ca"]) < float(planner["ba"]) + 1
