"""Intervals of other tools' tables: every usual notation, and never a region that was not published."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Grid
from sfumato.evaluate.foreign.intervals import read_interval
from tests.small_domains import grid

AGE = Grid(lower=Fraction(17), upper=Fraction(90), step=Fraction(1), unit="integer")
PAY = Grid(lower=Fraction(0), upper=Fraction(10), step=Fraction(1, 2), unit="number")
FIVES = Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(5), unit="integer")
DAYS = Grid(lower=Fraction(733_042), upper=Fraction(733_406), step=Fraction(1), unit="day")  # the year 2008, nearly


@pytest.mark.parametrize(
    "text",
    [
        "[20, 40)", "[20, 40[", "[20;40)", "20-39", "20–39", "20 - 39", "20..39", "20 to 39", "(19, 39]", "]19,39]",
        "[20, 39]", "[19.5, 39.5]", "[ 20 , 40 )", "20.0-39.0",
    ],
)  # fmt: skip
def test_notations_of_one_interval(text):
    assert read_interval(AGE, text) == (3, 23)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (">=80", (63, 74)), ("≥ 80", (63, 74)), (">80", (64, 74)), ("80+", (63, 74)), ("<20", (0, 3)), ("<=20", (0, 4)),
        ("≤20", (0, 4)), ("[80, inf)", (63, 74)), ("(-inf; 20)", (0, 3)), ("[80, *[", (63, 74)),
        ("0-19", (0, 3)), ("80-99", (63, 74)), ("0-200", (0, 74)),
    ],
)  # fmt: skip
def test_one_sided_intervals_and_those_beyond_the_bounds_end_there(text, codes):
    assert read_interval(AGE, text) == codes


@pytest.mark.parametrize(
    "text",
    ["", "-", "20-", "-20-", "39-20", "[20, 40", "20, 40)", "[20, 30, 40)", "[a, b)", "91-99", "<17", ">90", "> "],
)
def test_what_is_no_interval_of_the_domain(text):
    assert read_interval(AGE, text) is None


def test_values_that_are_kept_at_the_bounds_are_so_in_intervals():
    assert read_interval(AGE, "91-99", clamp=True) == (73, 74)
    assert read_interval(AGE, "<17", clamp=True) == (0, 1)


def test_negative_numbers_beside_dashes():
    below = Grid(lower=Fraction(-20), upper=Fraction(20), step=Fraction(1), unit="integer")
    assert read_interval(below, "-5--1") == (15, 20)
    assert read_interval(below, "-5-3") == (15, 24)
    assert read_interval(below, "3--5") is None


def test_steps_of_numbers_begin_with_their_own_number_and_end_before_the_next():
    assert read_interval(PAY, "[1, 2.5)") == (2, 5)
    assert read_interval(PAY, "[9, 10]") == (18, 21)
    assert read_interval(PAY, "[9, 10)") == (18, 20)
    assert read_interval(PAY, "1-2") == (2, 5)
    assert read_interval(PAY, "(1, 2.5]") is None and read_interval(PAY, ">1") is None


def test_an_end_inside_a_step_is_no_region_of_the_study():
    assert read_interval(FIVES, "20-39") == (4, 8)
    assert read_interval(FIVES, "20-38") is None and read_interval(FIVES, "[21, 40)") is None
    assert read_interval(PAY, "[1.2, 3)") is None


def test_days():
    assert read_interval(DAYS, "[2008-01-10, 2008-01-20)") == (9, 19)
    assert read_interval(DAYS, "2008-01-10 - 2008-01-19") == (9, 19)
    assert read_interval(DAYS, "2008-01-10–2008-01-19") == (9, 19)
    assert read_interval(replace(DAYS, formats=("%d.%m.%Y",)), "10.01.2008 – 19.01.2008") == (9, 19)


ENDS = st.integers(-5, 25)


@given(ENDS, ENDS, st.sampled_from("[]("), st.sampled_from("[])"), st.integers(0, 12), st.integers(0, 8))
def test_an_interval_has_the_whole_numbers_that_are_in_it(low, high, opening, closing, lower, more):
    whole = replace(grid(lower, lower + more), unit="integer")
    inside = [
        point - lower
        for point in range(lower, lower + more + 1)
        if (low <= point if opening == "[" else low < point) and (point <= high if closing == "]" else point < high)
    ]
    found = read_interval(whole, f"{opening}{low}, {high}{closing}")
    assert found == ((inside[0], inside[-1] + 1) if inside else None)
