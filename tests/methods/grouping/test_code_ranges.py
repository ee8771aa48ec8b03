"""Lowest common ancestors: by the ranges of nodes, and without a table over codes."""

import tracemalloc
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.methods.grouping.code_ranges import Tree
from sfumato.methods.mondrian.axes import Axes
from sfumato.study.attribute import Attribute, Role
from tests.small_domains import JOB, grid

SHAPE = Node("all", (Node("a"), Node("B", (Node("b"), Node("C", (Node("c"), Node("d"))))), Node("e")))
TREES = (JOB.taxonomy, Taxonomy.of(SHAPE, widths=(4, 1, 3, 2, 7)), Taxonomy.of(SHAPE, widths=(1, 1, 1, 1, 1)))
BILLION = 10**9


def lowest(taxonomy, low, high):
    """The last node that holds both codes: nodes stand depth first."""
    return max(n for n in range(len(taxonomy.labels)) if taxonomy.starts[n] <= low and high < taxonomy.stops[n])


@given(taxonomy=st.sampled_from(TREES), data=st.data())
def test_the_lowest_node_above_two_codes(taxonomy, data):
    code = st.integers(0, taxonomy.size - 1)
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(code, code), min_size=1, max_size=20))]
    low, high = (np.array(side) for side in zip(*pairs, strict=True))
    node, depth = Tree.of(taxonomy).lowest(low, high)
    assert node.tolist() == [lowest(taxonomy, *pair) for pair in pairs]
    assert all(at >= taxonomy.depths()[found] for found, at in zip(node.tolist(), depth.tolist(), strict=True))


@given(data=st.data())
def test_axes_find_the_child_that_a_code_is_in(data):
    """Below each group's node, on axes of several trees at once."""
    axes = Axes.of([Attribute(name=f"q{n}", role=Role.QUASI_IDENTIFIER, domain=replace(grid(0, t.size - 1), taxonomy=t))
                    for n, t in enumerate(TREES)])  # fmt: skip
    columns = np.array([data.draw(st.lists(st.integers(0, t.size - 1), min_size=6, max_size=6)) for t in TREES])
    spans = axes.spans(columns, np.array([0]))
    offsets = np.cumsum([0, *(len(tree.labels) for tree in TREES)])
    for place, taxonomy in enumerate(TREES):
        node = lowest(taxonomy, int(columns[place].min()), int(columns[place].max()))
        if not taxonomy.kids(node):
            assert spans.widths[place, 0] == -1
            continue
        found = axes.child(np.full(6, place), np.full(6, spans.below[place, 0]), columns[place]) - offsets[place]
        for code, child in zip(columns[place].tolist(), found.tolist(), strict=True):
            assert child in taxonomy.kids(node)
            assert taxonomy.starts[child] <= code < taxonomy.stops[child]


def test_intervals_of_billions_of_codes_take_no_memory():
    taxonomy = Taxonomy.of(SHAPE, widths=(4 * BILLION, 1, 3 * BILLION, 2, 7))
    tracemalloc.start()
    try:
        node, _ = Tree.of(taxonomy).lowest(np.array([0, 4 * BILLION]), np.array([BILLION, 7 * BILLION + 2]))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert [taxonomy.labels[found] for found in node] == ["a", "B"]
