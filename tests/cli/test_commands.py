"""What each command says, and the ways it can end."""

import sqlite3
from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato import workflow
from sfumato.methods import ContingencyTable
from sfumato.privacy.dp.accountant import Accountant
from sfumato.study.file import load_study, study_from_text
from sfumato.study.recipe import recipe_from_study

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def test_wrong_usage_is_the_parsers_to_tell(folder, run):
    found = run("plan", "--jsn", "study.yaml")
    assert found.code == 2
    assert "No such option" in found.err
    assert "Usage: sfumato plan" in found.err


def test_the_version(run):
    found = run("--version")
    assert found.code == 0
    assert found.out.startswith("sfumato ")


def test_a_release_must_be_named_when_there_are_several(study, run):
    found = run("plan", study)
    assert found.code == 3
    assert "declares 2 releases" in found.err
    assert "name one: dp, table" in found.err


def test_an_unknown_release_names_those_there_are(study, run):
    found = run("release", study, "dq")
    assert found.code == 3
    assert "declares no release 'dq'" in found.err
    assert "use one of: dp, table" in found.err


def test_check_tells_what_the_study_provides_for_and_what_not(study, run):
    found = run("check", study)
    assert found.code == 0
    assert "'age': 1 values are missing" in found.out
    assert "'age': 1 values (0.25 %) are missing and kept as such" in found.out
    study.write_text(study.read_text(encoding="utf-8").replace("Dancer, ", ""), encoding="utf-8")
    found = run("check", study)
    assert found.code == 4
    assert "'job': 100 values are outside the declared domain" in found.out
    assert "'Dancer'" in found.out


def test_describe_never_overwrites(study, run):
    found = run("describe", "people.csv", "--out", study)
    assert found.code == 7
    assert "exists already" in found.err


def test_describe_prints_a_study_that_can_be_read(folder, run):
    found = run("describe", "people.csv", "--class", "job")
    assert study_from_text(found.out).target.name == "job"
    wrong = run("describe", "people.csv", "--class", "jop")
    assert wrong.code == 2
    assert "write 'job'" in wrong.err


def test_a_seeded_release_warns_and_promises_nothing(study, run):
    made = run("release", study, "table", "--insecure-seed", "1")
    assert "warning: --insecure-seed" in made.err
    found = run("verify", "releases/table-1")
    assert "there is no guarantee to check" in found.out
    again = run("release", study, "table", "--insecure-seed", "1", "--json").json
    rows = [study.parent / "releases" / f"table-{n}" / "bundle" / "data.csv" for n in (1, 2)]
    assert rows[0].read_bytes() == rows[1].read_bytes()
    assert again["left"] == "1.5"


def test_a_changed_bundle_does_not_verify(study, run):
    run("release", study, "table", "--out", "out", "--no-report")
    with (study.parent / "out" / "bundle" / "data.csv").open("a", encoding="utf-8") as file:
        file.write("more\n")
    found = run("verify", "out")
    assert found.code == 8
    assert "FAIL  data.csv" in found.out
    assert run("verify", "out", "--json").json["ok"] is False
    assert run("verify", "out", "--sha256", "00").code == 8


def test_a_query_that_cannot_be_read_says_where(study, run):
    run("release", study, "table", "--out", "out", "--no-report")
    found = run("query", "out", "job = Artist and jop = Lawyer")
    assert found.code == 2
    assert "▶jop" in found.err
    assert "write 'job'" in found.err
    assert "about" in run("query", "out", "job = Artist").out


def test_an_empty_ledger_and_a_changed_one(study, run):
    assert "no release yet; ε = 0 is spent, 2 remains" in run("ledger", study).out
    run("release", study, "table", "--no-report")
    book = study.parent / "people.ledger.sqlite"
    with sqlite3.connect(book) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(t for t in tables if "epsilon" in {row[1] for row in file.execute(f"PRAGMA table_info({t})")})
        for (trigger,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {trigger}")
        file.execute(f"UPDATE {table} SET epsilon = '1/1000' WHERE seq = 1")
    file.close()
    found = run("ledger", study, "--verify")
    assert found.code == 8
    assert "PROBLEM" in found.out
    assert "does NOT verify" in found.out


@pytest.mark.usefixtures("seeded")
def test_an_audit_finds_a_method_that_spends_more_than_it_says(study, run, monkeypatch):
    class Cheat(ContingencyTable):
        def draft(self, view, counts, context=None):
            return super().draft(view, counts, replace(context, accountant=Accountant(Fraction(6))))

    monkeypatch.setattr(workflow.audit_release, "build", lambda recipe: Cheat(epsilon="0.25"))
    found = run("evaluate", "audit", study, "table", "--runs", "600")
    assert found.code == 8
    assert "violates ε = 0.25" in found.out


def test_an_audit_of_persons_adds_a_whole_person(study, monkeypatch):
    text = study.read_text(encoding="utf-8").replace("unit: record", "unit: {person: person_id, at_most: 3}")
    study.write_text(text, encoding="utf-8")
    tables = []
    monkeypatch.setattr(workflow.audit_release, "ArrayCounter", lambda codes, sizes: tables.append(codes))
    monkeypatch.setattr(workflow.audit_release, "audit", lambda once, epsilon, runs: epsilon)
    declared = load_study(study)
    promised = workflow.audit_recipe(declared, recipe_from_study(declared, "table"), runs=400)
    assert promised == Fraction(1, 4)
    assert [len(codes["job"]) for codes in tables] == [8, 5]


@pytest.mark.usefixtures("seeded")
def test_an_audit_opens_no_table(study, run):
    (study.parent / "people.csv").unlink()
    found = run("evaluate", "audit", study, "table", "--runs", "400")
    assert found.code == 0
    assert "release 'table' is consistent with ε = 0.25: over 400 runs" in found.out
    assert not (study.parent / "people.ledger.sqlite").exists()


def test_taxonomies_are_drawn_checked_and_converted_without_loss(study, run):
    drawn = run("taxonomy", "show", study, "job").out
    assert "├── Professional (2 leaves)" in drawn
    (study.parent / "jobs.csv").write_text("Engineer;Professional;Any\nDancer;Any\n", encoding="utf-8")
    (study.parent / "good.txt").write_text("Dancer\n", encoding="utf-8")
    assert "every value is a leaf" in run("taxonomy", "check", "jobs.csv", "good.txt").out
    for first, second in (("jobs.csv", "a.yaml"), ("a.yaml", "b.json"), ("b.json", "c.csv")):
        assert run("taxonomy", "convert", first, second).code == 0
    assert (study.parent / "c.csv").read_text(encoding="utf-8") == "Engineer;Professional;Any\nDancer;Any\n"
    assert run("taxonomy", "convert", "jobs.csv", "c.csv").code == 7
    wrong = run("taxonomy", "convert", "jobs.csv", "c.xlsx")
    assert wrong.code == 2
    assert ".csv, .yaml or .json" in wrong.err


def test_what_has_no_taxonomy_says_so(study, run):
    assert "may split it anywhere" in run("taxonomy", "show", study, "age").err
    assert "has no domain" in run("taxonomy", "show", study, "person_id").err
    assert "choose one of" in run("taxonomy", "show", study, "agee").err
    assert "name one of its attributes too: job, income" in run("taxonomy", "show", study).err


def test_ctrl_c_says_what_it_left(study, run, monkeypatch):
    def stop(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "release", stop)
    found = run("release", study, "dp")
    assert found.code == 130
    assert "counts as spent" in found.err


def test_the_interval_of_a_query_covers_groups_below_a_threshold(study, run):
    text = study.read_text(encoding="utf-8").replace("h: 2}", "h: 2, threshold: 7}")
    study.write_text(text, encoding="utf-8")
    assert run("release", study, "dp", "--out", "out").code == 0
    found = run("query", "out", "job = Artist", "--json").json
    assert found["confidence"] == 0.95
    assert found["low"] <= found["high"] and found["high"] - found["low"] >= 6
    assert "95 % interval" in run("query", "out", "job = Artist").out
