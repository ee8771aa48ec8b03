from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.by_rule import flat, nested_bounds
from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.file import dump_study, load_study, study_from_text
from sfumato.study.study import Purpose, Study
from sfumato.study.unit import PersonUnit
from tests.raising import raises_code

ADULT = Path(__file__).parents[3] / "src" / "sfumato" / "data" / "adult" / "study.yaml"

FULL = """\
# kept: the top
name: a
source: a.csv   # kept: the source
privacy: {unit: {person: id, at_most: 3}, budget: 1/3}
attributes:
  id: {role: identifier}
  # kept: about age
  age: {role: quasi_identifier, type: integer, bounds: [0, 99], missing: keep, outside: suppress,
        taxonomy: {intervals: {width: 10, levels: 3}}, at_least: 2.5}
  day: {role: time, type: date, bounds: [2003-05-05, 2012-01-31], taxonomy: {dates: [decade, quarter]}}
  zip: {role: quasi_identifier, values: ["01053", "13068", "14850"], taxonomy: {prefix: [1, 3]}, outside: else}
  codes: {role: sensitive, type: set, columns: [p, q], separator: "|", most: 3, level: 1, missing: error, outside: keep,
          taxonomy: {Any: {1*: ["15", "16"], 3*: ["31"]}}}
  sex: {role: class, values: [f, m, "null", "1", no], domain: observed, description: "as written: here"}
purposes:
  p: {attributes: [age, sex]}
releases:
  r: {purpose: p, method: diffgen, epsilon: 0.50, h: 10, name: "7", fresh: true}
sweeps:
  s: [{method: mondrian, k: [5, 10], suppress: 0.02}, {method: diffgen, epsilon: [0.1, 0.50]}]
ledger: l.db
"""


def test_a_study_reads_back_as_it_was():
    study = study_from_text(FULL)
    assert study_from_text(dump_study(study)) == study


@pytest.mark.parametrize(
    "source",
    ["{path: a.csv, encoding: latin-1, delimiter: tab, quote: none}", "{path: a.csv, missing: ['?', NA, '-9']}"],
)
def test_how_a_source_is_written_reads_back(source):
    study = study_from_text(FULL.replace("source: a.csv ", f"source: {source} "))
    assert study_from_text(dump_study(study)) == study


@pytest.mark.parametrize("form", ["{decimal: ',', thousands: ., suffix: €}", "{}", "[{suffix: '%'}, {}, {prefix: $}]"])
def test_how_numbers_are_written_reads_back(form):
    study = study_from_text(FULL.replace("at_least: 2.5", f"at_least: 2.5, format: {form}"))
    assert study.attributes["age"].domain.number_formats
    assert study_from_text(dump_study(study)) == study
    assert study_from_text(dump_study(study, onto=FULL)) == study


@pytest.mark.parametrize("limit", ["0", "1/3", "0.25", "unchecked"])
def test_the_share_of_invalid_records_reads_back(limit):
    study = study_from_text(f"{FULL}most_invalid: {limit}\n")
    assert study.most_invalid == (None if limit == "unchecked" else Fraction(limit))
    assert study_from_text(dump_study(study)) == study
    assert study_from_text(dump_study(study, onto=FULL)) == study


def test_the_packaged_study_reads_back_as_it_was():
    study = load_study(ADULT)
    assert study_from_text(dump_study(study), base=study.base) == study


LABELS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda text: text.strip() and text != "Any"
)


# A name holds something that can be seen: format characters and marks alone are refused.
SEEN = st.characters(categories=["L", "N", "P", "S"])
NAMES = st.builds("{}{}".format, SEEN, st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=5))


@given(st.lists(LABELS, min_size=1, max_size=6, unique=True), LABELS, NAMES)
def test_any_labels_survive(labels, name, called):
    attribute = Attribute(name=name, role=Role.CLASS, domain=Categories(taxonomy=flat(labels)))
    study = Study(name=called, source=name, attributes={name: attribute}, base=Path())
    assert study_from_text(dump_study(study)) == study


@given(
    st.fractions(-100, 100, max_denominator=1000),
    st.fractions(Fraction(1, 100), 10, max_denominator=100),
    st.lists(st.lists(st.integers(1, 19), min_size=1, max_size=5), min_size=1, max_size=3),
)
def test_any_grid_survives(lower, step, levels):
    grid = Grid(lower=lower, upper=lower + 20 * step, step=step)
    grid = replace(grid, taxonomy=nested_bounds(grid, [[lower + n * step for n in level] for level in levels]))
    study = Study(name="a", source="b", attributes={"x": Attribute(name="x", role=Role.SENSITIVE, domain=grid)})
    read = study_from_text(dump_study(study)).attributes["x"].domain
    assert read == grid


def test_a_change_keeps_the_comments_and_everything_else():
    study = study_from_text(FULL)
    changed = replace(study, budget=Fraction(1, 10), unit=PersonUnit("id", 5))
    text = dump_study(changed, onto=FULL)
    assert study_from_text(text) == changed
    assert [line for line in FULL.splitlines() if "kept" in line] == [
        line for line in text.splitlines() if "kept" in line
    ]
    assert "taxonomy: {prefix: [1, 3]}" in text
    assert "width: 10, levels: 3" in text
    assert "budget: 0.1" in text


def test_attributes_and_purposes_come_and_go():
    study = study_from_text(FULL)
    attributes = {name: a for name, a in study.attributes.items() if name != "day"}
    attributes["new"] = Attribute(name="new", role=Role.SENSITIVE, domain=Categories(taxonomy=flat(["a", "01"])))
    changed = replace(study, attributes=attributes, purposes={"q": Purpose(name="q", attributes=("new",))}, releases={})
    text = dump_study(changed, onto=FULL)
    assert study_from_text(text) == changed
    assert "# kept: about age" in text
    assert "releases" not in text


def test_a_table_in_memory_has_no_file():
    study = replace(study_from_text(FULL), source=object())
    with raises_code(StudyError, "SF-STUDY-133", match="the source of the study 'a' is a table in memory"):
        dump_study(study)
