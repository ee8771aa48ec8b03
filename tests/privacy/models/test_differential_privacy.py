import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.models import MODELS, DifferentialPrivacy, attack_odds
from sfumato.privacy.models.differential_privacy import membership_advantage, odds_factor

EPSILONS = st.fractions(Fraction(1, 1000), Fraction(15))


@given(epsilon=EPSILONS)
def test_the_numbers_are_those_of_the_definition_and_never_rounded_down(epsilon):
    assert float(odds_factor(epsilon)) == pytest.approx(math.exp(epsilon), rel=1e-12)
    assert float(membership_advantage(epsilon)) == pytest.approx(math.tanh(epsilon / 2), rel=1e-9)
    few_terms = sum(epsilon**k / math.factorial(k) for k in range(12))  # all terms are positive: below e^ε, exactly
    assert Fraction(odds_factor(epsilon)) >= few_terms


def test_the_odds_can_be_read_by_people():
    assert "by at most 2.72" in attack_odds(Fraction(1))
    assert "no protection worth the name" in attack_odds(Fraction(1000))


def test_every_model_says_its_promise_and_whether_it_can_be_checked():
    assert "ε-differential privacy" in MODELS
    model = DifferentialPrivacy(epsilon=Fraction(1, 3), unit="one person with at most 3 records")
    assert not model.checkable, "every output is possible: there is nothing to check on it"
    assert "ε = 1/3" in model.sentence()
    assert "whether or not one person with at most 3 records is in the table" in model.sentence()
