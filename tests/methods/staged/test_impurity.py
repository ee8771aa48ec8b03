"""The score of a stage: its sensitivity, exhaustively on small cells and by chance on large ones."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.staged import impurity as module
from sfumato.methods.staged.impurity import TICKS


def impurity(cells):
    """With a row a cell, as cells are written down here; the product has a row a class."""
    return module.impurity(np.ascontiguousarray(cells.T))


def scores(cells, starts, penalty):
    return module.scores(np.ascontiguousarray(cells.T), starts, penalty)


def defined(counts):
    """⌊T·I⌋ by the definition, in fractions."""
    n = sum(counts)
    if not n:
        return 0
    a = Fraction(1, 5)
    total = Fraction(0)
    for count in counts:
        q = min(Fraction(count, n), 1 - Fraction(count, n))
        total += q - max(q - a, Fraction(0)) ** 2 / (1 - 2 * a)
    return int(TICKS * n * total / 2 // 1)


def small_cells(classes, most):
    return [counts for counts in product(range(most + 1), repeat=classes) if sum(counts) <= most]


@pytest.mark.parametrize(("classes", "most"), [(2, 60), (3, 18), (4, 9), (5, 7)])
def test_one_record_more_changes_every_small_cell_by_nothing_up_to_a_record(classes, most):
    cells = np.array(small_cells(classes, most))
    before = impurity(cells)
    assert before.tolist() == [defined(cell) for cell in cells.tolist()]
    for label in range(classes):
        more = cells.copy()
        more[:, label] += 1
        change = impurity(more) - before
        assert change.min() >= 0
        assert change.max() <= TICKS


def test_the_bound_is_reached():
    """A record of a new class in a large pure cell: a smaller Δ would be wrong."""
    assert impurity(np.array([[10_000, 1]]))[0] - impurity(np.array([[10_000, 0]]))[0] == TICKS


@given(cell=st.lists(st.integers(0, 2**40), min_size=2, max_size=6), data=st.data())
def test_one_record_more_changes_a_large_cell_by_nothing_up_to_a_record(cell, data):
    more = list(cell)
    more[data.draw(st.integers(0, len(cell) - 1))] += 1
    before, after = impurity(np.array([cell])).item(), impurity(np.array([more])).item()
    assert 0 <= after - before <= TICKS
    assert before == defined(cell)


@given(cells=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6), data=st.data())
def test_every_score_falls_by_at_most_a_record(cells, data):
    """Also where the record opens a cell, at any penalty that is allowed."""
    penalty = data.draw(st.integers(0, TICKS))
    before = np.array(cells)
    after = before.copy()
    after[data.draw(st.integers(0, len(cells) - 1)), data.draw(st.integers(0, 1))] += 1
    start = np.array([0])
    change = scores(after, start, penalty) - scores(before, start, penalty)
    assert -TICKS <= change.item() <= 0


def test_scores_of_several_candidates_stand_apart():
    cells = np.array([[4, 0], [2, 2], [3, 3]])
    one, two = scores(cells, np.array([0, 2]), penalty=10).tolist()
    assert one == -impurity(cells[:2]).sum() - 20
    assert two == -impurity(cells[2:]).sum() - 10


def test_pure_cells_are_best():
    assert impurity(np.array([[7, 0, 0], [0, 5, 0]])).tolist() == [0, 0]
