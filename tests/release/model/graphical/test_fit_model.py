"""The estimate: the one maximum that its docstring says, true to tables without noise, and never negative."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.release.model.graphical.fit_model import _SMOOTHING, Measurement, fit
from sfumato.release.model.graphical.quasi_newton import minimise
from tests.examples import examples

SIZES = (3, 4, 2)
TABLES = [(0,), (1,), (2,), (0, 1), (1, 2)]


def joint(seed=0, concentration=0.5):
    return np.random.default_rng(seed).dirichlet([concentration] * 24).reshape(SIZES)


def marginal(table, kept):
    return table.sum(axis=tuple(a for a in range(3) if a not in kept))


def measured(truth, size, deviation, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for table in TABLES:
        true = size * marginal(truth, table)
        found.append(Measurement(table, np.rint(true + rng.normal(0, deviation, true.shape)), deviation**2))
    return found


def test_tables_with_little_noise_are_met():
    found = fit(SIZES, measured(joint(), 10_000, 0.5), 10_000, steps=500).model
    for table in TABLES:
        assert np.abs(found.marginal(table) - marginal(joint(), table)).sum() < 0.01


@settings(max_examples=examples(quick=15, slow=150))
@given(seed=st.integers(0, 99), deviation=st.floats(1, 300))
def test_it_is_the_maximum_of_entropy_less_squared_errors(seed, deviation):
    """θ = (y − n·μ) / (λ·s) is what the maximum satisfies, and only it."""
    size = 1_000.0
    tables = measured(joint(seed), size, deviation, seed)
    found = fit(SIZES, tables, size, steps=3_000)
    entropy = _SMOOTHING / deviation
    for one, parameters in zip(tables, found.parameters, strict=True):
        centred = one.counts + (size - one.counts.sum()) / one.counts.size
        left = centred - size * found.model.marginal(one.attributes) - entropy * one.variance * parameters
        assert np.abs(left).max() < 0.2, "of 1,000 records"
        assert found.model.marginal(one.attributes).min() >= 0


def test_of_two_tables_that_disagree_the_one_with_less_noise_is_believed():
    tables = [
        Measurement((0,), np.array([900.0, 50.0, 50.0]), 1.0),
        Measurement((0,), np.array([100.0, 450.0, 450.0]), 10_000.0),
        Measurement((1,), np.full(4, 250.0), 1.0),
        Measurement((2,), np.full(2, 500.0), 1.0),
    ]
    share = fit(SIZES, tables, 1_000.0, steps=300).model.marginal((0,))
    assert share[0] == pytest.approx(0.9, abs=0.01)


def test_a_later_fit_starts_from_an_earlier_one():
    tables = measured(joint(), 5_000, 20)
    first = fit(SIZES, tables[:3], 5_000, steps=300)
    warm, cold = fit(SIZES, tables, 5_000, steps=300, start=first), fit(SIZES, tables, 5_000, steps=300)
    for table in TABLES:
        assert np.allclose(warm.model.marginal(table), cold.model.marginal(table), atol=1e-3)


def test_a_fit_beats_the_noise_of_its_tables():
    """Twenty of these have about 24·0.8·60/2000 of error before; the model has less."""
    truth, before, after = joint(3), [], []
    for seed in range(20):
        tables = measured(truth, 2_000, 60, seed)
        found = fit(SIZES, tables, 2_000, steps=300).model
        for one in tables:
            before.append(np.abs(one.counts / 2_000 - marginal(truth, one.attributes)).sum())
            after.append(np.abs(found.marginal(one.attributes) - marginal(truth, one.attributes)).sum())
    assert np.mean(after) < 0.8 * np.mean(before)


@settings(max_examples=examples(quick=20, slow=200))
@given(seed=st.integers(0, 999), size=st.integers(1, 12))
def test_minimising_finds_what_a_library_finds(seed, size):
    rng = np.random.default_rng(seed)
    rows, goal = rng.normal(size=(2 * size, size)), rng.normal(size=size)

    def function(x):
        odds = rows @ x
        value = np.logaddexp(0, odds).sum() + 0.5 * ((x - goal) ** 2).sum()
        return float(value), rows.T @ (1 / (1 + np.exp(-odds))) + x - goal

    ours = minimise(function, np.zeros(size), steps=500)
    theirs = minimize(function, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    assert function(ours)[0] <= function(theirs)[0] + 1e-6
