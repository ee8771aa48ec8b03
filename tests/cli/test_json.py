"""`--json` gives one document a result, in a shape that programs may rely on."""

import importlib
import json
from pathlib import Path

import pytest

from sfumato.errors import PublishError
from tests.census import thin_demo

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def test_describe(folder, run):
    found = run("describe", "people.csv", "--json").json
    assert set(found) == {
        "name",
        "source",
        "written",
        "person",
        "rows",
        "columns",
        "unique",
        "near_unique",
        "undecided",
        "study",
    }
    assert found["unique"] == ["person_id"]
    column = next(c for c in found["columns"] if c["name"] == "age")
    assert set(column) == {
        "name", "kind", "role", "reason", "entry", "distinct", "missing", "lower", "upper", "values", "formats",
        "ambiguous", "separator", "codes", "distribution",
    }  # fmt: skip
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `--json` | Print the proposal as JSON"))
    assert [key for key in (*found, *column) if f"`{key}`" not in row] == []
    assert sum(column["distribution"]["counts"]) == found["rows"] - column["missing"]
    assert (column["kind"], column["role"], column["missing"]) == ("integer", "quasi_identifier", 1)


def test_check(study, run):
    found = run("check", study, "--json")
    assert found.code == 0
    ages = next(r for r in found.json if r["attribute"] == "age")
    read = {"missing": 1, "outside": 0, "unreadable": 0, "records": 400}
    assert ages == {"attribute": "age", **read, "values": [], "error": False}


def test_plan(study, run):
    found = run("plan", study, "table", "--json").json
    assert found["epsilon"] == "0.25"
    assert found["budget"] == found["left"] == "2"
    assert found["fits"] is True
    assert found["numbers"]["groups_most"] == 8
    assert any("jobs" not in s and "contingency" in s for s in found["sentences"])


def test_release_and_ledger(study, run):
    made = run("release", study, "table", "--out", "out", "--memory-limit", "500MB", "--json").json
    assert set(made) == {
        "bundle",
        "data",
        "owner",
        "report",
        "sha256",
        "rows",
        "epsilon",
        "left",
        "warnings",
        "left_out",
    }
    assert (made["epsilon"], made["left"]) == ("0.25", "1.75")
    book = run("ledger", study, "--json").json
    assert set(book) == {
        "study",
        "entries",
        "spent",
        "budget",
        "left",
        "atoms",
        "budget_raised",
        "verified",
        "problems",
    }
    assert (book["spent"], book["left"], book["verified"], book["problems"]) == ("0.25", "1.75", None, [])
    (entry,) = book["entries"]
    assert (entry["state"], entry["bundle"], entry["purpose"]) == ("done", made["sha256"], "jobs")
    assert run("ledger", study, "--verify", "--json").json["verified"] is True


def test_verify_and_query(study, run):
    made = run("release", study, "table", "--out", "out", "--json", "--no-report").json
    found = run("verify", "out", "--sha256", made["sha256"], "--json")
    assert found.code == 0
    assert found.json["ok"] is True
    assert {"name", "ok", "detail"} == set(found.json["checks"][0])
    answer = run("query", "out", "job = Artist", "--json").json
    assert set(answer) == {
        "count",
        "low",
        "high",
        "confidence",
        "assumes",
        "undecided",
        "share",
        "total",
        "sampled",
        "modelled",
    }
    assert answer["sampled"] is None, "nothing was drawn"
    assert 0 <= answer["share"] <= 1


@pytest.mark.usefixtures("seeded")
def test_audit(study, run):
    found = run("evaluate", "audit", study, "table", "--runs", "400", "--json")
    assert found.code == 0
    assert found.json["consistent"] is True
    assert (found.json["release"], found.json["epsilon"], found.json["runs"]) == ("table", "0.25", 400)
    assert found.json["lower_bound"] <= 0.25


def test_taxonomies(study, run):
    tree = run("taxonomy", "show", study, "job", "--json").json
    assert tree == {"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}}
    (study.parent / "jobs.json").write_text(json.dumps(tree), encoding="utf-8")
    (study.parent / "values.txt").write_text("Engineer\nlawyer\n", encoding="utf-8")
    checked = run("taxonomy", "check", "jobs.json", "values.txt", "--json")
    assert checked.code == 3
    assert checked.json["fits"] is False
    assert checked.json["proposals"] == {"lawyer": ["Lawyer"]}
    made = run("taxonomy", "convert", "jobs.json", "jobs.csv", "--json").json
    assert made == {"wrote": "jobs.csv", "leaves": 4, "depth": 2}


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["a tenth", "whole"])
def test_demo(folder, run, tmp_path, monkeypatch, every):
    if every > 1:
        thin_demo(monkeypatch, tmp_path / "packaged", every=every)
    found = run("demo", "--out", "demo", "--json")
    assert found.code == 0
    assert set(found.json) == {
        "study", "bundle", "rows", "epsilon", "left", "verified", "question", "answer", "accuracy",
        "accuracy_of_diffgen", "frontier", "seconds",
    }  # fmt: skip
    assert found.json["verified"] is True
    assert (found.json["epsilon"], found.json["left"]) == ("1", "3")
    accuracy = {name: value["mean"] for name, value in found.json["accuracy"].items()}
    assert accuracy["la"] < accuracy["ca"] < accuracy["ba"]
    assert "is chosen" in found.json["frontier"]["chosen"]
    assert all(Path(file).stat().st_size > 0 for file in found.json["frontier"]["files"])


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["plan", "none.yaml"], 3),
        (["describe", "none.csv"], 4),
        (["plan", "study.yaml", "dq"], 3),
        (["release", "study.yaml", "dp", "--out", "."], 7),
        (["verify", "."], 8),
        (["evaluate", "audit", "study.yaml", "dp", "--runs", "10"], 2),
        (["taxonomy", "show", "study.yaml"], 2),
        (["taxonomy", "convert", "study.yaml", "x.csv"], 3),
    ],
)
def test_an_error_has_one_shape_in_both_forms(study, run, args, code):
    told = run(*args, "--json")
    assert told.code == code
    assert told.out == ""
    error = json.loads(told.err)
    assert set(error) == {"problem", "fix", "code", "exit_code"}
    assert error["exit_code"] == code
    said = run(*args)
    assert said.code == code
    assert said.out == ""
    assert said.err == f"error: {error['problem']}.\n  To fix: {error['fix']}. [{error['code']}]\n"


def test_worth(study, run):
    asked = (
        "evaluate",
        "accuracy",
        study,
        "table",
        "--classifier",
        "decision-tree",
        "--classifier",
        "svm",
        "--runs",
        "2",
    )
    found = run(*asked, "--protocol", "folds", "--workers", "1", "--json").json
    assert set(found) == {"release", "protocol", "runs", "accuracy"}
    assert (found["release"], found["protocol"], found["runs"]) == ("table", "folds", 2)
    assert list(found["accuracy"]) == ["decision-tree", "svm"]
    for one in found["accuracy"].values():
        assert set(one) == {"ca", "ba", "la"}
        assert set(one["ca"]) == {"mean", "deviation", "balanced_accuracy", "auc"}
        assert set(one["ca"]["auc"]) == {"mean", "deviation"} and one["la"]["auc"]["mean"] == 0.5
        assert 0 <= one["ca"]["mean"] <= 1
    assert (
        "there is no protocol called 'thirds'"
        in run("evaluate", "accuracy", study, "table", "--protocol", "thirds").err
    )


def test_worth_in_words(study, run):
    said = run("evaluate", "accuracy", study, "table", "--classifier", "all", "--runs", "2", "--workers", "1").out
    assert all(name in said for name in ("decision-tree", "naive-bayes", "gradient-boosting", "CA", "BA", "LA"))
    assert "covered by no guarantee" in said


def test_what_had_to_be_left_behind_is_said_in_both_forms(run, monkeypatch):
    """A note on an error of ours; errors of others, which may quote a record, are not looked at."""
    error = PublishError("the disk is full", "free some space", code="SF-PUBLISH-010")
    error.add_note("'lake' could not be removed")
    error.__cause__ = OSError(5, "broken")
    error.__cause__.add_note("secret")

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(importlib.import_module("sfumato.release.verify"), "verify_bundle", fails)
    assert json.loads(run("verify", ".", "--json").err)["problem"] == "the disk is full; 'lake' could not be removed"
    assert run("verify", ".").err == (
        "error: the disk is full; 'lake' could not be removed.\n  To fix: free some space. [SF-PUBLISH-010]\n"
    )
