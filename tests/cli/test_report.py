"""`sfumato report`, and the report that follows a release."""

import json

import pytest

from sfumato.cli.commands import owner as owner_commands
from sfumato.ledger import open_ledger, sql
from sfumato.workflow import report as owner_report
from sfumato.workflow.steps import reservation as frame

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


def _stop_at(owner, name, monkeypatch, *, after=False):
    """Ctrl-C when something is called the first time: before it is done, or after."""
    original, pressed = getattr(owner, name), []

    def stop(*given, **more):
        done = original(*given, **more) if after or pressed else None
        if not pressed:
            pressed.append(name)
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(owner, name, stop)


@pytest.mark.parametrize("kind", ["dp", "groups"])
@pytest.mark.parametrize(
    ("owner", "name", "after"),
    [
        (sql.SqlLedger, "complete", False),
        (sql.SqlLedger, "complete", True),
        (frame, "write_owner", False),
        (owner_commands, "_say_published", False),
    ],
)
def test_ctrl_c_right_after_publication_says_that_the_release_is_published(
    study, run, monkeypatch, kind, owner, name, after
):
    with study.open("a", encoding="utf-8") as file:
        file.write("  groups: {method: mondrian, k: 5}\n")
    _stop_at(owner, name, monkeypatch, after=after)
    done = run("release", study, kind, "--out", study.parent / "out")
    assert done.code == 130
    assert f"published in {study.parent / 'out' / 'bundle'} and complete" in done.err
    assert ("it spent ε = 1" if kind == "dp" else "it spent no ε") in done.err
    assert "counts as spent" not in done.err
    book = open_ledger(study.parent / "people.ledger.sqlite")
    assert [entry.state for entry in book.entries("people")] == ["done"]
    assert run("verify", study.parent / "out" / "bundle").code == 0


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
