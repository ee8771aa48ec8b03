"""Levels of taxonomies of all shapes, and the bounds on them."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError
from sfumato.methods.full_domain.lattice import ladder_over, lattice_of
from sfumato.study.attribute import Attribute, Role
from tests.methods.small_views import BANDS, CHAIN, UNEVEN, view_of
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid


def padded(taxonomy):
    """The table of ARX's form: a row a leaf with its ancestors, shorter rows filled up with their leaf."""
    rows = []
    for node in range(len(taxonomy.labels)):
        if not taxonomy.kids(node):
            row = [node]
            while taxonomy.parents[row[-1]] >= 0:
                row.append(taxonomy.parents[row[-1]])
            rows += [[node] * (taxonomy.depth + 1 - len(row)) + row] * (taxonomy.stops[node] - taxonomy.starts[node])
    return rows


NESTED = st.recursive(st.just(()), lambda below: st.lists(below, min_size=1, max_size=3).map(tuple), max_leaves=8)


@given(shape=NESTED)
def test_a_level_is_a_column_of_the_padded_table(shape):
    names = iter(range(1000))

    def node(part):
        return Node(f"n{next(names)}", tuple(node(one) for one in part))

    taxonomy = Taxonomy.of(node(shape))
    rows = padded(taxonomy)
    ladder = ladder_over("a", taxonomy)
    assert ladder.levels[0] == 0
    for level in range(taxonomy.depth + 1):
        column = [row[level] for row in rows]
        starts = tuple(code for code in range(len(rows)) if code == 0 or column[code] != column[code - 1])
        step = max(i for i, at in enumerate(ladder.levels) if at <= level)  # a level that changes nothing has no step
        assert ladder.cuts[step].starts == starts


def test_a_leaf_that_ends_early_stands_for_itself_until_its_depth_is_reached():
    ladder = ladder_over("a", UNEVEN.taxonomy)
    assert [cut.starts for cut in ladder.cuts] == [(0, 1, 2, 3), (0, 1, 3), (0, 3), (0,)]
    assert ladder.losses(1).tolist() == pytest.approx([0, 1 / 3, 0])


def test_levels_that_change_nothing_have_no_step():
    ladder = ladder_over("a", CHAIN.taxonomy)
    assert (ladder.levels, [len(cut) for cut in ladder.cuts]) == ((0, 2, 3), [3, 2, 1])


def test_each_step_is_coarser_than_the_one_before():
    for domain in (JOB, UNEVEN, CHAIN, BANDS):
        for fine, coarse in pairwise(ladder_over("a", domain.taxonomy).cuts):
            assert set(coarse.starts) < set(fine.starts)


def test_intervals_have_levels_and_their_leaves_are_level_0():
    assert [cut.starts for cut in ladder_over("age", BANDS.taxonomy).cuts] == [(0, 2, 4, 6, 8), (0, 4, 8), (0,)]


def test_the_nodes_of_a_lattice():
    lattice = lattice_of(view_of({"job": JOB, "sex": flat("f", "m")}).quasi, {})
    assert (lattice.size, lattice.bottom, lattice.top) == (6, (0, 0), (2, 1))
    assert lattice.named((1, 0)) == {"job": 1, "sex": 0}
    assert [cut.starts for cut in lattice.cuts((1, 1))] == [(0, 2), (0,)]


def test_bounds_cut_the_ladder_off():
    lattice = lattice_of(view_of({"job": JOB, "age": BANDS}).quasi, {"job": (1, 1), "age": (1, None)})
    assert [ladder.levels for ladder in lattice.ladders] == [(1,), (1, 2)]


@pytest.mark.parametrize("bounds", [(0, 3), (2, 1), (3, None)])
def test_bounds_beyond_the_levels_are_refused(bounds):
    with raises_code(
        StudyError, "SF-STUDY-050", match=r"'job' cannot be published at levels .*from 0 \(exact values\) to 2"
    ):
        lattice_of(view_of({"job": JOB}).quasi, {"job": bounds})


def test_numbers_without_intervals_are_refused():
    with raises_code(StudyError, "SF-STUDY-049", match=r"'age' has no levels.*declare intervals for 'age'"):
        lattice_of(view_of({"age": grid(0, 99)}).quasi, {})


def test_the_least_width_of_an_interval_is_kept():
    age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=BANDS, at_least=Fraction(2))
    assert [ladder.levels for ladder in lattice_of([age], {}).ladders] == [(0, 1, 2)]
    wide = replace(age, at_least=Fraction(3))
    assert [ladder.levels for ladder in lattice_of([wide], {}).ladders] == [(2,)], "[8, 9] has two points on level 1"
    with raises_code(StudyError, "SF-STUDY-051", match="no level of 'age' has intervals as wide as its `at_least`"):
        lattice_of([wide], {"age": (0, 1)})
