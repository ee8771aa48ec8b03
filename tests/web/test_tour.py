"""The tour: a study of its own for the packaged census table, and a word on each step."""

import re

import pytest

from sfumato.study.file import load_study

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
WAIT = 240_000


def test_the_tour_opens_a_study_of_its_own_and_leads_through_the_steps(page, workbench):
    mine = workbench.folder / "sfumato-tour-1"
    mine.mkdir()
    (mine / "study.yaml").write_text("mine")
    page.get_by_role("button", name="Start the tour").click()
    page.wait_for_url("**/columns")
    assert (mine / "study.yaml").read_text() == "mine" and list(mine.iterdir()) == [mine / "study.yaml"]
    assert load_study(workbench.folder / "sfumato-tour-2" / "study.yaml").budget == 4
    page.goto(page.url.replace("/columns", "/taxonomies"))
    banner = page.get_by_role("complementary", name="Tour")
    expect(banner).to_contain_text("Tour, step 2 of 7.")
    expect(banner.get_by_role("link", name="Next: Plan & ε")).to_have_attribute("href", re.compile("/plan$"))
    page.get_by_role("button", name="End the tour").click()
    expect(banner).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Taxonomies")
    expect(banner).to_have_count(0)


@pytest.mark.error_rate(0, reason="the noise decides numbers, and no test looks at them")
def test_the_whole_tour_can_be_walked(page, workbench):
    """What the banner of each step asks for works, and its link leads to the next one."""
    page.get_by_role("button", name="Start the tour").click()
    page.wait_for_url("**/columns")
    banner = page.get_by_role("complementary", name="Tour")

    def onward(number, heading, following):
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        expect(banner).to_contain_text(f"Tour, step {number} of 7.")
        assert banner.get_by_role("link").all_inner_texts() == ([f"Next: {following}"] if following else [])

    onward(1, "Table & columns", "Taxonomies")
    page.get_by_role("link", name="age", exact=True).first.click(timeout=WAIT)
    expect(page.locator("#panel").get_by_label("Upper")).to_have_value("120")
    banner.get_by_role("link").click()

    onward(2, "Taxonomies", "Plan & ε")
    page.locator("main").get_by_role("link", name="education", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("education")
    banner.get_by_role("link").click()

    onward(3, "Plan", "Frontier")
    expect(page.locator("#outcome")).to_contain_text("It costs ε = 1; before it, 4 of the budget of 4 remains.")
    banner.get_by_role("link").click()

    onward(4, "Frontier", "Release")
    page.get_by_label("Sweep of the study").select_option("few")
    page.get_by_role("button", name="Start sweep").click()
    page.locator("#sweep").get_by_role("button", name="Cancel").click(
        timeout=WAIT
    )  # it takes minutes, and its own test
    expect(page.locator("#frontier-live")).to_contain_text("Cancelled.", timeout=WAIT)
    banner.get_by_role("link").click()

    onward(5, "Release dp", "Ledger")
    page.get_by_label("Type the name of the release").fill("dp")
    page.get_by_label("Type ε").fill("1")
    page.get_by_role("button", name="Release dp at ε = 1").click()
    page.wait_for_url(re.compile(r"/release/made/\d+$"), timeout=WAIT)
    expect(page.locator("#budget")).to_contain_text("ε = 3 of 4 left")
    onward(5, "dp is released", "Ledger")
    banner.get_by_role("link").click()

    onward(6, "Ledger", "Risk")
    expect(page.locator("#entries li")).to_have_count(1)
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.get_by_text("Ledger verified: 1 entries, chain intact")).to_be_visible(timeout=WAIT)
    banner.get_by_role("link").click()

    onward(7, "Risk", None)
    page.get_by_role("button", name="Measure risk").click()
    expect(page.locator("#risk-measures")).to_contain_text("inferred by linkage", timeout=WAIT)
    banner.get_by_role("button", name="End the tour").click()
    expect(banner).to_have_count(0)


def test_only_the_tour_has_banners(page, workbench):
    (workbench.folder / "own.yaml").write_text(
        "name: a\nsource: a.csv\nattributes: {x: {role: sensitive, values: [a]}}\n"
    )
    page.get_by_label("Study file").fill("own.yaml")
    page.get_by_role("button", name="Open", exact=True).first.click()
    page.wait_for_url("**/columns")
    page.goto(page.url.replace("/columns", "/taxonomies"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Taxonomies")
    expect(page.get_by_role("complementary", name="Tour")).to_have_count(0)
