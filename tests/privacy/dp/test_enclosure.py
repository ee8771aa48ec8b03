import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.dp.enclosure import ONE, Arithmetic, Bounds

numbers = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6)


@given(numbers, st.integers(10, 60))
def test_exp_is_enclosed_tightly(x, digits):
    low, high = Arithmetic(digits).exp(-x)
    closer = Arithmetic(digits + 40).exp(-x)
    assert low <= closer.low <= closer.high <= high
    assert Arithmetic(digits + 40).divide(Bounds(high, high), Bounds(low, low)).high < 1 + Fraction(
        1, 10 ** (digits - 1)
    )
    if x < 700:
        assert math.isclose(low, math.exp(-x), rel_tol=1e-8)


@given(numbers, st.integers(10, 60))
def test_logarithms_are_enclosed(x, digits):
    sums, closer = Arithmetic(digits), Arithmetic(digits + 40)
    low, high = sums.negative_log(sums.ratio(x.numerator, x.denominator))
    true = closer.negative_log(closer.ratio(x.numerator, x.denominator))
    assert low <= true.low <= true.high <= high
    assert math.isclose(low, -math.log(x), rel_tol=1e-7, abs_tol=1e-7)


@given(numbers, numbers, st.integers(5, 40))
def test_sums_products_and_quotients_are_enclosed(x, y, digits):
    sums = Arithmetic(digits)
    a, b = (sums.ratio(z.numerator, z.denominator) for z in (x, y))
    for (low, high), true in (
        (sums.add(a, b), x + y),
        (sums.multiply(a, b), x * y),
        (sums.divide(a, b), x / y),
        (sums.one_minus(a), 1 - x),
    ):
        assert Fraction(low) <= true <= Fraction(high)


def test_what_is_far_below_the_floats_is_still_enclosed():
    low, high = Arithmetic(20).exp(Fraction(-(10**9)))
    assert 0 < low < high < ONE
    assert low.adjusted() == -434294482
    low, high = Arithmetic(20).exp(Fraction(-(10**30)))
    assert low == 0 < high
