"""The plan: shares that add up, and limits that sensitivity rests on."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.staged.impurity import TICKS
from sfumato.methods.staged.plan import MOST_CELLS, make_plan

EPSILONS = st.fractions(Fraction(1, 10_000), 100, max_denominator=10_000)


@given(size=st.integers(-(10**6), 10**10), epsilon=EPSILONS, classes=st.integers(2, 50))
def test_the_prices_add_up_exactly(size, epsilon, classes):
    plan = make_plan(size, epsilon, classes)
    assert sum(plan.choices) + plan.stages * plan.table == epsilon
    assert 1 <= plan.stages <= 4 and plan.attributes in {2, 3}
    assert 0 < plan.penalty <= TICKS, "else the sensitivity of a score would be larger"
    assert 8 <= plan.cells <= MOST_CELLS


def test_more_records_carry_more_stages():
    found = [make_plan(size, Fraction(1), 2).stages for size in (100, 5_000, 12_000, 60_000)]
    assert found == [1, 2, 3, 4]
