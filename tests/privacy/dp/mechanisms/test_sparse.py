import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InternalError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_sparse
from sfumato.privacy.dp.mechanisms.sparse import _nth_empty, expected_survivors, threshold_for
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource

SOURCES = pytest.mark.parametrize("source", [SecureSource(), InsecureSource(0)], ids=["secure", "insecure"])


def release(occupied, counts, *, total, threshold, epsilon=Fraction(1, 2), source):
    grant = Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="cells")
    counts = np.array(counts, dtype=np.int64)
    places = np.array(occupied, dtype=object if total > 2**62 else np.int64)
    return noisy_sparse(places, counts, total=total, threshold=threshold, sensitivity=1, grant=grant, source=source)


@given(st.sets(st.integers(0, 40)), st.sampled_from([np.int64, object]))
def test_ranks_of_empties_are_found(occupied, dtype):
    empties = [cell for cell in range(41) if cell not in occupied]
    places = np.array(sorted(occupied), dtype=dtype)
    found = _nth_empty(np.arange(len(empties)).astype(dtype), places)
    assert found.tolist() == empties
    assert found.dtype == dtype


@SOURCES
@pytest.mark.parametrize("total", [1000, 10**9, 2**63 + 5, 10**30])
@pytest.mark.error_rate(1e-25, reason="120 to 200 survivors are expected: Chernoff for fewer than 20 of them")
def test_survivors_are_in_order_inside_and_above_the_threshold(total, source):
    threshold = threshold_for(total, 2.0, 200)
    indices, counts = release([0, 7, total - 1], [1000, 0, 1000], total=total, threshold=threshold, source=source)
    listed = [int(index) for index in indices]
    assert listed == sorted(set(listed))
    assert listed[0] == 0
    assert listed[-1] == total - 1
    assert counts.min() >= threshold
    assert counts.dtype == np.int64
    assert len(indices) == len(counts)
    assert indices.dtype == (np.int64 if total <= 2**62 else object)
    assert 20 < len(indices) < 600


@SOURCES
@pytest.mark.error_rate(1e-10, reason="none of 50 survives: 0.6225 to the 50th, 5e-11")
def test_a_domain_without_empty_cells_and_one_without_occupied_ones(source):
    indices, _ = release([0, 1, 2], [50, 0, 50], total=3, threshold=5, epsilon=10, source=source)
    assert indices.tolist() == [0, 2]
    indices, counts = release([], [], total=50, threshold=1, source=source)
    assert 0 < len(indices) < 50
    assert (counts >= 1).all()
    assert len(release([], [], total=0, threshold=1, source=source)[0]) == 0


@SOURCES
@pytest.mark.error_rate(1e-99, reason="noise of ten million at scale 2, in 1e30 cells")
def test_a_threshold_out_of_reach_leaves_nothing(source):
    indices, counts = release([5], [3], total=10**30, threshold=10**7, source=source)
    assert len(indices) == len(counts) == 0


@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1,000,000), in 1e12 cells")
def test_with_a_huge_budget_only_the_occupied_survive():
    indices, counts = release([2, 5], [3, 1], total=10**12, threshold=1, epsilon=10**6, source=SecureSource())
    assert (indices.tolist(), counts.tolist()) == ([2, 5], [3, 1])


@given(st.integers(1, 10**30), st.floats(0.5, 50), st.floats(0.01, 10**6))
def test_the_proposed_threshold_is_the_smallest(empty, scale, at_most):
    t = threshold_for(empty, scale, at_most)
    assert expected_survivors(empty, t, scale) <= at_most
    assert t == 1 or expected_survivors(empty, t - 1, scale) > at_most


def test_expected_survivors_is_the_tail_of_the_noise():
    alpha = math.exp(-1 / 3)
    tail = sum((1 - alpha) / (1 + alpha) * alpha**x for x in range(4, 400))
    assert math.isclose(expected_survivors(1000, 4, 3.0), 1000 * tail, rel_tol=1e-12)
    assert expected_survivors(0, 4, 3.0) == 0
    assert expected_survivors(10**400, 1, 3.0) == math.inf


@pytest.mark.parametrize(
    ("occupied", "counts", "total", "threshold"),
    [
        ([1, 0], [1, 1], 9, 1),
        ([1, 1], [1, 1], 9, 1),
        ([9], [1], 9, 1),
        ([-1], [1], 9, 1),
        ([1], [1, 2], 9, 1),
        ([1], [1], 9, 0),
    ],
)
def test_cells_that_make_no_sense_are_our_bug(occupied, counts, total, threshold):
    with pytest.raises(InternalError):
        release(occupied, counts, total=total, threshold=threshold, source=SecureSource())
