"""`sfumato report`, and the report that follows a release."""

import json

import pytest

from sfumato.pipeline import owner_report
from sfumato.stores import open_ledger

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


@pytest.fixture
def stopped(monkeypatch):
    """Whoever makes a report presses Ctrl-C meanwhile."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner_report, "quick_measures", stop)


def test_a_release_is_said_to_be_published_before_its_report_is_made(study, run, stopped):
    done = run("release", study, "dp", "--out", study.parent / "out")
    assert done.code == 130
    assert "published" in done.out and "report" not in done.out, "said before the report began"
    assert f"published in {study.parent / 'out' / 'bundle'}" in done.err and "it spent ε = 1" in done.err
    assert f"sfumato report {study.parent / 'out'} --against {study}" in done.err
    book = open_ledger(study.parent / "people.ledger.sqlite")
    assert [entry.state for entry in book.entries("people")] == ["done"]
    assert {path.name for path in (study.parent / "out" / "owner").iterdir()} == {"draft.json", "log.txt"}


def test_a_report_is_skipped_and_made_later(study, run):
    done = run("release", study, "dp", "--out", study.parent / "out", "--no-report")
    page = study.parent / "out" / "owner" / "report.html"
    assert done.code == 0 and not page.exists()
    made = run("report", study.parent / "out", "--against", study)
    assert made.code == 0 and page.exists() and "report.html" in made.out
    assert "For the owner only" in page.read_text(encoding="utf-8")
    again = run("report", study.parent / "out" / "bundle", "--against", study, "--json")
    assert again.json == {"report": str(page)}


def test_a_report_that_fails_does_not_fail_the_release(study, run, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(owner_report, "quick_measures", fails)
    done = run("release", study, "dp", "--out", study.parent / "out")
    assert done.code == 0 and "published" in done.out
    assert "could not be made: MemoryError" in done.err and "--against" in done.err


def test_json_says_where_the_report_is(study, run):
    done = run("release", study, "dp", "--out", study.parent / "one", "--json")
    assert done.json["report"] == str(study.parent / "one" / "owner" / "report.html")
    done = run("release", study, "table", "--out", study.parent / "two", "--json", "--no-report")
    assert done.json["report"] is None and json.loads(done.out)["epsilon"] == "0.25"


def test_a_run_without_reports(study, run):
    done = run("run", study, "--only", "dp", "--runs", 1, "--no-report")
    assert done.code == 0 and "your report" not in done.out
    assert not list(study.parent.glob("releases/*/owner/report.html"))


def test_a_report_of_another_study_is_refused(study, run):
    run("release", study, "dp", "--out", study.parent / "out", "--no-report")
    other = study.parent / "other.yaml"
    other.write_text(study.read_text(encoding="utf-8").replace("name: people", "name: others"), encoding="utf-8")
    refused = run("report", study.parent / "out", "--against", other)
    assert refused.code == 3 and "others" in refused.err
    assert run("report", study.parent / "out", "--against", other, "--was", "people").code == 0
