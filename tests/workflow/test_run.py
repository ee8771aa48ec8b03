"""All releases of a study in one run: two purposes, each published, verified and classified on its own."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import BudgetError, StudyError
from tests.cli.conftest import run  # noqa: F401 - the command
from tests.raising import raises_code

STUDY = """
name: clinic
source: clinic.csv
privacy: {budget: BUDGET}
attributes:
  seen: {role: time, type: date}
  age: {role: quasi_identifier, type: integer, bounds: [0, 79], step: 1}
  job: {role: quasi_identifier, values: [a, b, c]}
  ill: {role: class, values: [y, n]}
purposes:
  early: {attributes: [age, ill], span: [2010-01-01, 2011-01-01]}
  late: {attributes: [job, ill], span: [2011-01-01, 2012-01-01]}
releases:
  first: {purpose: early, method: diffgen, epsilon: 1, h: 2}
  second: {purpose: late, method: diffgen, epsilon: 1, h: 1}
  groups: {purpose: late, method: mondrian, k: 5}
"""


@pytest.fixture
def study(tmp_path):
    def make(budget="1", releases=None):
        rng = np.random.default_rng(0)
        years = np.where(np.arange(400) % 2, "2010-05-01", "2011-05-01")
        frame = {"seen": years, "age": rng.integers(0, 80, 400), "job": rng.choice(list("abc"), 400)}
        pd.DataFrame({**frame, "ill": rng.choice(["y", "n"], 400)}).to_csv(tmp_path / "clinic.csv", index=False)
        (tmp_path / "study.yaml").write_text(STUDY.replace("BUDGET", budget) + (releases or ""), encoding="utf-8")
        return sf.Study.load(tmp_path / "study.yaml")

    return make


@pytest.mark.usefixtures("seeded")
def test_every_release_is_made_and_disjoint_purposes_share_the_budget(study):
    opened = study("1")
    found = opened.run(runs=2)
    assert [one.recipe.name for one in found] == ["first", "second", "groups"]
    assert all(one.verified and one.failure is None and one.accuracy is not None for one in found)
    assert opened.ledger.spent("clinic") == 1, "the spans are disjoint"
    assert [entry.epsilon for entry in opened.ledger.entries("clinic")] == [Fraction(1), Fraction(1), None]
    assert len({one.published.bundle for one in found}) == 3


def test_what_can_be_seen_beforehand_stops_all(study):
    opened = study("1/2")
    with raises_code(BudgetError, "SF-BUDGET-007", match="'first' needs more ε than remains, so no release was made"):
        opened.run(runs=2)
    with raises_code(StudyError, "SF-STUDY-190", match="declares no release 'third'"):
        opened.run(["groups", "third"])
    assert not opened.ledger.entries("clinic")


def test_one_that_fails_on_its_way_does_not_stop_the_others(study):
    opened = study("1", "  huge: {purpose: early, method: mondrian, k: 4000}\n")
    huge, groups = opened.run(["huge", "groups"], runs=2)
    assert huge.published is None and "k to 200 or less" in str(huge.failure)
    assert groups.verified


@pytest.mark.usefixtures("seeded")
def test_the_command_says_what_came_of_each(study, tmp_path, run):  # noqa: F811 - the fixture
    study("1", "  huge: {purpose: early, method: mondrian, k: 4000}\n")
    told = run("run", tmp_path / "study.yaml", "--runs", 2, "--only", "first")
    assert told.code == 0 and "first, for early:" in told.out and "it verifies" in told.out and "CA" in told.out
    failed = run("run", tmp_path / "study.yaml", "--runs", 2, "--only", "groups", "--only", "huge", "--json")
    groups, huge = failed.json
    assert failed.code == 6
    assert groups["verified"] and groups["accuracy"]["ca"]["mean"] > 0
    assert huge["bundle"] is None and "set k to 200 or less" in huge["failure"]
