import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InternalError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.enclosure import Arithmetic
from sfumato.privacy.dp.mechanisms import choose_point
from sfumato.privacy.dp.mechanisms.interval_choice import _range_by_floats, _range_exactly
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from tests.privacy.dp.scripted import Scripted

RANGES = st.lists(st.tuples(st.integers(1, 2**55), st.integers(-(2**40), 2**40)), min_size=1, max_size=30)
NEAR = st.lists(st.tuples(st.integers(1, 50), st.integers(-30, 30)), min_size=1, max_size=30)
RATES = st.fractions(min_value=Fraction(1, 10**6), max_value=10, max_denominator=10**6)


def arrays(ranges):
    widths, scores = (np.array(column, dtype=np.int64) for column in zip(*ranges, strict=True))
    return widths, int(scores.max()) - scores


def choose(widths, scores, epsilon, source, *, monotone=False, sensitivity=1):
    grant = Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="split")
    widths, scores = (np.asarray(values, dtype=np.int64) for values in (widths, scores))
    return choose_point(widths, scores, sensitivity=sensitivity, monotone=monotone, grant=grant, source=source)


@given(RANGES | NEAR, RATES, st.integers(0, 2**64 - 1))
def test_where_floats_decide_decimals_agree(ranges, rate, prefix):
    widths, behind = arrays(ranges)
    exact = _range_exactly(prefix, 64, widths, behind, rate=rate, source=Scripted())
    assert _range_by_floats(prefix, widths, behind, rate) in {exact, None}


def test_floats_nearly_always_decide():
    source = InsecureSource(4)
    widths, behind = source.uint64(30_000) % 100 + 1, source.uint64(30_000) % 50
    widths, behind = widths.astype(np.int64), behind.astype(np.int64)
    decided = [_range_by_floats(source.bits(64), widths, behind, Fraction(1, 10)) is not None for _ in range(200)]
    assert all(decided)  # a miss has probability below 200 · 30,000 · 1e-10


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(7, 2)])
def test_a_boundary_is_decided_by_the_next_bits(rate):
    # Two points of score 0 and -1: the boundary is at U = 1/(1 + exp(-rate)).
    point = Fraction(Arithmetic(60).exp(-rate).low)
    prefix = int(2**64 / (1 + point))
    widths, behind = np.array([1, 1]), np.array([0, 1])
    assert _range_by_floats(prefix, widths, behind, rate) is None
    for then, expected in ((0, 0), (1, 1)):
        source = Scripted([prefix], then=then)
        assert _range_exactly(prefix, 64, widths, behind, rate=rate, source=source) == expected


def test_a_long_row_of_ambiguous_bits_asks_for_more_digits():
    # The first 300 bits are those of the boundary: 40 digits cannot tell, more can.
    point = Fraction(Arithmetic(200).exp(Fraction(-1)).low)
    prefix = int(2**300 / (1 + point))
    widths, behind = np.array([1, 1]), np.array([0, 1])
    for then, expected in ((0, 0), (1, 1)):
        source = Scripted(then=then)
        assert _range_exactly(prefix, 300, widths, behind, rate=Fraction(1), source=source) == expected
        assert source.asked > 0


@given(NEAR, RATES)
def test_the_exact_range_inverts_the_distribution(ranges, rate):
    # In the middle of each range's share of U, that range is chosen.
    widths, behind = arrays(ranges)
    masses = [width * math.exp(-float(rate) * int(distance)) for width, distance in zip(widths, behind, strict=True)]
    start, total = 0.0, math.fsum(masses)
    for j, mass in enumerate(masses):
        if mass / total > 1e-9:
            prefix = int((start + mass / 2) / total * 2**64)
            assert _range_exactly(prefix, 64, widths, behind, rate=rate, source=Scripted()) == j
        start += mass


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_points_are_offsets_over_all_ranges():
    drawn = [choose([2, 3, 1], [0, 0, 0], Fraction(1), InsecureSource(seed)) for seed in range(200)]
    assert set(drawn) == {0, 1, 2, 3, 4, 5}
    assert choose([1], [7], 1, SecureSource()) == 0


@pytest.mark.error_rate(1e-99, reason="a worse range weighs exp(-2,500,000) or less")
def test_with_a_huge_budget_the_best_range_is_chosen():
    assert choose([10, 5, 10], [0, 8, 3], 10**6, SecureSource()) in range(10, 15)


@pytest.mark.error_rate(1e-99, reason="a worse range weighs exp(-2,500,000) or less")
def test_the_largest_grid_and_scores_are_fine():
    offset = choose([2**61, 2**61], [-(2**61), 2**61], 1, SecureSource())
    assert 2**61 <= offset < 2**62


@pytest.mark.parametrize(
    ("widths", "scores", "sensitivity"),
    [([], [], 1), ([1, 0], [0, 0], 1), ([1], [0, 1], 1), ([2**62, 1], [0, 0], 1), ([1], [2**62], 1), ([1], [0], 0)],
)
def test_impossible_choices_fail_before_the_grant_is_used(widths, scores, sensitivity):
    grant = Accountant(Fraction(1)).grant(Fraction(1), on="split")
    with pytest.raises(InternalError):
        choose_point(
            np.array(widths, dtype=np.int64),
            np.array(scores, dtype=np.int64),
            sensitivity=sensitivity,
            monotone=False,
            grant=grant,
            source=SecureSource(),
        )
    assert not grant.redeemed
