"""Junction trees: every table has a home, and what two cliques share is in all between them."""

from itertools import combinations
from math import prod
from time import process_time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release.model.graphical.junction_tree import JunctionTree, model_cells


@st.composite
def graphs(draw, most=6):
    """Sizes of some attributes, and tables of one to three of them."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most))
    places = st.integers(0, len(sizes) - 1)
    tables = draw(st.lists(st.lists(places, min_size=1, max_size=3, unique=True).map(sorted).map(tuple), max_size=8))
    return tuple(sizes), [*((a,) for a in range(len(sizes))), *tables]


def path(tree, start, end):
    """The cliques from one to another."""

    def up(place):
        found = [place]
        while tree.parents[found[-1]] >= 0:
            found.append(tree.parents[found[-1]])
        return found

    one, two = up(start), up(end)
    common = next(place for place in one if place in two)
    return [*one[: one.index(common) + 1], *two[: two.index(common)]]


@given(graph=graphs())
def test_every_table_has_a_home_and_intersections_run(graph):
    sizes, tables = graph
    tree = JunctionTree.of(sizes, tables)
    assert all(tree.home(table) is not None for table in tables)
    assert all(parent < place for place, parent in enumerate(tree.parents))
    for one, two in combinations(range(len(tree.cliques)), 2):
        shared = {*tree.cliques[one]} & {*tree.cliques[two]}
        assert all(shared <= {*tree.cliques[place]} for place in path(tree, one, two))
        assert not {*tree.cliques[one]} <= {*tree.cliques[two]}
    assert tree.cells == model_cells(sizes, tables) == sum(prod(tree.shape(clique)) for clique in tree.cliques)


def test_a_ring_is_cut_once():
    ring = [(a, (a + 1) % 5) for a in range(5)]
    assert model_cells([2] * 5, [tuple(sorted(pair)) for pair in ring]) == 3 * 8


def test_a_tree_of_many_attributes_takes_no_time_to_speak_of():
    """Bundles come from anybody: 500 attributes in 1,000 tables that are all connected."""
    rng = np.random.default_rng(1)
    tables = [tuple(sorted(rng.choice(500, 3, replace=False).tolist())) for _ in range(1_000)]
    begin = process_time()
    assert model_cells([20] * 500, tables, most=10**6) > 10**6
    JunctionTree.of([20] * 500, [(a, a + 1) for a in range(499)])
    assert process_time() - begin < 10, "it takes a fraction of a second"
