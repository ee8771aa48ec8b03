import datetime as dt
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Grid
from sfumato.domains.taxonomy.by_rule import dates, equal_width, flat, nested_bounds, prefixes, quantile_bounds
from sfumato.errors import TaxonomyError


def integers(lower, upper, **more):
    return Grid(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(1), unit="integer", **more)


def calendar(first, last):
    lower, upper = (Fraction(dt.date.fromisoformat(day).toordinal()) for day in (first, last))
    return Grid(lower=lower, upper=upper, step=Fraction(1), unit="day")


@st.composite
def levels(draw):
    grid = integers(draw(st.integers(-5, 5)), draw(st.integers(10, 60)))
    inside = st.integers(int(grid.lower) + 1, int(grid.upper) - 1).map(Fraction)
    return grid, draw(st.lists(st.lists(inside, min_size=1, max_size=6), min_size=1, max_size=4))


@given(levels())
def test_intervals_cover_the_grid_and_read_as_the_release_will(given_levels):
    grid, bounds = given_levels
    taxonomy = nested_bounds(grid, bounds)
    assert taxonomy.size == grid.size
    for node, label in enumerate(taxonomy.labels):
        assert label == grid.label(*taxonomy.range_of(node))
        assert len(taxonomy.kids(node)) != 1
    leaves = [taxonomy.starts[n] for n in range(len(taxonomy.labels)) if not taxonomy.kids(n)]
    assert leaves == [0, *sorted({int(b - grid.lower) for level in bounds for b in level})]


def test_equal_width():
    assert equal_width(integers(0, 29), Fraction(10)).leaves == ("[0, 10)", "[10, 20)", "[20, 29]")
    assert equal_width(integers(0, 30), Fraction(10)).leaves == ("[0, 10)", "[10, 20)", "[20, 30]")
    assert equal_width(integers(17, 40), Fraction(10)).leaves == ("[17, 27)", "[27, 37)", "[37, 40]")
    assert equal_width(integers(17, 40), Fraction(10), origin=Fraction(0)).leaves == (
        "[17, 20)", "[20, 30)", "[30, 40]",
    )  # fmt: skip


def test_equal_width_on_levels():
    taxonomy = equal_width(integers(0, 39), Fraction(10), levels=2)
    assert [taxonomy.labels[kid] for kid in taxonomy.kids(0)] == ["[0, 20)", "[20, 39]"]


def test_exact_steps():
    grid = Grid(lower=Fraction(0), upper=Fraction(1), step=Fraction(1, 10))
    assert equal_width(grid, Fraction(1, 2)).leaves == ("[0, 0.5)", "[0.5, 1]")
    assert nested_bounds(grid, [[Fraction(3, 10)]]).widths == (3, 8)


def test_bounds_are_written_with_both_ends_or_with_neither():
    grid = integers(0, 120)
    inner = [Fraction(18), Fraction(65)]
    assert nested_bounds(grid, [[Fraction(0), *inner, Fraction(120)]]) == nested_bounds(grid, [inner])
    assert nested_bounds(grid, [[Fraction(120)]]).leaves == ("[0, 120)", "120")


def test_the_missing_value_has_its_leaf():
    grid = integers(0, 9, missing=10)
    taxonomy = equal_width(grid, Fraction(5))
    assert taxonomy.leaves == ("[0, 5)", "[5, 9]", "(missing)")
    assert taxonomy.size == grid.size == 11
    assert taxonomy.children(0, 11) == ((0, 5), (5, 10), (10, 11))


def test_the_calendar():
    taxonomy = dates(calendar("2008-11-15", "2011-02-10"), ["month", "decade", "year"])
    assert [taxonomy.labels[kid] for kid in taxonomy.kids(0)] == [
        "[2008-11-15, 2010-01-01)",
        "[2010-01-01, 2011-02-10]",
    ]
    assert len(taxonomy.leaves) == 28
    assert taxonomy.leaves[0] == "[2008-11-15, 2008-12-01)"
    assert taxonomy.depth == 3


def test_quarters_and_days():
    taxonomy = dates(calendar("2004-03-30", "2004-04-02"), ["quarter", "day"])
    assert taxonomy.leaves == ("2004-03-30", "2004-03-31", "2004-04-01", "2004-04-02")
    assert taxonomy.range_of(taxonomy.kids(0)[1]) == (2, 4)


def test_the_calendar_ends_with_the_last_year():
    assert len(dates(calendar("9998-06-01", "9999-12-31"), ["year"]).leaves) == 2


def test_prefixes():
    taxonomy = prefixes(["13053", "14850", "13068"], [3, 1])
    assert taxonomy.leaves == ("13053", "13068", "14850")
    assert taxonomy.label(0, 2) == "130**"


def test_prefixes_of_codes_of_uneven_length():
    taxonomy = prefixes(["E11", "E11.9", "I10"], [1, 3])
    assert taxonomy.labels == ("Any", "E*", "E11*", "E11", "E11.9", "I*", "I10")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: flat([]), "the list of values is empty"),
        (lambda: flat(["a", "b", "a"]), "'a' stands twice in the list of values"),
        (lambda: flat(["a", ""]), "a value in the list is empty"),
        (lambda: flat(["Any", "None"]), "the value 'Any' has the name of the root"),
        (lambda: prefixes([], [1]), "the list of codes is empty"),
        (lambda: prefixes(["a"], [0]), "a prefix needs one character or more"),
        (lambda: prefixes(["a", "a"], [1]), "'a' stands twice in the list of values"),
        (lambda: nested_bounds(integers(0, 9), [[Fraction(11)]]), "the bound 11 is not between 0 and 9"),
        (
            lambda: nested_bounds(integers(0, 9), [[Fraction(5, 2)]]),
            "the bound 2.5 is not on the grid from 0 in steps of 1",
        ),
        (lambda: equal_width(integers(0, 9), Fraction(20)), "the intervals split nothing: [0, 9] stays whole"),
        (lambda: equal_width(integers(0, 9), Fraction(0)), "intervals of width 0 on 1 levels by 2"),
        (
            lambda: equal_width(integers(0, 10**9), Fraction(1)),
            "the taxonomy would have more than 1,000,000 intervals",
        ),
        (lambda: dates(integers(0, 9), ["year"]), "the calendar needs whole days"),
        (lambda: dates(calendar("2004-01-01", "2005-01-01"), ["week"]), "'week' is no level of the calendar"),
        (lambda: quantile_bounds(integers(0, 9), [], 2), "0 public numbers cannot be cut into 2 parts"),
    ],
)
def test_what_cannot_be_built(build, problem):
    with pytest.raises(TaxonomyError) as caught:
        build()
    assert caught.value.problem == problem
    assert caught.value.fix


@given(st.lists(st.integers(-10, 130), min_size=5, max_size=60), st.integers(2, 5))
def test_quantiles_are_on_the_grid(public, parts):
    grid = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(5))
    bounds = quantile_bounds(grid, map(Fraction, public), parts)
    assert all(0 < bound <= 120 and bound % 5 == 0 for bound in bounds)
    assert list(bounds) == sorted(set(bounds))
    assert len(bounds) < parts
