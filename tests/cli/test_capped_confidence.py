"""Capped confidence from the command line to the bundle, and the cap counted again from the bundle alone."""

import csv
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.methods.slow_cap import slow_broken, slow_own, slow_shown

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

STUDY = """\
name: clinic
source: clinic.csv
attributes:
  id:  {role: identifier}
  age: {role: quasi_identifier, type: integer, bounds: [0, 79], at_least: 5}
  job: {role: quasi_identifier, taxonomy: {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}
  ill: {role: sensitive, values: [flu, asthma, rare]}
releases:
  cap: {method: capped-confidence, rate: 0.8}
  r: {method: capped-confidence, PARAMETERS}
"""
JOBS = ("Engineer", "Lawyer", "Dancer", "Writer")
NODES = {"Any": (0, 4), "Professional": (0, 2), "Artist": (2, 4), **{job: (n, n + 1) for n, job in enumerate(JOBS)}}
ILLS = ("flu", "asthma", "rare")


def write(path, head, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rows = [
        [f"p{n}", int(age), JOBS[min(int(age) // 20, 3) if rng.random() < 0.4 else int(rng.integers(4))], ILLS[ill]]
        for n, (age, ill) in enumerate(
            zip(rng.integers(0, 80, 700), rng.choice(3, 700, p=[0.6, 0.39, 0.01]), strict=True)
        )
    ]
    write(tmp_path / "clinic.csv", ["id", "age", "job", "ill"], rows)
    (tmp_path / "study.yaml").write_text(STUDY.replace("PARAMETERS", "rate: 0.9"), encoding="utf-8")
    return tmp_path / "study.yaml"


def with_parameters(study, parameters):
    study.write_text(STUDY.replace("PARAMETERS", parameters), encoding="utf-8")
    return study


def ages(text):
    """The codes of an interval as it is published."""
    low, high = text.strip("[])").split(", ")
    return int(low), int(high) + text.endswith("]")


@pytest.mark.usefixtures("seeded")
def test_the_cap_holds_when_somebody_else_counts_the_bundle(study, run):
    made = run("release", study, "cap", "--out", "out")
    assert made.code == 0, made.err
    table = pd.read_csv(study.parent / "out" / "bundle" / "data.csv", keep_default_na=False)
    lost = table["suppressed"].astype(str).str.lower() == "true"
    assert len(table) == 560, "eight tenths of 700"
    told = [
        ((ages(age), NODES[job]), ILLS.index(ill))
        for age, job, ill in table.loc[~lost, ["age", "job", "ill"]].itertuples(index=False)
    ]
    assert min(stop - start for (age, _), _ in told for start, stop in [age]) >= 5
    raw = pd.read_csv(study.parent / "clinic.csv")
    own = [slow_own(raw["age"].tolist(), 80), slow_own([JOBS.index(job) for job in raw["job"]], 4)]
    assert slow_broken(told, Fraction("0.8"), own, slow_own([ILLS.index(ill) for ill in raw["ill"]], 3)) == []
    shown = [slow_shown([box[0] for box, _ in told], 80), slow_shown([box[1] for box, _ in told], 4)]
    assert slow_broken(told, Fraction("0.8"), shown, slow_own([ill for _, ill in told], 3)) == []
    whole = Counter(raw["ill"])
    assert all(count <= whole[ILLS[ill]] for ill, count in Counter(ill for _, ill in told).items())


def test_a_receiver_is_told_of_the_sample_and_can_check_the_cap(study, run):
    planned = run("plan", study, "cap").out
    assert "80 % of the records are drawn at random" in planned and "rare records look expected" in planned
    assert "Records may be suppressed" in planned and "The cap takes attributes to be independent" in planned
    assert run("release", study, "cap", "--out", "out").code == 0
    bundle = study.parent / "out" / "bundle"
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["sampled"] == "0.8"
    assert "The more records there are, the less it caps" in manifest["privacy"]["limits"]
    assert "divide a count of this one by 0.8" in (bundle / "README.md").read_text(encoding="utf-8")
    checks = run("verify", "out", "--json").json["checks"]
    assert {
        "name": "privacy model",
        "ok": True,
        "detail": "capped-confidence (rate = 0.8) holds in every group",
    } in checks
    report = (study.parent / "out" / "owner" / "report.html").read_text(encoding="utf-8")
    assert "Expected and observed confidence" in report and "the line is the cap" in report and "drawn" in report


def test_a_seeded_sample_promises_nothing(study, run):
    assert run("release", study, "cap", "--out", "out", "--insecure-seed", "1", "--no-report").code == 0
    manifest = json.loads((study.parent / "out" / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["guarantee"] == "none (seeded for testing)"
    assert run("verify", "out").code == 0


def test_a_population_comes_from_shares_or_from_people_and_goes_into_the_manifest(study, run):
    folder = study.parent
    write(folder / "shares.csv", ["attribute", "value", "share"], [["ill", "rare", "0.3"], ["age", "[0, 40)", "0.5"]])
    write(folder / "people.csv", ["name", "job", "ill"], [["x", JOBS[n % 4], ILLS[n % 3]] for n in range(240)])
    for file, shares in (
        ("shares.csv", {"ill": {"rare": "0.3"}, "age": {"[0, 40)": "0.5"}}),
        ("people.csv", {"job": dict.fromkeys(JOBS, "0.25"), "ill": dict.fromkeys(ILLS, "1/3")}),
    ):
        with_parameters(study, f"population: {file}")
        assert f"those of '{file}'" in run("plan", study, "r").out
        assert run("release", study, "r", "--out", f"out-{file}", "--no-report").code == 0
        bundle = folder / f"out-{file}" / "bundle"
        promises = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["privacy"]["models"]
        assert "shares" not in promises[0]["parameters"] and promises[1]["parameters"]["shares"] == shares
        assert run("verify", bundle).code == 0
        assert "p17" not in (bundle / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("parameters", "file", "code", "problem"),
    [
        ("population: no.csv", None, 4, "no.csv"),
        ("population: x.csv", [["a"], ["1"]], 4, "has no column of the release"),
        (
            "population: x.csv",
            [["attribute", "value", "share"], ["ill", "flu", "2"]],
            3,
            "share of 'flu' of 'ill' is 2",
        ),
        ("population: x.csv", [["attribute", "value", "share"], ["ill", "flu", ""]], 4, "without attribute, value or"),
        ("population: x.csv", [["attribute", "value", "share"], ["town", "Ulm", "1"]], 3, "shares names 'town'"),
        (
            "population: x.csv",
            [["attribute", "value", "share"], ["ill", "flu", "0.1"], ["ill", "flu", "0.1"]],
            3,
            "of 'ill' twice",
        ),
        ("population: x.csv", [["ill"], ["plague"]], 4, "no record within the study's domains"),
        ("population: {ill: {flu: 0.1}}, rules: [1]", None, 3, "a rule does not have"),
        ("rate: 1.5", None, 3, "the rate is 1.5"),
        ("levels: {ill: 1}", None, 3, "levels names 'ill'"),
        ("rate: 0.0001", None, 6, "no record would be drawn"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(study, run, parameters, file, code, problem):
    if file is not None:
        write(study.parent / "x.csv", file[0], file[1:])
    said = run("release", with_parameters(study, parameters), "r", "--out", "out")
    assert (said.code, problem in said.err) == (code, True), said.err
    assert "To fix" in said.err and "p17" not in said.err
    assert not (study.parent / "out").exists()


def test_any_table_is_checked_and_the_share_of_records_told(study, run):
    asked = ("--quasi", "age,job", "--sensitive", "ill")
    said = run("verify", "clinic.csv", "--model", "capped-confidence=0.9", *asked, "--json")
    assert said.code == 8
    [model] = said.json["models"]
    assert 0 < model["broken"] <= model["records"] <= 700
    words = run("verify", "clinic.csv", "--model", "capped-confidence=0.9", *asked).out
    assert f"for {model['records'] / 700:.2%} of the records" in words
    rules = "capped-confidence={rate: 0.9, rules: [{where: {job: Lawyer}, value: flu, confidence: 0}]}"
    strict = run("verify", "clinic.csv", "--model", rules, *asked, "--json").json["models"][0]
    assert strict["records"] >= model["records"]
    whole = run("verify", "clinic.csv", "--model", "capped-confidence=0.9", "--quasi", "job", "--sensitive", "ill")
    assert whole.code == 0, whole.out


@pytest.mark.usefixtures("seeded")
def test_max_k_tells_the_smallest_k_found_and_the_average_group(study, run):
    said = run("evaluate", "max-k", study, "--to", "300", "--json")
    assert said.code == 0, said.err
    tried = {one["k"]: one["broken"] for one in said.json["tried"]}
    assert tried[said.json["max_k"]] == 0 and tried[2] > 0
    assert said.json["average_k"] > 1
    every = run("evaluate", "max-k", study, "--to", "300", "--every", "--json").json
    assert every["max_k"] <= said.json["max_k"] and every["tried"][-1]["k"] == every["max_k"]
    words = run("evaluate", "max-k", study, "--to", "4", "--rate", "1", "--choose", "loss").out
    assert (
        "none of the k tried (2, 3, 4) satisfies the cap; raise `--to`" in words
        and "your eyes only" in words
        and "does not support `at_least`" in words
    )
    assert run("evaluate", "max-k", study, "--from", "5", "--to", "4").code == 2
    assert run("evaluate", "max-k", study, "--attribute", "age").code == 3
    assert not (study.parent / "clinic.ledger.sqlite").exists()


def test_a_query_on_a_sample_is_about_the_table(study, run):
    said = run("release", study, "cap", "--out", "out")
    assert said.code == 0, said.err
    found = run("query", "out", "job = Any", "--json").json
    manifest = json.loads((study.parent / "out" / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    there = manifest["records"]["published"]
    assert found["sampled"] == manifest["sampled"] == "0.8"
    assert found["count"] == pytest.approx(there / 0.8) and found["total"] == round(there / 0.8)
    words = run("query", "out", "age >= 40").out
    assert "a random sample of 0.8 of the records, and counts are scaled up accordingly" in words
