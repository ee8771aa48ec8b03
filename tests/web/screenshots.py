"""Pictures of every page of a fixed session at several widths, for people to look at; a program, not a test.

    python -m tests.web.screenshots OUT [--only plan,ledger] [--widths 390,768,1280,1600] [--dark 390,1280]
        [--print] [--forced]

It opens a messy table, takes the tour of the packaged census table through every step, and writes one PNG a page, width
and scheme. `make screenshots` writes all of them to build/screenshots.
"""

import argparse
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
from playwright.sync_api import expect, sync_playwright

from sfumato import Study
from tests.web.conftest import FLAGS, serving
from tests.web.test_journey import write_bank

WIDTHS = (390, 768, 1280, 1600)
DARK = (390, 1280)
WAIT = 240_000
TALL = 900
RECORDS = """\
releases:
  k5: {purpose: survey, method: mondrian, k: 5}
  k50: {purpose: survey, method: mondrian, k: 50}
"""


class Camera:
    """Takes a page at every width and scheme that is asked for."""

    def __init__(self, page, out, *, only, widths, dark, paper, forced):
        self.page, self.out, self.only = page, Path(out), only
        self.widths, self.dark, self.paper, self.forced = widths, dark, paper, forced

    def wants(self, *names):
        return not self.only or any(name in self.only for name in names)

    def take(self, name, *, reload=True):
        """Every picture of the page as it is; ``reload`` lets plots be drawn again in the colours of the scheme."""
        if not self.wants(name):
            return
        sys.stderr.write(f"{name}\n")
        for width in self.widths:
            self._one(name, width, "light")
        if self.dark:
            self.page.emulate_media(color_scheme="dark")
            if reload:
                self.page.reload()
                self._settle()
            for width in self.dark:
                self._one(name, width, "dark")
            self.page.emulate_media(color_scheme="light")
            if reload:
                self.page.reload()
                self._settle()
        if self.paper:
            self.page.emulate_media(media="print")
            self._one(name, 794, "print")
            self.page.emulate_media(media="screen")
        if self.forced:
            self.page.emulate_media(forced_colors="active")
            self._one(name, 1280, "forced")
            self.page.emulate_media(forced_colors="none")
        self.page.set_viewport_size({"width": 1280, "height": TALL})

    def _one(self, name, width, scheme):
        self.page.set_viewport_size({"width": width, "height": TALL})
        self.page.wait_for_timeout(250)
        self.page.evaluate("window.scrollTo(0, 0)")
        self.page.screenshot(path=self.out / f"{name}-{width}-{scheme}.png", full_page=True)

    def _settle(self):
        self.page.wait_for_load_state("load")
        self.page.wait_for_timeout(700)


def take_all(camera, page, workbench):
    """The whole session."""
    camera.take("start")
    if camera.wants("columns-messy", "columns-panel-messy"):
        messy(camera, page)
        page.goto(workbench.origin)
    page.get_by_role("button", name="Start the tour").click()
    page.wait_for_url("**/columns")
    study = page.url.removesuffix("/columns")
    if camera.wants("columns", "columns-panel"):
        expect(page.locator("#column-rows tr").first).to_be_visible(timeout=WAIT)
        expect(page.get_by_role("progressbar")).to_have_count(0, timeout=WAIT)
        camera.take("columns")
        page.get_by_role("link", name="age", exact=True).first.click()
        expect(page.locator("#panel").get_by_role("heading", name="age")).to_be_visible()
        camera.take("columns-panel", reload=False)
    for step in ("taxonomies", "taxonomies/3", "taxonomies/0", "plan"):
        if camera.wants(step.replace("/", "-")):
            page.goto(f"{study}/{step}")
            page.wait_for_timeout(800)
            camera.take(step.replace("/", "-"))
    if camera.wants("stand-in"):
        page.goto(f"{study}/plan")
        page.get_by_label("Public table with the study’s columns").fill("")
        page.get_by_role("button", name="Measure").click()
        expect(page.locator("#measured-table")).to_be_visible(timeout=WAIT)
        camera.take("stand-in")
    if camera.wants("error", "notice"):
        errors(camera, page, workbench)
    if camera.wants("frontier", "frontier-running", "frontier-done", "frontier-page"):
        frontier(camera, page, study, workbench)
    if camera.wants(
        "release", "release-running", "release-done", "ledger", "receiver", "risk", "risk-people", "report"
    ):
        release(camera, page, study, workbench)


def messy(camera, page):
    page.get_by_label("Path or glob on this computer").fill("bank.csv")
    page.get_by_role("button", name="Open table").click()
    expect(page.locator("#column-rows tr")).to_have_count(6, timeout=WAIT)
    expect(page.get_by_role("progressbar")).to_have_count(0, timeout=WAIT)
    camera.take("columns-messy")
    page.get_by_role("link", name="age", exact=True).first.click()
    expect(page.locator("#panel").get_by_role("heading", name="age")).to_be_visible()
    camera.take("columns-panel-messy", reload=False)


def frontier(camera, page, study, workbench):
    page.goto(f"{study}/frontier")
    camera.take("frontier")
    page.get_by_label("Sweep of the study").select_option("few")
    page.get_by_role("button", name="Start sweep").click()
    expect(page.locator("#points tr").filter(has_text="mondrian").first).to_be_visible(timeout=WAIT)
    camera.take("frontier-running", reload=False)
    expect(page.locator("#sweep")).to_have_count(0, timeout=WAIT)
    page.reload()
    boxes = page.locator("#points input[type=checkbox]")
    boxes.first.check()
    boxes.nth(boxes.count() - 1).check()
    page.get_by_role("button", name="Compare two").click()
    expect(page.locator("#compared-columns table").first).to_be_visible(timeout=WAIT)
    camera.take("frontier-done", reload=False)
    for place in sorted(workbench.folder.glob("sfumato-tour-*/frontier/few*/frontier.html")):
        with opened_file(page, place) as other:
            camera.page, kept = other, page
            camera.take("frontier-page")
            camera.page = kept


def release(camera, page, study, workbench):
    page.goto(f"{study}/release?release=dp")
    camera.take("release")
    page.get_by_label("Type the name of the release").fill("dp")
    page.get_by_label("Type ε").fill("1")
    page.get_by_role("button", name=re.compile("^Release dp")).click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if camera.wants("release-running"):
        page.screenshot(path=camera.out / "release-running-1280-light.png", full_page=True)
    page.wait_for_url(re.compile(r"/release/made/\d+$"), timeout=WAIT)
    page.get_by_role("button", name="Verify the bundle").click()
    expect(page.get_by_text("Bundle verified")).to_be_visible(timeout=WAIT)
    expect(page.locator("iframe")).to_have_count(1, timeout=WAIT)
    camera.take("release-done")
    if camera.wants("risk-people"):
        people(camera, page, study, workbench)
    for step in ("ledger", "risk"):
        if camera.wants(step):
            page.goto(f"{study}/{step}")
            if step == "risk":
                page.get_by_role("button", name="Measure risk").click()
                expect(page.locator("#risk-measures table")).to_be_visible(timeout=WAIT)
                page.get_by_role("button", name="Run linkage").click()
                expect(page.locator("#risk-link dl")).to_be_visible(timeout=WAIT)
            camera.take(step)
    if camera.wants("receiver"):
        page.goto(workbench.origin)
        bundle = next(workbench.folder.glob("sfumato-tour-*/releases/dp-1/bundle"))
        page.get_by_label("Bundle folder").fill(str(bundle))
        page.get_by_label("Bundle folder").press("Enter")
        expect(page.locator("#verified")).to_contain_text("Verified:", timeout=WAIT)
        page.get_by_label("How many records satisfy").fill("age >= 40 and sex = Male")
        page.get_by_role("button", name="Estimate").click()
        expect(page.locator("#answer")).to_contain_text("95 % interval", timeout=WAIT)
        for figure in page.locator("#marginals figure").all():  # each is counted when it is seen
            figure.scroll_into_view_if_needed()
            expect(figure.get_by_role("img")).to_be_visible(timeout=WAIT)
        camera.take("receiver", reload=False)
    if camera.wants("report"):
        place = next(workbench.folder.glob("sfumato-tour-*/releases/dp-1/owner/report.html"))
        with opened_file(page, place) as other:
            camera.page, kept = other, page
            camera.take("report")
            camera.page = kept


def errors(camera, page, workbench):
    """A page that there is not, and a path that is refused."""
    page.goto(f"{workbench.origin}/nowhere")
    camera.take("error")
    page.goto(workbench.origin)
    page.get_by_label("Path or glob on this computer").fill("~/elsewhere.csv")
    page.get_by_role("button", name="Open table").click()
    expect(page.locator("#notices > *").first).to_be_visible()
    camera.take("notice", reload=False)


def people(camera, page, study, workbench):
    """Known people, and the intersection of two releases of records, which the command line makes here."""
    (folder,) = workbench.folder.glob("sfumato-tour-*")
    file = folder / "study.yaml"
    file.write_text(file.read_text().replace("releases:\n", RECORDS))
    found = Study.load(file)
    for name in ("k5", "k50"):
        found.release(name, report=False)
    table = pq.read_table(folder / "adult.parquet").slice(0, 40).drop_columns(["income"])
    pc.write_csv(table, folder / "people.csv")
    page.goto(f"{study}/risk")
    page.get_by_label("Release", exact=True).select_option(label="k5-1")
    expect(page.locator(".guarantee")).to_contain_text("at least 5")
    page.get_by_label("Table of people that an adversary may have").fill(f"{folder.name}/people.csv")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#risk-known dl")).to_be_visible(timeout=WAIT)
    page.get_by_label("Other release").select_option(label="k50-1")
    page.get_by_role("button", name="Intersect").click()
    expect(page.locator("#risk-intersect dl")).to_be_visible(timeout=WAIT)
    camera.take("risk-people")


@contextmanager
def opened_file(page, place):
    """A page that stands alone, in the browser as its owner opens it."""
    other = page.context.new_page()
    other.goto(place.as_uri())
    other.wait_for_timeout(1_500)
    try:
        yield other
    finally:
        other.close()


def main():
    parser = argparse.ArgumentParser(description="Take pictures of every page of the workbench.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--widths", default=",".join(map(str, WIDTHS)))
    parser.add_argument("--dark", default=",".join(map(str, DARK)))
    parser.add_argument("--print", dest="paper", action="store_true")
    parser.add_argument("--forced", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write_bank(Path(folder))
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_context(viewport={"width": 1280, "height": TALL}).new_page()
        page.set_default_timeout(60_000)
        with serving(folder) as workbench:
            page.goto(workbench.address)
            camera = Camera(
                page, given.out, only={name for name in given.only.split(",") if name},
                widths=_numbers(given.widths), dark=_numbers(given.dark), paper=given.paper, forced=given.forced,
            )  # fmt: skip
            take_all(camera, page, workbench)
        browser.close()


def _numbers(text):
    return [int(part) for part in text.split(",") if part]


if __name__ == "__main__":
    main()
