"""No serious accessibility violation on any page, and the keyboard reaches what the pointer does. axe-core looks."""

import os
import re
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.web.adult_study import make_study
from tests.web.conftest import opened, serving
from tests.web.stopped_process import children, stopping, wait_until

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
pytestmark = pytest.mark.error_rate(0, reason="the noise decides numbers, and no test looks at them")

AXE = Path(__file__).parents[2] / ".axe" / "axe.min.js"
PAGES = (
    "start", "columns", "column", "taxonomies", "taxonomy", "rule", "plan", "frontier", "release", "released", "ledger",
    "risk", "receiver", "attacked", "swept", "answered", "error",
)  # fmt: skip
ROOMS = [(width, scheme) for width in (390, 768, 1280, 1600) for scheme in ("light", "dark")]
QUICK = [
    (1280, "light", ("start", "plan", "receiver", "risk", "attacked")),
    (390, "dark", ("column", "ledger", "taxonomy", "answered", "error")),
    (768, "light", ("released", "swept")),
]
WAIT = 120_000


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A workbench with a study, and releases of it; what pages make of them is made when it is first looked at."""
    folder = tmp_path_factory.mktemp("pages")
    make_study(folder, "survey-dp", "k5", "k9", rows=400)
    with serving(folder, "study.yaml") as found:
        yield found


def violations(page):
    """The serious and critical violations of a page: rule, and where."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run tools/axe.sh, which needs npm")
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        (one["id"], node["target"], node["failureSummary"])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def go(page, bench, name):
    """Open a page by its name."""
    page.goto(bench.origin)
    if name == "start":
        return
    if name == "error":
        page.goto(f"{bench.origin}/nowhere")
        return
    if name in {"receiver", "answered"}:
        page.get_by_label("Bundle folder").fill("releases/survey-dp-1")
        page.get_by_label("Bundle folder").press("Enter")
        expect(page.locator("#verified")).to_contain_text("Verified:", timeout=WAIT)
        if name == "answered":
            page.get_by_label("How many records satisfy").fill("age >= 40 and income = '>50K'")
            page.get_by_role("button", name="Estimate").click()
            expect(page.locator("#answer")).to_contain_text("95 % interval", timeout=WAIT)
        return
    study = page.locator("a[href^='/s/']").first.get_attribute("href").rsplit("/", 1)[0]
    where = {
        "column": "columns", "taxonomy": "taxonomies/3", "rule": "taxonomies/0", "released": "release/made/1",
        "attacked": "risk", "swept": "frontier",
    }  # fmt: skip
    answer = page.goto(f"{bench.origin}{study}/{where.get(name, name)}")
    assert answer is not None and answer.status == 200, name
    if name in {"columns", "column"}:
        expect(page.locator("#describing")).to_be_hidden(timeout=WAIT)  # what it finds changes the page
    if name == "column":
        page.get_by_role("link", name="age", exact=True).first.click()
        expect(page.get_by_role("heading", name="age")).to_be_visible()
    if name == "released":
        expect(page.frame_locator("iframe.report-frame").locator("h1")).to_be_visible(timeout=WAIT)
    if name == "attacked":
        attack(page)
    if name == "swept":
        sweep(page)


def attack(page):
    """Have run every attack on one release, each once, and open what is folded."""
    page.get_by_label("Release", exact=True).select_option(label="k5-1")
    expect(page.locator(".guarantee")).to_contain_text("at least 5")
    if page.locator("#risk-intersect dl").count() == 0:
        run_attacks(page)
    page.get_by_text("Smallest equivalence classes").first.click()


def run_attacks(page):
    page.get_by_role("button", name="Measure risk").click()
    page.get_by_role("button", name="Run linkage").click()
    page.get_by_label("Table of people that an adversary may have").fill("adult.parquet")
    page.get_by_role("button", name="Link", exact=True).click()
    page.get_by_label("Other release").select_option(label="k9-1")
    page.get_by_role("button", name="Intersect").click()
    for kind, said in (("measures", "Marketer"), ("link", "Falls by"), ("known", "looked up"), ("intersect", "alone")):
        expect(page.locator(f"#risk-{kind}")).to_contain_text(re.compile(said, re.IGNORECASE), timeout=WAIT)


def sweep(page):
    """Have a frontier, made once, with two candidates compared."""
    if page.locator("#points input[type=checkbox]").count() < 2:
        page.get_by_label("Sweep of the study").select_option("few")
        page.get_by_role("button", name="Start sweep").click()
        expect(page.locator("#sweep")).to_have_count(1, timeout=WAIT)
        expect(page.locator("#sweep")).to_have_count(0, timeout=2 * WAIT)
    boxes = page.locator("#points input[type=checkbox]")
    boxes.first.check()
    boxes.nth(boxes.count() - 1).check()
    page.get_by_role("button", name="Compare two").click()
    expect(page.locator("#compared-columns table").first).to_be_visible(timeout=WAIT)


def looked_at(chromium, bench, width, scheme, names):
    """The violations of pages by name, and those that are wider than the window."""
    found = {}
    with opened(chromium, bench, width=width, color_scheme=scheme, bypass_csp=True) as page:
        for name in names:
            go(page, bench, name)
            expect(page.get_by_role("heading", level=1, include_hidden=True)).to_have_count(1)
            found[name] = violations(page)
            if page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") > 0:
                found[name].append("wider than the window")
    return {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize(("width", "scheme", "names"), QUICK)
def test_pages_are_accessible_and_fit(bench, chromium, width, scheme, names):
    assert looked_at(chromium, bench, width, scheme, names) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), ROOMS)
def test_every_page_is_accessible_and_fits(bench, chromium, width, scheme):
    assert looked_at(chromium, bench, width, scheme, PAGES) == {}


@contextmanager
def releasing(page, bench, name):
    """The page of a release that runs, held at its start, and ended with the block: nothing is released."""
    go(page, bench, "release")
    page.goto(f"{page.url}?release={name}")
    page.get_by_label("Type the name of the release").fill(name)
    with stopping(bench, "release", name) as stopped:
        page.get_by_role("button", name=f"Release {name}").click()
        held = stopped()
    try:
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Releasing {name}")
        expect(page.locator(".progress .doing")).to_be_visible()
        yield
    finally:
        os.kill(held, signal.SIGKILL)
        wait_until(lambda: not children(bench.process.pid, "release", name))


def test_a_release_that_runs_is_accessible_and_is_cancelled_in_one_place(bench, chromium):
    with opened(chromium, bench, width=390, bypass_csp=True) as page, releasing(page, bench, "k5"):
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        expect(page.get_by_role("button", name=re.compile("Cancel"))).to_have_text(["Cancel release"])


@pytest.mark.parametrize("name", ["column", "risk", "released", "ledger", "receiver"])
def test_a_page_prints_its_content_and_what_marks_it(bench, chromium, name):
    """On A4 nothing is cut off, no control is printed, and what is for the owner says so."""
    with opened(chromium, bench, width=672, bypass_csp=True) as page:
        go(page, bench, name)
        expect(page.get_by_text("counting …")).to_have_count(0, timeout=WAIT)  # also of what was not scrolled to
        owned = page.get_by_text("Owner only").locator("visible=true").count()
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        expect(page.locator("h1").first).to_be_visible()
        assert page.locator("button:visible, nav.steps:visible, #drawer:visible").count() == 0
        assert page.get_by_text("Owner only").locator("visible=true").count() == owned
        assert (owned > 0) == (name not in {"receiver", "ledger"})
        assert page.pdf(format="A4", prefer_css_page_size=True).startswith(b"%PDF")


def test_violations_are_noticed(bench, chromium):
    with opened(chromium, bench, bypass_csp=True) as page:
        page.evaluate("document.querySelector('main').append(document.createElement('input'))")
        assert [rule for rule, _, _ in violations(page)] == ["label"]


def test_the_keyboard_skips_to_the_content(bench, chromium):
    with opened(chromium, bench) as page:
        go(page, bench, "taxonomies")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")


@contextmanager
def column_open(chromium, bench, width):
    """A column that was opened by the keyboard."""
    with opened(chromium, bench, width=width) as page:
        go(page, bench, "columns")
        page.get_by_role("link", name="age", exact=True).first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="age")).to_be_focused()
        yield page


def test_where_there_is_no_room_a_column_opens_in_a_dialog(bench, chromium):
    with column_open(chromium, bench, 768) as page:
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Lower").fill("200")
        dialog.get_by_label("Upper").fill("100")
        dialog.get_by_role("button", name="Save").press("Enter")
        expect(dialog.locator("#notices")).to_contain_text("To fix")  # a refusal is seen where one is
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("link", name="age", exact=True).first).to_be_focused()
        expect(page.locator("main #notices")).to_have_count(1)


def test_where_there_is_room_a_column_opens_beside_the_table(bench, chromium):
    with column_open(chromium, bench, 1280) as page:
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("tr.chosen")).to_contain_text("age")
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="age", exact=True).first).to_be_focused()


def test_the_focus_stays_where_a_button_was_that_is_gone(tmp_path, chromium):
    """A row is swapped when its role is confirmed, without the button that was pressed: Tab goes on from there."""
    (tmp_path / "t.csv").write_text("sex,city\n" + "f,Rome\nm,Bern\n" * 40)
    with serving(tmp_path) as bench, opened(chromium, bench) as page:
        page.get_by_label("Path or glob on this computer").fill("t.csv")
        page.get_by_role("button", name="Open table").click()
        row = page.locator("#col-0")
        confirm = row.get_by_role("button", name="Confirm")
        expect(confirm).to_be_visible(timeout=WAIT)
        confirm.press("Enter")
        expect(confirm).to_have_count(0)
        expect(row.locator(".chip")).to_be_visible()
        page.wait_for_timeout(300)
        assert page.evaluate("document.activeElement.closest('#col-0') !== null")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#col-0') !== null")
