"""The page Ledger: entries, sums, verification and exports; and releases that are killed or race."""

import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from playwright.sync_api import expect

from sfumato.api import Study
from sfumato.methods import DiffGen
from tests.web.conftest import opened, serving
from tests.web.small_study import STUDY, key_of, write_adult
from tests.web.stopped_process import going_on, stopping, wait_until


@pytest.mark.error_rate(0, reason="the entries are looked at, and not what was drawn")
def test_the_ledger_shows_sums_verifies_and_exports_every_entry(tmp_path, chromium):
    study = Study.load(write_adult(tmp_path))
    study.release("dp", report=False)
    study.release("k5", report=False)
    study.ask("age >= 40", epsilon="0.25")
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        key = key_of(page, workbench)
        page.goto(f"{workbench.origin}/s/{key}/ledger")
        entries = page.locator("#entries > li")
        expect(entries).to_have_count(3)
        expect(entries.nth(2)).to_contain_text("diffgen for survey")
        expect(entries.nth(2)).to_contain_text("ε = 0.5")
        expect(entries.nth(1)).to_contain_text("no ε")
        expect(page.locator("#spans")).to_contain_text("0.75")
        expect(page.locator("#spans")).to_contain_text("1.25")
        expect(page.locator("#purposes tr").filter(has_text="ε, summed")).to_contain_text("0.5")
        page.get_by_role("button", name="Verify", exact=True).click()
        expect(page.get_by_text("Ledger verified: 3 entries")).to_be_visible(timeout=60_000)
        exported = {}
        for form in ("JSON", "CSV"):
            with page.expect_download() as got:
                page.get_by_role("link", name=f"Export {form}").click()
            exported[form] = got.value.path().read_text()
        assert len(json.loads(exported["JSON"])["entries"]) == 3
        assert [row["epsilon"] for row in csv.DictReader(io.StringIO(exported["CSV"]))] == ["0.5", "", "0.25"]
        with closing(sqlite3.connect(next(tmp_path.glob("*.ledger.sqlite")))) as book, book:  # somebody edits an entry
            table = next(name for (name,) in book.execute("select name from sqlite_master where type = 'table'"))
            for (trigger,) in book.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                book.execute(f"drop trigger {trigger}")
            book.execute(f"delete from {table} where rowid = (select max(rowid) from {table})")
        page.get_by_role("button", name="Verify again").click()
        expect(page.get_by_text("The ledger does NOT verify")).to_be_visible(timeout=60_000)
        expect(page.locator("#verification")).to_contain_text("adopt --reason")


def release_dp(page, workbench):
    """Confirm the declared release on its page."""
    key = key_of(page, workbench)
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    page.get_by_label("Type the name of the release").fill("dp")
    page.get_by_label("Type ε").fill("0.5")
    page.get_by_role("button", name="Release dp at ε = 0.5").click()


@pytest.mark.error_rate(0, reason="whether the release is whole is looked at, and not what was drawn")
def test_a_workbench_that_is_killed_during_a_release_leaves_a_whole_ledger_and_no_half_bundle(tmp_path, chromium):
    write_adult(tmp_path)
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        with stopping(workbench, "release", "dp") as stopped:  # it has not even read the study
            release_dp(page, workbench)
            job = stopped()
        with going_on(job):
            expect(page.get_by_role("heading", level=1)).to_contain_text("Releasing dp")
            os.kill(workbench.process.pid, signal.SIGKILL)
            workbench.process.wait(30)
            page.goto("about:blank")
            assert not list(tmp_path.glob("releases/*/bundle"))
    study = Study.load(tmp_path / "study.yaml")
    wait_until(lambda: [entry.state for entry in study.ledger.entries("adult")] == ["done"])
    assert study.verify_ledger() == ()
    assert [path.name for path in (tmp_path / "releases").iterdir()] == ["dp-1"]
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        key = key_of(page, workbench)
        page.goto(f"{workbench.origin}/s/{key}/ledger")
        expect(page.locator("#entries > li")).to_have_count(1)
        page.get_by_role("link", name="bundle", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("dp is released")


@pytest.mark.error_rate(0, reason="whether the release is whole is looked at, and not what was drawn")
def test_a_release_that_is_killed_after_its_reservation_stays_spent_and_leaves_no_half_bundle(tmp_path, chromium):
    """The job is stopped once its entry is in the ledger, and killed with the workbench: nothing can tidy up."""
    write_adult(tmp_path)
    study = Study.load(tmp_path / "study.yaml")
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        with stopping(workbench, "release", "dp", reserved=True) as stopped:
            release_dp(page, workbench)
            job = stopped()
        try:
            assert [entry.state for entry in study.ledger.entries("adult")] == ["opened"]
            os.kill(workbench.process.pid, signal.SIGKILL)
            workbench.process.wait(30)
            page.goto("about:blank")
        finally:
            os.kill(job, signal.SIGKILL)
    assert not list(tmp_path.glob("releases/*/bundle"))
    assert study.verify_ledger() == ()
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        key = key_of(page, workbench)
        page.goto(f"{workbench.origin}/s/{key}/ledger")
        expect(page.locator("#entries > li")).to_contain_text("opened, not closed")
        expect(page.locator("#budget")).to_contain_text("ε = 1.5 of 2 left")
    study.release("dp", report=False)
    assert [entry.state for entry in study.ledger.entries("adult")] == ["opened", "done"]
    assert study.ledger.spent("adult") == 1
    assert study.verify_ledger() == ()


@pytest.mark.error_rate(0, reason="who gets the budget is looked at, and not what was drawn")
def test_a_release_of_the_page_and_one_of_the_command_line_race_for_the_last_budget(tmp_path, chromium):
    write_adult(tmp_path, study=STUDY.replace("budget: 2", "budget: 0.75"))
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        key = key_of(page, workbench)
        page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
        page.get_by_label("Type the name of the release").fill("dp")
        page.get_by_label("Type ε").fill("0.5")
        other = subprocess.Popen(
            [sys.executable, "-m", "sfumato", "release", "study.yaml", "dp", "--no-report", "--out", "other"],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        os.kill(other.pid, signal.SIGSTOP)
        with going_on(other.pid):  # both have begun before either of them goes on
            with stopping(workbench, "release", "dp") as stopped:
                page.get_by_role("button", name="Release dp at ε = 0.5").click()
                job = stopped()
            with going_on(job):
                assert (
                    not list(tmp_path.glob("*.sqlite"))
                    or Study.load(tmp_path / "study.yaml").ledger.spent("adult") == 0
                )
        ended = page.locator(".notice.is-bad, h1:has-text('is released')").first
        expect(ended).to_be_visible(timeout=120_000)
        code = other.wait(120)
        won = page.get_by_role("heading", level=1).inner_text() == "dp is released"
        assert won != (code == 0)
        if not won:
            expect(page.locator(".notice.is-bad")).to_contain_text("SF-BUDGET")
    study = Study.load(tmp_path / "study.yaml")
    assert [entry.epsilon for entry in study.ledger.entries("adult") if entry.state == "done"] == [
        DiffGen(epsilon="0.5").spends
    ]
    assert study.ledger.spent("adult") == DiffGen(epsilon="0.5").spends
    assert study.verify_ledger() == ()
