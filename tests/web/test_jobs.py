"""Jobs: how many run, how they end, and that pages with many of them answer, and say what goes on."""

import asyncio
import json
import os
import signal
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from sfumato.errors import UsageError
from sfumato.web import jobs as module
from sfumato.web.jobs import Jobs
from tests.web.adult_study import make_study
from tests.web.conftest import opened, serving
from tests.web.http_client import threads
from tests.web.stopped_process import children, stopping, wait_until

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """Jobs whose commands sleep in place of doing anything; those that are called stubborn do not hear Ctrl-C."""
    program = tmp_path / "program"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *stubborn*) trap "" INT ;; esac\necho ready >&2\nwhile :; do sleep 0.1; done\n'
    )
    program.chmod(0o700)
    monkeypatch.setattr(module, "sys", SimpleNamespace(executable=str(program)))
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    (tmp_path / "jobs").mkdir()
    found = Jobs(tmp_path / "jobs")
    yield found
    for job in found._jobs.values():
        job.end()
        job.process.wait(30)


def begin(jobs, tmp_path, kind, *words):
    job = jobs.start(kind, list(words) or ["sleep"], cwd=tmp_path, study="s")
    wait_until(job.lines)
    return job


def test_eight_counts_leave_room_for_a_release(jobs, tmp_path):
    for _ in range(8):
        begin(jobs, tmp_path, "outside")
    with pytest.raises(UsageError) as caught:
        begin(jobs, tmp_path, "outside")
    assert caught.value.code == "SF-USAGE-410"
    assert begin(jobs, tmp_path, "release").state == "running"


def test_the_same_question_is_not_asked_twice_and_another_one_replaces_it(jobs, tmp_path):
    first = jobs.start_anew("risk", ["link"], cwd=tmp_path, study="s")
    assert jobs.start_anew("risk", ["link"], cwd=tmp_path, study="s") is first
    second = jobs.start_anew("risk", ["link", "--with", "x.csv"], cwd=tmp_path, study="s")
    first.process.wait(30)
    assert (first.state, second.state) == ("cancelled", "running")


def test_a_job_that_does_not_stop_when_it_is_asked_to_is_ended(jobs, tmp_path):
    job = begin(jobs, tmp_path, "check", "stubborn")
    job.cancel()
    assert job.event()["doing"] == "cancelling"
    job.process.wait(30)
    assert job.state == "cancelled"


def test_the_end_of_the_workbench_is_the_end_of_what_publishes_nothing_and_of_no_release(jobs, tmp_path):
    sweep, release = begin(jobs, tmp_path, "frontier", "stubborn"), begin(jobs, tmp_path, "release", "stubborn")
    with threads(1) as pool:  # a browser of other tests has a loop in this thread
        pool.submit(asyncio.run, jobs.close()).result()
    assert sweep.process.wait(30) != 0
    assert release.state == "running" and not release.cancelled


def test_a_workbench_that_may_not_wait_ends_the_same_jobs(jobs, tmp_path):
    sweep, release = begin(jobs, tmp_path, "frontier", "stubborn"), begin(jobs, tmp_path, "release", "stubborn")
    jobs.end()
    assert sweep.process.wait(30) == -signal.SIGKILL
    assert release.state == "running" and not release.cancelled


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("busy")
    make_study(folder, "k5", "k9", rows=400)
    (folder / "people.csv").write_text("age,sex\n40,Male\n")
    with serving(folder, "study.yaml") as found:
        yield found


@contextmanager
def held(bench, page, *buttons):
    """The risk page with these attacks started, and each of their processes held until the end of the block."""
    page.get_by_role("link", name="adult").first.click()
    page.get_by_role("link", name="Risk").click()
    started = []
    try:
        for name in buttons:
            if name == "Link":
                page.get_by_label("Table of people that an adversary may have").fill("people.csv")
            with stopping(bench, "evaluate") as stopped:
                page.get_by_role("button", name=name, exact=True).click()
                started.append(stopped())
        yield started
    finally:
        for one in started:
            if one in children(bench.process.pid, "evaluate"):
                os.kill(one, signal.SIGKILL)
        wait_until(lambda: not children(bench.process.pid, "evaluate"))


def test_two_pages_with_eight_running_jobs_answer_clicks(bench, chromium):
    attacks = ("Measure risk", "Run linkage", "Link", "Intersect")
    with opened(chromium, bench) as page, held(bench, page, *attacks):
        second = page.context.new_page()
        second.goto(page.url)  # one browser, whose connections both pages share
        for one in (page, second):
            expect(one.get_by_role("progressbar")).to_have_count(4)
            expect(one.get_by_role("button", name="Cancel")).to_have_count(4)
        for one in (second, page):
            one.get_by_role("link", name="Ledger").click()
            expect(one.get_by_role("heading", level=1)).to_have_text("Ledger")
        second.close()


def test_a_job_is_cancelled_where_it_is_shown_and_the_button_keeps_the_focus(bench, chromium):
    with opened(chromium, bench) as page, held(bench, page, "Run linkage") as (process,):
        part = page.locator("#risk-link")
        button = part.get_by_role("button", name="Cancel")
        button.focus()
        page.wait_for_timeout(1_500)  # it is asked for several times meanwhile
        expect(button).to_be_focused()
        button.press("Enter")
        expect(part.get_by_text("cancelling")).to_be_visible()
        os.kill(process, signal.SIGCONT)
        expect(part).to_contain_text("Cancelled.")
        expect(part).not_to_contain_text("ledger")  # nothing was reserved there
        assert page.evaluate("document.activeElement.closest('#risk-link') !== null")  # not back at the top


@contextmanager
def told(page, shares):
    """The page as it would be if the jobs said these shares, one at each question."""
    left = list(shares)

    def answer(route):
        share = left.pop(0) if len(left) > 1 else left[0]
        jobs = route.request.url.split("/")[-2].split(",")
        text = (
            '<div class="progress"><p class="spread"><span class="doing">working</span><span class="row">'
            f'<span class="quiet left">{share}</span><button type="button">Cancel</button></span></p>'
            f'<progress max="1" value="{share}" aria-label="working"></progress></div>'
        )
        one = {"ended": False, "doing": "working", "share": share, "stamp": str(share), "text": text}
        route.fulfill(content_type="application/json", body=json.dumps(dict.fromkeys(jobs, one)))

    page.route("**/jobs/*/progress", answer)
    try:
        yield
    finally:
        page.unroute("**/jobs/*/progress")


def test_progress_is_announced_every_tenth_and_by_one_place_alone(bench, chromium):
    with opened(chromium, bench) as page:
        page.add_init_script(
            """document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
                window.heard = [];
                const status = document.querySelector("body > [role=status]");
                new MutationObserver(() => window.heard.push(status.textContent)).observe(status, {childList: true});
            }));"""
        )
        with told(page, [n / 40 for n in range(12)]), held(bench, page, "Run linkage"):
            bar = page.locator("#risk-link progress")
            expect(bar).to_have_attribute("value", "0.275", timeout=60_000)
            assert page.evaluate("window.heard") == ["working: 0 %", "working: 10 %", "working: 20 %"]
            live = "[role=status], [role=alert], [aria-live]:not([aria-live=off])"
            nearest = f"bar => bar.closest('{live}, [aria-live=off]').getAttribute('aria-live')"
            assert bar.evaluate(nearest) == "off"


def test_a_job_that_is_not_known_any_more_has_ended(bench, chromium):
    with opened(chromium, bench) as page:
        answer = page.request.get(f"{bench.origin}/jobs/gone,other/progress")
        assert answer.json() == {"gone": {"ended": True}, "other": {"ended": True}}


def test_jobs_that_run_are_asked_for_in_one_short_request(bench, chromium):
    with opened(chromium, bench) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url) if "/jobs/" in request.url else None)
        with held(bench, page, "Measure risk", "Run linkage"):
            wait_until(lambda: (page.wait_for_timeout(100), any("," in url for url in asked))[1])
        assert all(url.endswith("/progress") for url in asked)
