"""What a command prints with `--json` is its result's own `as_json`, so that a page can show the same."""

import json
from importlib import import_module
from typing import Any

import pytest

import sfumato.api
from sfumato.domains.taxonomy import check
from sfumato.ledger import LedgerSummary
from sfumato.release.release import Release
from tests.cli.test_partition import clinic

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")
Study = sfumato.api.Study
VERIFY = import_module("sfumato.release.verify")  # `sfumato.release` is the function


@pytest.fixture
def results(monkeypatch):
    """Record what a function or method gives back."""

    def record(owner: Any, name: str) -> list[Any]:
        seen: list[Any] = []
        real = getattr(owner, name)

        def called(*args, **kwargs):
            seen.append(real(*args, **kwargs))
            return seen[-1]

        monkeypatch.setattr(owner, name, called)
        return seen

    return record


def plain(value):
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value, default=str))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("plan", ("plan", "study.yaml", "table")),
        ("release", ("release", "study.yaml", "table", "--out", "out")),
        ("ask", ("ask", "study.yaml", "job = Lawyer", "--epsilon", "0.5")),
        ("ask", ("ask", "study.yaml", "--by", "job", "--epsilon", "0.5")),
    ],
)
def test_a_result_of_the_study_prints_itself(study, run, results, name, args):
    seen = results(Study, name)
    found = run(*args, "--json")
    assert found.code == 0, found.err
    beside = {"study_sha256": Study.load(study).sha256} if name == "plan" else {}
    assert found.json == plain({**seen[-1].as_json(), **beside})


def test_a_release_without_a_report_has_no_place_of_one(study, run, results):
    seen = results(Study, "release")
    found = run("release", study, "table", "--out", "out", "--no-report", "--json").json
    assert found == plain(seen[-1].as_json(report=False)) and found["report"] is None
    assert {**seen[-1].as_json(), "report": None} == seen[-1].as_json(report=False)


def test_a_run_prints_each_release(study, run, results):
    seen = results(Study, "run")
    found = run("run", study, "--only", "table", "--runs", "2", "--no-report", "--json")
    assert found.code == 0, found.err
    assert found.json == plain([one.as_json() for one in seen[-1]])


def test_domain_violations_and_accuracies_print_themselves(study, run, results):
    seen = results(Study, "check")
    found = run("check", study, "--json").json
    assert found == plain([{**one.as_json(), "error": False} for one in seen[-1]])
    seen = results(Study, "accuracies")
    found = run("evaluate", "accuracy", study, "table", "--runs", "2", "--workers", "1", "--json").json
    assert found["accuracy"] == plain({name: one.as_json() for name, one in seen[-1].items()})


@pytest.mark.usefixtures("seeded")
def test_a_finding_prints_itself(study, run, results):
    seen = results(Study, "audit")
    found = run("evaluate", "audit", study, "table", "--runs", "400", "--json").json
    assert found == {"release": "table", **plain(seen[-1].as_json())}


def test_a_verification_an_estimate_and_a_check_of_a_table_print_themselves(study, run, results):
    assert run("release", study, "table", "--out", "out", "--no-report").code == 0
    seen = results(VERIFY, "verify_bundle")
    assert run("verify", "out", "--json").json == plain(seen[-1].as_json())
    estimate = Release.open("out").query("job = Artist")
    assert run("query", "out", "job = Artist", "--json").json == plain(estimate.as_json())
    seen = results(sfumato.api, "verify_table")
    found = run("verify", "people.csv", "--model", "k-anonymity=2", "--quasi", "job", "--json").json
    assert found == plain(seen[-1].as_json()) and found["ok"] is True


def test_the_ledger_prints_its_summary_and_its_entries(study, run, results):
    assert run("release", study, "table", "--out", "out", "--no-report").code == 0
    opened = Study.load(study)
    entries = tuple(opened.ledger.entries(opened.name))
    summary = LedgerSummary(study=opened.name, entries=entries, budget=opened.declared.budget)
    found = run("ledger", study, "--json").json
    assert found == plain(summary.as_json())
    assert found["entries"] == plain([entry.as_json() for entry in entries])
    export = json.loads(run("ledger", study, "export").out)
    assert {**found, "rows": opened.ledger.rows()} == export


def test_a_comparison_with_a_taxonomy_prints_itself(folder, run, results):
    (folder / "jobs.json").write_text('{"Any": ["Engineer", "Lawyer"]}', encoding="utf-8")
    (folder / "values.txt").write_text("Engineer\nlawyer\n", encoding="utf-8")
    seen = results(check, "compare")
    assert run("taxonomy", "check", "jobs.json", "values.txt", "--json").json == plain(seen[-1].as_json())


def test_measures_and_attacks_print_themselves(tmp_path, monkeypatch, run, results):
    monkeypatch.chdir(tmp_path)
    study = clinic(tmp_path)
    for name in ("k5", "cut"):
        Study.load(study).release(name, out=tmp_path / name, report=False)
    against = ("--against", study, "--json")
    seen = results(Study, "measure")
    found = run("evaluate", "measures", "k5", "--only", "prosecutor-risk,population-uniques", *against).json["measures"]
    listed = {one["name"]: one for one in run("evaluate", "measures", "--list", "--json").json}
    assert found == [{**listed[name], **plain(one.as_json())} for name, one in seen[-1].items()]
    assert [one["refused"] is None for one in found] == [True, False]
    for command, name, bundles in (("link", "attack_link", ["k5"]), ("intersect", "attack_intersect", ["k5", "cut"])):
        seen = results(Study, name)
        found = run("evaluate", command, *bundles, *against).json
        assert {key: value for key, value in found.items() if key != "owner_only"} == plain(seen[-1].as_json())
    seen = results(Study, "max_k")
    assert run("evaluate", "max-k", study, "--to", "4", "--json").json == plain(seen[-1].as_json())


def test_a_frontier_prints_its_points_and_the_choice(study, run, results):
    with study.open("a", encoding="utf-8") as file:
        file.write("sweeps:\n  sizes: [{method: mondrian, k: [5, 40]}]\n")
    seen = results(sfumato.api, "frontier")
    found = run("frontier", study, "--sweep", "sizes", "--workers", "1", "--json").json
    files = found.pop("files")
    assert files and found == plain(seen[-1].as_json(seen[-1].choose("knee")))
