"""The tour: a study of its own for the packaged census table, and a word on each step."""

import re

import pytest

from sfumato.study.file import load_study

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


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
