"""The page Plan and ε: releases, purposes, live plans, ε and its expected error."""

import re
from dataclasses import fields

import pytest
from playwright.sync_api import expect

from sfumato.api import Study
from sfumato.methods import METHODS
from sfumato.web.editing.method_forms import HELP, SUITED, ReleaseForm
from tests.web.conftest import opened, serving
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
    assert page.locator("#messages a").first.get_attribute("href").endswith("/columns")
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
