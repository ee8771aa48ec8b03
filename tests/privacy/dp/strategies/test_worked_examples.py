"""The papers' definitions, worked out by hand, and the simulated errors of the specification."""

import numpy as np
import pytest

from sfumato.privacy.dp.strategies import Cells, Hierarchical, Wavelet


def test_hays_consistency_on_a_binary_tree_of_four_leaves():
    """Counts 2, 0, 10, 2 with the noisy tree 13; 3, 11; 4, 1, 12, 1, all measured with the same variance.

    Up (theorem 3, k = 2): a node over leaves has height 2, so z = (2/3)·own + (1/3)·(sum of its children):
    left (2·3 + 5)/3 = 11/3, right (2·11 + 13)/3 = 35/3. The root has height 3: z = (4/7)·13 + (3/7)·(11/3 + 35/3)
    = 52/7 + 46/7 = 14. Down: the root is 14, its children's sum was 46/3, so each child gets half of −4/3:
    3 and 11. The left leaves sum to 5 where 3 is to be, so each loses 1: 3 and 0; the right ones to 13: 11 and 0.
    """
    tree = Hierarchical(size=4, fan_out=2, root=True)
    assert tree.measure(np.array([[2, 0, 10, 2]])).tolist() == [[14, 2, 12, 2, 0, 10, 2]]
    noisy = np.array([[13.0, 3, 11, 4, 1, 12, 1]])
    assert np.allclose(tree.estimate(noisy), [[3, 0, 11, 0]])


def test_without_the_root_the_subtrees_do_not_know_of_each_other():
    """The same tree: left 11/3 from 5, so each leaf −2/3; right 35/3 from 13, so each −2/3."""
    tree = Hierarchical(size=4, fan_out=2)
    estimate = tree.estimate(np.array([[3.0, 11, 4, 1, 12, 1]]))
    assert np.allclose(estimate, [[4 - 2 / 3, 1 - 2 / 3, 12 - 2 / 3, 1 - 2 / 3]])


def test_privelets_haar_transform_of_eight_values():
    """Values 9, 3, 6, 2, 8, 4, 5, 7 (mean 5.5).

    The coefficient of a node is (mean of the left half − mean of the right half)/2, as Xiao et al. define it:
    root (20/4 − 24/4)/2 = −0.5; its halves (12/2 − 8/2)/2 = 1 and (12/2 − 12/2)/2 = 0; pairs (9 − 3)/2 = 3,
    (6 − 2)/2 = 2, (8 − 4)/2 = 2, (5 − 7)/2 = −1. Weights are 8 (base and root), 4 and 2, so the integers are
    8·5.5 = 44, 8·(−0.5) = −4, 4·1, 4·0, 2·3, 2·2, 2·2, 2·(−1). The generalised sensitivity is 1 + log₂ 8 = 4.
    """
    values = np.array([[9, 3, 6, 2, 8, 4, 5, 7]])
    base, coefficients, weights = 5.5, [-0.5, 1, 0, 3, 2, 2, -1], [8, 4, 4, 2, 2, 2, 2]
    haar = Wavelet(8)
    expected = [8 * base, *(w * c for w, c in zip(weights, coefficients, strict=True))]
    assert haar.measure(values).tolist() == [expected] == [[44, -4, 4, 0, 6, 4, 4, -2]]
    assert haar.sensitivity == 4
    assert np.allclose(haar.estimate(np.array([expected])), values)
    # A value is the base and, with sign, the coefficients above it: the first is 5.5 − 0.5 + 1 + 3 = 9.
    assert base + coefficients[0] + coefficients[1] + coefficients[3] == 9


def padded_tree_error(size, fan_out):
    """The prototype's tree: full, of size k^h, the root left out, ranges within the first cells. Laplace at ε = 1."""
    height = next(h for h in range(1, 20) if fan_out**h >= size)
    tree = Hierarchical(size=fan_out**height, fan_out=fan_out)
    assert tree.sensitivity == height
    first_cells = np.tril(np.ones((size, tree.size)))
    # Over all pairs of bounds, Σ V(F_b − F_a) = (n + 1) Σ V(F_t) − V(Σ F_t), F_t the sum of the first t cells.
    squares = (size + 1) * tree.variance(first_cells).sum() - tree.variance(first_cells.sum(axis=0)[None])[0]
    return 2 * height**2 * squares / (size * (size + 1) / 2)


@pytest.mark.parametrize(
    ("size", "fan_out", "simulated"),
    [(74, 2, 134), (74, 8, 65), (74, 16, 50), (512, 2, 307), (512, 8, 120), (512, 16, 164)],
)
def test_trees_have_the_errors_that_the_specification_simulated(size, fan_out, simulated):
    """400 draws with 400 ranges each: their mean was within 5 % of the expectation here, rounding included."""
    assert padded_tree_error(size, fan_out) == pytest.approx(simulated, rel=0.05)


@pytest.mark.parametrize(("size", "flat", "privelet"), [(74, 51, 126), (512, 343, 296)])
def test_cells_and_wavelets_have_the_errors_that_the_specification_simulated(size, flat, privelet):
    assert 2 * Cells(size).range_variance() == pytest.approx(flat, abs=0.5)
    haar = Wavelet(size)
    assert 2 * haar.sensitivity**2 * haar.range_variance() == pytest.approx(privelet, rel=0.05)


@pytest.mark.parametrize(
    ("strategy", "simulated"), [(Cells(100_000), 66_668), (Wavelet(100_000), 1_770)], ids=["cells", "wavelet"]
)
def test_the_largest_domain_of_the_specification(strategy, simulated):
    assert 2 * strategy.sensitivity**2 * strategy.range_variance() == pytest.approx(simulated, rel=0.08)
