from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InternalError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import _noise, noisy_max
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource

budgets = st.fractions(min_value=Fraction(1, 10**9), max_value=10**6, max_denominator=10**9)
SOURCES = pytest.mark.parametrize("source", [SecureSource(), InsecureSource(0)], ids=["secure", "insecure"])


def choose(scores, epsilon, source, *, monotone=False):
    grant = Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="choice")
    return noisy_max(scores, sensitivity=1, monotone=monotone, grant=grant, source=source)


@given(budgets, st.integers(1, 100), st.booleans())
def test_opendp_confirms_the_loss(epsilon, sensitivity, monotone):
    scale = scale_for(epsilon, sensitivity=sensitivity if monotone else 2 * sensitivity)
    measurement = _noise.noisy_max(scale, monotone=monotone, sensitivity=sensitivity, at_most=epsilon)
    assert Fraction(measurement.map(sensitivity)) <= epsilon


def test_claiming_monotone_scores_without_saying_so_to_opendp_is_refused():
    with pytest.raises(InternalError, match="does not satisfy the granted ε"):
        _noise.noisy_max(scale_for(Fraction(1), sensitivity=1), monotone=False, sensitivity=1, at_most=Fraction(1))


@SOURCES
@pytest.mark.error_rate(1e-99, reason="the second is chosen with probability exp(-2,500,000) or less")
def test_with_a_huge_budget_the_best_is_chosen(source):
    assert choose([3, 9, 4, -2], 10**6, source) == 1
    assert choose([0], 1, source) == 0


@SOURCES
@pytest.mark.error_rate(1e-99, reason="the second is chosen with probability exp(-2,500,000) or less")
def test_scores_as_large_as_allowed(source):
    assert choose([-(2**62), 2**62], 1, source) == 1


@SOURCES
@pytest.mark.error_rate(1e-17, reason="sixty times the same of two")
def test_with_a_tiny_budget_anything_is_chosen(source):
    assert {choose([0, 100], Fraction(1, 10**6), source) for _ in range(60)} == {0, 1}


@pytest.mark.parametrize(("scores", "what"), [([], "no candidates"), ([2**63], "62 bits")])
def test_impossible_choices_fail_before_the_grant_is_used(scores, what):
    grant = Accountant(Fraction(1)).grant(Fraction(1), on="choice")
    with pytest.raises(InternalError, match=what):
        noisy_max(scores, sensitivity=1, monotone=False, grant=grant, source=SecureSource())
    assert not grant.redeemed
