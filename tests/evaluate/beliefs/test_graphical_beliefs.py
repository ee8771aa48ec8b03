"""Beliefs by a graphical model: against sums over the whole joint distribution."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.evaluate.beliefs.graphical_beliefs import conditional
from sfumato.release.model.graphical.graphical_model import potentials_of, propagate
from sfumato.release.model.graphical.junction_tree import JunctionTree
from tests.examples import examples

SIZES = (2, 3, 2, 3)
TABLES = [[(0, 1), (1, 2), (2, 3)], [(0, 1, 2), (3,)], [(0, 3), (1, 3), (2, 3)], [(0,), (1,), (2,), (3,)]]


def model_with(tables, seed):
    """A random model over these tables, and its joint distribution with every axis."""
    rng = np.random.default_rng(seed)
    tree = JunctionTree.of(SIZES, tables)
    parts = [(tree.home(one), one, rng.normal(0, 1.5, [SIZES[a] for a in one])) for one in tables]
    model, _ = propagate(tree, potentials_of(tree, parts))
    joint = np.zeros(SIZES)
    for cell in product(*map(range, SIZES)):
        joint[cell] = sum(part[tuple(cell[a] for a in one)] for _, one, part in parts)
    joint = np.exp(joint)
    return model, joint / joint.sum()


@settings(max_examples=examples(quick=25, slow=300))
@given(
    tables=st.sampled_from(TABLES), seed=st.integers(0, 10**6), asked=st.integers(0, 3),
    known=st.sets(st.integers(0, 3), max_size=3),
)  # fmt: skip
def test_it_is_the_conditional_of_the_joint_distribution(tables, seed, asked, known):
    model, joint = model_with(tables, seed)
    known = sorted(known - {asked})
    every = list(product(*(range(SIZES[a]) for a in known)))
    cells = np.array(every, dtype=np.int64).reshape(len(every), len(known))
    found = conditional(model, {a: cells[:, n] for n, a in enumerate(known)}, asked, len(cells))
    for row, cell in zip(found, cells, strict=True):
        part = joint[tuple(cell[known.index(a)] if a in known else slice(None) for a in range(4))]
        axes = [a for a in range(4) if a not in known]
        expected = part.sum(axis=tuple(n for n, a in enumerate(axes) if a != asked))
        assert row == pytest.approx(expected / expected.sum(), abs=1e-9)


@pytest.mark.error_rate(1e-9, reason="at ε = 10^6 counts have no noise, at 10^-3 the model is hardly moved")
def test_a_release_of_marginals_has_a_loss_that_goes_with_its_noise(tmp_path):
    rng = np.random.default_rng(1)
    job = rng.integers(0, 3, 3_000)
    ill = np.where(rng.random(3_000) < 0.9, job, rng.integers(0, 3, 3_000))
    study = sf.Study.from_mapping({
        "name": "clinic", "privacy": {"budget": 10**7},
        "source": pa.table({"job": [f"j{n}" for n in job], "ill": [f"i{n}" for n in ill]}),
        "attributes": {
            "job": {"role": "quasi_identifier", "values": ["j0", "j1", "j2"]},
            "ill": {"role": "sensitive", "values": ["i0", "i1", "i2"]},
        },
    })  # fmt: skip
    losses = {}
    for epsilon in ("0.001", 10**6):
        done = study.release(sf.Marginals(epsilon=epsilon), out=tmp_path / str(epsilon), report=False)
        found = study.measure(done, only=["ploss", "own-record-loss"])
        losses[epsilon] = found["ploss"].value
        assert found["own-record-loss"].details["kind"].startswith("a bound")
    assert losses["0.001"] < 0.01
    # Exact counts: the loss is that of the jobs' own distributions.
    table = np.array([np.bincount(ill[job == n], minlength=3) for n in range(3)])
    p, q = table.sum(0) / table.sum(), table / table.sum(1, keepdims=True)
    middle = (p + q) / 2
    js = (p * np.log(p / middle) + q * np.log(q / middle)).sum(1) / 2
    assert losses[10**6] == pytest.approx(js.max(), abs=0.01)
