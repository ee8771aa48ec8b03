"""From a messy table of a bank to a verified private bundle, by clicks alone; and the same by the command line."""

import json
import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.web.conftest import opened, serving

WAIT = 90_000
MOST_CLICKS = 25
HAND_WRITTEN = """\
name: bank
source: {path: bank.csv, missing: ["?"]}
privacy: {budget: 1}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [18, 100], step: 1, missing: keep}
  "balance (€)": {role: quasi_identifier, type: number, bounds: [0, 5000], step: 100, format: {decimal: ","}}
  "<b>job</b>": {role: quasi_identifier, values: [clerk, farmer, nurse]}
  subscribed: {role: class, values: ["no", "yes"]}
releases:
  first: {method: staged, epsilon: 0.5}
"""


class Clicker:
    """A hand on the page that counts what it clicks: buttons, links, boxes, and choices in lists. Typing is free."""

    def __init__(self):
        self.clicks = 0

    def click(self, place):
        place.click()
        self.clicks += 1

    def choose(self, place, value):
        place.select_option(value)
        self.clicks += 1


def write_bank(folder, rows=600):
    """Semicolons, decimal commas, days first, gaps, and a column that is called like markup."""
    lines = ["konto;age;balance (€);<b>job</b>;opened;subscribed"]
    for n in range(rows):
        age = "?" if n % 97 == 5 else str(18 + n * 7 % 70)
        job = ("clerk", "nurse", "farmer")[n % 3]
        lines.append(
            f"K{n:06};{age};{n * 37 % 4800},5;{job};{n % 28 + 1:02}.03.20{n % 20 + 2:02};{('no', 'yes')[n % 5 == 0]}"
        )
    (folder / "bank.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def planned(folder, study, release):
    """What `sfumato plan` says of a release, as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "plan", study, release, "--json"],
        cwd=folder, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.error_rate(0, reason="the bundle verifies for any draw of the noise")
def test_from_a_messy_table_to_a_verified_private_bundle_by_clicks(tmp_path, chromium):
    folder, by_hand = tmp_path / "page", tmp_path / "hand"
    for place in (folder, by_hand):
        place.mkdir()
        write_bank(place)
    (by_hand / "study.yaml").write_text(HAND_WRITTEN)
    hand = Clicker()
    with serving(folder) as workbench, opened(chromium, workbench) as page:
        page.get_by_label("Path or glob on this computer").fill("bank.csv")
        hand.click(page.get_by_role("button", name="Open table"))
        expect(page.locator("#column-rows tr")).to_have_count(6, timeout=WAIT)
        page.get_by_label("Total budget").fill("1")
        hand.click(page.get_by_role("button", name="Save study"))
        expect(page.locator("#drawer")).to_contain_text("budget: 1")
        hand.click(page.get_by_role("button", name="Confirm file format"))
        expect(page.get_by_role("button", name="Confirm file format")).to_have_count(0)
        _declare(page, hand, "age", lower="18", upper="100", step="1")
        _declare(page, hand, "balance (€)", lower="0", upper="5000", step="100", role="quasi_identifier")
        _declare(page, hand, "<b>job</b>", values="clerk\nfarmer\nnurse")
        _declare(page, hand, "subscribed", values="no\nyes", role="class")
        hand.click(page.get_by_role("link", name="Continue to plan"))
        expect(page.locator("#outcome")).to_contain_text("It costs ε = 0.5; before it, 1 of the budget of 1 remains.")
        page.get_by_label("Release", exact=True).fill("first")
        hand.click(page.get_by_role("button", name="Save release"))
        expect(page.get_by_role("link", name="Continue to release")).to_be_visible()
        page_plan, hand_plan = planned(folder, "bank.yaml", "first"), planned(by_hand, "study.yaml", "first")
        assert page_plan == hand_plan
        shown = page.locator("#messages").inner_text().replace("'", "")
        assert [one for one in page_plan["sentences"][:6] if one[1:].replace("'", "") not in shown] == []
        hand.click(page.get_by_role("link", name="Continue to release"))
        page.get_by_label("Type the name of the release").fill("first")
        page.get_by_label("Type ε").fill("0.5")
        hand.click(page.get_by_role("button", name="Release first at ε = 0.5"))
        page.wait_for_url(re.compile(r"/release/made/\d+$"), timeout=WAIT)
        hand.click(page.get_by_role("button", name="Verify the bundle"))
        expect(page.get_by_text("Bundle verified")).to_be_visible(timeout=WAIT)
    assert (folder / "releases" / "first-1" / "bundle" / "manifest.json").is_file()
    assert hand.clicks <= MOST_CLICKS, hand.clicks


def _declare(page, hand, name, *, role=None, **fields):
    """Confirm a column with a domain from public knowledge."""
    row = page.locator("tr", has=page.get_by_role("link", name=name, exact=True))
    hand.click(row.get_by_role("link"))
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name=name, exact=True)).to_be_visible()
    if role is not None:
        hand.choose(panel.locator("#role"), role)
    labels = {"lower": "Lower", "upper": "Upper", "step": "Step", "values": "Values, one a line"}
    for field, value in fields.items():
        panel.get_by_label(labels[field]).fill(value)
    hand.click(panel.get_by_label("Public knowledge"))
    hand.click(panel.get_by_role("button", name="Confirm and save"))
    expect(row.locator(".c-domain")).to_contain_text("declared")
