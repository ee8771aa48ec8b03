"""The groups that marginals count by: public, few enough, and none is lost."""

from dataclasses import replace

import pytest

from sfumato.methods.marginals.groups import cuts_of, group_cut
from tests.small_domains import JOB, flat, grid, view


@pytest.mark.parametrize(("most", "groups"), [(2, 2), (3, 2), (4, 4), (20, 4)])
def test_the_finest_level_that_fits_is_taken(most, groups):
    assert group_cut("job", JOB, most).total == groups


def test_values_without_a_level_that_fits_keep_their_coarsest():
    wide = flat(*(f"v{number}" for number in range(50)))
    assert group_cut("town", wide, 20).total == 50
    too_wide = flat(*(f"v{number}" for number in range(1_001)))
    assert group_cut("town", too_wide, 20).total == 1


@pytest.mark.parametrize("points", [1, 2, 7, 20, 21, 200, 201, 5_000, 10**6])
@pytest.mark.parametrize("most", [2, 3, 12, 20, 100])
def test_a_range_has_no_more_groups_than_allowed(points, most):
    cut = group_cut("n", grid(0, points - 1), most)
    assert cut.starts[0] == 0 and cut.total <= most
    assert cut.total == points or cut.total >= most // 2


def test_a_wide_range_is_fine_near_zero():
    cut = group_cut("gain", grid(-1_000, 100_000), 20)
    widths = {start: stop - start for start, stop in cut.ranges}
    assert 1_000 in widths, "0 begins a group"
    assert min(widths.values()) == 1 < max(widths.values())


def test_missing_values_are_a_group_of_their_own():
    domain = replace(grid(0, 99), missing=100)
    cut = group_cut("n", domain, 8)
    assert cut.ranges[-1] == (100, 101) and cut.total <= 8


def test_the_target_is_counted_by_its_values():
    cuts = cuts_of(view(n=grid(0, 9), target=("A", "B", "C")), 2)
    assert [cut.attribute for cut in cuts] == ["n", "class"]
    assert [cut.total for cut in cuts] == [2, 3]
