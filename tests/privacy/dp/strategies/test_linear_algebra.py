"""Every strategy against the matrices that define it, made from its exact measurements of single records."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sfumato.privacy.dp.strategies import ALL_RANGES, SINGLE_CELLS, Cells, Comparison, Hierarchical, Queries, Wavelet

SIZES = (1, 2, 3, 5, 8, 13, 30, 74)
EVERY = [
    strategy
    for size in SIZES
    for strategy in (
        Cells(size),
        Wavelet(size),
        *(Hierarchical(size=size, fan_out=k, root=root) for k in (2, 3, 8) for root in (False, True)),
    )
]


def matrix(strategy):
    """A, a column a cell: what one record in that cell measures."""
    return strategy.measure(np.eye(strategy.size, dtype=np.int64)).T


def inverse(strategy):
    """The linear map from measurements to estimates."""
    return strategy.estimate(np.eye(strategy.measurements)).T


def ranges(size):
    return [
        np.array([a <= i < b for i in range(size)], dtype=float) for a in range(size) for b in range(a + 1, size + 1)
    ]


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_one_record_changes_all_measurements_by_the_sensitivity_at_most_and_by_it_somewhere(strategy):
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 9, (3, strategy.size))
    before = strategy.measure(rows)
    changes = []
    for row in range(3):
        for cell in range(strategy.size):
            neighbour = rows.copy()
            neighbour[row, cell] += 1
            changes.append(int(np.abs(strategy.measure(neighbour) - before).sum()))
    assert max(changes) == strategy.sensitivity
    assert before.shape == (3, strategy.measurements) and len(strategy.nodes) == strategy.measurements


@pytest.mark.parametrize("strategy", EVERY, ids=str)
def test_estimates_are_unbiased_and_their_variances_are_those_of_the_linear_map(strategy):
    back = inverse(strategy)
    assert np.allclose(back @ matrix(strategy), np.eye(strategy.size))
    covariance = back @ back.T
    weights = np.random.default_rng(3).normal(size=(4, strategy.size))
    assert np.allclose(strategy.variance(weights), np.einsum("ri,ij,rj->r", weights, covariance, weights))
    assert np.allclose(strategy.cell_variances(), np.diag(covariance))
    assert strategy.range_variance() == pytest.approx(
        np.mean([one @ covariance @ one for one in ranges(strategy.size)])
    )


@pytest.mark.parametrize("strategy", [s for s in EVERY if s.name != "wavelet" or s.size in {1, 2, 8}], ids=str)
def test_estimates_are_least_squares(strategy):
    noisy = np.random.default_rng(5).normal(size=(2, strategy.measurements))
    nearest = np.linalg.lstsq(matrix(strategy).astype(float), noisy.T, rcond=None)[0].T
    assert np.allclose(strategy.estimate(noisy), nearest)


@pytest.mark.parametrize("strategy", [s for s in EVERY if s.name == "hierarchical"], ids=str)
def test_a_node_is_the_range_that_it_counts(strategy):
    for row, (_, start, stop) in zip(matrix(strategy), strategy.nodes, strict=True):
        assert row.tolist() == [int(start <= cell < stop) for cell in range(strategy.size)]
    for (level, _, stop), (below, start, _) in pairwise(strategy.nodes):
        assert (level == below and stop == start) or (level + 1 == below and start == 0)


def test_the_comparison_takes_the_queries_that_are_declared():
    whole = Queries("declared", (((0, 512),),))
    for queries in (ALL_RANGES, SINGLE_CELLS, whole, Queries("declared", (((3, 4), (9, 20)), ((0, 1),)))):
        comparison = Comparison(512, Fraction(1, 2), queries)
        errors = {name: error for name, (_, error) in comparison.candidates.items()}
        assert comparison.best == min(errors, key=errors.__getitem__)
        assert f"'{comparison.best}' has the smallest" in comparison.sentence()
    assert Comparison(512, Fraction(1), ALL_RANGES).best == "hierarchical"
    assert Comparison(512, Fraction(1), SINGLE_CELLS).best == "cells"
    tree = Comparison(512, Fraction(1), whole).candidates["hierarchical"][0]
    assert tree.root, "of the sum of all, a measured root has the smallest error"
    assert Comparison(16, Fraction(1), ALL_RANGES).best == "cells"


@pytest.mark.parametrize("size", [64, 74, 512, 4096])
def test_best_trees_have_eight_to_thirty_two_children_and_leave_the_root_out(size):
    """What the simulations of the specification found."""
    tree = Comparison(size, Fraction(1)).chosen("auto")
    assert isinstance(tree, Hierarchical)
    assert 8 <= tree.fan_out <= 32 and not tree.root


@pytest.mark.parametrize("strategy", [Hierarchical(size=100_000, fan_out=18), Wavelet(100_000)], ids=str)
def test_large_domains_stay_large_only_in_their_cells(strategy):
    assert strategy.measurements < 2.5 * strategy.size
    assert 0 < strategy.range_variance() < 100
