"""`ledger` and `ask` as people and programs call them."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from sfumato.ledger import chain

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

STUDY = """\
name: people
source: people.csv
privacy: {unit: record, budget: 2}
attributes:
  day: {role: time, type: date, format: "%d.%m.%y"}
  age: {role: quasi_identifier, type: integer, bounds: [0, 120], missing: keep}
  job: {role: quasi_identifier, taxonomy: {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}
  income: {role: class, values: ["<=50K", ">50K"]}
purposes:
  first: {attributes: [job, income], span: [2012-01-01, 2013-01-01], where: {age: "[20, 60)"}}
  second: {attributes: [job, income], span: [2012-07-01, 2014-01-01]}
releases:
  one: {method: contingency, epsilon: 0.5, purpose: first}
  two: {method: contingency, epsilon: 0.25, purpose: second}
  k5: {method: mondrian, k: 5, purpose: first}
"""


@pytest.fixture
def dated(folder):
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines()
    days = [f"{1 + n % 28}.{1 + n % 12}.{12 + n % 2}" for n in range(len(lines))]
    (folder / "people.csv").write_text(
        "\n".join([lines[0] + ",day", *(f"{line},{day}" for line, day in zip(lines[1:], days, strict=False))]) + "\n",
        encoding="utf-8",
    )
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return folder / "study.yaml"


def test_the_ledger_shows_spent_and_left_for_every_atom(dated, run):
    for name in ("one", "two"):
        assert run("release", dated, name).code == 0
    shown = run("ledger", dated).out
    assert shown.splitlines()[0].split() == ["entry", "time", "(UTC)", "state", "cost", "what"]
    assert [line.split()[0] for line in shown.splitlines()[1:3]] == ["1", "3"]
    assert "(entries are numbered by ledger row, and completing an entry takes a row, too)" in shown
    assert re.search(r"ε = 0\.5 +'one': contingency for first, by", shown)
    listed = json.loads(run("ledger", dated, "--json").out)["entries"]
    assert [entry["release"] for entry in listed] == ["one", "two"]
    assert all(f"; bundle {entry['bundle'][:12]}" in shown for entry in listed)
    assert ", over [2012-01-01, 2013-01-01), where age >= '20' and age < '60'" in shown
    assert [line.split() for line in shown.splitlines()[4:9]] == [
        ["time", "spent", "remaining"],
        ["[2012-01-01,", "2012-07-01)", "0.5", "1.5"],
        ["[2012-07-01,", "2013-01-01)", "0.75", "1.25"],
        ["[2013-01-01,", "2014-01-01)", "0.25", "1.75"],
        ["other", "days,", "or", "no", "date", "0", "2"],
    ]
    assert shown.splitlines()[-1] == "for any time, at most ε = 0.75 is spent, at least 1.25 remains"
    assert run("ledger", dated, "show").out == shown
    found = run("ledger", dated, "--json").json
    assert found["atoms"][1] == {
        "time": "day as %d.%m.%y", "start": "2012-07-01", "stop": "2013-01-01", "spent": "0.75", "left": "1.25"
    }  # fmt: skip
    assert found["entries"][0]["stop"] == "2013-01-01"


def test_verify_as_a_word_and_as_an_option(dated, run):
    run("release", dated, "one", "--no-report")
    assert run("ledger", dated, "verify").out == "the ledger verifies\n"
    assert run("ledger", dated, "--verify").out.endswith("the ledger verifies\n")
    assert run("ledger", dated, "verify", "--json").json["verified"] is True


def test_an_exported_ledger_can_be_checked_elsewhere(dated, run):
    run("release", dated, "one", "--no-report")
    run("ask", dated, "age > 30", "--epsilon", "0.1")
    found = run("ledger", dated, "export").json
    rows = [chain.Row(**row) for row in found["rows"]]
    assert chain.problems(rows) == ()
    assert chain.problems([replace(rows[0], epsilon="1/100"), *rows[1:]]) != ()
    assert run("ledger", dated, "export", "--out", "book.json").out == "wrote book.json\n"
    assert json.loads((dated.parent / "book.json").read_text(encoding="utf-8")) == found
    assert run("ledger", dated, "export", "--out", "book.json").code == 7
    told = run("ledger", dated, "export", "--out", "book.csv", "--format", "csv", "--json")
    assert told.json == {"written": "book.csv", "format": "csv", "entries": 2}
    assert run("ledger", dated, "export", "--json").json == found
    refused = run("ledger", dated, "export", "--format", "csv", "--json")
    assert refused.code == 2 and json.loads(refused.err)["exit_code"] == 2 and refused.out == ""
    table = list(csv.DictReader(io.StringIO(run("ledger", dated, "export", "--format", "csv").out)))
    assert [(row["method"], row["epsilon"], row["start"]) for row in table] == [
        ("contingency", "0.5", "2012-01-01"), ("ask", "0.1", "")
    ]  # fmt: skip
    assert run("ledger", dated, "--out", "book.json").code == 2


def test_a_lost_ledger_is_refused_verified_and_adopted(dated, run):
    run("release", dated, "one", "--no-report")
    run("ask", dated, "age > 30", "--epsilon", "0.25")
    (dated.parent / "people.ledger.sqlite").unlink()
    found = run("ledger", dated, "verify", "--json")
    assert (found.code, found.json["verified"], len(found.json["problems"])) == (8, False, 2)
    assert "the ledger does not know 1 release of 'people'" in found.json["problems"][1]
    assert "`sfumato ledger STUDY adopt` records the releases that can be found" in run("ledger", dated, "verify").out
    refused = run("release", dated, "two")
    assert refused.code == 8
    assert "releases/one-1" in refused.err
    assert "THE LEDGER HAS LOST ENTRIES" in run("plan", dated, "two").out
    assert run("ledger", dated, "adopt").code == 2
    assert run("ledger", dated, "verify", "--reason", "x").code == 2
    adopted = run("ledger", dated, "adopt", "--reason", "restored the backup of 3 May", "--json").json["adopted"]
    assert [(e["state"], e["epsilon"], e["start"], e["reason"]) for e in adopted] == [
        ("adopted", "0.5", "2012-01-01", "restored the backup of 3 May"),
        ("adopted", "0.25", None, "restored the backup of 3 May"),
    ]
    assert adopted[0]["time"] == "day as %d.%m.%y"
    shown = run("ledger", dated).out
    assert "; adopted: restored the backup of 3 May" in shown
    assert shown.endswith("for any time, at most ε = 0.75 is spent, at least 1.25 remains\n")
    said = run("ledger", dated, "adopt", "--reason", "again").out
    assert said.splitlines()[0] == "nothing to adopt: the ledger has an entry for every release that was found"
    assert said.splitlines()[1].startswith("for any time, at most ε = 0.75 is spent")
    assert run("ledger", dated, "verify").code == 0
    assert run("ask", dated, "age > 30", "--epsilon", "0.25").code == 0


def test_a_lost_ledger_does_not_show_a_full_budget(dated, run):
    run("release", dated, "one", "--no-report")
    for ending in ("sqlite", "head"):
        (dated.parent / f"people.ledger.{ending}").unlink()
    shown = run("ledger", dated)
    assert shown.code == 8
    assert "PROBLEM  the ledger does not know 1 release of 'people'" in shown.out
    assert "ENTRIES ARE MISSING" in shown.out and "unknown" in shown.out
    assert "remains\n" not in shown.out and "no release yet" not in shown.out
    found = run("ledger", dated, "--json")
    assert (found.code, found.json["spent"], found.json["left"], found.json["atoms"]) == (8, None, None, [])
    assert len(found.json["problems"]) == 1
    assert run("ledger", dated, "export").json["left"] is None
    planned = run("plan", dated, "two")
    assert "THE LEDGER HAS LOST ENTRIES" in planned.out
    assert "remains" not in planned.out and "no budget" not in planned.out
    assert run("plan", dated, "two", "--json").json["left"] is None


@pytest.mark.parametrize("headed", [True, False])
def test_adopting_without_a_head_says_what_is_not_counted(dated, run, headed):
    run("release", dated, "one", "--no-report")
    run("ask", dated, "age > 30", "--epsilon", "0.25")
    (dated.parent / "people.ledger.sqlite").unlink()
    if not headed:
        (dated.parent / "people.ledger.head").unlink()
    said = run("ledger", dated, "adopt", "--reason", "the disk broke").out
    note = "Questions and learnt models have no bundle: if there were any, their ε is not counted."
    assert (note in said) is not headed
    assert ("ε = 0.75 is spent" in said) is headed
    assert run("ledger", dated, "adopt", "--reason", "again", "--json").json["notes"] == []


def test_a_raised_budget_is_shown(dated, run):
    run("ask", dated, "age > 30", "--epsilon", "0.25")
    dated.write_text(STUDY.replace("budget: 2", "budget: 4"), encoding="utf-8")
    assert "budget raised from 2 to 4 since" in run("ledger", dated).out
    run("ask", dated, "age > 30", "--epsilon", "0.25")
    assert "  budget raised from 2 to 4 with entry 3 at 20" in run("ledger", dated).out
    found = run("ledger", dated, "--json").json
    assert [(one["from"], one["to"], one["entry"]) for one in found["budget_raised"]] == [("2", "4", 3)]
    assert [entry["budget"] for entry in found["entries"]] == ["2", "4"]


def test_questions_are_answered_and_paid_for(dated, run):
    said = run("ask", dated, "age >= 40 and job = Professional", "--epsilon", "0.1")
    assert said.code == 0
    assert said.out.startswith("about ")
    assert "records, within ±30 with 95 %\nspent ε = 0.1; 1.9 remains\n" in said.out
    found = run("ask", dated, "--by", "job", "--epsilon", "1", "--span", "2012-01-01..2013-01-01", "--json").json
    assert list(found["counts"]) == ["Engineer", "Lawyer", "Dancer", "Writer"]
    assert (found["within"], found["left"], found["epsilon"], found["entry"]) == (3, "0.9", "1", 3)
    assert found["count"] == sum(found["counts"].values())
    table = run("ask", dated, "--by", "job", "--epsilon", "0.1", "--span", "2012-01-01..2013-01-01").out
    assert "records by 'job', each within ±30 with 95 %; noise can make a count negative" in table
    assert "spent ε = 0.1; 0.8 remains over these days" in table
    refused = run("ask", dated, "age > 5", "--epsilon", "5")
    assert refused.code == 5
    assert "asks for ε = 5, and 0.8 is left of the study's 2" in refused.err
    assert run("ask", dated, "age >", "--epsilon", "0.1").code == 2
    assert run("ask", dated, "age > 5").code == 2, "ε has no default"


def test_an_overlap_is_warned_of(dated, run):
    assert run("release", dated, "k5").err == ""
    again = run("release", dated, "k5", "--json")
    assert again.err.startswith("warning: it may contain the same records as entry 1 ('first' by mondrian")
    assert len(again.json["warnings"]) == 1


def test_a_histogram_by_a_strategy_answers_ranges(dated, run):
    asked = ("ask", dated, "--by", "age", "--epsilon", "0.1", "--range", "age >= 30 and age < 80", "--strategy")
    said = run(*asked, "hierarchical")
    assert said.code == 0
    assert "age >= 30 and age < 80: about" in said.out and "expected squared error" in said.out
    found = run(*asked, "auto", "--json").json
    assert [one["question"] for one in found["ranges"]] == ["age >= 30 and age < 80"]
    assert found["strategy"]["name"] == found["comparison"]["best"]
    refused = run("ask", dated, "--by", "job", "--epsilon", "0.1", "--strategy", "wavelet")
    assert refused.code != 0 and "SF-STUDY-372" in refused.out + refused.err
