"""No serious accessibility violation on any page, and the keyboard reaches what the pointer does. axe-core looks."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.web.adult_study import make_study
from tests.web.conftest import opened, serving

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
pytestmark = pytest.mark.error_rate(0, reason="the noise decides numbers, and no test looks at them")

AXE = Path(__file__).parents[2] / ".axe" / "axe.min.js"
PAGES = (
    "start", "columns", "column", "taxonomies", "taxonomy", "rule", "plan", "frontier", "release", "released", "ledger",
    "risk", "receiver",
)  # fmt: skip
ROOMS = [(width, scheme) for width in (390, 768, 1280, 1600) for scheme in ("light", "dark")]
QUICK = [(1280, "light", ("start", "plan", "receiver", "risk")), (390, "dark", ("column", "ledger", "taxonomy"))]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A workbench with a study, one release of it, its report and its frontier."""
    folder = tmp_path_factory.mktemp("pages")
    make_study(folder, "survey-dp", rows=400)
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
    if name == "receiver":
        page.get_by_label("Bundle folder").fill("releases/survey-dp-1")
        page.get_by_label("Bundle folder").press("Enter")
        expect(page.locator("#verified")).to_contain_text("Verified:", timeout=60_000)
        return
    study = page.locator("a[href^='/s/']").first.get_attribute("href").rsplit("/", 1)[0]
    where = {"column": "columns", "taxonomy": "taxonomies/3", "rule": "taxonomies/0", "released": "release/made/1"}
    answer = page.goto(f"{bench.origin}{study}/{where.get(name, name)}")
    assert answer is not None and answer.status == 200, name
    if name == "column":
        page.get_by_role("link", name="age", exact=True).first.click()
        expect(page.get_by_role("heading", name="age")).to_be_visible()


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
