"""The page Release: confirm, run, see it run from another tab, done, verify, download, report."""

import io
import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.web.conftest import opened, serving
from tests.web.small_study import key_of, write_adult
from tests.web.stopped_process import going_on, stop_child


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


@pytest.mark.error_rate(0, reason="what the noise is does not matter: the bundle verifies for any draw")
def test_a_private_release_is_made_verified_downloaded_and_reported(studied, chromium):
    workbench, page, key = studied
    page.goto(f"{workbench.origin}/s/{key}/release?release=dp")
    expect(page.locator(".statement")).to_contain_text("ε = 0.5")
    _confirm(page, "dp", "0.5")
    page.get_by_role("button", name="Release dp at ε = 0.5").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("Releasing dp|dp is released"))
    with opened(chromium, workbench) as other:  # a second tab sees the same job, or its end
        other.goto(f"{workbench.origin}/s/{key}/release")
        expect(other.get_by_role("heading", level=1)).to_contain_text(re.compile("Releasing dp|Release dp"))
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
    page.get_by_role("button", name="Release dp at ε = 0.5").click()
    path = workbench.folder / "study.yaml"
    with going_on(stop_child(workbench.process.pid, "release", "dp")):
        path.write_text(path.read_text().replace("h: 4", "h: 5"))
    expect(page.locator(".notice.is-bad")).to_contain_text("SF-STUDY-641", timeout=60_000)
    expect(page.locator("#budget")).to_contain_text("ε = 2 of 2 left")
    assert not list(workbench.folder.glob("releases/*"))


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
