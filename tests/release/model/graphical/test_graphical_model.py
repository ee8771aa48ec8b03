"""Propagation and marginals: compared with the joint distribution, listed in full."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.release.model.graphical.draw import draw_values, systematic
from sfumato.release.model.graphical.graphical_model import potentials_of, propagate
from sfumato.release.model.graphical.junction_tree import JunctionTree
from tests.examples import examples
from tests.release.model.graphical.test_junction_tree import graphs


def made(graph, seed, strength=2.0):
    """A model with random parameters, the logarithm of its sum, and the joint distribution cell by cell."""
    sizes, tables = graph
    rng = np.random.default_rng(seed)
    parts = [(table, rng.normal(0, strength, [sizes[a] for a in table])) for table in tables]
    tree = JunctionTree.of(sizes, tables)
    model, total = propagate(tree, potentials_of(tree, [(tree.home_of(table), table, part) for table, part in parts]))
    joint = np.zeros(sizes)
    for table, part in parts:
        joint = joint + part.reshape([sizes[a] if a in table else 1 for a in range(len(sizes))])
    shares = np.exp(joint - joint.max())
    return model, total, shares / shares.sum(), joint.max() + np.log(shares.sum())


@settings(max_examples=examples(quick=40, slow=400))
@given(graph=graphs(), seed=st.integers(0, 99), data=st.data())
def test_any_marginal_is_that_of_the_joint_distribution(graph, seed, data):
    model, total, joint, log_sum = made(graph, seed)
    assert np.isclose(total, log_sum)
    places = st.integers(0, joint.ndim - 1)
    asked = data.draw(st.lists(places, min_size=1, max_size=4, unique=True))
    kept = sorted(asked)
    expected = joint.sum(axis=tuple(a for a in range(joint.ndim) if a not in kept))
    expected = expected.transpose([kept.index(a) for a in asked])
    assert np.allclose(model.marginal(asked), expected)


def test_parameters_of_any_size_do_not_overflow():
    model, _, _, _ = made(((3, 3, 3), [(0,), (1,), (2,), (0, 1), (1, 2)]), seed=1, strength=5_000)
    for place in range(3):
        assert np.isclose(model.marginal((place,)).sum(), 1)


def test_drawn_records_have_the_distribution_of_the_model():
    graph = ((3, 4, 2, 3), [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (2, 3)])
    model, _, joint, _ = made(graph, seed=4, strength=1.0)
    size = 40_000
    values = draw_values(model, size, np.random.default_rng(0))
    found = np.bincount(np.ravel_multi_index(values.T, joint.shape), minlength=joint.size).reshape(joint.shape) / size
    assert np.abs(found - joint).sum() / 2 < 0.01
    first = model.tree.cliques[0]
    exact = np.bincount(
        np.ravel_multi_index([values[:, a] for a in first], model.tree.shape(first)), minlength=model.shares[0].size
    )
    assert np.abs(exact - size * model.shares[0].ravel()).max() < 2, "each as often as expected, but for one"


def test_systematic_draws_take_every_place_as_often_as_it_weighs():
    found = np.bincount(systematic(np.array([0.5, 0.0, 0.25, 0.25]), 1_000, np.random.default_rng(3)), minlength=4)
    assert np.abs(found - [500, 0, 250, 250]).max() <= 1
    assert len(systematic(np.array([1.0]), 0, np.random.default_rng(3))) == 0
