import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.dp.enclosure import Arithmetic
from sfumato.privacy.dp.geometric import (
    NO_END,
    Block,
    Rational,
    TailRate,
    _by_blocks,
    _float_bounds,
    draw_exactly,
    geometric,
)
from sfumato.privacy.dp.sampling import InsecureSource
from tests.privacy.dp.scripted import Scripted

rates = st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**9)


@given(rates, st.integers(0, 2**64 - 1))
def test_where_floats_decide_decimals_agree(rate, prefix):
    low, high = _float_bounds(np.array([prefix], dtype=np.uint64), float(rate), NO_END)
    exact = draw_exactly(prefix, 64, rate=Rational(rate), source=Scripted(), end=NO_END)
    assert low[0] <= exact <= high[0]


@given(rates, st.integers(1, 20))
def test_a_boundary_is_decided_by_the_next_bits(rate, g):
    # U just below exp(-λg) gives G ≥ g, just above it gives G = g - 1: the first 64 bits are the same.
    boundary = Arithmetic(60).exp(-rate * g)
    prefix = int(Fraction(boundary.low) * 2**64)
    if prefix < 2**20 or prefix + 1 >= 2**64:
        return
    below, above = Scripted([prefix], then=0), Scripted([prefix], then=1)
    assert geometric(1, rate=Rational(rate), source=below)[0] == g
    assert geometric(1, rate=Rational(rate), source=above)[0] == g - 1
    assert below.asked > 0  # floats could not tell
    assert above.asked > 0


def test_bits_that_are_all_zero_are_a_large_draw_and_all_one_a_zero():
    assert geometric(1, rate=Rational(Fraction(1)), source=Scripted([0], then=1))[0] == 44  # floor(64 ln 2)
    assert geometric(1, rate=Rational(Fraction(1)), source=Scripted([2**64 - 1], then=1))[0] == 0


@pytest.mark.parametrize(("scale", "threshold"), [(2, 1), (2, 15), (Fraction(1, 3), 2), (20, 300), (7, 2000), (1, 40)])
def test_the_rate_of_gaps_is_minus_log_one_minus_p(scale, threshold):
    alpha = math.exp(-1 / scale)
    p = alpha**threshold / (1 + alpha)
    rate = TailRate(Fraction(scale), threshold)
    for digits in (5, 20, 40):
        low, high = rate.bounds(digits)
        closer = rate.bounds(digits + 30)
        assert low <= closer.low <= closer.high <= high
        assert (high - low) / low < Fraction(1, 10 ** (digits - 2))
    assert math.isclose(low, -math.log1p(-p), rel_tol=1e-11)


def test_a_block_multiplies_the_rate():
    low, high = Block(Rational(Fraction(1, 3)), 5).bounds(30)
    assert Fraction(low) <= Fraction(32, 3) <= Fraction(high)


@pytest.mark.parametrize("end", [1, 5, 2**53 + 1, 2**70])
def test_draws_stop_at_the_end(end):
    draws = geometric(300, rate=Rational(Fraction(1, 3 * end)), source=InsecureSource(1), end=end)
    assert max(draws) == end
    assert all(0 <= draw <= end for draw in draws)
    assert draws.dtype == (object if end > NO_END else np.int64)


def test_a_rate_below_all_floats_never_comes_in_reach():
    rate = TailRate(Fraction(1, 10**6), 10)  # p = exp(-10⁷)
    assert list(geometric(5, rate=rate, source=InsecureSource(1), end=10**30)) == [10**30] * 5
    assert list(geometric(5, rate=TailRate(Fraction(1, 10**12), 2**60), source=InsecureSource(1), end=3)) == [3] * 5


def test_blocks_and_rests_add_up():
    # All bits 0 after H: R = 0 and the coin passes. H of 64 bits `prefix` is floor(E / 2ᵐλ).
    rate, m = Rational(Fraction(1, 2**60)), 40
    prefix = 2**63
    drawn = _by_blocks(1, m, rate=rate, source=Scripted([prefix], then=0), end=NO_END)
    assert drawn[0] == math.floor(math.log(2) * 2**20) << m


def test_a_rest_that_loses_its_coin_is_drawn_again():
    # The coin U = 1 - 2^-65 is above exp(-λr): r is refused, and the next is taken.
    source = Scripted([2**63, 2**64 - 1], then=None)
    first = source.rest.bits(40)
    source.rest = InsecureSource(0)
    drawn = _by_blocks(1, 40, rate=Rational(Fraction(1, 2**60)), source=source, end=NO_END)
    assert int(drawn[0]) % 2**40 != first
