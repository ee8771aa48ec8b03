"""`sfumato learn`: a model for ε, as words, as JSON, as a file."""

import json

from tests.trust.studies import on_disk


def test_a_model_is_learnt_written_and_paid_for(tmp_path, run):
    study, out = on_disk(tmp_path, budget="2"), tmp_path / "model.json"
    done = run("learn", study, "--epsilon", "1", "--depth", "2", "--out", out)
    assert done.code == 0, done.err
    assert done.out.startswith("everybody: ")
    assert "it cost ε = 1; 1 is left" in done.out
    assert json.loads(out.read_text(encoding="utf-8"))["format"] == "sfumato-tree"
    again = run("learn", study, "--epsilon", "1", "--json")
    told = json.loads(again.out)
    assert told["left"] == "0"
    assert told["out"] is None
    assert told["model"]["parameters"]["depth"] == 5
    broke = run("learn", study, "--epsilon", "1", "--json")
    assert broke.code == 5
    assert json.loads(broke.out or broke.err)["code"] == 5


def test_without_a_file_it_says_that_the_model_is_lost(tmp_path, run):
    done = run("learn", on_disk(tmp_path), "--epsilon", "1/3", "--score", "gini", "--no-prune", "--branch", "values")
    assert done.code == 0, done.err
    assert "making it again costs again" in done.out
    assert "it cost ε = 1/3" in done.out


def test_wrong_settings_are_refused(tmp_path, run):
    done = run("learn", on_disk(tmp_path), "--epsilon", "1", "--depth", "0")
    assert done.code == 3
    assert "the depth is 0" in done.err
