"""Taxonomies on the page: listed, edited by pointer and keys, checked, saved, imported and exported."""

import re
from contextlib import contextmanager

import pytest

from sfumato.domains.taxonomy.text import from_csv
from sfumato.study.file import load_study, load_taxonomy
from tests.web.conftest import opened, serving

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

STUDY = """\
# mine
name: clinic
source: t.csv
attributes:
  job: {role: quasi_identifier, values: [Engineer, Lawyer, Dancer, Writer, "10", "9"]}   # work
  town: {role: quasi_identifier, taxonomy: {Any: {North: [Ulm, Bonn], South: [Rome]}}}
  zip: {role: quasi_identifier, values: ["13053", "13068", "14850"]}
  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}
  seen: {role: quasi_identifier, type: date, bounds: [2020-01-01, 2021-12-31]}
  <b>x</b>: {role: sensitive, values: [<i>a</i>, naïve, "a b"]}
  codes: {role: quasi_identifier, taxonomy: codes.csv}
  id: {role: identifier}
  broken: {role: quasi_identifier, values: [a, b], taxonomy: {Any: [a]}}
"""
TABLE = "job;town;zip;age;seen\nBaker;Ulm;13053;1,5;31.12.2020\nDancer;;14850;;01.02.2021\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """One server for the tests that change different attributes."""
    folder = tmp_path_factory.mktemp("studies")
    with serving(folder) as found:
        yield found


@contextmanager
def studying(chromium, workbench, name, text=STUDY, **more):
    """A fresh study of its own, on the list of its taxonomies."""
    folder = workbench.folder / name
    folder.mkdir()
    (folder / "t.csv").write_text(TABLE, encoding="utf-8")
    (folder / "codes.csv").write_text("".join(f"c{n:04};g{n // 700};*\n" for n in range(2100)), encoding="utf-8")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    with opened(chromium, workbench, **more) as page:
        page.get_by_label("Study file").fill(f"{name}/study.yaml")
        page.get_by_role("button", name="Open", exact=True).first.click()
        page.wait_for_url("**/columns")
        page.goto(page.url.replace("/columns", "/taxonomies"))
        yield page, folder


def pick(page, *labels):
    for label in labels:
        page.get_by_label(f"Select {label}", exact=True).check()


def do(page, button):
    page.get_by_role("button", name=button, exact=True).click()


def edit(page, button):
    """An edit that works: the page shows the next revision of the tree."""
    revision = page.locator("input[name=revision]")
    before = revision.input_value()
    do(page, button)
    expect(revision).not_to_have_value(before)


def test_attributes_are_listed_with_their_levels_and_problems(running, chromium):
    with studying(chromium, running, "listed") as (page, _):
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(8)
        expect(page.get_by_role("row", name=re.compile("town"))).to_contain_text("in the study file")
        expect(page.get_by_role("row", name=re.compile("codes.csv"))).to_contain_text("2,100")
        expect(page.get_by_role("row", name=re.compile("broken"))).to_contain_text("SF-TAXONOMY-036")
        expect(page.get_by_role("link", name="<b>x</b>")).to_be_visible()
        expect(page.locator("table.cards[role=table] tr[role=row] td[role=cell]")).to_have_count(8 * 6)
        expect(page.locator("table.cards :is(thead, tbody, tr, th, td):not([role])")).to_have_count(0)
        page.get_by_role("link", name="<b>x</b>").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Taxonomy of <b>x</b>")
        expect(page.get_by_label("Select <i>a</i>")).to_be_visible()


def test_a_tree_is_built_from_values_and_saved(running, chromium):
    with studying(chromium, running, "built") as (page, folder):
        page.get_by_role("link", name="job", exact=True).click()
        pick(page, "Engineer", "Lawyer")
        page.get_by_label("Name", exact=True).fill("Professional")
        edit(page, "Group below it")
        expect(page.get_by_text("Professional2 values")).to_be_visible()
        expect(page.get_by_text("not saved")).to_be_visible()
        pick(page, "Dancer", "Writer")
        page.get_by_label("Name", exact=True).fill("Artist")
        edit(page, "Group below it")
        pick(page, "10")
        page.get_by_label("Below", exact=True).fill("Artist")
        edit(page, "Move to")
        expect(page.get_by_text("Artist3 values")).to_be_visible()
        pick(page, "Artist")
        page.get_by_label("Name", exact=True).fill("Art")
        edit(page, "Rename")
        expect(page.locator("#tree")).to_contain_text("Art3 values")
        edit(page, "Undo")
        expect(page.locator("#tree")).to_contain_text("Artist3 values")
        edit(page, "Redo")
        expect(page.locator("#tree")).to_contain_text("Art3 values")
        expect(page.get_by_role("row", name=re.compile("root"))).to_contain_text("Any")
        do(page, "Save taxonomy")
        expect(page.get_by_text("as in study.yaml")).to_be_visible()
        text = (folder / "study.yaml").read_text(encoding="utf-8")
        assert "}   # work" in text and text.startswith("# mine")
        line = next(line for line in text.splitlines() if line.startswith("  job:"))
        assert 'taxonomy: {Any: [Professional: [Engineer, Lawyer], Art: [Dancer, Writer, "10"], "9"]}' in line
        assert 'values: [Engineer, Lawyer, Dancer, Writer, "10", "9"]' in line


def test_nodes_merge_divide_sort_and_go(running, chromium):
    with studying(chromium, running, "changed") as (page, _):
        page.get_by_role("link", name="town", exact=True).click()
        tree = page.locator("#tree")
        pick(page, "North", "South")
        edit(page, "Merge")
        expect(tree).to_contain_text("North3 values")
        pick(page, "Rome")
        page.get_by_label("Name", exact=True).fill("Italy")
        edit(page, "Split off")
        expect(tree).to_contain_text("Italy1 value")
        pick(page, "North")
        edit(page, "Sort children")
        expect(tree).to_have_text(re.compile("Bonn.*Ulm", re.DOTALL))
        pick(page, "Italy")
        edit(page, "Delete")
        expect(tree).not_to_contain_text("Italy")
        expect(page.locator("#checks")).to_contain_text("Leaves stand at depths 1 to 2")
        do(page, "Merge")
        expect(page.get_by_role("alert")).to_contain_text("SF-TAXONOMY-438")


def test_a_node_is_dragged_and_moved_by_keys(running, chromium):
    with studying(chromium, running, "dragged") as (page, _):
        page.get_by_role("link", name="town", exact=True).click()
        tree = page.locator("#tree")
        page.get_by_role("button", name="Move Ulm").hover()
        page.mouse.down()
        target = page.locator("summary", has_text="South").bounding_box()
        page.mouse.move(target["x"] + 60, target["y"] + 10, steps=5)
        page.mouse.up()
        expect(tree).to_contain_text("South2 values")
        expect(page.get_by_role("button", name="Move Ulm")).to_be_focused()
        page.keyboard.press("Space")
        expect(page.locator("#tree-said")).to_contain_text("picked up")
        page.keyboard.press("Escape")
        expect(page.locator("#tree-said")).to_have_text("Not moved.")
        page.keyboard.press("Space")
        for _ in range(4):
            page.keyboard.press("ArrowUp")
        expect(page.get_by_role("button", name="Move North")).to_be_focused()
        page.keyboard.press("Space")
        expect(tree).to_contain_text("North2 values")


def test_missing_values_are_said_and_added(running, chromium):
    with studying(chromium, running, "missing") as (page, folder):
        page.get_by_role("link", name="zip", exact=True).click()
        pick(page, "14850")
        edit(page, "Delete")
        expect(page.locator("#checks")).to_contain_text("1 value of the study is not among the leaves: 14850")
        do(page, "Save taxonomy")
        expect(page.get_by_role("alert")).to_contain_text("SF-STUDY-470")
        do(page, "Add the 1 missing value below the selected node, or the root")
        expect(page.locator("#checks")).to_contain_text("No problem")
        pick(page, "13053")
        page.get_by_label("Name", exact=True).fill("13068")
        page.keyboard.press("Enter")
        expect(page.locator("#checks")).to_contain_text("The leaf stands at 2 places")
        expect(page.get_by_role("button", name="Save taxonomy")).to_be_disabled()
        assert load_study_text(folder).count("taxonomy:") == STUDY.count("taxonomy:")


def load_study_text(folder):
    return (folder / "study.yaml").read_text(encoding="utf-8")


def test_rules_show_the_levels_that_a_release_has(running, chromium):
    text = STUDY.replace("  broken: {role: quasi_identifier, values: [a, b], taxonomy: {Any: [a]}}\n", "")
    with studying(chromium, running, "rules", text) as (page, folder):
        listed = page.url
        page.get_by_role("link", name="zip", exact=True).click()
        page.get_by_label("Numbers of leading characters").fill("1, 3")
        expect(page.locator("#rule-preview")).to_contain_text("130** · 14850")
        do(page, "Save this rule")
        expect(page.get_by_text("It replaces the rule prefix")).to_be_visible()
        page.goto(listed)
        page.get_by_role("link", name="age", exact=True).click()
        page.get_by_label("Intervals of one width").check()
        page.get_by_label("Width", exact=True).fill("20")
        page.get_by_label("Levels", exact=True).fill("2")
        expect(page.locator("#rule-preview")).to_contain_text("[0, 40) · [40, 80) · [80, 120]")
        page.get_by_label("Width", exact=True).fill("0")
        expect(page.locator("#rule-preview")).to_contain_text("SF-")
        page.get_by_label("Intervals at given bounds").check()
        page.get_by_label("Bounds", exact=True).fill("65\n18, 30")
        expect(page.locator("#rule-preview")).to_contain_text("[0, 18) · [18, 30) · [30, 65)")
        do(page, "Save this rule")
        expect(page.locator("#rule-preview")).not_to_contain_text("Not saved yet")
        expect(page.get_by_label("Bounds", exact=True)).to_have_value("65\n18, 30")
        page.goto(listed)
        page.get_by_role("link", name="seen", exact=True).click()
        page.get_by_label("Calendar").check()
        page.get_by_label("quarter").check()
        expect(page.locator("#rule-preview")).to_contain_text("[2020-01-01, 2020-04-01)")
        do(page, "Save this rule")
        expect(page.locator("#rule-preview")).not_to_contain_text("Not saved yet")
        expect(page.get_by_role("row", name=re.compile("^0"))).to_contain_text("24")
        study = load_study(folder / "study.yaml")
        assert study.attribute("zip").domain.taxonomy.labels[1] == "1****"
        assert study.attribute("age").domain.taxonomy.leaves == ("[0, 18)", "[18, 30)", "[30, 65)", "[65, 120]")
        assert study.attribute("seen").domain.taxonomy.depth == 3


def test_a_large_tree_opens_by_parts_and_is_saved_beside_the_study(running, chromium):
    with studying(chromium, running, "large") as (page, folder):
        page.get_by_role("link", name="codes", exact=True).click()
        expect(page.get_by_label("Select c0000")).to_have_count(0)
        page.locator("summary", has_text="g0").click()
        expect(page.get_by_label("Select c0049")).to_be_visible()
        expect(page.get_by_label("Select c0050")).to_have_count(0)
        do(page, "Show the next 50 of 650 more")
        expect(page.get_by_label("Select c0099")).to_be_visible()
        pick(page, "c0001", "c0099")
        page.get_by_label("Name", exact=True).fill("odd")
        edit(page, "Group below it")
        expect(page.get_by_label("Select odd")).to_be_visible()  # what was open stays open
        (folder / "codes.taxonomy.yaml").write_text("mine: [a]\n")
        do(page, "Save taxonomy")
        expect(page.get_by_text("as in study.yaml")).to_be_visible()
        assert (folder / "codes.taxonomy.yaml").read_text() == "mine: [a]\n"
        assert "taxonomy: codes-2.taxonomy.yaml" in load_study_text(folder)
        assert load_taxonomy(folder / "codes-2.taxonomy.yaml").size == 2100


def test_import_and_export_lose_nothing(running, chromium, tmp_path):
    with studying(chromium, running, "exchanged") as (page, _):
        page.get_by_role("link", name="town", exact=True).click()
        text = '"a;b";North;*\nUlm;North;*\nRome;*\n<i>x</i>;South;*\n'
        (tmp_path / "town.csv").write_text(text, encoding="utf-8")
        page.get_by_label("Choose a file").set_input_files(tmp_path / "town.csv")
        expect(page.get_by_label("or paste it")).to_have_value(text)
        do(page, "Import")
        expect(page.locator("#tree-said")).to_contain_text("2 values are new, 1 are no longer there")
        for link, name in (("Export CSV (ARX)", "out.csv"), ("Export YAML", "out.yaml")):
            with page.expect_download() as saved:
                page.get_by_role("link", name=link).click()
            saved.value.save_as(tmp_path / name)
        assert (tmp_path / "out.csv").read_text(encoding="utf-8") == text
        assert load_taxonomy(tmp_path / "out.yaml") == from_csv(text)
        do(page, "Save taxonomy")
        expect(page.get_by_text("as in study.yaml")).to_be_visible()
        page.reload()
        with page.expect_download() as saved:
            page.get_by_role("link", name="Export CSV (ARX)").click()
        saved.value.save_as(tmp_path / "again.csv")
        assert (tmp_path / "again.csv").read_text(encoding="utf-8") == text
        page.get_by_label("or paste it").fill("a;b\nc;d\n")
        do(page, "Import")
        expect(page.get_by_role("alert")).to_contain_text("SF-TAXONOMY-020")


def test_a_draft_does_not_undo_a_taxonomy_that_was_declared_since(running, chromium):
    with studying(chromium, running, "since") as (page, folder):
        page.get_by_role("link", name="town", exact=True).click()
        pick(page, "Rome")
        page.get_by_label("Name", exact=True).fill("Roma")
        edit(page, "Rename")
        newer = "taxonomy: {Any: {North: [Ulm, Bonn], South: [Rome, Bari]}}"
        text = load_study_text(folder).replace("taxonomy: {Any: {North: [Ulm, Bonn], South: [Rome]}}", newer)
        (folder / "study.yaml").write_text(text, encoding="utf-8")
        do(page, "Save taxonomy")
        expect(page.get_by_role("alert")).to_contain_text("SF-STUDY-834")
        assert load_study_text(folder) == text
        do(page, "Discard")
        expect(page.get_by_label("Select Bari")).to_be_visible()
        pick(page, "Bari")
        page.get_by_label("Name", exact=True).fill("Bologna")
        edit(page, "Rename")
        do(page, "Save taxonomy")
        expect(page.get_by_text("as in study.yaml")).to_be_visible()
        pick(page, "Bologna")
        page.get_by_label("Name", exact=True).fill("Bari")
        edit(page, "Rename")
        do(page, "Save taxonomy")  # its own saving is no change by somebody else
        expect(page.get_by_text("as in study.yaml")).to_be_visible()
        assert newer in load_study_text(folder).replace('"', "")
