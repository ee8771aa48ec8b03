"""Each mechanism has its stated distribution, and one that is 10 % off is noticed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.geometric import Rational, geometric
from sfumato.privacy.dp.mechanisms import choose_point, noisy_counts, noisy_max
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from tests.statistical.fit import (
    ALARM,
    CHI_SQUARE,
    laplace_bins,
    p_value,
    p_value_of_size,
    permute_and_flip,
    same_p_value,
    softmax,
)

SECURE, INSECURE = SecureSource(), InsecureSource(20_111)
BOTH = pytest.mark.parametrize(
    "source", [SECURE, INSECURE], ids=["secure", "insecure"]
)  # one seed: the insecure half always gives the same verdict


SCALE = pytest.mark.error_rate(
    CHI_SQUARE + 3 * ALARM,
    reason="one chi-square; the mean size: its skewness, 0.014, doubles a tail of 1e-9 at 6 deviations; misses",
)
RATE = pytest.mark.error_rate(CHI_SQUARE + 2 * ALARM, reason="one chi-square, one exact binomial test, and misses")


def grant(epsilon):
    return Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="test")


def assert_scale(draws, scale, most):
    assert p_value(*laplace_bins(draws, scale, most)) > ALARM
    right, *wrong = (p_value_of_size(draws, scale * off) for off in (1, 0.9, 1.1))
    assert right > ALARM > max(wrong)


@BOTH
@SCALE
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(Fraction(1, 2), 1), (Fraction(1, 3), 2)])
def test_laplace_noise_has_its_scale(source, epsilon, sensitivity):
    # 20,000 draws know the scale to 0.7 %: 10 % is 13 standard deviations off, where 1e-9 is 6: a miss is below 1e-10.
    zeros = np.zeros(20_000, dtype=np.int64)
    noisy = noisy_counts(zeros, sensitivity=sensitivity, grant=grant(epsilon), source=source)
    assert_scale(noisy, sensitivity / float(epsilon), 20)


@SCALE
@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 10), Fraction(1), Fraction(3)])
def test_laplace_noise_has_its_scale_at_other_budgets(epsilon):
    zeros = np.zeros(300_000, dtype=np.int64)
    noisy = noisy_counts(zeros, sensitivity=1, grant=grant(epsilon), source=SECURE)
    assert_scale(noisy, 1 / float(epsilon), max(2, int(8 / epsilon)))


def noisy_max_draws(n, scores, source, *, monotone, epsilon):
    drawn = [noisy_max(scores, sensitivity=1, monotone=monotone, grant=grant(epsilon), source=source) for _ in range(n)]
    return np.bincount(drawn, minlength=len(scores))


def assert_rate(best, n, chance):
    """The number of times the best was chosen fits the right rate, and not one that is 10 % off."""
    right, *wrong = (stats.binomtest(int(best), n, chance(off)).pvalue for off in (1, 0.9, 1.1))
    assert right > ALARM > max(wrong)


@RATE
@pytest.mark.parametrize(
    ("monotone", "epsilon", "source"),
    [
        pytest.param(False, Fraction(1), SECURE, id="secure"),
        pytest.param(True, Fraction(1, 2), INSECURE, id="monotone-insecure"),
        pytest.param(True, Fraction(1, 2), SECURE, id="monotone-secure", marks=pytest.mark.slow),
        pytest.param(False, Fraction(1), INSECURE, id="insecure", marks=pytest.mark.slow),
    ],
)
def test_noisy_max_has_its_rate(source, monotone, epsilon):
    # Rate 1/2; the best leads 20 others by 5. Its chance is 0.48, and 0.41 or 0.56 at a rate 10 % off: over 8,000 draws
    # 13 standard deviations, where 1e-9 is 6: a miss is below 1e-11, by the exact binomial.
    scores, n = [0] * 20 + [5], 8_000
    drawn = noisy_max_draws(n, scores, source, monotone=monotone, epsilon=epsilon)

    def chance(off):
        coin = math.exp(-0.5 * off * 5)  # the best comes after j others, j = 0..20 alike, who all fail their coins
        return sum((1 - coin) ** j for j in range(21)) / 21

    assert_rate(drawn[20], n, chance)
    assert p_value(drawn, [(1 - chance(1)) / 20] * 20 + [chance(1)]) > ALARM


@BOTH
@pytest.mark.error_rate(CHI_SQUARE, reason="one chi-square")
def test_noisy_max_is_permute_and_flip(source):
    scores = [0, 2, 4, 4, 1]
    drawn = noisy_max_draws(3_000, scores, source, monotone=False, epsilon=Fraction(1))
    assert p_value(drawn, permute_and_flip(scores, 0.5)) > ALARM


@pytest.mark.slow
@pytest.mark.error_rate(CHI_SQUARE, reason="one chi-square; a noncentrality of 780 makes a miss rarer than 1e-90")
def test_noisy_max_is_permute_and_flip_and_not_the_exponential_mechanism():
    scores = [0, 2, 4, 4, 1]
    drawn = noisy_max_draws(60_000, scores, SECURE, monotone=False, epsilon=Fraction(1))
    assert p_value(drawn, permute_and_flip(scores, 0.5)) > ALARM > p_value(drawn, softmax([1] * 5, scores, 0.5))


@RATE
@pytest.mark.parametrize(("monotone", "epsilon"), [(False, Fraction(2)), (True, Fraction(1))])
def test_interval_choice_is_the_exponential_mechanism_at_its_rate(monotone, epsilon):
    # Rate 1; one point leads 20 by 3 and 4 by 2. Its chance is 0.39, and 0.33 or 0.46 at a rate 10 % off: over 10,000
    # draws 12 standard deviations, where 1e-9 is 6: a miss is below 1e-9, by the exact binomial.
    widths, scores, n = [20, 1, 4], [0, 3, 1], 10_000
    ranges = np.array(widths), np.array(scores)
    drawn = np.bincount(
        [
            choose_point(*ranges, sensitivity=1, monotone=monotone, grant=grant(epsilon), source=SECURE)
            for _ in range(n)
        ],
        minlength=25,
    )
    assert_rate(drawn[20], n, lambda off: softmax(widths, scores, off)[20])
    assert p_value(drawn, softmax(widths, scores, 1)) > ALARM


@pytest.mark.error_rate(CHI_SQUARE, reason="one chi-square")
def test_interval_choice_does_not_depend_on_how_points_are_divided_into_ranges():
    def draws(widths, scores):
        ranges = np.array(widths), np.array(scores)
        return np.bincount(
            [choose_point(*ranges, sensitivity=1, monotone=True, grant=grant(1), source=SECURE) for _ in range(4_000)],
            minlength=6,
        )

    assert same_p_value(draws([3, 3], [1, 0]), draws([1, 2, 1, 2], [1, 1, 0, 0])) > ALARM


@pytest.mark.error_rate(2 * CHI_SQUARE + ALARM, reason="two chi-squares, and misses")
@pytest.mark.parametrize("exponent", [3, 31, 45, 80])
def test_geometric_draws_have_their_rate_whatever_its_size(exponent):
    # λ = 2^-exponent: by floats, by blocks within 64 bits, and by blocks beyond. λG is nearly exponential; ten bins of
    # equal chance. 30,000 draws see a rate 10 % off with a chi-square near 300 on 9 degrees of freedom, where 1e-9 is
    # 60 and the standard deviation 35: a miss is below 1e-10.
    rate = Fraction(1, 2**exponent)
    draws = geometric(30_000, rate=Rational(rate), source=SECURE, end=2**62 if exponent < 50 else 2**100)

    def fit(off):
        edges = [math.ceil(-math.log(1 - share) / (float(rate) * off)) for share in np.arange(0.1, 1, 0.1)]
        reached = [1, *(math.exp(-float(rate) * off * edge) for edge in edges), 0]
        bins = np.searchsorted(np.array(edges, dtype=draws.dtype), draws, side="right")
        return p_value(np.bincount(bins, minlength=10), -np.diff(reached))

    assert fit(1) > ALARM > max(fit(0.9), fit(1.1))
    low_bits = np.bincount([int(draw) % 8 for draw in draws], minlength=8)
    if exponent > 10:
        assert p_value(low_bits, [1 / 8] * 8) > ALARM
