"""The pages Frontier and Ledger on a messy table: odd names, gaps, decimal commas, and a file name with a blank."""

import re

import pytest
from playwright.sync_api import expect
from ruamel.yaml import YAML

import sfumato as sf
from tests.web.conftest import opened, serving
from tests.web.messy import write_messy_study

pytestmark = pytest.mark.error_rate(0, reason="what is shown is looked at, and not what was drawn")


@pytest.fixture
def studied(tmp_path):
    return sf.Study.load(write_messy_study(tmp_path))


def test_stored_candidates_are_shown_after_a_restart_compared_and_released(studied, tmp_path, chromium):
    sf.frontier(studied, "ε + k", purpose="für ε + alle", repeats=2, workers=1)
    with serving(tmp_path, "my study.yaml") as workbench, opened(chromium, workbench) as page:
        page.get_by_role("link", name="büro").first.click()
        page.get_by_role("link", name="Frontier").click()
        expect(page.locator("#points-area")).to_contain_text("stored from the sweep ε + k for the purpose für ε + alle")
        expect(page.locator("#f-purpose")).to_have_value("für ε + alle")
        expect(page.locator("#points tr").filter(has_text="mondrian, k = 20")).to_be_visible()
        private = page.locator("#points tr").filter(has_text="diffgen, ε = 1, h = 2")
        expect(private).to_contain_text("±")
        page.get_by_label("Compare diffgen, ε = 1, h = 2").check()
        page.get_by_label("Compare mondrian, k = 20", exact=True).check()
        page.get_by_role("button", name="Compare two").click()
        columns = page.locator("#compared-columns")
        expect(columns.get_by_role("rowheader", name="<b>x</b>").first).to_be_visible(timeout=90_000)
        expect(columns).to_contain_text("evaluate compare 'my study.yaml'")
        plan = page.url.replace("/frontier", "/plan")
        for _ in range(2):  # a second press finds the release of the first
            page.get_by_role("button", name="Release this: diffgen, ε = 1, h = 2").click()
            page.wait_for_url(f"{plan}?release=diffgen-e1-h2")
            expect(page.get_by_label("ε, exactly")).to_have_value("1")
            page.go_back()
            page.get_by_label("Compare diffgen, ε = 1, h = 2").check()
            page.get_by_label("Compare mondrian, k = 20", exact=True).check()
            page.get_by_role("button", name="Compare two").click()
    declared = YAML(typ="safe").load((tmp_path / "my study.yaml").read_text())["releases"]
    assert list(declared) == ["dp ε", "k5", "diffgen-e1-h2"]
    assert declared["diffgen-e1-h2"] == {
        "purpose": "für ε + alle", "method": "diffgen", "epsilon": 1, "h": 2, "chosen": "chosen on the raw table"
    }  # fmt: skip


def test_a_sweep_may_be_called_by_any_letters(studied, tmp_path, chromium):
    with serving(tmp_path, "my study.yaml") as workbench, opened(chromium, workbench) as page:
        page.get_by_role("link", name="büro").first.click()
        page.get_by_role("link", name="Frontier").click()
        page.get_by_label("Name of the sweep").fill("größe ε + k")
        page.get_by_role("button", name="Save sweep").click()
        page.wait_for_url("**/frontier?sweep=*")
        expect(page.get_by_label("Sweep of the study")).to_have_value("größe ε + k")
        expect(page.locator("#drawer summary")).to_contain_text(
            "sfumato frontier 'my study.yaml' --sweep 'größe ε + k'"
        )


def test_the_ledger_has_purposes_side_by_side_and_commands_that_can_be_pasted(studied, tmp_path, chromium):
    studied.release("dp ε", report=False)
    studied.release("k5", report=False)
    with serving(tmp_path, "my study.yaml") as workbench, opened(chromium, workbench) as page:
        page.get_by_role("link", name="büro").first.click()
        page.get_by_role("link", name="Ledger").click()
        expect(page.locator("#budget")).to_contain_text("ε = 1.5 of 2 left")
        table = page.locator("#purposes")
        expect(table.locator("thead th")).to_have_text(["Fact", "für ε + alle", "only sex", "whole study"])

        def facts(name):
            row = table.locator("tbody tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))
            return row.locator("td")

        expect(facts("Columns")).to_have_text(
            ["<b>x</b>, naïve, sex", "<b>x</b>, sex", "no purpose: all that may be released"]
        )
        expect(facts("Spans of entries")).to_have_text(["all records", "none", "all records"])
        expect(facts("Methods")).to_have_text(["diffgen", "none", "mondrian"])
        expect(facts("ε, summed")).to_have_text(["0.5", "0", "0"])
        expect(page.locator("#drawer summary")).to_contain_text("sfumato ledger 'my study.yaml'")
        page.get_by_role("button", name="Verify", exact=True).click()
        expect(page.get_by_text("Ledger verified: 2 entries")).to_be_visible(timeout=60_000)
        page.locator("#entries > li").filter(has_text="dp ε").get_by_role("link", name="bundle", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("dp ε is released")
        expect(page.locator("#drawer summary")).to_contain_text(re.compile("sfumato verify 'releases/dp ε-1/bundle'"))
