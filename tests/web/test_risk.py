"""The risk page: measures, linkage with the attributes that carry it, known people, and two releases."""

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from tests.web.adult_study import make_study
from tests.web.conftest import opened, serving

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.error_rate(0, reason="the noise decides numbers, and no test looks at them")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("risk")
    make_study(folder, "survey-dp", "k5", "k9")
    pc.write_csv(pq.read_table(folder / "adult.parquet").slice(0, 20), folder / "voters.csv")
    with serving(folder, "study.yaml") as found:
        yield found


@pytest.fixture
def page(chromium, bench):
    with opened(chromium, bench) as found:
        found.get_by_role("link", name="adult").first.click()
        found.get_by_role("link", name="Risk").click()
        found.get_by_label("Release", exact=True).select_option(label="k5-1")
        expect(found.locator(".guarantee")).to_contain_text("at least 5")
        yield found


def test_risk_is_measured_for_three_adversaries(page):
    page.get_by_role("button", name="Measure risk").click()
    part = page.locator("#risk-measures")
    expect(part.get_by_role("row").filter(has_text="Prosecutor risk, highest")).to_contain_text(
        "20.0 %", timeout=60_000
    )
    for name in ("Journalist risk, highest", "Marketer risk", "Records at risk"):
        expect(part.get_by_role("row").filter(has_text=name)).to_be_visible()
    expect(page.get_by_text("Never publish it")).to_be_visible()


def test_linkage_ranks_the_attributes_that_carry_it(page):
    page.get_by_role("button", name="Run linkage").click()
    part = page.locator("#risk-link")
    expect(part.locator("tbody tr")).to_have_count(6, timeout=60_000)
    expect(part.locator("tbody th").first).to_have_text("age")
    part.get_by_text("Smallest equivalence classes").click()
    expect(part.locator("li").first).to_contain_text("5 records")


def test_known_people_and_two_releases(page):
    page.get_by_label("Table of people that an adversary may have").fill("voters.csv")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#risk-known")).to_contain_text("People looked up", timeout=60_000)
    expect(page.locator("#risk-known")).to_contain_text("20")
    page.get_by_label("Other release").select_option(label="k9-1")
    page.get_by_role("button", name="Intersect").click()
    expect(page.locator("#risk-intersect")).to_contain_text("Exposed by the combination only", timeout=60_000)
    page.get_by_label("Table of people that an adversary may have").fill("../../etc/passwd")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("SF-USAGE-413")
