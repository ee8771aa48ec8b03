from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import StudyError
from sfumato.study.budget import parse_epsilon, round_down, round_up_scale, show
from tests.raising import raises_code

positive = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12, max_denominator=10**12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Fraction(1)),
        ("0.1", Fraction(1, 10)),
        (" .5 ", Fraction(1, 2)),
        ("+2", Fraction(2)),
        ("1e-3", Fraction(1, 1000)),
        ("1 / 3", Fraction(1, 3)),
        (2, Fraction(2)),
        (0.1, Fraction(1, 10)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(7, 3), Fraction(7, 3)),
        (10**6, Fraction(10**6)),
    ],
)
def test_epsilon_is_read_exactly(text, value):
    assert parse_epsilon(text) == value


def test_ten_tenths_are_one():
    assert sum([parse_epsilon("0.1")] * 10) == 1


@pytest.mark.parametrize(
    "text", ["", "abc", "inf", "nan", "1/0", "1e999999999", "1_0", "0x1", "--1", "١", "1,5", True, None]
)
def test_nonsense_is_refused_with_a_way_out(text):
    with raises_code(StudyError, "SF-STUDY-116"):
        parse_epsilon(text)


@pytest.mark.parametrize("text", [float("inf"), float("nan"), float("-inf")])
def test_floats_that_are_no_numbers_are_refused(text):
    with raises_code(StudyError, "SF-STUDY-116"):
        parse_epsilon(text)


@pytest.mark.parametrize("text", ["0", "-1", "0.0", -0.5, 0, Fraction(-1, 3)])
def test_epsilon_must_be_positive(text):
    with raises_code(StudyError, "SF-STUDY-114"):
        parse_epsilon(text)


@pytest.mark.parametrize("text", ["1e13", "1e-13"])
def test_epsilon_must_be_in_range(text):
    with raises_code(StudyError, "SF-STUDY-115"):
        parse_epsilon(text)


@given(positive)
def test_what_is_shown_reads_back_as_the_same_number(value):
    assert parse_epsilon(show(value)) == value


@pytest.mark.parametrize(("value", "text"), [(Fraction(1, 52), "1/52"), (Fraction(5, 4), "1.25"), (Fraction(0), "0")])
def test_show(value, text):
    assert show(value) == text


@given(positive)
def test_rounding_has_a_direction_and_is_tight(value):
    low, high = Fraction(round_down(value)), Fraction(round_up_scale(value))
    assert low <= value <= high
    assert high - low <= value / 2**51
