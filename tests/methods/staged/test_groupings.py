"""Groupings: partitions of public domains, and atoms that refine them all."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Grid
from sfumato.methods.staged.groupings import groupings, groupings_of
from tests.small_domains import JOB, flat, grid, view


@given(
    lower=st.integers(-50_000, 50_000),
    points=st.integers(1, 100_000),
    step=st.integers(1, 7),
    missing=st.booleans(),
)
def test_any_grid_is_cut_into_few_parts_that_its_atoms_refine(lower, points, step, missing):
    domain = Grid(
        lower=Fraction(lower), upper=Fraction(lower + (points - 1) * step), step=Fraction(step), unit="integer",
        missing=points if missing else None,
    )  # fmt: skip
    found = groupings("n", domain)
    if found is None:
        assert points == 1 and not missing
        return
    for cut in found.cuts:
        assert 1 < cut.total <= 2 * 18 + 2
        assert set(cut.starts) <= set(found.atoms.starts)
        if missing:
            assert cut.starts[-1] == points, "missing values are a group of their own"
        codes = np.unique(np.linspace(0, domain.size - 1, 50).astype(np.int64))
        assert np.array_equal(found.to_groups(cut)[found.atoms.regions(codes)], cut.regions(codes))


def test_parts_of_a_wide_range_grow_away_from_0():
    domain = grid(-100, 1000)
    cuts = {cut.starts for cut in groupings("n", domain).cuts}
    assert (0, 36, 84, 96, 99, 100, 101, 104, 116, 164, 356) in cuts  # ±1, 4, 16, 64, 256 around code 100
    assert len(cuts) == 4


def test_levels_of_a_taxonomy_and_its_leaves():
    assert [cut.starts for cut in groupings("job", JOB).cuts] == [(0, 2), (0, 1, 2, 3)]


def test_what_has_one_value_is_not_grouped():
    assert groupings("one", flat("a")) is None
    assert set(groupings_of(view(one=flat("a"), job=JOB, n=grid(3, 3)))) == {"job"}


def test_a_missing_number_apart_is_enough_to_tell_two_groups():
    domain = replace(grid(3, 3), missing=1)
    assert [cut.starts for cut in groupings("n", domain).cuts] == [(0, 1)]
