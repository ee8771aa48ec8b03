"""A table on its way in, and declared: chosen, dropped, or by an address; on Adult and on a messy CSV file."""

import base64
import csv as text_csv
from importlib.resources import files

import duckdb
import pytest
from playwright.sync_api import expect
from pyarrow import csv, parquet

from tests.web.messy import write_messy

ADULT = files("sfumato") / "data" / "adult" / "adult.parquet"
WAIT = 90_000


def write_adult(path, rows=500):
    csv.write_csv(parquet.read_table(str(ADULT)).slice(0, rows), path)
    return path


class Adult:
    """What there is to see in the first rows of the packaged census table."""

    write = staticmethod(write_adult)
    name, rows, columns = "adult", 500, 15
    number, inside, group = "age", 50, ("relationship", ("Husband", "Wife"), "Spouse")
    proposed = (("age", "quasi-identifier?"), ("income", "target (class)?"))


class Messy:
    """What there is to see in the table from an office."""

    write = staticmethod(write_messy)
    name, rows, columns = "messy", 60, 8
    number, inside, group = "naïve", 50, ("<b>x</b>", ("low", "mid"), "below")
    proposed = (("sex", "quasi-identifier?"), ("record id", "identifier?"))


both = pytest.mark.parametrize("table", [Adult, Messy], ids=["adult", "messy"])


def row(page, name):
    return page.locator("tr", has=page.get_by_role("link", name=name, exact=True))


def listed(page, table):
    """Every column is listed, with its distribution."""
    expect(page.get_by_role("heading", level=1, name="Table & columns")).to_be_visible(timeout=WAIT)
    expect(page.locator("#column-rows tr")).to_have_count(table.columns, timeout=WAIT)
    expect(page.locator("#columns-head")).to_contain_text(f"{table.rows} records")
    for name, chip in table.proposed:
        expect(row(page, name).locator(".chip")).to_have_text(chip)


@both
def test_a_file_is_chosen_or_dropped(workbench, page, tmp_path_factory, table):
    path = table.write(tmp_path_factory.mktemp("elsewhere") / f"{table.name}.csv")  # in no folder of the workbench
    page.get_by_label("or choose a file").set_input_files(path)
    listed(page, table)
    page.goto(workbench.origin)
    dropped = page.evaluate_handle(
        """([name, text]) => {
            const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0)), data = new DataTransfer();
            data.items.add(new File([bytes], name, {type: "text/csv"}));
            return data;
        }""",
        [path.name, base64.b64encode(path.read_bytes()).decode()],
    )
    page.locator("[data-drop]").dispatch_event("drop", {"dataTransfer": dropped})
    listed(page, table)
    assert {path.name for path in workbench.folder.glob("*.yaml")} == {f"{table.name}.yaml", f"{table.name}-2.yaml"}


def test_a_file_that_is_too_large_is_refused_where_it_was_chosen(page, tmp_path):
    (tmp_path / "large.csv").write_bytes(b"")
    with (tmp_path / "large.csv").open("r+b") as out:
        out.truncate((2 << 30) + 1)
    page.get_by_label("or choose a file").set_input_files(tmp_path / "large.csv")
    said = page.locator("#notices, [data-said]").filter(has_text="by its path")
    expect(said.first).to_be_visible(timeout=WAIT)


@both
def test_a_table_of_a_database_is_opened_by_its_address(workbench, page, table):
    path = table.write(workbench.folder / "t.csv")
    with path.open(encoding="utf-8", newline="") as file:
        names, *records = text_csv.reader(file, delimiter=";" if table is Messy else ",")
    with duckdb.connect(str(workbench.folder / "clinic.db")) as made:
        fields = ", ".join(f'"{name}" VARCHAR' for name in names)
        made.execute(f"CREATE TABLE visits ({fields})")
        made.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(names))})", records)
    page.get_by_text("Database or query engine").click()
    page.get_by_label("Address").fill("duckdb:///clinic.db?table=visits")
    page.get_by_label("Address").press("Enter")
    expect(page.locator("#column-rows tr")).to_have_count(table.columns, timeout=WAIT)
    expect(page.locator("#columns-head")).to_contain_text(f"{table.rows} records")
    assert "clinic.db?table=visits" in (workbench.folder / "study.yaml").read_text()


@both
def test_columns_are_seen_declared_generalised_and_checked(workbench, page, table):
    table.write(workbench.folder / f"{table.name}.csv")
    page.get_by_label("Path or glob on this computer").fill(f"{table.name}.csv")
    page.get_by_role("button", name="Open table").click()
    listed(page, table)
    study = workbench.folder / f"{table.name}.yaml"
    assert "attributes: {}" in study.read_text()  # nothing that is proposed is declared

    # Item 1: type, role with its reason, distribution, unique share; roles in the grid and in bulk.
    number = row(page, table.number)
    expect(number.locator(".c-name small")).to_have_text("integer")
    expect(number.locator(".c-role small")).to_contain_text("owner only")
    expect(number.locator("svg.spark rect").first).to_be_attached()
    expect(number.locator(".c-distinct")).to_contain_text("%")
    first, chip = table.proposed[0]
    row(page, first).get_by_role("button", name="Confirm").click()
    expect(row(page, first).locator(".chip")).to_have_text(chip.removesuffix("?"))
    page.get_by_label(f"Select {table.number}").check()
    page.get_by_label(f"Select {table.group[0]}").check()
    page.get_by_label("Role for the selected columns").select_option("quasi_identifier")
    page.get_by_role("button", name="Apply to selected").click()
    expect(row(page, table.group[0]).locator(".chip")).to_have_text("quasi-identifier")

    # Item 2: a domain from public knowledge, and how many records that leaves outside.
    number.get_by_role("link").click()
    panel = page.locator("#panel")
    panel.get_by_label("Lower").fill("0")
    panel.get_by_label("Upper").fill(str(table.inside))
    panel.get_by_label("Public knowledge").check()
    panel.get_by_label("Out-of-domain values").select_option("error")
    panel.get_by_role("button", name="Count records outside").click()
    expect(panel).to_contain_text(f"of {table.rows} records", timeout=WAIT)
    panel.get_by_role("button", name="Save").click()
    expect(number.locator(".c-domain")).to_contain_text(f"[0, {table.inside}]")
    expect(number.locator(".c-domain")).not_to_contain_text("owner only")

    # Item 3: the check by itself, its messages at their column, and the study file.
    message = page.locator("#messages li", has=page.get_by_role("link", name=table.number, exact=True))
    expect(message).to_contain_text("outside the domain", timeout=WAIT)
    expect(number.locator("td").last).not_to_have_text("0")
    page.locator("#drawer summary").click()
    expect(page.locator("#drawer pre")).to_contain_text(f"bounds: [0, {table.inside}]")

    # Item 2: a taxonomy from its values.
    name, leaves, above = table.group
    page.get_by_role("link", name="Taxonomies").first.click()
    page.get_by_role("link", name=name, exact=True).click()
    for leaf in leaves:
        page.get_by_label(f"Select {leaf}", exact=True).check()
    page.get_by_label("Name", exact=True).fill(above)
    page.get_by_role("button", name="Group below it").click()
    expect(page.get_by_label(f"Select {above}", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save taxonomy").click()
    expect(page.get_by_text(f"as in {table.name}.yaml")).to_be_visible()
    assert f"{above}: [{', '.join(leaves)}]" in study.read_text()
