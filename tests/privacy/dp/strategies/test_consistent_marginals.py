"""Consistent marginals against the matrices that define them."""

import numpy as np
import pytest
from scipy.optimize import nnls

from sfumato.privacy.dp.strategies import Marginals

EVERY = [Marginals((2, 3, 4)), Marginals((2, 3, 2, 3)), Marginals((5, 1, 3), order=1), Marginals((3, 3, 2, 2), order=3)]
EACH = pytest.mark.parametrize("strategy", EVERY, ids=str)


def matrix(strategy):
    return strategy.measure(np.eye(strategy.size, dtype=np.int64)).T


@EACH
def test_one_record_changes_one_cell_of_each_marginal(strategy):
    table = np.random.default_rng(7).integers(0, 9, (1, strategy.size))
    before = strategy.measure(table)
    for cell in range(strategy.size):
        neighbour = table.copy()
        neighbour[0, cell] += 1
        assert np.abs(strategy.measure(neighbour) - before).sum() == strategy.sensitivity == len(strategy.subsets)


@EACH
def test_estimates_are_least_squares_and_variances_are_theirs(strategy):
    rng, exact = np.random.default_rng(5), matrix(strategy).astype(float)
    noisy = rng.normal(size=(2, strategy.measurements))
    assert np.allclose(strategy.estimate(noisy), np.linalg.lstsq(exact, noisy.T, rcond=None)[0].T)
    inverse = np.linalg.pinv(exact)
    weights = rng.normal(size=(3, strategy.measurements)) @ exact
    assert np.allclose(strategy.variance(weights), ((weights @ inverse) ** 2).sum(axis=1))
    assert strategy.spans(weights[:1]) and not strategy.spans(rng.normal(size=(1, strategy.size)))
    assert np.allclose(strategy.cell_variances(), (inverse**2).sum(axis=1))
    sizes = [int(np.prod([strategy.sizes[i] for i in subset])) for subset in strategy.subsets]
    firsts = np.cumsum([0, *sizes[:-1]])
    assert strategy.marginal_variance() == pytest.approx(np.mean(((exact[firsts] @ inverse) ** 2).sum(axis=1)))


@EACH
def test_estimated_marginals_agree_with_each_other(strategy):
    """A marginal of two attributes, summed to one, is the same from whichever pair: they are of one table."""
    noisy = np.random.default_rng(9).normal(size=(1, strategy.measurements))
    consistent = strategy.measure(strategy.estimate(noisy))
    again = strategy.measure(strategy.estimate(consistent))
    assert np.allclose(consistent, again), "consistent marginals stay as they are"


@EACH
def test_the_table_without_negative_counts_is_the_nearest(strategy):
    rng, exact = np.random.default_rng(3), matrix(strategy).astype(float)
    noisy = exact @ rng.integers(0, 9, strategy.size) + 6 * rng.normal(size=strategy.measurements)
    found = strategy.non_negative(noisy[None])
    assert np.all(found >= 0)
    assert np.linalg.norm(exact @ found - noisy) == pytest.approx(nnls(exact, noisy)[1], rel=1e-6)


def test_two_binary_attributes_by_hand():
    """Counts of a by b, measured by both one-way marginals: a = (6, 4), b = (7, 5), whose sums 10 and 12 disagree.

    The total of the estimate is the mean of both, 11, since both have the noise of two cells. The difference of a is 2,
    that of b is 2, neither measured by the other: cells are 11/4 ± 2/4 ± 2/4.
    """
    found = Marginals((2, 2), order=1).estimate(np.array([[6.0, 4, 7, 5]]))
    assert found.tolist() == [[3.75, 2.75, 2.75, 1.75]]
