"""Releases of records from the command line, and checks of tables that Sfumato did not make."""

import csv
import json
import re

import pytest

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

STUDY = """\
name: clinic
source: clinic.csv
attributes:
  id:  {role: identifier}
  age: {role: quasi_identifier, type: integer, bounds: [0, 99], taxonomy: {intervals: {width: 10}}}
  job: {role: quasi_identifier, taxonomy: {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}
  ill: {role: sensitive, values: [flu, asthma, none]}
  pay: {role: class, values: [low, high]}
  town: {role: insensitive, values: [Ulm, Bonn]}
releases:
  k5: {method: mondrian, k: 5}
  both: {method: mondrian, privacy: {k-anonymity: 4, t-closeness: {t: 0.6}}, choose: info_gain, suppress: 0.1}
  cut: {method: tds, k: 5}
  levels: {method: LEVELS, k: 5}
  buckets: {method: bucketization, privacy: {distinct-l-diversity: 2}}
  tables: {method: anatomy, l: 2}
  dp: {method: diffgen, epsilon: 1}
"""
RELEASES = ("k5", "both", "cut", "levels", "buckets", "tables")


def clinic(folder):
    """Write the study and its table into a folder."""
    from sfumato.methods import FullDomain

    jobs, ills = ("Engineer", "Lawyer", "Dancer", "Writer"), ("flu", "asthma", "none")
    with (folder / "clinic.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "age", "job", "ill", "pay", "town", "note"])
        for n in range(120):
            pay, town = ("low", "high")[n % 5 > 2], ("Ulm", "Bonn")[n % 2]
            rows.writerow([f"p{n}", 20 + n * 7 % 40, jobs[n % 4], ills[n % 3], pay, town, f"secret {n}"])
    (folder / "study.yaml").write_text(STUDY.replace("LEVELS", FullDomain.name), encoding="utf-8")
    return folder / "study.yaml"


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return clinic(tmp_path)


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_planned_made_verified_asked_and_in_the_ledger(study, run, name):
    planned = run("plan", study, name)
    assert planned.code == 0
    assert "not a guarantee" in planned.out and "It spends no privacy budget (syntactic guarantee)" in planned.out
    assert "not released: id" in planned.out
    made = run("release", study, name, "--out", "out")
    assert made.code == 0, made.err
    assert re.search(r"published 1[012]\d records in out/bundle", made.out)
    assert run("verify", "out").code == 0
    assert "ε =" not in made.out
    found = run("query", "out", "age >= 40 and ill = flu", "--json").json
    assert 0 <= found["low"] <= found["high"] <= found["total"] <= 120 and found["high"] > 0
    assert found["count"] is None or found["low"] <= found["count"] <= found["high"]
    book = run("ledger", study, "--json").json
    [entry] = book["entries"]
    assert (entry["state"], entry["epsilon"]) == ("done", None)
    report = (study.parent / "out" / "owner" / "report.html").read_text(encoding="utf-8")
    assert "For the owner only" in report and "<script" not in report and not re.search(r"https?:", report)
    for file in (study.parent / "out" / "bundle").iterdir():
        text = file.read_bytes()
        assert b"secret" not in text and b"p17" not in text, "identifiers and undeclared columns never leave"


def test_a_plan_says_what_happens_to_each_column(study, run):
    sentences = run("plan", study, "k5", "--json").json["sentences"]
    assert "age (to intervals), job (to nodes of its taxonomy)" in sentences[1]
    assert sentences[1].startswith("these columns are generalised within equivalence classes: ")
    exact = (
        "these columns are published exactly beside the generalised ones: ill (sensitive), town (insensitive), pay (cla"
    )
    assert any(said.startswith(exact) and "can single out rows" in said for said in sentences)
    assert "every group of records that look alike has at least 5 of them (k-anonymity)" in sentences
    assert "only declared attributes are released; not released: id" in sentences
    buckets = run("plan", study, "buckets", "--json").json["sentences"]
    assert "the values of these columns are shuffled within each bucket: ill" in buckets
    tables = run("plan", study, "tables", "--json").json["sentences"]
    assert "these columns are published in a second table, as counts by bucket: ill" in tables
    assert not (study.parent / "clinic.ledger.sqlite").exists()


def test_records_need_no_budget_and_counts_still_do(study, run):
    assert run("release", study, "k5", "--out", "one", "--no-report").code == 0
    assert run("release", study, "dp", "--out", "two").code == 3
    assert not (study.parent / "two").exists()


def test_a_json_release_tells_rows(study, run):
    found = run("release", study, "k5", "--out", "out", "--json").json
    assert (found["rows"], found["epsilon"], found["left"]) == (120, None, None)


def test_an_audit_of_no_epsilon_is_refused(study, run):
    found = run("evaluate", "audit", study, "k5")
    assert found.code == 2
    assert "method 'mondrian' is not differentially private" in found.err


# --- any table ---


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["zip,age,ill,gone", "130**,<30,flu,false", "130**,<30,asthma,false", "130**,<30,flu,false"]
    lines += ["148**,>40,flu,false", "148**,>40,flu,false", "*,*,,true"]
    (tmp_path / "other.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "other.csv"


def test_a_table_of_somebody_else_is_checked(table, run):
    found = run("verify", table, "--model", "k-anonymity=2", "--quasi", "zip,age", "--suppressed", "gone")
    assert found.code == 0
    assert "5 records in 2 groups of 2 to 3, 1 suppressed records are not counted" in found.out
    assert "ok    k-anonymity (k = 2) holds in every group; it holds for k up to 2" in found.out
    assert "148" not in found.out, "sizes alone"


def test_a_promise_that_is_broken_names_sizes_and_the_way_out(table, run):
    found = run(
        "verify", table, "--model", "k-anonymity=2", "--model", "distinct-l-diversity=2", "--quasi", "zip,age",
        "--sensitive", "ill", "--suppressed", "gone",
    )  # fmt: skip
    assert found.code == 8
    assert "(l = 2) is violated in 1 groups, for 40.00% of the records; it holds for l up to 1" in found.out
    assert "smallest groups that violate it: 2 records" in found.out
    assert "148" not in found.out
    assert "the table does NOT satisfy the privacy model" in found.out


def test_the_owner_may_see_values(table, run):
    found = run("verify", table, "--model", "k-anonymity=3", "--quasi", "zip", "--suppressed", "gone", "--values")
    assert found.code == 8
    assert "zip = 148**" in found.out


def test_without_the_mark_suppressed_records_are_a_group(table, run):
    found = run("verify", table, "--model", "k-anonymity=2", "--quasi", "zip,age", "--json")
    assert found.code == 8
    assert found.json["smallest"] == 1 and found.json["models"][0]["best"] == "k up to 1"


def test_a_promise_may_be_in_a_file(table, run, tmp_path):
    (tmp_path / "models.yaml").write_text("privacy:\n  k-anonymity: 2\n  t-closeness: {t: 0.9}\n", encoding="utf-8")
    options = ("--quasi", "zip", "--sensitive", "ill", "--suppressed", "gone", "--json")
    found = run("verify", table, "--model", "models.yaml", *options)
    assert found.code == 0, found.err
    assert [m["model"] for m in found.json["models"]] == [
        "k-anonymity (k = 2)",
        "t-closeness (t = 0.9, distance = equal)",
    ]


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (["--model", "k-anonymity=2"], 2, "no quasi-identifier is given"),
        (["--model", "k-anonymity=2", "--quasi", "zip", "--sensitive", "zip"], 2, "'zip' is named twice"),
        (["--model", "k-anonymity=2", "--quasi", "zap"], 4, "has no column 'zap'"),
        (["--model", "k-anonimity=2", "--quasi", "zip"], 3, "there is no privacy model called 'k-anonimity'"),
        (["--model", "k-anonymity", "--quasi", "zip"], 2, "'k-anonymity' is no privacy model"),
        (["--model", "distinct-l-diversity=2", "--quasi", "zip"], 3, "none is declared"),
        (["--model", "none.yaml", "--quasi", "zip"], 2, "cannot be opened"),
        (["--quasi", "zip"], 2, "no privacy model is specified"),
    ],
)
def test_wrong_questions_about_a_table(table, run, options, code, problem):
    found = run("verify", table, *options)
    assert found.code == code, found.err
    assert problem in found.err and "To fix: " in found.err


def test_our_own_data_file_can_be_checked_as_any_table(study, run):
    run("release", study, "both", "--out", "out", "--no-report")
    found = run(
        "verify", "out/bundle/data.csv", "--model", "k-anonymity=4", "--model", "t-closeness=0.6",
        "--quasi", "age,job", "--sensitive", "ill", "--suppressed", "suppressed", "--json",
    )  # fmt: skip
    assert found.code == 0, found.out
    manifest = json.loads((study.parent / "out" / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    told = manifest["records"]
    assert (found.json["records"], found.json["groups"], found.json["smallest"]) == (
        told["published"], told["groups"], told["smallest_group"],
    )  # fmt: skip
    assert re.fullmatch(r"k up to \d+", found.json["models"][0]["best"])


@pytest.mark.parametrize("name", [*RELEASES, "dp"])
def test_the_owner_can_ask_what_a_release_is_worth(study, run, name):
    if name == "dp":
        study.write_text(study.read_text(encoding="utf-8") + "privacy: {budget: 1}\n", encoding="utf-8")
    found = run("evaluate", "accuracy", study, name, "--runs", "2", "--json").json
    assert (found["release"], found["protocol"], found["runs"]) == (name, "split", 2)
    assert set(found["accuracy"]) == {"decision-tree"}, "unless told"
    accuracy = found["accuracy"]["decision-tree"]
    assert all(0 <= accuracy[measure]["mean"] <= 1 for measure in ("ca", "ba", "la"))
    told = run("evaluate", "accuracy", study, name, "--runs", "1")
    assert told.code == 0
    assert all(f"({measure})" in told.out for measure in ("BA", "CA", "LA"))
    assert "for your eyes only" in told.out
    assert run("ledger", study, "--json").json["entries"] == [], "nothing was released"
    if name == "buckets":
        assert accuracy["ca"] == accuracy["ba"], "exact quasi-identifiers tell all there is"


def test_without_a_class_there_is_nothing_to_learn(study, run):
    study.write_text(study.read_text(encoding="utf-8").replace("role: class", "role: insensitive"), encoding="utf-8")
    asked = run("evaluate", "accuracy", study, "k5")
    assert asked.code == 3
    assert "accuracy needs exactly one target (class attribute)" in asked.err
    assert "release 'k5' has no class attribute" in asked.err and "`role: class`" in asked.err


def test_with_two_classes_there_is_no_one_thing_to_learn(study, run):
    study.write_text(study.read_text(encoding="utf-8").replace("role: insensitive", "role: class"), encoding="utf-8")
    (study.parent / "clinic.csv").unlink()  # told before a record is read
    asked = run("evaluate", "accuracy", study, "k5")
    assert asked.code == 3
    assert "release 'k5' has 2 class attributes" in asked.err
    assert "To fix: give one attribute `role: class`" in asked.err


def test_a_number_of_runs_that_measures_nothing_is_refused(study, run):
    asked = run("evaluate", "accuracy", study, "k5", "--runs", "0")
    assert asked.code == 2 and "the number of runs is 0" in asked.err
