"""The fit: against a plain implementation that makes the whole design matrix, and at the ends of the noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.measured import StageTable
from sfumato.release.model.fit import cell_totals, class_given_cell, on_simplex
from tests.examples import examples


def table(bands, sizes, classes, scale, seed):
    rng = np.random.default_rng(seed)
    cuts = tuple(Cut.finest(f"a{number}", size) for number, size in enumerate(sizes))
    cells = bands * int(np.prod(sizes, initial=1))
    true = rng.poisson(rng.gamma(0.5, 60, (cells, 1)) * rng.dirichlet([1] * classes, cells))
    return StageTable(bands, cuts, (true + np.rint(rng.laplace(0, scale, true.shape))).astype(np.int64), scale)


def plainly(of):
    """P(class | cell) with a column an effect, as the method is written down."""
    counts, sizes = of.counts.astype(float), of.sizes
    classes, var = counts.shape[1], laplace_variance(of.scale)
    noisy = counts.sum(1)
    total = max(noisy.sum(), 10.0)
    real = cell_totals(of.cells, sizes, noisy, classes * var, total)
    design = np.hstack([np.ones((len(counts), 1))] + [np.eye(size)[of.cells[:, n]] for n, size in enumerate(sizes)])
    ridge = np.r_[1e-6, np.full(design.shape[1] - 1, 0.25)]
    prior = np.clip(on_simplex(counts.sum(0), total) / total, 0.5 / total, 1 - 0.5 / total)
    out = np.zeros_like(counts)
    for k in [1] if classes == 2 else range(classes):
        w = np.zeros(design.shape[1])
        w[0] = np.log(prior[k] / (1 - prior[k]))
        for step in range(31):
            z = np.clip(design @ w, -7, 7)
            p = 1 / (1 + np.exp(-z))
            info, noise = real * p * (1 - p), var * ((1 - p) ** 2 + p**2 * (classes - 1))
            weight, residual = info / (info + noise + 1e-9), counts[:, k] - noisy * p
            if step == 30:
                break
            curve = (design * (weight * info)[:, None]).T @ design + np.diag(ridge)
            change = np.linalg.solve(curve, design.T @ (weight * residual) - ridge * w)
            w += change * min(1, 1.5 / max(np.abs(change).max(), 1e-300))  # one cell may fit at once
        z = z + np.clip(weight * residual / (weight * info + 0.3**-2), -3, 3)
        out[:, k] = 1 / (1 + np.exp(-z))
    if classes == 2:
        out[:, 0] = 1 - out[:, 1]
    return out / out.sum(1, keepdims=True)


@settings(max_examples=examples(quick=15, slow=100))
@given(
    bands=st.sampled_from([1, 8]),
    sizes=st.lists(st.integers(2, 5), max_size=3),
    classes=st.integers(2, 4),
    scale=st.sampled_from([0.5, 3.0, 40.0]),
    seed=st.integers(0, 10**6),
)
def test_sums_over_axes_are_sums_over_a_design_matrix(bands, sizes, classes, scale, seed):
    of = table(bands, sizes, classes, scale, seed)
    found, totals = class_given_cell(of)
    assert np.allclose(found, plainly(of), atol=1e-5)
    assert found.sum(axis=1) == pytest.approx(1.0) and (totals >= 0).all()


def test_without_noise_large_cells_have_their_own_shares():
    counts = np.array([[9_000, 1_000], [2_000, 8_000], [5_000, 5_000]])
    found, totals = class_given_cell(StageTable(1, (Cut.finest("a", 3),), counts, 1e-3))
    assert found[:, 1] == pytest.approx([0.1, 0.8, 0.5], abs=0.01)
    assert totals == pytest.approx([10_000, 10_000, 10_000], rel=0.01)


def test_cells_of_noise_alone_say_little():
    rng = np.random.default_rng(4)
    noise = np.rint(rng.laplace(0, 2_000, (40, 2))).astype(np.int64)
    found, _ = class_given_cell(StageTable(1, (Cut.finest("a", 40),), noise + np.array([75, 25]), 2_000.0))
    assert found[:, 1].std() < 0.1, "the noisy shares themselves go from 0 to 1"


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), total=st.floats(1, 1e6))
def test_the_simplex_is_reached_at_its_nearest_point(values, total):
    found = on_simplex(np.array(values), total)
    assert (found >= 0).all() and found.sum() == pytest.approx(total, rel=1e-6, abs=1e-4)
    gone = np.array(values)[found == 0]
    kept = np.array(values)[found > 0] - found[found > 0]
    assert kept.max() - kept.min() == pytest.approx(0, abs=1e-3), "all that stays is moved by the same"
    assert not len(gone) or gone.max() <= kept.max() + 1e-3


@pytest.mark.parametrize("scale", [0.3, 1.0, 50.0])
def test_the_variance_is_that_of_discrete_laplace_noise(scale):
    x = np.arange(-4_000, 4_001)
    p = np.exp(-np.abs(x) / scale)
    p /= p.sum()
    assert laplace_variance(scale) == pytest.approx(float((p * x**2).sum()))
