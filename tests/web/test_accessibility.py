"""No serious accessibility violation on any page, and the keyboard reaches what the pointer does. axe-core looks."""

from pathlib import Path

import pytest

from tests.web.conftest import opened, serving

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

AXE = Path(__file__).parents[2] / ".axe" / "axe.min.js"
STEPS = ("columns", "taxonomies", "taxonomies/3", "plan", "frontier", "release", "ledger", "risk")
ROOMS = [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """A workbench with the study of the tour."""
    with serving(tmp_path_factory.mktemp("tour")) as found:
        yield found


def start_tour(page):
    page.get_by_role("button", name="Start the tour").click()
    page.wait_for_url("**/columns")
    return page.url.removesuffix("/columns")


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


def looked_at(chromium, workbench, width, scheme, steps):
    """The violations of the start page and of steps of the tour, by page, and the steps that have no page."""
    found, absent = {}, []
    with opened(chromium, workbench, width=width, color_scheme=scheme, bypass_csp=True) as page:
        found["start"] = violations(page)
        study = start_tour(page)
        for step in steps:
            answer = page.goto(f"{study}/{step}")
            assert answer is not None
            if answer.status == 200:
                expect(page.get_by_role("heading", level=1)).to_have_count(1)
                found[step] = violations(page)
            else:
                absent.append(step)
    return {step: wrong for step, wrong in found.items() if wrong}, absent


def test_the_start_page_and_taxonomies_are_accessible(toured, chromium):
    assert looked_at(chromium, toured, 1280, "light", ("taxonomies", "taxonomies/3")) == ({}, [])


def test_violations_are_noticed(toured, chromium):
    with opened(chromium, toured, bypass_csp=True) as page:
        page.evaluate("document.querySelector('main').append(document.createElement('input'))")
        assert [rule for rule, _, _ in violations(page)] == ["label"]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), ROOMS)
def test_every_page_is_accessible(toured, chromium, width, scheme):
    wrong, absent = looked_at(chromium, toured, width, scheme, STEPS)
    assert wrong == {}
    if absent:
        pytest.skip(f"the others are accessible; these steps have no page: {', '.join(absent)}")


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_window(toured, chromium, width):
    with opened(chromium, toured, width=width) as page:
        study = start_tour(page)
        for step in ("taxonomies", "taxonomies/3", "taxonomies/0"):
            page.goto(f"{study}/{step}")
            assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_the_keyboard_skips_to_the_content(toured, chromium):
    with opened(chromium, toured) as page:
        page.goto(f"{start_tour(page)}/taxonomies")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")
