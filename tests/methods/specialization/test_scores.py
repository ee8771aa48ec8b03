import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato.methods.specialization.scores import SCORES, Gini, InfoGain, Max

PARTS = hnp.arrays(np.int64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.integers(0, 50))


@pytest.mark.parametrize("score", SCORES.values(), ids=lambda s: s.name)
@given(parts=PARTS, data=st.data())
def test_one_record_more_moves_no_score_further_than_its_sensitivity(score, parts, data):
    child = data.draw(st.integers(0, parts.shape[0] - 1))
    place = data.draw(st.integers(0, parts.shape[1] - 1))
    more = parts.copy()
    more[child, place] += 1
    change = int(score.ticks(more)) - int(score.ticks(parts))
    assert abs(change) <= score.sensitivity(parts.shape[1])
    if score.monotone:
        assert change >= 0


@pytest.mark.parametrize("score", [Max(), Gini()], ids=lambda s: s.name)
def test_the_sensitivity_is_nearly_reached(score):
    """Else the method would add more noise than its promise needs."""
    pure, mixed = np.array([[1000, 0], [0, 0]]), np.array([[1000, 1], [0, 0]])
    apart = np.array([[1000, 0], [0, 1]])
    changes = [abs(int(score.ticks(x)) - int(score.ticks(pure))) for x in (mixed, apart)]
    assert max(changes) > 0.95 * score.sensitivity(2)


@given(parts=PARTS)
def test_information_gain_is_that_of_the_textbook(parts):
    def entropy(counts):
        n = sum(counts)
        return -sum(c / n * math.log2(c / n) for c in counts if c) if n else 0.0

    whole = [sum(column) for column in parts.T.tolist()]
    n = sum(whole)
    gain = entropy(whole) - (sum(sum(p) / n * entropy(p) for p in parts.tolist()) if n else 0)
    assert InfoGain().ticks(parts) * InfoGain.tick == pytest.approx(gain, abs=1e-6)


@given(labels=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=40))
def test_gini_is_the_drop_of_the_expected_misclassifications(labels):
    """n·Gini is the sum over records of the share of their group that has another class, counted record by record."""

    def impurity(group):
        return sum(1 - Counter(group)[c] / len(group) for c in group)

    parts = np.zeros((3, 3), dtype=np.int64)
    for child, place in labels:
        parts[child, place] += 1
    drop = impurity([c for _, c in labels]) - sum(impurity([c for k, c in labels if k == child]) for child in range(3))
    assert int(Gini().ticks(parts)) * Gini.tick == pytest.approx(drop, abs=Gini.tick)


@given(stack=hnp.arrays(np.int64, (5, 2, 3), elements=st.integers(0, 20)))
def test_many_candidates_score_as_each_alone(stack):
    for score in SCORES.values():
        assert score.ticks(stack).tolist() == [int(score.ticks(parts)) for parts in stack]
