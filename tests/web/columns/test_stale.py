"""Columns on a page that is out of date: described meanwhile, or changed by another page, an editor or a check."""

import re
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.web.conftest import opened, serving
from tests.web.http_client import Client
from tests.web.stopped_process import going_on, stopping, wait_until

TABLE = "age;work;degree\n" + "".join(f"{20 + n % 40};{'abc'[n % 3]};{'xy'[n % 2]}\n" for n in range(40))
STUDY = """\
name: people
source: t.csv
privacy: {unit: record}
attributes:
  degree: {role: quasi_identifier, values: [x, y]}
  work: {role: quasi_identifier, values: [a, b, c]}
"""
REVERSED = ("degree", "work", "age")  # the study file has the columns in another order than the table
WAIT = 90_000


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("studies")) as found:
        yield found


@pytest.fixture
def client(running):
    return Client(running)


class Columns:
    """The page of the columns of a fresh study, as it is asked for without a browser."""

    def __init__(self, client, workbench, name, *, study=STUDY, table=TABLE):
        self.client, self.folder = client, workbench.folder / name
        self.folder.mkdir()
        (self.folder / "t.csv").write_text(table, encoding="utf-8")
        self.study = self.folder / "study.yaml"
        self.study.write_text(study, encoding="utf-8")
        answer = client.ask("POST", "/open/study", f"study={name}/study.yaml", client.ours)
        self.at = answer.getheader("hx-redirect")

    def page(self):
        return self.client.get(self.at)[1]

    def described(self):
        wait_until(lambda: "Description of the table" not in self.page())
        return self

    def number(self, name):
        return re.search(rf'id="open-(\d+)"[^>]*>{re.escape(name)}<', self.page())[1]

    def panel(self, name):
        """The fields of the panel of a column, as a browser would send them."""
        text = self.client.get(f"{self.at}/{self.number(name)}")[1]
        fields = dict(re.findall(r'<input(?: type="hidden")?[^>]* name="(\w+)" value="([^"]*)"', text))
        fields |= dict(re.findall(r'name="(\w+)" rows[^>]*>([^<]*)</textarea>', text))
        for select, options in re.findall(r'<select[^>]* name="(\w+)">(.*?)</select>', text):
            chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', options)
            fields[select] = "" if chosen is None else chosen[1] if chosen[1] is not None else chosen[2]
        fields["from"] = re.search(r'name="from" value="(\w+)" checked', text)[1]
        return fields

    def post(self, path, **fields):
        return self.client.post(f"{self.at}/{path}", fields)

    def checked(self):
        """The part of the page that says what a check found, once it has ended."""
        self.post("check")
        wait_until(lambda: 'sse-connect="/jobs/' not in self.messages())
        return self.messages()

    def messages(self):
        answer = self.post("messages", find="", show="all", page="0")[1]
        return re.search(r'<section[^>]* id="messages".*?</section>', answer, re.DOTALL)[0]


def test_a_column_keeps_its_number_when_the_table_is_described(running, client):
    with stopping(running, "describe") as stopped:
        one = Columns(client, running, "numbers")
        job = stopped()
    with going_on(job):
        before = {name: one.number(name) for name in REVERSED[:2]}
        panel = one.panel("degree")
        assert "column 1 of 2" in client.get(f"{one.at}/{before['degree']}")[1]
    one.described()
    assert {name: one.number(name) for name in REVERSED[:2]} == before
    assert "column 3 of 3" in client.get(f"{one.at}/{before['degree']}")[1]
    status, _ = one.post(before["degree"], **{**panel, "values": "x\ny\nz"})
    assert status == 200
    text = one.study.read_text()
    assert "degree: {role: quasi_identifier, values: [x, y, z]}" in text
    assert "work: {role: quasi_identifier, values: [a, b, c]}" in text
    assert one.post("99", role="sensitive")[0] == 422


def test_an_open_panel_stays_when_the_table_is_described(running, chromium):
    with opened(chromium, running) as page:
        with stopping(running, "describe") as stopped:
            one = Columns(Client(running), running, "open")
            job = stopped()
        with going_on(job):
            page.goto(running.origin + one.at)
            page.get_by_role("link", name="degree", exact=True).click()
            panel = page.locator("#panel")
            panel.get_by_label("Values, one a line").fill("x\ny\nz")
            page.get_by_label("Total budget").fill("3")
            expect(page.locator("#column-rows tr")).to_have_count(2)
        expect(page.locator("#column-rows tr")).to_have_count(3, timeout=WAIT)
        expect(page.locator("#describing")).to_be_hidden()
        expect(page.locator("#columns-head")).to_contain_text("40 records")
        expect(page.locator("tr.chosen")).to_contain_text("degree")
        expect(panel.get_by_label("Values, one a line")).to_have_value("x\ny\nz")
        expect(page.get_by_label("Total budget")).to_have_value("3")
        panel.get_by_role("button", name="Save").click()
        expect(page.locator("#drawer")).to_contain_text("values: [x, y, z]")
        assert "work: {role: quasi_identifier, values: [a, b, c]}" in one.study.read_text()


def test_an_old_page_takes_no_budget_and_no_privacy_unit_away(running, client):
    one = Columns(client, running, "card").described()
    shown = dict(re.findall(r'name="(was_\w+)" value="([^"]*)"', one.page()))
    assert shown == {"was_name": "people", "was_budget": "", "was_person": "", "was_at_most": ""}
    declared = "privacy: {unit: {person: work, at_most: 3}, budget: 2}"
    one.study.write_text(STUDY.replace("privacy: {unit: record}", declared))
    old = {**shown, "name": "office", "budget": "", "person": "", "at_most": ""}
    assert one.post("study", **old)[0] == 200
    assert declared in one.study.read_text() and "name: office" in one.study.read_text()
    for wanted, code in (({"budget": "9"}, "SF-STUDY-833"), ({"person": "degree", "at_most": "1"}, "SF-STUDY-833")):
        status, answer = one.post("study", **{**old, **wanted})
        assert status == 422 and code in answer
    assert declared in one.study.read_text()
    now = {**shown, "was_name": "office", "was_budget": "2", "was_person": "work", "was_at_most": "3"}
    assert one.post("study", **{**now, "name": "office", "budget": "", "person": "", "at_most": ""})[0] == 200
    assert "budget" not in one.study.read_text() and "unit: record" in one.study.read_text()


def test_an_old_panel_does_not_undo_what_was_declared_since(running, client):
    one = Columns(client, running, "panel").described()
    panel, number = one.panel("degree"), one.number("degree")
    newer = "degree: {role: sensitive, values: [x, y, other], missing: suppress}"
    one.study.write_text(STUDY.replace("degree: {role: quasi_identifier, values: [x, y]}", newer))
    status, answer = one.post(number, **{**panel, "outside": "suppress"})
    assert status == 422 and "SF-STUDY-831" in answer
    del panel["entry"]
    assert "SF-STUDY-831" in one.post(number, **panel)[1]  # what does not say what it shows is refused, too
    assert newer in one.study.read_text()
    assert one.post(number, **{**one.panel("degree"), "outside": "suppress"})[0] == 200
    assert "missing: suppress, outside: suppress" in one.study.read_text()


def test_an_old_row_and_old_ticks_do_not_undo_what_was_declared_since(running, client):
    one = Columns(client, running, "row").described()
    number, page = one.number("age"), one.page()
    row = re.search(rf'<tr[^>]* id="col-{number}".*?</tr>', page, re.DOTALL)[0]
    entry = re.search(r'"entry": "(\w+)"', row)[1]
    shown = re.search(r'name="shown" value="(\w+)"', page)[1]
    newer = "  age: {role: sensitive, type: integer, bounds: [0, 120]}\n"
    one.study.write_text(STUDY + newer)
    assert "SF-STUDY-831" in one.post(f"{number}/role", entry=entry)[1]
    assert "SF-STUDY-832" in one.post("bulk", pick=number, role="none", shown=shown)[1]
    assert one.study.read_text().endswith(newer)
    # The role that a column has already leaves its domain as it is declared.
    assert one.post(f"{number}/role", role="sensitive")[0] == 200
    assert one.post("bulk", all="1", role="quasi_identifier")[0] == 200
    assert one.study.read_text() == STUDY + newer.replace("sensitive", "quasi_identifier")
    assert one.post("bulk", pick=number, role="", missing="suppress")[0] == 200
    assert "bounds: [0, 120], missing: suppress}" in one.study.read_text()


def test_a_check_that_fails_is_not_repeated_for_the_same_study(running, client):
    one = Columns(client, running, "fails").described()
    assert "Every value" in one.checked()
    shutil.move(one.folder / "t.csv", one.folder / "gone.csv")
    one.post(f"{one.number('degree')}/role", role="sensitive")
    assert "load delay" in one.messages()
    found = one.checked()
    assert "notice is-bad" in found and "load delay" not in found
    assert "load delay" not in one.page()
    one.post(f"{one.number('degree')}/role", role="quasi_identifier")
    assert "load delay" in one.messages()


def test_two_pages_ask_for_one_check(running, client):
    one = Columns(client, running, "twice").described()
    with stopping(running, "check") as stopped:
        one.post("check")
        job = stopped()
    with going_on(job):
        jobs = [re.search(r'sse-connect="/jobs/(\w+)/', one.post("check")[1])[1] for _ in range(2)]
        assert jobs[0] == jobs[1]


def test_invalid_values_are_those_of_the_last_check_also_of_a_mended_table(running, client):
    one = Columns(client, running, "mended", table=TABLE + "30;a;WRONG\n").described()
    cell = rf'id="invalid-{one.number("degree")}"[^>]*>(.*?)</td>'
    assert "1 values are outside" in one.checked()
    assert ">1<" in re.search(cell, one.page())[1]
    (one.folder / "t.csv").write_text(TABLE)
    assert "Every value" in one.checked()
    assert ">0<" in re.search(cell, one.page())[1]


@contextmanager
def wide(chromium, workbench, name, columns=120, rows=4):
    """A study of many columns, of which none is declared, on its second page."""
    names = [f"c{n}" for n in range(columns)]
    lines = [";".join(names), *(";".join("ab"[(n + k) % 2] for n in range(columns)) for k in range(rows))]
    study = "name: wide\nsource: t.csv\nattributes: {}\n"
    one = Columns(Client(workbench), workbench, name, study=study, table="\n".join(lines) + "\n").described()
    with opened(chromium, workbench) as page:
        page.goto(workbench.origin + one.at)
        page.get_by_role("button", name="Next 50").click()
        expect(page.locator("#open-50")).to_be_visible()
        yield page, one


def test_the_end_of_a_check_leaves_page_and_ticks_as_they_are(running, chromium):
    with wide(chromium, running, "wide") as (page, _one):
        page.get_by_label("Select c60").check()
        page.locator("#role-55").select_option("sensitive")
        expect(page.locator("#decide-55")).to_have_text("sensitive")
        page.locator("#role-56").focus()
        expect(page.locator("#invalid-55")).to_have_text("0", timeout=WAIT)  # the check has ended
        expect(page.locator("#open-50")).to_be_visible()
        expect(page.get_by_label("Select c60")).to_be_checked()
        expect(page.locator("#role-56")).to_be_focused()

        page.get_by_label("Name of the study").fill("broad")  # which swaps the grid
        page.get_by_role("button", name="Save study").click()
        expect(page.locator("#drawer")).to_contain_text("name: broad")
        expect(page.locator("#open-50")).to_be_visible()
        expect(page.get_by_label("Select c60")).to_be_checked()

        page.get_by_label("Role for the selected columns").select_option("insensitive")
        page.get_by_role("button", name="Apply to selected").click()
        expect(page.locator("#decide-60")).to_have_text("insensitive")
        expect(page.locator("#open-50")).to_be_visible()
        expect(page.get_by_label("Select c60")).not_to_be_checked()  # it is done
        page.get_by_label("Filter columns by name").fill("c1")
        expect(page.locator("#open-1")).to_be_visible()  # a new filter begins at the first page


def test_unsaved_edits_of_a_panel_are_given_up_only_if_their_owner_says_so(running, chromium):
    one = Columns(Client(running), running, "unsaved").described()
    asked, answers = [], iter([False, True])

    def answer(dialog):
        asked.append(dialog.message)
        dialog.accept() if next(answers) else dialog.dismiss()

    with opened(chromium, running) as page:
        page.on("dialog", answer)
        page.goto(running.origin + one.at)
        panel = page.locator("#panel")
        page.get_by_role("link", name="age", exact=True).click()
        panel.get_by_role("link", name="work").click()  # nothing was typed, so nothing is asked
        expect(panel.get_by_role("heading", name="work")).to_be_focused()
        panel.get_by_label("Values, one a line").fill("a\nb\nc\nd")
        panel.get_by_role("link", name="degree").click()
        expect(panel.get_by_role("heading", name="work")).to_be_visible()
        expect(panel.get_by_label("Values, one a line")).to_have_value("a\nb\nc\nd")
        panel.get_by_role("link", name="degree").click()
        expect(panel.get_by_role("heading", name="degree")).to_be_focused()
        panel.get_by_label("Missing values").select_option("keep")
        panel.get_by_role("button", name="Revert").click()  # says itself what it does
        expect(panel.get_by_label("Missing values")).to_have_value("")
    assert len(asked) == 2 and all("work" in said for said in asked)


def test_the_focus_stays_where_the_keyboard_was(running, chromium):
    one = Columns(Client(running), running, "focus").described()
    with opened(chromium, running) as page:
        page.goto(running.origin + one.at)
        age = page.locator(f"#decide-{one.number('age')}")
        age.press("Enter")
        expect(age).to_have_text("quasi-identifier")
        expect(age).to_be_focused()  # the chip that says what was confirmed stands in the place of the button
        page.get_by_role("link", name="work", exact=True).click()
        page.locator("#panel").get_by_label("Missing values").select_option("suppress")
        save = page.locator("#panel").get_by_role("button", name="Save")
        save.press("Enter")
        expect(page.locator("#drawer")).to_contain_text("missing: suppress")
        expect(save).to_be_focused()
        page.get_by_role("button", name=re.compile("^Missing")).press("Enter")
        expect(page.get_by_text("No column matches.")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Missing"))).to_be_focused()


PRESS_ONCE_SWAPPED = """
() => document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (event.target.id === "shows") setTimeout(() => document.getElementById("show-missing").click(), 0);
})
"""


def test_a_button_works_from_the_moment_it_is_there(running, chromium):
    one = Columns(Client(running), running, "soon").described()
    with opened(chromium, running) as page:
        page.goto(running.origin + one.at)
        page.evaluate(PRESS_ONCE_SWAPPED)
        page.locator(f"#decide-{one.number('age')}").press("Enter")  # whose answer brings new buttons
        expect(page.get_by_text("No column matches.")).to_be_visible()


def test_a_press_counts_though_an_answer_swaps_the_button_meanwhile(running, chromium):
    one = Columns(Client(running), running, "pressed").described()
    with opened(chromium, running) as page:
        page.goto(running.origin + one.at)
        page.get_by_role("button", name=re.compile("^Missing")).hover()
        page.mouse.down()
        page.locator("#show-missing").evaluate("button => { button.dataset.old = 'yes'; }")
        decide = page.locator(f"#decide-{one.number('age')}")
        decide.evaluate("button => button.click()")
        expect(decide).to_have_text("quasi-identifier")
        expect(page.locator("#show-missing[data-old]")).to_have_count(0)
        page.mouse.up()
        expect(page.get_by_text("No column matches.")).to_be_visible()
        expect(page.locator("#show-missing")).to_have_attribute("aria-pressed", "true")


def test_what_was_read_off_the_records_is_marked(running, client):
    one = Columns(client, running, "marked", table=TABLE.replace("39;", ";")).described()
    number = one.number("age")

    def sections():
        text = client.get(f"{one.at}/{number}")[1]
        parts = re.findall(r'<section( class="owner")? aria-labelledby="(p-\w+)">(.*?)</section>', text, re.DOTALL)
        return {name for owner, name, part in parts if owner and "Owner only" in part}

    def row():
        return re.search(rf'<tr[^>]* id="col-{number}".*?</tr>', one.page(), re.DOTALL)[0]

    assert sections() == {"p-domain", "p-format", "p-out"}
    assert re.search(r'<small class="owner"><span class="mark-owner">.*owner only', row())
    one.post(f"{number}/role", role="sensitive")
    assert "domain: observed" in one.study.read_text()
    assert sections() == {"p-domain", "p-out"}
    assert re.search(r'c-domain"><span class="owner">.*owner only', row())
    one.post(number, **{**one.panel("age"), "from": "declared", "missing": "error"})
    assert sections() == {"p-out"}
    assert 'class="owner"' not in row()
    buttons = re.findall(r'<button[^>]* id="show-(\w+)".*?</button>', one.page())
    marked = re.findall(r'<button[^>]* id="show-(\w+)"[^>]*>[^<]*<span class="mark-owner">', one.page())
    assert buttons == ["all", "confirm", "missing", "invalid"] and marked == ["missing", "invalid"]
    steps = re.compile(r'<nav class="steps".*?</nav>', re.DOTALL)
    assert "Owner only" not in steps.search(one.page())[0]
    assert "missing" in one.checked()
    assert "Owner only" in steps.search(one.page())[0]  # what is missing counts among the points to be resolved
