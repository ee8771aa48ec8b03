"""Distances from the values that occur: to the bit those of a dense computation, and none over a domain."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.privacy.groups.distances import DISTANCES
from sfumato.privacy.groups.sensitive import Values
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import MODELS
from tests.privacy.models.records import tables, view
from tests.small_domains import grid

FAR = 10**8
MODELS_ABOUT_VALUES = [
    ("distinct-l-diversity", {"l": 2}),
    ("entropy-l-diversity", {"l": 2}),
    ("recursive-l-diversity", {"c": 2, "l": 2}),
    ("probabilistic-l-diversity", {"l": 2}),
    ("delta-disclosure", {"delta": "0.7"}),
    ("basic-beta-likeness", {"beta": "0.7"}),
    ("enhanced-beta-likeness", {"beta": "0.7"}),
    *(("t-closeness", {"t": "0.3", "distance": distance}) for distance in DISTANCES),
]


def seen(statistics, name):
    return Values(name, statistics.domains[name], statistics.sizes, statistics.sensitive[name], statistics.table[name])


def dense_shares(values):
    """p and q over the whole domain: a row a group."""
    found = values.found
    p = np.zeros((found.groups, values.domain.size))
    p[found.group, found.values] = values.shares
    q = np.zeros(values.domain.size)
    q[values.table.values] = values.table.counts / max(values.total, 1)
    return p, q


def by_definition(values, name):
    p, q = dense_shares(values)
    if name == "equal":
        return np.abs(p - q).sum(axis=1) / 2
    if name == "js":
        middle = (p + q) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(p > 0, p * np.log(p / middle), 0) + np.where(q > 0, q * np.log(q / middle), 0)
        return each.sum(axis=1) / 2
    if name == "ordered":
        occurring = q > 0
        steps = np.abs(np.cumsum(p[:, occurring] - q[occurring], axis=1)).sum(axis=1)
        return steps / max(occurring.sum() - 1, 1)
    return in_tree(values.domain, p - q)


def in_tree(domain, extra):
    """At each node the surplus of some children fills the lack of others: min of both sums, times its height."""
    tree = domain.taxonomy
    kids = {node: list(tree.kids(node)) for node in range(len(tree.labels))}

    def height(node):
        return max((height(kid) + 1 for kid in kids[node]), default=0)

    def cost(node):
        below = [extra[:, slice(*tree.range_of(kid))].sum(axis=1) for kid in kids[node]]
        if node == 0 and domain.size > tree.size:
            below.append(extra[:, tree.size :].sum(axis=1))
        up = sum((np.maximum(each, 0) for each in below), np.zeros(len(extra)))
        down = sum((np.maximum(-each, 0) for each in below), np.zeros(len(extra)))
        return np.minimum(up, down) * height(node) + sum(cost(kid) for kid in kids[node])

    return cost(0) / max(height(0), 1)


@given(table=tables(), name=st.sampled_from(sorted(DISTANCES)))
def test_distances_are_those_of_the_whole_distributions(table, name):
    values = seen(table.statistics, "s0")
    if name == "hierarchical" and values.domain.taxonomy is None:
        return
    some = values.sizes > 0
    assert DISTANCES[name].between(values)[some] == pytest.approx(by_definition(values, name)[some], abs=1e-12)


def spread_out(rows, apart):
    """The same records on a grid with its values so far apart, below a taxonomy as uneven as before."""
    tree = Taxonomy.of(
        Node("all", (Node("low"), Node("high", (Node("4"), Node("5"))))), widths=(4 * apart, apart, apart)
    )
    domain = replace(grid(0, 6 * apart - 1), taxonomy=tree)
    group = np.array([group for group, _ in rows], dtype=np.int64)
    codes = np.array([code for _, code in rows], dtype=np.int64) * apart
    return Statistics.of(group, np.ones(len(rows), np.int64), {"s": codes}, {"s": domain}, groups=4)


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30))
def test_models_say_the_same_to_the_bit_however_far_values_lie_apart(rows):
    near, far = spread_out(rows, 1), spread_out(rows, FAR)
    for name in DISTANCES:
        ours, theirs = (DISTANCES[name].between(seen(found, "s")) for found in (near, far))
        assert ours.tolist() == theirs.tolist(), name
    for name, parameters in MODELS_ABOUT_VALUES:
        model = MODELS[name](**parameters)
        assert model.holds(near).tolist() == model.holds(far).tolist(), name


@pytest.mark.parametrize(("name", "parameters"), MODELS_ABOUT_VALUES)
def test_a_model_takes_no_memory_for_a_domain_of_a_milliard_values(name, parameters):
    model = MODELS[name](**parameters)
    rng = np.random.default_rng(0)
    rows = list(zip(rng.integers(0, 4, 500).tolist(), rng.integers(0, 6, 500).tolist(), strict=True))
    tracemalloc.start()
    try:
        found = spread_out(rows, 2 * FAR)
        model.check(view({"s": found.domains["s"]}))
        model.holds(found)
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()
