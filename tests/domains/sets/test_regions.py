"""Regions of sets and places in them, beside loops over sets of codes."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.sets.levels import categories_of
from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.regions import SetRegions, possible_sets
from sfumato.domains.sets.set_cut import SetCut, Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.prune import ShownTree
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError, VerifyError
from tests.raising import raises_code

TREE = Taxonomy.of(
    Node(
        "Any",
        (
            Node("1*", (Node("11*", (Node("111"), Node("112"))), Node("12"))),
            Node("3*", (Node("31"), Node("32"), Node("33"))),
            Node("5"),
        ),
    )
)
LEAVES = range(TREE.size)
EVERY = [frozenset(some) for size in range(TREE.size + 1) for some in combinations(LEAVES, size)]


def domain(level=None, most=None, empty=True):
    return SetDomain(taxonomy=TREE, level=level, most=most, empty=empty)


def codes_of(text):
    """The codes that each name in a text stands for; None for the root."""
    names = [] if text == "(none)" else text.split(", ")
    return None if text == "Any" else [frozenset(range(*TREE.range_of(TREE.find(name)))) for name in names]


def within(codes, nodes):
    return nodes is None or (all(codes & node for node in nodes) and codes <= frozenset().union(*nodes))


CUTS = st.sampled_from([(0,), (0, 3, 6), (0, 2, 3, 6), (0, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 6)])
SOME = st.lists(st.sets(st.sampled_from(LEAVES)), min_size=1, max_size=12)


@given(starts=CUTS, sets=SOME, low=st.integers(0, 6), wide=st.integers(1, 7))
def test_chances_of_a_cut_are_those_of_one_code_under_each_node(starts, sets, low, wide):
    cut = SetCut("codes", starts, TREE.size)
    numbers = np.unique(cut.numbers(Sets.of([sorted(one) for one in sets], TREE.size)))
    regions = SetRegions.of_cut(cut, numbers)
    wanted = frozenset(range(low, min(low + wide, TREE.size)))
    [found] = regions.chance(np.array([low]), np.array([min(low + wide, TREE.size)]))
    for text, chance, none in zip(cut.labels(TREE, numbers), found, regions.none, strict=True):
        nodes = codes_of(text)
        missed = np.prod([1 - len(node & wanted) / len(node) for node in (nodes or [frozenset(LEAVES)])])
        assert chance == pytest.approx(0.0 if nodes == [] else 1 - missed)
        assert none == (nodes == [])
    [empty] = regions.chance(np.array([TREE.size]), np.array([TREE.size + 1]))
    assert empty.tolist() == regions.none.astype(float).tolist()


@given(starts=CUTS, sets=SOME, known=SOME)
def test_places_of_a_cut_are_the_regions_that_hold_a_set(starts, sets, known):
    cut = SetCut("codes", starts, TREE.size)
    published = np.unique(cut.numbers(Sets.of([sorted(one) for one in sets], TREE.size)))
    told = PublishedSets.by_cut(domain(), cut, published)
    labels = [codes_of(text) for text in cut.labels(TREE, published)]
    for codes, place in zip(known, told.places.of(Sets.of([sorted(one) for one in known], TREE.size)), strict=True):
        holding = [n for n, nodes in enumerate(labels) if within(frozenset(codes), nodes)]
        assert holding == ([] if place < 0 else [place])


@given(data=st.data(), sets=SOME, known=SOME, level=st.integers(1, 3))
def test_places_of_a_tree_are_in_the_published_regions_that_hold_a_set_and_in_no_others(data, sets, known, level):
    codes = domain(level)
    every, _ = categories_of("codes", codes, Sets.of(sorted({tuple(sorted(one)) for one in sets}), TREE.size))
    nodes = data.draw(st.sets(st.integers(0, len(every.taxonomy.labels) - 1), min_size=1))
    small = ShownTree.of_regions(every.taxonomy, {every.taxonomy.range_of(node) for node in nodes})
    told = PublishedSets.by_tree(codes, small.taxonomy)
    places = told.places.of(Sets.of([sorted(one) for one in known], TREE.size))
    for start, stop in small.ranges.values():
        text = small.taxonomy.label(start, stop)
        [region] = [told.at(np.array([start]), np.array([stop]))]
        assert region.whole[0] == (text == "Any")
        for one, place in zip(known, places, strict=True):
            assert (start <= place < stop) == within(frozenset(one), codes_of(text)), (one, text)


@given(level=st.sampled_from([None, 1, 2]), most=st.sampled_from([None, 1, 2, 4]), empty=st.booleans(), starts=CUTS)
def test_all_sets_that_there_may_be_are_counted(level, most, empty, starts):
    known = domain(level, most, empty)
    at_level = [frozenset(range(*ends)) for ends in pairwise((*known.starts_at(level), TREE.size))]
    there = {frozenset(node for node in at_level if codes & node) for codes in EVERY}
    there = {nodes for nodes in there if (most is None or len(nodes) <= most) and (empty or nodes)}
    assert possible_sets(known) == len(there)
    if not set(starts) <= set(known.starts_at(level)):
        return
    cut = SetCut("codes", starts, TREE.size, most)
    numbers = np.unique([cut.numbers(Sets.of([sorted(frozenset().union(*nodes))], TREE.size))[0] for nodes in there])
    found = SetRegions.of_cut(cut, numbers).possible(known)
    for text, many in zip(cut.labels(TREE, numbers), found, strict=True):
        assert many == sum(within(frozenset().union(*nodes), codes_of(text)) for nodes in there)


@given(starts=CUTS, sets=SOME)
def test_what_a_region_may_be_is_a_distribution_over_sets_with_one_code_a_node(starts, sets):
    rows = sorted({tuple(sorted(one)) for one in sets})
    dictionary = Sets.of(rows, TREE.size)
    cut = SetCut("codes", starts, TREE.size)
    told = PublishedSets.by_cut(domain(), cut, np.unique(cut.numbers(dictionary)))
    table = told.spread(dictionary).toarray()
    assert table.sum(axis=1).tolist() == pytest.approx([1.0] * len(table))
    labels = [codes_of(text) for text in cut.labels(TREE, np.unique(cut.numbers(dictionary)))]
    for place, nodes in enumerate(labels):
        for column, row in enumerate(rows):
            chance = 1.0
            for node in nodes if nodes is not None else [frozenset(LEAVES)]:
                chance *= (len(node & set(row)) == 1) / len(node)
            fits = len(row) == (1 if nodes is None else len(nodes))
            assert table[place, column] == pytest.approx(chance if fits else 0.0)


@given(sets=SOME, starts=CUTS)
def test_sets_of_nodes_are_those_that_codes_fall_under(sets, starts):
    found, place = Sets.of([sorted(one) for one in sets], TREE.size).nodes(starts)
    for one, at in zip(sets, place, strict=True):
        under = [start for start, stop in pairwise((*starts, TREE.size)) if any(start <= c < stop for c in one)]
        assert found.rows()[at] == tuple(under)
    assert found.rows() == sorted(set(found.rows()))


def test_names_of_other_codes_and_of_deeper_levels_are_refused():
    tree = Taxonomy.of(Node("Any", (Node("1*", (Node("11*"), Node("12"))), Node("3*"))))
    PublishedSets.by_tree(domain(2), tree)
    with pytest.raises(VerifyError):
        PublishedSets.by_tree(domain(1), tree)
    with pytest.raises(VerifyError):
        PublishedSets.by_tree(domain(2), Taxonomy.of(Node("Any", (Node("7*"), Node("3*")))))
    with raises_code(StudyError, "SF-STUDY-016", match="stands for sets that are not published by their names"):
        SetDomain(taxonomy=Taxonomy.of(Node("Any", (Node("(other sets in 1*)"), Node("3*")))))


def test_the_taxonomy_down_to_the_level():
    assert domain(1).shallow.leaves == ("1*", "3*", "5")
    assert domain(2).shallow.leaves == ("11*", "12", "31", "32", "33", "5")
    assert domain().shallow is TREE
