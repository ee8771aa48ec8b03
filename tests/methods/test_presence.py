"""δ-presence with people counted one by one: the best node of full-domain recoding, and Mondrian's groups."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import Bucketization, FullDomain, Mondrian, Tds
from sfumato.privacy.models import DeltaPresence
from sfumato.study.attribute import InvalidValuePolicy
from tests.examples import examples
from tests.methods.full_domain.test_lattice import padded
from tests.methods.partition_tables import DECADES, partition_tables, partition_view
from tests.methods.small_views import cells_of, tables
from tests.raising import raises_code
from tests.small_domains import grid

SHARES = st.sampled_from(["0", "0.1", "1/4", "1/3", "0.5", "3/4", "0.9", "1"])


@st.composite
def with_people(draw, of):
    """A table, and people of whom most stand in it, and some do not."""
    view, records = draw(of)
    width = len(view.quasi)
    every = st.tuples(*(st.integers(0, a.domain.size - 1) for a in view.quasi))
    inside = [record[:width] for record in records]
    strangers = draw(st.lists(st.one_of(every, st.sampled_from(inside)) if inside else every, max_size=40))
    left_out = draw(st.integers(0, 2))
    crowd = inside[left_out:] + strangers
    counted = cells_of(replace(view, sensitive=(), others=()), crowd)
    return replace(view, people=Cells(counted.attributes, counted.codes, counted.counts)), records, crowd


def fits(records, people, low, high):
    return people > 0 and Fraction(low) <= Fraction(records, people) <= Fraction(high)


def every_node(view, records, crowd, k, bounds):
    """(loss, −groups, levels) of every node that can be published."""
    width = len(view.quasi)
    trees = [padded(a.domain.taxonomy) for a in view.quasi]
    sizes = [len(tree) for tree in trees]

    def where(codes, levels):
        return tuple(tree[code][level] for tree, code, level in zip(trees, codes, levels, strict=False))

    for levels in product(*(range(len(tree[0])) for tree in trees)):
        cover = [Counter(row[level] for row in tree) for tree, level in zip(trees, levels, strict=True)]
        groups = Counter(where(record, levels) for record in records)
        living = Counter(where(person, levels) for person in crowd)
        if groups and all(n >= k and fits(n, living[key], *bounds) for key, n in groups.items()):
            blur = sum(
                n * Fraction(cover[a][key[a]] - 1, max(1, sizes[a] - 1))
                for key, n in groups.items()
                for a in range(width)
            )
            yield blur / (len(records) * width), -len(groups), levels


@settings(max_examples=examples(quick=80, slow=200))
@given(
    table=with_people(tables()),
    k=st.integers(1, 3),
    bounds=st.tuples(SHARES, SHARES),
)
def test_full_domain_takes_the_best_of_all_nodes(table, k, bounds):
    view, records, crowd = table
    low, high = sorted(bounds, key=Fraction)
    promise = DeltaPresence(minimum=low, maximum=high)
    method = FullDomain(k=k, privacy=[promise])
    nodes = sorted(every_node(view, records, crowd, k, (low, high)))
    if not nodes:
        with pytest.raises(InfeasibleError):
            method.draft(view, cells_of(view, records))
        return
    facts = method.draft(view, cells_of(view, records)).facts
    loss, groups, levels = nodes[0]
    assert facts["loss"] == pytest.approx(float(loss), abs=1e-9)
    assert tuple(facts["levels"].values()) == levels
    assert (facts["groups"], facts["suppressed"]) == (-groups, 0)


@settings(max_examples=examples(quick=80, slow=200))
@given(
    table=with_people(partition_tables()),
    bounds=st.tuples(SHARES, SHARES),
    ordered=st.booleans(),
)
def test_mondrian_keeps_it_in_every_region(table, bounds, ordered):
    view, records, crowd = table
    low, high = sorted(bounds, key=Fraction)
    method = Mondrian(privacy=[DeltaPresence(minimum=low, maximum=high)], ordered="all" if ordered else ())
    try:
        partition = method.draft(view, cells_of(view, records)).partition
    except InfeasibleError:
        return
    held = defaultdict(int)
    for group, n in zip(partition.group.tolist(), partition.cells.counts.tolist(), strict=True):
        held[group] += n
    for group, (starts, stops) in enumerate(zip(partition.boxes.starts, partition.boxes.stops, strict=True)):
        living = sum(all(a <= c < b for a, c, b in zip(starts, codes, stops, strict=True)) for codes in crowd)
        assert fits(held[group], living, low, high)
    assert sum(held.values()) == len(records)


@pytest.mark.parametrize(
    ("method", "words"), [(Tds, "cannot count those"), (Bucketization, "says nothing|alone holds|cannot")]
)
def test_who_cannot_count_people_says_so(method, words):
    promise = {"delta-presence": {"maximum": "0.5", "population": "people.csv"}}
    with pytest.raises(StudyError, match=words):
        method(privacy=promise).check(partition_view(age=grid(0, 9)))


@pytest.mark.parametrize("given", [{"strict": False}, {"ranges": "partition"}])
def test_mondrian_counts_people_in_tight_regions_that_do_not_overlap(given):
    promise = {"delta-presence": {"maximum": "0.5", "population": "people.csv"}}
    with raises_code(StudyError, "SF-STUDY-067"):
        Mondrian(privacy=promise, **given).check(partition_view(age=grid(0, 9)))


def test_one_release_compares_with_one_population():
    promise = [{"delta-presence": {"maximum": "0.5", "population": name}} for name in ("a.csv", "b.csv")]
    with raises_code(StudyError, "SF-STUDY-060"):
        FullDomain(privacy=promise).check(partition_view(age=grid(0, 9)))


@pytest.mark.parametrize("method", [FullDomain, Mondrian])
def test_suppressed_records_would_tell_of_those_who_live_nowhere(method):
    """Were 20 records suppressed and 20 people in no published region, all of them would be known to be patients."""
    promise = {"delta-presence": {"maximum": "0.5", "population": "people.csv"}}
    with raises_code(StudyError, "SF-STUDY-061", match="live in no published region"):
        method(privacy=promise, suppress="0.1").check(partition_view(age=DECADES))


@pytest.mark.parametrize("method", [FullDomain, Mondrian])
def test_nobody_is_moved_to_a_bound(method):
    view = partition_view(age=DECADES)
    view = replace(view, quasi=tuple(replace(a, outside=InvalidValuePolicy.KEEP) for a in view.quasi))
    promise = {"delta-presence": {"maximum": "0.5", "population": "people.csv"}}
    with raises_code(StudyError, "SF-STUDY-098"):
        method(privacy=promise).check(view)
