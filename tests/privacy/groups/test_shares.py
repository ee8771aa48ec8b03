from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.prune import ShownTree
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError
from sfumato.privacy.groups.shares import (
    Distribution,
    distribution_of_regions,
    distribution_of_shares,
    shares_of_counts,
)
from tests.methods.slow_cap import slow_own, slow_shown
from tests.small_domains import JOB, flat, grid


@st.composite
def some_regions(draw):
    size = draw(st.integers(1, 30))
    starts = st.integers(0, size - 1)
    region = starts.flatmap(lambda start: st.integers(start + 1, size).map(lambda stop: (start, stop)))
    return size, draw(st.lists(region, min_size=1, max_size=40))


@given(made=some_regions())
def test_what_regions_show_counted_code_by_code(made):
    size, regions = made
    pairs = np.array(regions)
    found = distribution_of_regions(pairs[:, 0], pairs[:, 1], np.ones(len(pairs), np.int64), size)
    codes = np.arange(size)
    assert found.share(codes, codes + 1).tolist() == pytest.approx([float(p) for p in slow_shown(regions, size)])


def test_wide_regions_of_a_huge_grid_keep_their_order():
    size = 10**10
    found = distribution_of_regions(np.array([5, 0, 0]), np.array([6, 10**9, size]), np.array([1, 1, 2]), size)
    assert found.share(np.array([5, 10**9]), np.array([6, size])).tolist() == [1.0, 0.0]


@st.composite
def trees_with_regions(draw):
    """A tree of up to three levels, some nodes of it, and how many records are published with each."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tops = int(rng.integers(1, 4))
    widths = [int(rng.choice([1, 2, 3, 140, 300])) for _ in range(tops)]
    kids = tuple(Node(f"{n}", tuple(Node(f"{n}.{k}") for k in range(w))) for n, w in enumerate(widths))
    tree = Taxonomy.of(Node("Any", kids))
    nodes = rng.choice(len(tree.labels), min(len(tree.labels), int(rng.integers(1, 12))), replace=False)
    high = [n for n in range(len(tree.labels)) if tree.kids(n) and rng.random() < 0.7]
    ranges = sorted({tree.range_of(int(n)) for n in (*nodes, *high)})
    return tree, np.array(ranges), rng.integers(1, 50, len(ranges))


@given(made=trees_with_regions())
def test_values_that_nobody_publishes_do_not_move_the_shares(made):
    """Also of trees with more than 127 values, of which a release names those alone that it shows."""
    tree, ranges, sizes = made
    small = ShownTree.of_regions(tree, [tuple(one) for one in ranges.tolist()])
    there = np.array([small.ranges[tuple(one)] for one in ranges.tolist()])
    found = distribution_of_regions(ranges[:, 0], ranges[:, 1], sizes, tree.size, free=False).share(
        ranges[:, 0], ranges[:, 1]
    )
    again = distribution_of_regions(there[:, 0], there[:, 1], sizes, small.taxonomy.size, free=False).share(
        there[:, 0], there[:, 1]
    )
    assert found.tolist() == pytest.approx(again.tolist(), abs=1e-12)


@given(codes=st.lists(st.integers(0, 9), min_size=1), start=st.integers(0, 9), stop=st.integers(1, 10))
def test_own_shares_of_any_range(codes, start, stop):
    if start < stop:
        found = Distribution.from_counts(np.array(codes), np.ones(len(codes), np.int64), 10)
        assert found.share(np.array([start]), np.array([stop]))[0] == pytest.approx(
            float(sum(slow_own(codes, 10)[start:stop]))
        )


@given(counts=st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_counts_of_a_population_read_back_as_they_are(counts):
    for domain in (JOB, flat("a", "b", "c", "d"), grid(0, 3)):
        codes = np.arange(4)
        found = distribution_of_shares("q", domain, shares_of_counts(domain, codes, np.array(counts)))
        assert found.share(codes, codes + 1).tolist() == pytest.approx([c / sum(counts) for c in counts])


def test_nodes_and_intervals_are_spread_over_what_is_not_given():
    half = Fraction(1, 2)
    jobs = distribution_of_shares(
        "job", JOB, {"Professional": half, "Lawyer": Fraction(1, 10), "Dancer": Fraction(3, 10)}
    )
    codes = np.arange(4)
    assert jobs.share(codes, codes + 1).tolist() == pytest.approx([0.4, 0.1, 0.3, 0.2])
    ages = distribution_of_shares("age", grid(0, 9), {"[0, 4)": half, "2": Fraction(1, 5)})
    assert ages.share(np.array([0, 2, 4]), np.array([2, 3, 10])).tolist() == pytest.approx([0.2, 0.2, 0.5])
    rounded = distribution_of_shares("sex", flat("f", "m"), {"f": Fraction("0.4999999"), "m": half})
    assert rounded.share(np.array([0]), np.array([2])).tolist() == [1.0]


def test_every_name_of_a_chain_names_its_values():
    land = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("North", (Node("Canada"),)), Node("South")))))
    for name in ("North", "Canada"):
        assert (
            distribution_of_shares("land", land, {name: Fraction(1, 4)}).share(np.array([0]), np.array([1]))[0] == 0.25
        )


@pytest.mark.parametrize(
    ("domain", "shares", "problem"),
    [
        (JOB, {"Baker": "1"}, "'Baker' is no value"),
        (JOB, {"Professional": "0.1", "Lawyer": "0.5"}, "inside Professional add up to 0.5 in place of 0.1"),
        (JOB, {"Professional": "0.7", "Artist": "0.5"}, "inside all values add up to 1.2 in place of 1"),
        (JOB, {"Professional": "0.7", "Artist": "0.1"}, "add up to 0.8 in place of 1.*make them add up to 1"),
        (grid(0, 9), {"[0, 5)": "0.1", "[3, 7)": "0.1"}, "overlap"),
        (flat("only"), {"only": "0.5", "Any": "1"}, "twice|add up"),
    ],
)
def test_shares_that_make_no_sense_are_refused(domain, shares, problem):
    with pytest.raises(StudyError, match=problem):
        distribution_of_shares("q", domain, {text: Fraction(share) for text, share in shares.items()})
