"""The page Plan and ε: releases, purposes, live plans, ε and its expected error."""

import re
from dataclasses import fields

import duckdb
import pytest
from playwright.sync_api import expect

from sfumato.api import Study
from sfumato.methods import METHODS
from sfumato.web.editing.method_forms import HELP, SUITED, ReleaseForm
from tests.web.conftest import opened, serving
from tests.web.http_client import Client
from tests.web.small_study import STUDY, key_of, write_adult


def test_every_method_and_parameter_is_explained():
    assert set(SUITED) == set(METHODS)
    asked = {one.name for name in METHODS for one in fields(METHODS[name])} - {"privacy"}
    assert asked - set(HELP) == set()


@pytest.mark.parametrize(
    "settings",
    [
        {"purpose": "p", "method": "diffgen", "epsilon": "1/3", "h": 4, "chosen": "chosen on a stand-in table"},
        {"method": "mondrian", "k": 5, "strict": False, "privacy": {"t-closeness": {"t": 0.2, "distance": "js"}}},
        {"method": "marginals", "epsilon": 1, "workload": [["a b", "c"], ["d"]], "groups": 12},
    ],
)
def test_a_release_is_the_same_after_the_form_has_read_and_written_it(settings):
    assert ReleaseForm.from_settings("r", settings).settings() == settings


@pytest.fixture
def studied(tmp_path, chromium):
    """A workbench with a small study, its page at the plan, and the address of the plan."""
    write_adult(tmp_path)
    with serving(tmp_path, "study.yaml") as workbench, opened(chromium, workbench) as page:
        address = f"{workbench.origin}/s/{key_of(page, workbench)}/plan"
        page.goto(address)
        yield workbench, page, address


def test_a_plan_is_live_and_saved_in_its_own_lines_alone(studied):
    workbench, page, _ = studied
    path = workbench.folder / "study.yaml"
    expect(page.locator("#outcome")).to_contain_text("It costs ε = 0.5; before it, 2 of the budget of 2 remains.")
    expect(page.locator("#drawer mark")).to_contain_text("method: diffgen, epsilon: 0.5")
    expect(page.locator("#eps-words")).to_contain_text("1.65")
    exact, slider = page.get_by_label("ε, exactly"), page.get_by_label("ε on a logarithmic scale")
    exact.fill("3")
    expect(page.locator("#outcome")).to_contain_text("does not fit: 2 is left")
    slider.focus()
    slider.press("Home")  # by the keyboard alone
    expect(exact).to_have_value("0.01")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("ε 0.01: odds change by a factor of at most 1.01"))
    exact.fill("1/4")
    expect(page.locator("#eps-words")).to_contain_text("ε = 0.25")
    expect(page.locator("#drawer mark")).to_contain_text("1/4")  # as saving would write it
    expect(page.locator("#drawer-said")).to_contain_text("not saved yet")
    expect(page.locator("#expected-table tr.chosen th")).to_have_text("0.25")
    expect(page.locator("[data-plot] canvas")).to_be_visible()
    page.get_by_label("Solve for ε: 95 % of counts within ±").fill("25")
    expect(page.locator("#expected")).to_contain_text("is enough")
    page.get_by_role("button", name=re.compile("^Use ")).click()
    solved = exact.input_value()
    assert 0.2 < float(solved) < 0.3
    expect(page.locator("#eps-words")).to_contain_text(f"ε = {solved}")
    assert path.read_text() == STUDY  # nothing was saved yet
    page.get_by_role("button", name="Save release").click()
    expect(page.get_by_role("link", name="Continue to release")).to_be_visible()
    changed = STUDY.replace("epsilon: 0.5, h: 4", f"epsilon: {solved}, h: 4")
    assert path.read_text() == changed
    expect(page.locator("#checked")).to_contain_text("Records left out", timeout=60_000)
    expect(page.locator("#budget")).to_contain_text("ε = 2 of 2 left")  # a plan spends nothing


def test_a_syntactic_release_is_made_with_models_and_errors_lead_to_columns(studied):
    workbench, page, address = studied
    page.goto(f"{address}?new=1")
    page.get_by_label("Release", exact=True).fill("diverse")
    page.get_by_role("radio", name=re.compile("^Mondrian")).check()
    expect(page.get_by_label("ε, exactly")).to_have_count(0)
    expect(page.locator("#plan-error")).to_contain_text("SF-STUDY")  # no model is required yet
    page.get_by_label("k", exact=True).first.fill("5")
    expect(page.locator("#messages")).to_contain_text("k-anonymity")
    row = page.locator(".row.model").filter(has_text="distinct-l-diversity")
    row.get_by_role("checkbox").check()
    row.get_by_label("l", exact=True).fill("2")
    expect(page.locator("#messages")).to_contain_text("occupation")
    page.locator("#messages a").filter(has_text="occupation").first.click()
    page.wait_for_url("**/columns#open-3")
    expect(page.locator("#open-3")).to_have_text("occupation")
    page.go_back()
    page.get_by_label("Release", exact=True).fill("diverse")
    page.get_by_role("radio", name=re.compile("^Mondrian")).check()
    page.get_by_label("k", exact=True).first.fill("5")
    row.get_by_role("checkbox").check()
    row.get_by_label("l", exact=True).fill("2")
    expect(page.locator("#messages")).to_contain_text("occupation")
    page.get_by_role("button", name="Save release").click()
    expect(page.get_by_role("link", name="Continue to release")).to_be_visible()
    declared = Study.load(workbench.folder / "study.yaml").declared
    assert declared.releases["diverse"]["k"] == 5
    assert "distinct-l-diversity" in declared.releases["diverse"]["privacy"]


def test_purposes_are_made_and_edited_and_one_that_is_used_stays(studied):
    workbench, page, address = studied
    page.get_by_text("Make a purpose").click()
    page.get_by_label("Name of the purpose").fill("schools")
    page.get_by_label("Only records that satisfy").fill("age >= 18")
    page.locator("#purpose-form .choice").filter(has_text="occupation").get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Save purpose").click()
    expect(page.get_by_role("row", name=re.compile("schools"))).to_contain_text("age >= 18")
    made = Study.load(workbench.folder / "study.yaml").declared.purposes["schools"]
    assert made.attributes == ("age", "education", "sex", "income")
    page.goto(f"{address}?purpose=survey")
    page.get_by_role("button", name="Remove purpose").click()
    expect(page.locator("#notices")).to_contain_text("SF-STUDY-436")


def _type_a_release(page, address):
    page.goto(f"{address}?new=1")
    page.get_by_label("Release", exact=True).fill("typed")
    page.get_by_role("radio", name=re.compile("^DiffGen")).check()
    page.get_by_label("Specialisations h").fill("3")
    page.get_by_label("ε, exactly").fill("0.7")
    expect(page.locator("#drawer mark")).to_contain_text("epsilon: 0.7, h: 3")


def _is_as_typed(page):
    expect(page.get_by_label("Release", exact=True)).to_have_value("typed")
    expect(page.get_by_role("radio", name=re.compile("^DiffGen"))).to_be_checked()
    expect(page.get_by_label("Specialisations h")).to_have_value("3")
    expect(page.get_by_label("ε, exactly")).to_have_value("0.7")


def test_declaring_a_budget_keeps_what_is_typed_of_a_release(studied):
    workbench, page, address = studied
    path = workbench.folder / "study.yaml"
    path.write_text(STUDY.replace(", budget: 2", ""))
    _type_a_release(page, address)
    expect(page.locator("#budget")).to_contain_text("no privacy budget set")
    page.get_by_label("Privacy budget of the study").fill("none")
    page.get_by_role("button", name="Declare").click()
    expect(page.locator("#notices")).to_contain_text("SF-")
    with page.expect_response("**/plan/preview"):  # the release is planned again when something was typed
        page.get_by_label("Privacy budget of the study").fill("3")
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(page.get_by_label("Privacy budget of the study")).to_have_value("3")
    page.get_by_role("button", name="Declare").click()
    expect(page.locator("#outcome")).to_contain_text("before it, 3 of the budget of 3 remains")
    expect(page.locator("#budget")).to_contain_text("ε = 3 of 3 left")
    expect(page.locator("#notices")).to_be_empty()
    _is_as_typed(page)
    assert "budget: 3" in path.read_text() and "typed" not in path.read_text()


def test_editing_purposes_keeps_what_is_typed_of_a_release(studied):
    workbench, page, address = studied
    _type_a_release(page, address)
    page.get_by_text("Make a purpose").click()
    page.get_by_label("Name of the purpose").fill("größe + alter")
    page.locator("#purpose-form .choice").filter(has_text="occupation").get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Save purpose").click()
    expect(page.get_by_role("row", name=re.compile("größe"))).to_be_visible()
    _is_as_typed(page)
    page.get_by_label("Purpose", exact=True).select_option("größe + alter")
    expect(page.locator("#drawer mark")).to_contain_text("purpose: größe + alter")
    page.get_by_label("Name of the purpose").fill("alter")
    page.get_by_role("button", name="Save purpose").click()
    expect(page.get_by_label("Purpose", exact=True)).to_have_value("alter")
    expect(page.locator("#drawer mark")).to_contain_text("purpose: alter")
    _is_as_typed(page)
    page.locator("#purposes-part").get_by_role("link", name="survey").click()
    expect(page.get_by_label("Name of the purpose")).to_have_value("survey")
    page.get_by_label("Name of the purpose").fill("other")
    page.get_by_role("button", name="Save purpose").click()
    expect(page.locator("#notices")).to_contain_text("SF-STUDY-436")  # a release needs it
    page.locator("#purposes-part").get_by_role("link", name="alter").click()
    expect(page.get_by_label("Name of the purpose")).to_have_value("alter")
    page.get_by_role("button", name="Remove purpose").click()
    expect(page.get_by_label("Purpose", exact=True)).to_have_value("")
    expect(page.locator("#notices")).to_be_empty()
    _is_as_typed(page)
    assert list(Study.load(workbench.folder / "study.yaml").declared.purposes) == ["survey"]


def test_what_is_announced_is_short_and_said_once(studied):
    _, page, _ = studied
    assert page.locator("#outcome").get_attribute("aria-live") is None
    assert page.locator("#outcome [role=status], #outcome [aria-live]").count() == 0
    said = page.locator("#outcome-status")
    expect(said).to_have_text("Planned: it costs ε = 0.5; 1.5 of 2 is left after it")
    said.evaluate("""said => {
        window.announced = 0;
        const changes = { childList: true, characterData: true, subtree: true };
        new MutationObserver(() => { window.announced += 1; }).observe(said, changes);
    }""")
    page.get_by_label("Specialisations h").fill("5")
    expect(page.locator("#drawer mark")).to_contain_text("h: 5")
    assert page.evaluate("window.announced") == 0  # the outcome is the same
    page.get_by_label("ε, exactly").fill("3")
    expect(said).to_have_text("Planned: it costs ε = 3; it does not fit")
    page.get_by_label("ε, exactly").fill("")
    expect(said).to_contain_text("It cannot be planned yet: SF-")


def test_a_column_far_down_is_found_by_the_filter(tmp_path):
    names = [f"c{n}" for n in range(70)]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + ",".join("1" * 70) + "\n")
    columns = "".join(f"  {name}: {{role: insensitive, values: ['1']}}\n" for name in names)
    (tmp_path / "study.yaml").write_text(f"name: wide\nsource: t.csv\nattributes:\n{columns}")
    with serving(tmp_path, "study.yaml") as workbench:
        client = Client(workbench)
        key = re.search(r"/s/(\w+)/columns", client.get("/")[1])[1]
        text = client.get(f"/s/{key}/plan?new=1")[1]
        assert f'href="/s/{key}/columns#open-49"' in text
        assert f'href="/s/{key}/columns?find=c50#open-50"' in text
        assert 'id="open-50"' in client.get(f"/s/{key}/columns?find=c50")[1]


def test_the_table_of_the_study_is_no_stand_in_by_whatever_address(tmp_path):
    write_adult(tmp_path, rows=50)
    with duckdb.connect(str(tmp_path / "a.db")) as book:
        book.execute(f"create table adult as from '{tmp_path / 'adult.parquet'}'")
    path = tmp_path / "study.yaml"
    path.write_text(STUDY.replace("source: adult.parquet", "source: duckdb:///a.db?table=adult"))
    with serving(tmp_path, "study.yaml") as workbench:
        client = Client(workbench)
        key = re.search(r"/s/(\w+)/columns", client.get("/")[1])[1]
        for named in ("duckdb:///a.db?table=adult", "duckdb:///a.db", "duckdb:///./a.db?schema=main&table=adult"):
            status, text = client.post(f"/s/{key}/plan/measure", {"release": "dp", "stand_in": named})
            assert (status, "SF-USAGE-452" in text) == (422, True), named


def test_an_edit_of_the_same_release_elsewhere_is_noticed(studied):
    workbench, page, _ = studied
    page.get_by_label("ε, exactly").fill("1")
    path = workbench.folder / "study.yaml"
    path.write_text(STUDY.replace("h: 4", "h: 6"))
    page.get_by_role("button", name="Save release").click()
    expect(page.locator("#notices")).to_contain_text("SF-STUDY-430")
    assert "h: 6" in path.read_text()


@pytest.mark.slow
@pytest.mark.error_rate(0, reason="whether numbers appear is looked at, and not what they are")
def test_accuracy_is_measured_on_a_public_stand_in(studied):
    workbench, page, _ = studied
    field = page.get_by_label("Public table with the study’s columns")
    field.fill("adult.parquet")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator("#notices")).to_contain_text("SF-USAGE-452")  # the table of the study is not public
    (workbench.folder / "survey.parquet").write_bytes((workbench.folder / "adult.parquet").read_bytes())
    field.fill("survey.parquet")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator("#measured-table")).to_be_visible(timeout=180_000)
    expect(page.locator("#measured")).to_contain_text("Your table was not read")
