"""The score that marginals are chosen by: its sensitivity by brute force, and that it is not monotone."""

from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.methods.marginals.candidate_scores import TICKS, Joint, in_ticks, noise_ticks, score, sensitivity
from tests.examples import examples

SIZES = (3, 2, 2)
SETS = [one for ways in (1, 2, 3) for one in combinations(range(3), ways)]
ALL = np.array(list(product(*map(range, SIZES))), dtype=np.int64)


def joint(counts):
    """A table with these counts of all combinations; only the occupied ones are known, as an engine tells them."""
    counts = np.asarray(counts, dtype=np.int64)
    return Joint(ALL[counts > 0], counts[counts > 0], SIZES)


def test_a_marginal_is_the_sum_of_what_it_does_not_tell():
    counts = np.arange(12)
    for one in SETS:
        others = tuple(a for a in range(3) if a not in one)
        assert np.array_equal(joint(counts).marginal(one), counts.reshape(SIZES).sum(axis=others))
    assert joint(counts).size == 66


@settings(max_examples=examples(quick=60, slow=1_000))
@given(
    counts=st.lists(st.integers(0, 4), min_size=12, max_size=12),
    shares=st.lists(st.floats(0, 5), min_size=12, max_size=12),
    weights=st.lists(st.integers(1, 9), min_size=len(SETS), max_size=len(SETS)),
    scale=st.floats(0.01, 1_000),
)
def test_one_record_more_moves_every_score_by_at_most_the_largest_weight_in_records(counts, shares, weights, scale):
    """By brute force: every neighbour of a table, every candidate, any model."""
    model = np.array(shares).reshape(SIZES)
    expected = {one: model.sum(axis=tuple(a for a in range(3) if a not in one)) for one in SETS}
    weight = dict(zip(SETS, weights, strict=True))
    before = np.array(joint(counts).scores(expected, weight, scale))
    for cell in range(12):
        more = [*counts[:cell], counts[cell] + 1, *counts[cell + 1 :]]
        change = np.array(joint(more).scores(expected, weight, scale)) - before
        assert np.all(np.abs(change) <= TICKS * np.array(weights))
        assert np.abs(change).max() <= sensitivity(weights) == TICKS * max(weights)


def test_a_record_can_raise_one_score_and_lower_another_so_they_are_not_monotone():
    counts = np.zeros(12, dtype=np.int64)
    expected = {(1,): np.array([0.0, 0.0]), (2,): np.array([5.0, 0.0])}
    weights = dict.fromkeys(expected, 1)
    before = joint(counts).scores(expected, weights, 1.0)
    counts[0] = 1
    change = np.array(joint(counts).scores(expected, weights, 1.0)) - before
    assert change.tolist() == [TICKS, -TICKS], "both to the full"


def test_a_score_is_the_distance_less_the_noise():
    assert score(np.array([4, 0]), in_ticks(np.array([1.5, 0.25])), 10, 3) == 3 * (40 + 4 - 10)


@pytest.mark.parametrize("scale", [0.001, 0.5, 3.0, 1e6])
def test_the_noise_of_a_table_is_its_expected_distance(scale):
    a = exp(-1 / scale)
    mean = 2 * a / (1 - a * a) if a else 0.0
    assert noise_ticks(7, scale) == pytest.approx(TICKS * 7 * mean, abs=0.6, rel=1e-9)


def test_a_model_that_expects_too_much_stays_a_whole_number():
    assert in_ticks(np.array([1e300, -1.0])).tolist() == [2**35, 0]
    assert noise_ticks(5_000, 1e300) == 2**46, "and so does a table with nothing but noise"
