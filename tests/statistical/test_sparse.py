"""The sparse release has the distribution of the dense one, on a domain small enough to list.

One large domain holds many copies of a small table, side by side: the copies are independent, so each is one run.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts, noisy_sparse
from sfumato.privacy.dp.mechanisms.sparse import threshold_for
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from tests.statistical.fit import ALARM, CHI_SQUARE, p_value, same_p_value

TABLE = np.array([0, 3, 0, 0, 1, 0, 0, 2], dtype=np.int64)
CELLS = len(TABLE)
THRESHOLD = 3
LARGEST = 12  # values from here on share a bin
SECURE = SecureSource()
ALL_VIEWS = pytest.mark.error_rate((4 + CELLS) * CHI_SQUARE, reason="a chi-square for each of the views")


def grant(epsilon):
    return Accountant(Fraction(epsilon)).grant(Fraction(epsilon), on="cells")


def dense(copies, *, epsilon=Fraction(1, 2), source=SECURE):
    """The reference: noise on every cell, then the threshold; dropped cells are 0."""
    noisy = noisy_counts(np.tile(TABLE, copies), sensitivity=1, grant=grant(epsilon), source=source)
    return np.where(noisy >= THRESHOLD, noisy, 0).reshape(copies, CELLS)


def sparse(copies, *, epsilon=Fraction(1, 2), source=SECURE):
    tables = np.tile(TABLE, copies)
    occupied = np.flatnonzero(tables)
    indices, values = noisy_sparse(
        occupied,
        tables[occupied],
        total=len(tables),
        threshold=THRESHOLD,
        sensitivity=1,
        grant=grant(epsilon),
        source=source,
    )
    released = np.zeros(len(tables), dtype=np.int64)
    released[indices] = values
    return released.reshape(copies, CELLS)


def without_empty_cells(copies):
    """A wrong version: only occupied cells get noise, so the support leaks."""
    return np.where(TABLE > 0, dense(copies, source=InsecureSource(1)), 0)


def with_equal_values(copies):
    """A wrong version: survivors among the empty cells all have the threshold as their value."""
    released = dense(copies, source=InsecureSource(2))
    return np.where((TABLE == 0) & (released > 0), THRESHOLD, released)


def with_neighbours_that_agree(copies):
    """A wrong version: the margins are right, but two empty cells always survive together."""
    released = dense(copies, source=InsecureSource(3))
    released[:, 3] = released[:, 2]
    return released


def views(released):
    """Histograms that tell distributions apart: joint support, how many survive, their sum, and each cell's values."""
    clipped = np.minimum(released, LARGEST)
    yield np.bincount((released > 0) @ (1 << np.arange(CELLS)), minlength=1 << CELLS)
    yield np.bincount((released > 0).sum(axis=1), minlength=CELLS + 1)
    yield np.bincount(np.minimum(released.sum(axis=1), 60), minlength=61)
    yield np.bincount(clipped[:, 0] * (LARGEST + 1) + clipped[:, 2], minlength=(LARGEST + 1) ** 2)
    for cell in range(CELLS):
        yield np.bincount(clipped[:, cell], minlength=LARGEST + 1)


def worst(first, second):
    return min(same_p_value(a, b) for a, b in zip(views(first), views(second), strict=True))


@ALL_VIEWS
def test_sparse_and_dense_are_the_same():
    assert worst(sparse(10_000), dense(10_000)) > ALARM


def test_the_seeded_samplers_are_the_same_too():
    source = InsecureSource(77)
    assert worst(sparse(40_000, source=source), dense(40_000, source=source)) > ALARM


@ALL_VIEWS
@pytest.mark.slow
def test_sparse_and_dense_are_the_same_on_many_runs():
    assert worst(sparse(150_000), dense(150_000)) > ALARM


@pytest.mark.parametrize("wrong", [without_empty_cells, with_equal_values, with_neighbours_that_agree])
def test_a_wrong_version_is_noticed(wrong):
    assert worst(wrong(10_000), dense(10_000, source=InsecureSource(9))) < 1e-30


@pytest.mark.parametrize("epsilon", [Fraction(45, 100), Fraction(55, 100)])
def test_noise_that_is_10_percent_off_is_noticed(epsilon):
    # Seeded, so always the same verdict: the number of survivors is off by more than 10 standard deviations.
    off = sparse(40_000, epsilon=epsilon, source=InsecureSource(5))
    assert worst(off, dense(40_000, source=InsecureSource(6))) < ALARM


def test_a_single_small_table_has_the_exact_number_of_survivors():
    # Real runs on the small domain: here most draws of a gap pass the end. Seeded.
    source = InsecureSource(11)
    alpha = math.exp(-1 / 2)
    survives = alpha**THRESHOLD / (1 + alpha)
    empty = np.zeros(0, dtype=np.int64)
    counts = np.bincount(
        [
            len(
                noisy_sparse(
                    empty,
                    empty,
                    total=5,
                    threshold=THRESHOLD,
                    sensitivity=1,
                    grant=grant(Fraction(1, 2)),
                    source=source,
                )[0]
            )
            for _ in range(2_000)
        ],
        minlength=6,
    )
    assert p_value(counts, [math.comb(5, k) * survives**k * (1 - survives) ** (5 - k) for k in range(6)]) > ALARM


@pytest.mark.error_rate(
    2 * CHI_SQUARE + 2 * ALARM, reason="two chi-squares; a Poisson number beyond 6.1 deviations, 2e-9 with its skewness"
)
@pytest.mark.parametrize("total", [10**9, 10**17, 2**63 + 1, 10**30])
def test_survivors_of_a_huge_domain_are_uniform_and_as_many_as_expected(total):
    # The number is Poisson with mean m near 5,000 (6.1 standard deviations: 1e-9); places are uniform.
    threshold = threshold_for(total, 2.0, 5_000)
    empty = np.zeros(0, dtype=np.int64)
    indices, values = noisy_sparse(
        empty, empty, total=total, threshold=threshold, sensitivity=1, grant=grant(Fraction(1, 2)), source=SECURE
    )
    alpha = math.exp(-1 / 2)
    mean = math.exp(math.log(total) - threshold / 2) / (1 + alpha)
    assert abs(len(indices) - mean) < 6.1 * math.sqrt(mean)
    places = np.bincount([int(index) * 20 // total for index in indices], minlength=20)
    assert p_value(places, [1 / 20] * 20) > ALARM
    heights = np.bincount(np.minimum(values - threshold, 10), minlength=11)
    assert p_value(heights, [*((1 - alpha) * alpha**g for g in range(10)), alpha**10]) > ALARM
