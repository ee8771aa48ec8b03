"""What labels mean: values, nodes, sets, and those of another tool's hierarchy."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.text import from_csv
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError
from sfumato.evaluate.foreign.hierarchies import Hierarchy
from sfumato.evaluate.foreign.label_ranges import SCATTERED, meanings
from sfumato.study.attribute import Attribute, InvalidValuePolicy, Role
from tests.raising import raises_code

JOBS = Categories(
    taxonomy=Taxonomy.of(
        Node("Any", (Node("A", (Node("engineer"), Node("lawyer"))), Node("B", (Node("dancer"), Node("writer")))))
    )
)
JOB = Attribute(name="job", role=Role.QUASI_IDENTIFIER, domain=JOBS)
AGE = Attribute(
    name="age",
    role=Role.QUASI_IDENTIFIER,
    domain=Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1), unit="integer"),
)
OTHER = Hierarchy("job", from_csv("engineer;X;*\ndancer;X;*\nlawyer;Y;*\nwriter;Y;*\npilot;Y;*\n"))


def test_values_nodes_and_the_whole():
    labels = ["lawyer", " lawyer ", "A", "Any", "*", "lawyer … dancer", "pilot", "", None]
    assert meanings(JOB, labels) == [(1, 2), (1, 2), (0, 2), (0, 4), (0, 4), (1, 3), None, None, None]


def test_sets_in_braces_are_ranges_or_scattered_and_every_value_is_known():
    labels = ["{engineer, lawyer}", "{B; lawyer}", "{lawyer}", "{engineer, dancer}", "{engineer, pilot}", "{}"]
    assert meanings(JOB, labels) == [(0, 2), (1, 4), (1, 2), SCATTERED, None, None]
    assert meanings(AGE, ["{20, 21, 22}", "{20, 22}"]) == [(20, 23), SCATTERED]


def test_labels_meant_to_break_a_reader_are_no_labels():
    wide = replace(AGE, domain=Grid(lower=Fraction(0), upper=Fraction(10**10), step=Fraction(1), unit="integer"))
    assert meanings(wide, ["{*, 3}", "{" * 5_000 + "}" * 5_000, "{{3}}"]) == [(0, 10**10 + 1), None, None]
    kept = replace(wide, outside=InvalidValuePolicy.KEEP)
    assert meanings(kept, ["9" * 6_000, "1e400", "[0, 1e400)", " " * 5_000 + "+"]) == [
        None, (10**10, 10**10 + 1), (0, 10**10 + 1), None,
    ]  # fmt: skip


def test_numbers_as_text_and_as_numbers():
    assert meanings(AGE, ["25", 25, 25.0, "25.0", "*", "20-39", "120", "old"]) == [
        (25, 26), (25, 26), (25, 26), (25, 26), (0, 100), (20, 40), None, None,
    ]  # fmt: skip
    kept = replace(AGE, outside=InvalidValuePolicy.KEEP)
    assert meanings(kept, ["120", -3]) == [(99, 100), (0, 1)]


def test_days_of_a_table_with_types():
    day = Grid(lower=Fraction(733_042), upper=Fraction(733_406), step=Fraction(1), unit="day")
    seen = replace(AGE, domain=day)
    assert meanings(seen, [dt.date(2008, 1, 2), "2008-01-02"]) == [(1, 2), (1, 2)]


def test_missing_values_have_the_code_that_the_study_gives_them():
    domain = AGE.domain
    assert isinstance(domain, Grid)
    kept = replace(AGE, domain=replace(domain, missing=100))
    assert meanings(kept, [None, "(missing)", "*", "20-39"]) == [(100, 101), (100, 101), (0, 101), (20, 40)]


def test_labels_of_a_hierarchy_mean_the_leaves_below_them():
    assert meanings(JOB, ["X", "*", "lawyer", "B"], OTHER) == [SCATTERED, (0, 4), (1, 2), (2, 4)]
    ages = Hierarchy("age", from_csv("\n".join(f"{n};{'young' if n < 30 else 'old'};*" for n in range(100))))
    assert meanings(AGE, ["young", "old", "17"], ages) == [(0, 30), (30, 100), (17, 18)]


def test_the_domain_of_a_hierarchy_has_the_same_values_in_its_order():
    domain = replace(JOBS, taxonomy=JOBS.taxonomy.with_leaf("(missing)"), missing=4)
    found = OTHER.domain_of(domain)
    assert found.taxonomy.leaves == ("engineer", "dancer", "lawyer", "writer", "(missing)")
    assert found.missing == 4
    attribute = replace(JOB, domain=found)
    assert meanings(attribute, ["X", "Y", "*", None], OTHER) == [(0, 2), (2, 4), (0, 5), (4, 5)]


def test_a_hierarchy_of_other_values_is_refused():
    with raises_code(StudyError, "SF-STUDY-351"):
        Hierarchy("job", from_csv("red;*\nblue;*\n")).domain_of(JOBS)


@pytest.mark.parametrize("label", ["A", "engineer"])
def test_a_hierarchy_decides_what_a_name_means_that_the_study_has_too(label):
    swapped = Hierarchy("job", from_csv("engineer;B;*\nlawyer;B;*\ndancer;A;*\nwriter;A;*\n"))
    assert meanings(JOB, [label], swapped) == [(2, 4) if label == "A" else (0, 1)]
