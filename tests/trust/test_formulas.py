"""Declared values that a spreadsheet would run are published as they are, and everybody is told."""

import csv

import pytest

import sfumato as sf
from sfumato.study.formulas import formula_like
from tests.release.bundle.test_markdown import METHODS, released

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

CALC = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("text", [CALC, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-"])
def test_a_cell_that_may_run_is_seen(text):
    assert formula_like(text)


@pytest.mark.parametrize("text", ["", "a=b", "-5", "+3.5", "-1,000", "[-5, 0)", "(missing)", "5-9", "-1e5"])
def test_numbers_and_words_run_nothing(text):
    assert not formula_like(text)


@pytest.mark.parametrize("kind", METHODS)
def test_the_owner_and_the_receiver_are_told_and_no_value_is_changed(kind, tmp_path):
    opened, done = released(METHODS[kind], tmp_path, (CALC, "b"))
    told = "a spreadsheet may run them when it opens the CSV file"
    [planned] = [said for said in opened.plan(METHODS[kind]).sentences if told in said]
    assert "for job:" in planned and CALC not in planned
    assert any(told in said for said in done.warnings)
    assert told in (done.bundle / "README.md").read_text(encoding="utf-8")
    with (done.bundle / "data.csv").open(encoding="utf-8", newline="") as file:
        values = {row["job"] for row in csv.DictReader(file)}
    assert values <= {CALC, "b", "Any", "*"} or all("=" in value or value for value in values)
    assert sf.verify_bundle(done.bundle).ok


@pytest.mark.parametrize("kind", METHODS)
def test_nothing_is_said_where_there_is_nothing_to_say(kind, tmp_path):
    opened, done = released(METHODS[kind], tmp_path, ("a", "b"))
    assert not any("spreadsheet" in said for said in (*opened.plan(METHODS[kind]).sentences, *done.warnings))
    assert "spreadsheet" not in (done.bundle / "README.md").read_text(encoding="utf-8")


def test_a_column_s_name_may_be_a_formula_too(tmp_path):
    opened, done = released(METHODS["groups"], tmp_path, ("a", "b"), ("=age", "job", "pay"))
    assert any("for =age:" in said for said in opened.plan(METHODS["groups"]).sentences)
    assert any("for =age:" in said for said in done.warnings)
