from fractions import Fraction

import pytest

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.query.condition import condition_text, exclude_each_other, read_condition
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import UsageError
from tests.raising import raises_code

AGE = Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1), unit="integer")
SEX = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("Female"), Node("Male"), Node("O'Neil")))))
DOMAINS = {"age": AGE, "sex": SEX, "the sex": SEX}


def test_a_mapping_becomes_a_query_that_reads_back():
    text = condition_text({"age": ["[18, 40)", "[65, 99]"], "the sex": ["O'Neil"]}, DOMAINS)
    assert text == "(age >= '18' and age < '40' or age >= '65' and age <= '99') and 'the sex' = 'O''Neil'"
    condition = read_condition(text, DOMAINS)
    ages, sex = condition.parts
    assert [part.parts[0].codes.ranges for part in ages.parts] == [((18, 100),), ((65, 100),)]
    assert sex.codes.ranges == ((2, 3),)


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("sex = Male", "sex = Female", True),
        ("sex = Male", "sex != Male", True),
        ("sex = Male and age < 30", "age >= 30", True),
        ("sex = Male or age < 30", "age >= 30", False),
        ("age < 20 or age >= 60", "age >= 20 and age < 60", True),
        ("age <= 20", "age >= 20", False),
        ("sex = Male", "age < 30", False),
        ("sex = Male and age > 5", '(sex = Female or sex = "O\'Neil") and age < 90', True),
        ("not (sex = Male or age < 30)", "age < 30", True),
    ],
)
def test_conditions_that_exclude_each_other(first, second, apart):
    one, other = (read_condition(text, DOMAINS) for text in (first, second))
    assert exclude_each_other(one, other) == exclude_each_other(other, one) == apart


def test_unknown_attributes_are_told_whose_they_are_not():
    with raises_code(UsageError, "SF-USAGE-020", match=r"the study has no attribute 'sexx'.*write 'sex'"):
        read_condition("sexx = Male", DOMAINS)
