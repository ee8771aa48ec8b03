from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InternalError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import _noise, noisy_counts
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.study.budget import round_up_scale

budgets = st.fractions(min_value=Fraction(1, 10**9), max_value=10**6, max_denominator=10**9)
SOURCES = pytest.mark.parametrize("source", [SecureSource(), InsecureSource(0)], ids=["secure", "insecure"])


def noised(counts, epsilon, source, sensitivity=1):
    grant = Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="counts")
    return noisy_counts(np.asarray(counts, dtype=np.int64), sensitivity=sensitivity, grant=grant, source=source)


@given(budgets, st.integers(1, 1000))
def test_the_scale_rounds_up_and_opendp_confirms_the_loss(epsilon, sensitivity):
    scale = scale_for(epsilon, sensitivity=sensitivity)
    assert Fraction(scale) >= sensitivity / epsilon
    assert Fraction(scale) <= sensitivity / epsilon * (1 + Fraction(1, 2**50))
    measurement = _noise.laplace(scale, sensitivity=sensitivity, at_most=epsilon)
    assert Fraction(measurement.map(sensitivity)) <= epsilon


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 3), Fraction(7, 5), Fraction(2)])
def test_a_scale_that_is_too_small_is_refused_before_any_draw(epsilon):
    with pytest.raises(InternalError, match="does not satisfy the granted ε"):
        _noise.laplace(round_up_scale(1 / epsilon) * 0.999, sensitivity=1, at_most=epsilon)


@SOURCES
@pytest.mark.error_rate(1e-30, reason="over 600 values are expected, each draw changes one: McDiarmid")
def test_noise_is_integer_and_every_count_gets_its_own(source):
    noisy = noised(np.zeros(5000), Fraction(1, 100), source)
    assert noisy.dtype == np.int64
    assert noisy.shape == (5000,)
    assert len(np.unique(noisy)) > 200
    assert (noisy < 0).any()


@SOURCES
@pytest.mark.error_rate(1e-39, reason="10,000 tails of exp(-100)")
def test_counts_keep_their_places_over_many_chunks(source):
    counts = np.arange(10_000) * 1_000_000
    assert np.abs(noised(counts, 1, source) - counts).max() < 100


@SOURCES
def test_no_counts_is_fine(source):
    assert noised([], 1, source).shape == (0,)


@SOURCES
@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1,000,000)")
def test_with_a_huge_budget_the_counts_come_back(source):
    assert noised([5, 0, 7], 10**6, source).tolist() == [5, 0, 7]


@pytest.mark.error_rate(1e-54, reason="two draws are alike with probability 0.28, a hundred times")
def test_two_secure_runs_differ():
    assert noised(np.zeros(100), 1, SecureSource()).tolist() != noised(np.zeros(100), 1, SecureSource()).tolist()


def test_a_sensitivity_of_nothing_is_our_bug():
    with pytest.raises(InternalError, match="sensitivity of 0"):
        scale_for(Fraction(1), sensitivity=0)
