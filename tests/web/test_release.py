"""The page Release: confirm, run, see it run from another tab, done, verify, download, report."""

import io
import json
import re
import zipfile
from fractions import Fraction
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from sfumato.api import Study
from sfumato.web.jobs import Job, Jobs
from sfumato.web.pages.release import _parts
from sfumato.web.rendering import fragment
from tests.web.conftest import opened, serving
from tests.web.small_study import key_of, write_adult
from tests.web.stopped_process import going_on, stopping, wait_until


@pytest.fixture
def studied(tmp_path, chromium):
    """A workbench with a small study, its page, and the key of the study."""
    write_adult(tmp_path)
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        yield workbench, page, key_of(page, workbench)


def _confirm(page, name, epsilon=None):
    page.get_by_label("Type the name of the release").fill(name)
    if epsilon is not None:
        page.get_by_label("Type ε").fill(epsilon)


def _error(page, code):
    expect(page.locator("#notices")).to_contain_text(code)


def test_the_server_checks_name_epsilon_and_the_version_of_the_study_again(studied):
    workbench, page, key = studied
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    button = page.get_by_role("button", name="Release dp at ε = 0.5")
    expect(button).to_be_disabled()
    _confirm(page, "dp", "5")
    expect(button).to_be_disabled()
    expect(page.get_by_label("Type ε")).to_have_attribute("aria-invalid", "true")
    button.evaluate("button => { button.disabled = false; }")  # as somebody who does not use our script
    button.click()
    _error(page, "SF-USAGE-447")
    _confirm(page, "k5", "0.5")
    button.evaluate("button => { button.disabled = false; }")
    button.click()
    _error(page, "SF-USAGE-446")
    _confirm(page, "dp", "0.5")
    expect(button).to_be_enabled()
    path = workbench.folder / "study.yaml"
    path.write_text(path.read_text().replace("h: 4", "h: 5"))
    button.click()
    _error(page, "SF-STUDY-437")
    path.write_text(path.read_text().replace("method: diffgen", "method: diffgin"))
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    expect(page.get_by_text("This release would be refused as it is planned")).to_be_visible()
    expect(page.locator(".lede")).not_to_contain_text("spends no privacy budget")  # nobody knows what it would spend
    assert not (workbench.folder / "releases").exists()


def test_what_was_typed_before_the_scripts_had_come_counts(studied):
    workbench, page, key = studied
    held = []

    def hold(route):
        held.append(route)

    page.route("**/static/page.js", hold)
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp", wait_until="commit")
    wait_until(lambda: page.evaluate("document.getElementById('c-eps') !== null") and held)
    for field, text in (("c-name", "dp"), ("c-eps", "0.5")):
        page.evaluate("([field, text]) => { document.getElementById(field).value = text; }", [field, text])
    held[0].continue_()
    expect(page.get_by_role("button", name="Release dp at ε = 0.5")).to_be_enabled()


@pytest.mark.error_rate(0, reason="what the noise is does not matter: the bundle verifies for any draw")
def test_a_private_release_is_made_verified_downloaded_and_reported(studied, chromium):
    workbench, page, key = studied
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    expect(page.locator(".statement")).to_contain_text("ε = 0.5")
    _confirm(page, "dp", "0.5")
    with stopping(workbench, "release", "dp") as stopped:
        page.get_by_role("button", name="Release dp at ε = 0.5").click()
        job = stopped()
    with going_on(job):
        expect(page.get_by_role("heading", level=1)).to_have_text("Releasing dp")
        with opened(chromium, workbench) as other:  # a second tab sees the same job
            other.goto(f"{workbench.origin}/s/{key}/release")
            expect(other.get_by_role("heading", level=1)).to_have_text("Releasing dp")
            expect(other.get_by_role("button", name="Cancel release")).to_be_visible()
    page.wait_for_url(re.compile(r"/release/made/\d+$"), timeout=60_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("dp is released")
    expect(page.locator(".statement")).to_contain_text("ε-differentially private with ε = 0.5")
    bundle = workbench.folder / "releases" / "dp-1" / "bundle"
    assert bundle.is_dir()
    page.get_by_role("button", name="Verify the bundle").click()
    expect(page.get_by_text("Bundle verified")).to_be_visible(timeout=60_000)
    with page.expect_download() as got:
        page.get_by_role("link", name="Download zip").click()
    with zipfile.ZipFile(io.BytesIO(got.value.path().read_bytes())) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted(f"dp-1/{one.name}" for one in bundle.iterdir())
        manifest = json.loads(archive.read("dp-1/manifest.json"))
    assert manifest["privacy"]["epsilon"] == "0.5"
    frame = page.locator("iframe.report-frame")
    expect(frame).to_be_visible(timeout=90_000)
    assert frame.get_attribute("sandbox") == ""
    answer = page.request.get(workbench.origin + frame.get_attribute("src"))
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    expect(page.frame_locator("iframe.report-frame").locator("h1")).to_be_visible()
    expect(page.locator("#budget")).to_contain_text("ε = 1.5 of 2 left")


def test_an_edit_between_confirming_and_the_start_of_the_job_is_refused(studied):
    """The job is held before it reads the study, and the study is edited: nothing is released, nothing spent."""
    workbench, page, key = studied
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    _confirm(page, "dp", "0.5")
    path = workbench.folder / "study.yaml"
    with stopping(workbench, "release", "dp") as stopped:
        page.get_by_role("button", name="Release dp at ε = 0.5").click()
        job = stopped()
    with going_on(job):
        path.write_text(path.read_text().replace("h: 4", "h: 5"))
    expect(page.locator(".notice.is-bad")).to_contain_text("SF-STUDY-641", timeout=60_000)
    expect(page.locator("#budget")).to_contain_text("ε = 2 of 2 left")
    assert not list(workbench.folder.glob("releases/*"))


@pytest.mark.error_rate(0, reason="what is spent is looked at, and not what was drawn")
@pytest.mark.parametrize("reserved", [False, True])
def test_a_cancelled_release_publishes_nothing_and_gives_no_epsilon_back(studied, reserved):
    """Cancelled before it reads the study, nothing is spent; once its entry is in the ledger, its ε stays spent."""
    workbench, page, key = studied
    study = Study.load(workbench.folder / "study.yaml")
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    _confirm(page, "dp", "0.5")
    with stopping(workbench, "release", "dp", reserved=reserved) as stopped:
        page.get_by_role("button", name="Release dp at ε = 0.5").click()
        job = stopped()
    with going_on(job):
        page.get_by_role("button", name="Cancel release").click()
        expect(page.get_by_text("Cancelling does not give ε back")).to_be_visible()
        expect(page.locator(".progress .doing")).to_have_text("cancelling")  # it was asked to, and still stands
    attempt = page.get_by_label("The last attempt")
    said = re.compile("no incomplete bundle was written|before it could say what it leaves")  # as soon as it was hit
    expect(attempt).to_contain_text(said, timeout=60_000)
    expect(page.locator("#budget")).to_contain_text(f"ε = {'1.5' if reserved else '2'} of 2 left")
    assert not list(workbench.folder.glob("releases/*/bundle"))
    assert [entry.epsilon for entry in study.ledger.entries("adult")] == [Fraction(1, 2)] * reserved


def test_the_time_left_is_said_as_the_command_says_it_or_as_its_steps_suggest(tmp_path):
    def said(*lines):
        (tmp_path / "err").write_text("".join(f"{json.dumps({'progress': line})}\n" for line in lines))
        process = SimpleNamespace(poll=lambda: None)
        job = Job(id="j", kind="release", study="s", command=(), folder=tmp_path, process=process)
        job.started -= 60
        return fragment("job_progress.html", job=job, event={"state": "running", **job.progress()}).striptags()

    assert "about 2 minutes left" in said(
        {"doing": "counting", "done": 0, "of": 1}, {"doing": "cutting, about 2 minutes left", "done": 1, "of": 9}
    )
    assert "about 3 min left" in said({"doing": "drawing", "done": 1, "of": 4})
    assert "left" not in said({"doing": "drawing", "done": 0, "of": 1})


def test_a_release_that_was_cancelled_too_late_is_not_said_to_be_unpublished(tmp_path):
    """The command says what it leaves: the page said for each that nothing was published."""
    said = "the command was stopped: the release is published in releases/dp-1/bundle and complete; it spent ε = 1"
    (tmp_path / "err").write_text(json.dumps({"problem": said, "fix": "x", "code": "SF-STOPPED-741"}) + "\n")
    process = SimpleNamespace(poll=lambda: 130)
    job = Job(id="j", kind="release", study="s", command=(), folder=tmp_path, process=process, cancelled=True)
    shown = fragment("job_ended.html", job=job).striptags()
    assert "is published in releases/dp-1/bundle" in shown and "ε = 1" in shown and "Nothing" not in shown
    (tmp_path / "err").write_text("")
    shown = fragment("job_ended.html", job=job)
    assert "Nothing was published" not in shown and "the ledger has what was reserved" in shown  # nobody knows


def test_a_model_that_is_required_twice_is_in_the_plan_that_is_confirmed(studied):
    workbench, page, key = studied
    path = workbench.folder / "study.yaml"
    twice = (
        "[{distinct-l-diversity: {l: 2, attribute: occupation}}, {distinct-l-diversity: {l: 3, attribute: education}}]"
    )
    path.write_text(
        path.read_text()
        .replace("method: mondrian, k: 5", f"method: mondrian, k: 5, privacy: {twice}")
        .replace("education: {role: quasi_identifier", "education: {role: sensitive")
    )
    plan = Study.load(path).plan("k5", check=False)
    for step in ("release", "plan"):
        page.goto(f"{workbench.origin}/s/{key}/{step}?release=k5")
        shown = page.locator(".messages").first
        for one in ("at least 2 different values of 'occupation'", "at least 3 different values of 'education'"):
            assert any(one in sentence for sentence in plan.sentences)
            expect(shown).to_contain_text(one.replace("'", ""))


def test_a_job_that_was_let_go_of_is_none():
    jobs = SimpleNamespace(get=Jobs(None).get)
    request = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(workspace=SimpleNamespace(jobs=jobs))))
    opened = SimpleNamespace(cache={"verify 3": "gone"})
    found = _parts(request, opened, SimpleNamespace(entry=SimpleNamespace(id=3)))
    assert found["verified"] is None and found["reporting"] is None


def test_a_taxonomy_file_that_changed_since_the_plan_was_shown_is_noticed(studied):
    workbench, page, key = studied
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    _confirm(page, "dp", "0.5")
    tree = workbench.folder / "sex.csv"
    tree.write_text(tree.read_text().replace("Female", "Woman"))
    page.get_by_role("button", name="Release dp at ε = 0.5").click()
    _error(page, "SF-STUDY-437")
    assert not list(workbench.folder.glob("releases/*"))


def test_a_syntactic_release_asks_for_its_name_alone_and_a_failure_is_said(studied):
    workbench, page, key = studied
    path = workbench.folder / "study.yaml"
    path.write_text(
        path.read_text().replace("bounds: [0, 120], step: 1}", "bounds: [30, 120], step: 1, outside: error}")
    )
    page.goto(f"{workbench.origin}/s/{key}/release?release=k5")
    expect(page.get_by_label("Type ε")).to_have_count(0)
    _confirm(page, "k5")
    page.get_by_role("button", name="Release k5").click()
    expect(page.locator(".notice.is-bad")).to_contain_text("SF-", timeout=60_000)
    assert not list((workbench.folder / "releases").glob("*/bundle"))
    path.write_text(
        path.read_text().replace("bounds: [30, 120], step: 1, outside: error}", "bounds: [0, 120], step: 1}")
    )
    page.goto(f"{workbench.origin}/s/{key}/release?release=k5")
    _confirm(page, "k5")
    page.get_by_role("button", name="Release k5").click()
    page.wait_for_url(re.compile(r"/release/made/\d+$"), timeout=60_000)
    expect(page.locator(".head")).to_contain_text("spends no ε")
    expect(page.locator("#budget")).to_contain_text("ε = 2 of 2 left")
