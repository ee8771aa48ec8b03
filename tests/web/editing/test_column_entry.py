"""What the panel writes of a column that is new in the study, from the proposal and the form, without a browser."""

from types import SimpleNamespace

import pytest
from starlette.datastructures import FormData

import sfumato as sf
from sfumato.web.editing.column_entry import entry_of_form, listed_values, proposed_entry

TREE = {"Any": {"surgery (all spellings)": ["Surgery", "surgery"], "heart": None}}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Columns of a table as the page has them before anything is confirmed."""
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    wards, zips = ("Surgery", "surgery", "heart"), ("01067", "01099", "80331", "80335")
    path.write_text("ward,zip\n" + "".join(f"{wards[n % 3]},{zips[n % 4]}\n" for n in range(240)), encoding="utf-8")
    found = sf.describe(path).columns
    return {
        one.column.name: SimpleNamespace(
            entry=None, proposed=one.role, described={"entry": one.entry}, profile=lambda one=one: one.column
        )
        for one in found
    }


def written(row, values):
    return entry_of_form(
        row, FormData({"role": "sensitive", "type": "category", "values": "\n".join(values), "from": "declared"})
    )


def test_spellings_of_one_value_are_shown_as_values_and_keep_their_tree(rows):
    shown = listed_values(proposed_entry(rows["ward"], "sensitive"))
    assert sorted(shown) == ["Surgery", "heart", "surgery"]
    entry = written(rows["ward"], shown)
    assert entry["role"] == "sensitive"
    assert set(entry) == {"role", "taxonomy"}, "declared, with the leaves as its values"
    assert entry["taxonomy"]["Any"].keys() == TREE["Any"].keys()
    assert sorted(entry["taxonomy"]["Any"]["surgery (all spellings)"]) == ["Surgery", "surgery"]


def test_the_proposed_entry_is_the_one_that_describe_gives_and_is_made_for_other_roles(rows):
    row = rows["zip"]
    given = proposed_entry(row, row.proposed)
    assert given["role"] == row.proposed and given["taxonomy"] == {"prefix": [1, 3]}
    row.described = None
    assert proposed_entry(row, row.proposed) == given
    assert proposed_entry(row, "sensitive") == {**given, "role": "sensitive"}


def test_other_values_than_the_proposed_ones_are_declared_without_its_tree(rows):
    values = ["Surgery", "surgery", "heart", "children"]
    assert written(rows["ward"], values) == {"role": "sensitive", "values": values}
    assert written(rows["ward"], []) == {"role": "sensitive"}


def test_a_proposed_rule_is_kept_with_whatever_values_are_declared(rows):
    values = ["01067", "01099", "80331", "80335", "99999"]
    assert written(rows["zip"], values) == {"role": "sensitive", "values": values, "taxonomy": {"prefix": [1, 3]}}
