"""`sfumato learn`: a model for ε, as words, as JSON, as a file."""

import json

import pytest

from tests.trust.studies import on_disk

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def test_a_model_is_learnt_written_and_paid_for(tmp_path, run):
    study, out = on_disk(tmp_path, budget="2"), tmp_path / "model.json"
    done = run("learn", study, "--epsilon", "1", "--depth", "2", "--out", out)
    assert done.code == 0, done.err
    assert done.out.startswith("everybody: ")
    assert "spent ε = 1; 1 remains" in done.out
    assert json.loads(out.read_text(encoding="utf-8"))["format"] == "sfumato-tree"
    again = run("learn", study, "--epsilon", "1", "--json")
    told = json.loads(again.out)
    assert told["left"] == "0"
    assert told["out"] is None
    assert told["model"]["parameters"]["depth"] == 5
    broke = run("learn", study, "--epsilon", "1", "--json")
    assert broke.code == 5
    assert json.loads(broke.out or broke.err)["exit_code"] == 5


def test_without_a_file_it_says_that_the_model_is_lost(tmp_path, run):
    done = run("learn", on_disk(tmp_path), "--epsilon", "1/3", "--score", "gini", "--no-prune", "--branch", "values")
    assert done.code == 0, done.err
    assert "learning it again spends budget again" in done.out
    assert "spent ε = 1/3" in done.out


def test_wrong_settings_are_refused(tmp_path, run):
    done = run("learn", on_disk(tmp_path), "--epsilon", "1", "--depth", "0")
    assert done.code == 3
    assert "the depth is 0" in done.err


def test_a_plan_spends_nothing_and_says_the_cost(tmp_path, run):
    study = on_disk(tmp_path, budget="2")
    done = run("learn", study, "--epsilon", "1", "--plan")
    assert done.code == 0, done.err
    assert done.out.startswith("A private tree of the study 'clinic' would do this:")
    assert "It costs ε = 1; before it, 2 of the budget of 2 remains." in done.out
    told = json.loads(run("learn", study, "--epsilon", "3", "--plan", "--json").out)
    assert (told["fits"], told["epsilon"], told["left"]) == (False, "3", "2")
    assert told["sentences"][0].startswith("OVER BUDGET")
    assert "no release yet" in run("ledger", study).out


@pytest.mark.usefixtures("seeded")
def test_an_audit_says_a_bound_and_spends_nothing(tmp_path, run):
    study = on_disk(tmp_path)
    told = json.loads(run("learn", study, "--epsilon", "1", "--depth", "1", "--audit", "--runs", "400", "--json").out)
    assert (told["method"], told["consistent"], told["runs"]) == ("diffp-c4.5", True, 400)
    assert 0 <= told["lower_bound"] <= 1
    assert "no release yet" in run("ledger", study).out


def test_a_plan_writes_no_model(tmp_path, run):
    done = run("learn", on_disk(tmp_path), "--epsilon", "1", "--plan", "--out", tmp_path / "model.json")
    assert done.code == 2
    assert "`--plan` and `--audit` learn nothing" in done.err
    assert not (tmp_path / "model.json").exists()
