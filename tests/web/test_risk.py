"""The risk page: measures, linkage with the attributes that carry it, known people, two releases, and a messy table."""

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from tests.web.adult_study import make_study
from tests.web.conftest import opened, serving
from tests.web.messy import write_messy

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


MESSY = """\
name: office
source: {path: messy.csv, delimiter: ";", missing: ["?"]}
attributes:
  "<b>x</b>": {role: quasi_identifier, values: [low, mid, "<i>high</i>"]}
  "a b": {role: quasi_identifier, type: number, bounds: [0, 40], step: 0.5, format: {decimal: ","}, missing: keep}
  "naïve": {role: quasi_identifier, type: integer, bounds: [0, 100], step: 1, missing: keep}
  sex: {role: sensitive, values: [f, m]}
releases:
  first: {method: mondrian, k: 5}
  second: {method: mondrian, k: 8}
"""


def test_a_messy_table_is_attacked_and_its_names_stay_text(tmp_path, chromium):
    """Decimal commas, gaps, and names of columns and values that are markup."""
    write_messy(tmp_path / "messy.csv", rows=240)
    (tmp_path / "study.yaml").write_text(MESSY, encoding="utf-8")
    study = sf.Study.load(tmp_path / "study.yaml")
    for name in ("first", "second"):
        study.release(name, report=False)
    people = ["<b>x</b>;a b;naïve", "low;3,5;23", "<i>high</i>;?;", "mid;1,5;21"]
    (tmp_path / "known.csv").write_text("\n".join(people) + "\n", encoding="utf-8")
    with serving(tmp_path, "study.yaml") as bench, opened(chromium, bench) as page:
        page.get_by_role("link", name="office").first.click()
        page.get_by_role("link", name="Risk").click()
        page.get_by_label("Release", exact=True).select_option(label="first-1")
        expect(page.locator(".guarantee")).to_contain_text("at least 5")
        page.get_by_role("button", name="Measure risk").click()
        measured = page.locator("#risk-measures").get_by_role("row").filter(has_text="Prosecutor risk, highest")
        expect(measured).to_contain_text(" %", timeout=60_000)
        page.get_by_role("button", name="Run linkage").click()
        part = page.locator("#risk-link")
        expect(part.locator("tbody tr")).to_have_count(3, timeout=60_000)
        assert sorted(part.locator("tbody th").all_inner_texts()) == ["<b>x</b>", "a b", "naïve"]
        part.get_by_text("Smallest equivalence classes").click()
        expect(part.locator("li").first).to_contain_text("records")
        page.get_by_label("Table of people that an adversary may have").fill("known.csv")
        page.get_by_role("button", name="Link", exact=True).click()
        expect(page.locator("#risk-known")).to_contain_text("People looked up", timeout=60_000)
        page.get_by_label("Other release").select_option(label="second-1")
        page.get_by_role("button", name="Intersect").click()
        expect(page.locator("#risk-intersect")).to_contain_text("People in both releases", timeout=60_000)
        assert page.locator("main b", has_text="x").count() == 0 and page.locator("main i").count() == 0
