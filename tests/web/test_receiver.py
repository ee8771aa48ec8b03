"""The receiver's page: what a bundle says, queries with intervals, marginals, verification, and hostile bundles."""

import shutil
import zipfile

import pytest

from tests.web.adult_study import hostile_bundle, make_study
from tests.web.conftest import opened, serving

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.error_rate(0, reason="the noise decides numbers, and no test looks at them")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A workbench over bundles: of noisy counts, of records, of markup, and damaged ones."""
    folder = tmp_path_factory.mktemp("received")
    make_study(folder, "survey-dp", "k5")
    hostile_bundle(folder)
    damaged = folder / "damaged"
    shutil.copytree(folder / "releases" / "k5-1" / "bundle", damaged)
    (damaged / "data.csv").write_bytes((damaged / "data.csv").read_bytes().replace(b"Private", b"Privbte", 1))
    with serving(folder) as found:
        yield found


@pytest.fixture
def page(chromium, bench):
    with opened(chromium, bench) as found:
        yield found


def open_bundle(page, path):
    page.get_by_label("Bundle folder").fill(str(path))
    page.get_by_label("Bundle folder").press("Enter")
    # A process of its own reads the bundle; where none begins, the start page says why.
    expect(page.locator("#guarantee, #notices > *, .notice").first).to_be_visible(timeout=60_000)


def test_a_private_bundle_states_its_guarantee_and_every_check(page):
    open_bundle(page, "releases/survey-dp-1")
    expect(page.get_by_role("heading", level=1)).to_have_text("survey-dp of adult")
    expect(page.locator(".statement")).to_contain_text("ε-differentially private with ε = 0.5")
    expect(page.get_by_text("It does not cover facts that hold for many people alike")).to_be_visible()
    expect(page.locator("#columns tbody tr")).to_have_count(8)  # seven columns and the count
    expect(page.locator("#verified")).to_contain_text("Verified:", timeout=60_000)
    expect(page.locator("#verification li").filter(has_text="data.parquet").first).to_be_visible()
    expect(page.locator("#load")).to_contain_text('pd.read_parquet("data.parquet")')
    expect(page.locator("#load")).to_contain_text("to_training()")
    expect(page.locator("#drawer summary")).to_contain_text("sfumato verify releases/survey-dp-1/bundle")


def test_a_query_answers_with_its_interval(page):
    open_bundle(page, "releases/survey-dp-1/bundle")
    page.get_by_label("How many records satisfy").fill("age >= 40 and income = '>50K'")
    page.get_by_role("button", name="Estimate").click()
    answer = page.locator("#answer")
    expect(answer).to_contain_text("95 % interval")
    expect(answer).to_contain_text("sfumato query releases/survey-dp-1/bundle")
    page.get_by_label("How many records satisfy").fill("wages > 3")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#notices")).to_contain_text("wages")
    assert "wages" not in page.url


def test_marginals_have_intervals_and_a_table(page):
    open_bundle(page, "releases/survey-dp-1/bundle")
    figure = page.locator("#marginals figure").filter(has=page.get_by_role("heading", name="sex", exact=True))
    figure.scroll_into_view_if_needed()
    expect(figure.get_by_role("img")).to_be_visible()
    figure.get_by_text("Numbers").click()
    expect(figure.locator("tbody tr")).not_to_have_count(0)
    expect(figure.locator("tbody tr").first).to_contain_text(" to ")


def test_records_state_what_is_certain(page):
    open_bundle(page, "releases/k5-1/bundle")
    expect(page.locator(".statement")).to_contain_text("k-anonymity")
    expect(page.locator(".guarantee")).to_contain_text("it is not differential privacy")
    page.get_by_label("How many records satisfy").fill("sex = Male")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#answer .big")).to_have_text("1,373")


def test_a_damaged_bundle_does_not_verify(page):
    open_bundle(page, "damaged")
    expect(page.locator("#verified")).to_contain_text("Does not verify", timeout=60_000)
    expect(page.locator("#verification")).to_contain_text("Do not use it")


def test_names_in_a_bundle_are_text(page):
    open_bundle(page, "messy-1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#columns tbody th").first).to_have_text("<script>alert(1)</script>")
    assert page.locator("#main img").count() == 0
    expect(page.locator("#verified")).to_contain_text("Verified:", timeout=60_000)
    figure = page.locator("#marginals figure").first
    figure.scroll_into_view_if_needed()
    expect(figure.locator("svg text").first).to_contain_text("young")


def test_a_bundle_is_opened_from_a_zip_file(page, bench):
    with zipfile.ZipFile(bench.folder / "got.zip", "w") as archive:
        for file in sorted((bench.folder / "releases" / "k5-1" / "bundle").iterdir()):
            archive.write(file, f"k5/bundle/{file.name}")
        archive.writestr("../../escaped.txt", "x")
    open_bundle(page, "got.zip")
    expect(page.get_by_role("heading", level=1)).to_have_text("k5 of adult")
    expect(page.locator("#verified")).to_contain_text("Verified:", timeout=60_000)
    assert not list(bench.folder.parent.rglob("escaped.txt"))


def test_what_is_no_bundle_is_an_error(page, bench):
    (bench.folder / "plain").mkdir(exist_ok=True)
    (bench.folder / "plain" / "manifest.json").write_text('{"format": "<b>x</b>"}')
    open_bundle(page, "plain")
    expect(page.get_by_text("manifest.json is not that of a Sfumato bundle")).to_be_visible()
    page.goto(bench.origin)
    open_bundle(page, "/etc")
    expect(page.locator("#notices")).to_contain_text("SF-USAGE-413")
    with zipfile.ZipFile(bench.folder / "bad.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    open_bundle(page, "bad.zip")
    expect(page.locator("#notices")).to_contain_text("SF-VERIFY-433")
