"""What partition methods share: the promise, suppression to a fixpoint, tight regions, and the last check."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, InternalError, StudyError
from sfumato.methods.grouping.code_ranges import Tree, tight_boxes
from sfumato.methods.grouping.partitioning import (
    all_models,
    finish_partition,
    merge_equal_regions,
    parse_flag,
    parse_share,
    refuse_unsatisfiable,
    sort_cells,
    suppress_violations,
)
from sfumato.privacy.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.release.partition import SUPPRESSED, Boxes, Partition
from tests.methods.partition_tables import (
    DEEP,
    cells_of,
    groups_of,
    partition_tables,
    partition_view,
    slow_closeness,
)
from tests.raising import raises_code
from tests.small_domains import JOB, grid


def test_k_and_promise_hold_together():
    assert all_models(5, {"distinct-l-diversity": 2}) == (KAnonymity(k=5), DistinctLDiversity(l=2))
    assert all_models(None, (KAnonymity(k=3),)) == (KAnonymity(k=3),)


@pytest.mark.parametrize("k", [0, -1, "many", 1.5])
def test_a_senseless_k_is_refused(k):
    with pytest.raises(StudyError, match=r"^k is "):
        all_models(k, None)


def test_no_promise_is_refused():
    with raises_code(StudyError, "SF-STUDY-055"):
        all_models(None, None)


def test_shares_and_flags_are_read_exactly():
    assert parse_share("0.1", "suppress") * 10 == 1
    assert parse_share(0.02, "suppress") == Fraction(1, 50)
    assert [parse_flag(v, "strict") for v in (True, "true", "False")] == [True, True, False]
    for wrong in ("1.5", "-0.1", "a lot"):
        with pytest.raises(StudyError, match="suppress is"):
            parse_share(wrong, "suppress")
    with raises_code(StudyError, "SF-STUDY-056", match=r"strict is 'maybe'. To fix: write true or false"):
        parse_flag("maybe", "strict")


@given(table=partition_tables(), seed=st.integers(0, 9))
def test_cells_are_put_in_order_whatever_order_they_come_in(table, seed):
    view, records = table
    cells = cells_of(view, records)
    mixed = np.random.default_rng(seed).permutation(len(cells))
    names = tuple(reversed(cells.attributes))
    found = sort_cells(view, Cells(names, cells.codes[mixed][:, ::-1], cells.counts[mixed]))
    assert found.attributes == cells.attributes
    assert found.codes.tolist() == cells.codes.tolist() and found.counts.tolist() == cells.counts.tolist()


@given(low=st.integers(0, DEEP.size - 1), high=st.integers(0, DEEP.size - 1))
def test_the_lowest_common_ancestor_is_the_taxonomys(low, high):
    low, high = min(low, high), max(low, high)
    tree = Tree.of(DEEP.taxonomy)
    node, _ = tree.lowest(np.array([low]), np.array([high]))
    assert (tree.starts[node[0]], tree.stops[node[0]]) == DEEP.taxonomy.lowest_common([low, high])


@given(table=partition_tables(), seed=st.integers(0, 99))
def test_tight_regions_hold_their_records_and_no_smaller_one_does(table, seed):
    view, records = table
    cells = cells_of(view, records)
    group = np.random.default_rng(seed).integers(-1, 3, len(cells))
    used, label = np.unique(group[group >= 0], return_inverse=True)
    group[group >= 0] = label
    boxes = tight_boxes(view, cells, group, len(used))
    for number, members in groups_of(Partition(cells, group, boxes)).items():
        for place, attribute in enumerate(view.quasi):
            codes = [record[place] for record in members]
            taxonomy = attribute.domain.taxonomy
            wanted = (min(codes), max(codes) + 1) if taxonomy is None else taxonomy.lowest_common(codes)
            assert (boxes.starts[number, place], boxes.stops[number, place]) == wanted


def test_an_ordered_attribute_gets_a_range_and_no_node():
    view = partition_view(job=JOB)
    cells = cells_of(view, [(1, 0, 0), (2, 0, 0)])
    for ordered, wanted in (((), [0, 4]), (("job",), [1, 3])):
        boxes = tight_boxes(view, cells, np.zeros(2, np.int64), 1, ordered=ordered)
        assert [boxes.starts[0, 0], boxes.stops[0, 0]] == wanted


def by_quasi(view, records):
    """Records with the same quasi-identifiers as groups."""
    cells = cells_of(view, records)
    wide = len(view.quasi)
    rows, group = np.unique(cells.codes[:, :wide], axis=0, return_inverse=True)
    return Partition(cells, group.ravel().astype(np.int64), Boxes(tuple(a.name for a in view.quasi), rows, rows + 1))


@given(table=partition_tables(), k=st.integers(1, 4), t=st.sampled_from(["0.1", "0.3", "0.5"]))
def test_suppression_ends_where_every_group_that_is_left_keeps_the_promise(table, k, t):
    view, records = table
    models = (KAnonymity(k=k), TCloseness(t=t, distance="equal"))
    found = suppress_violations(view, by_quasi(view, records), models, limit=len(records))
    groups = groups_of(found)
    left = [record for members in groups.values() for record in members]
    for members in groups.values():
        assert len(members) >= k
        assert slow_closeness(members, left, len(view.quasi)) <= float(t) + 1e-9
    assert found.suppressed == len(records) - len(left)
    if found.suppressed:
        assert suppress_violations(view, by_quasi(view, records), models, limit=found.suppressed - 1) is None


def test_suppression_is_asked_again_when_the_table_has_changed():
    """The lonely cancer breaks k = 2; without it the cancers beside the flu are too many for t = 0.1."""
    view = partition_view(age=grid(0, 9), others=False)
    records = [(0, 2)] + [(1, 2)] * 2 + [(1, 0)] * 2 + [(2, 0)] * 3
    once = suppress_violations(view, by_quasi(view, records), (KAnonymity(k=2),), limit=8)
    assert once.suppressed == 1
    both = (KAnonymity(k=2), TCloseness(t="0.14", distance="equal"))
    assert suppress_violations(view, by_quasi(view, records), both, limit=8).suppressed > 1


def test_a_broken_promise_at_the_end_is_our_bug():
    view = partition_view(age=grid(0, 9))
    partition = by_quasi(view, [(1, 0, 0)] * 3 + [(2, 0, 0)])
    with pytest.raises(InternalError, match=r"1 groups of the finished partition violate k-anonymity \(k = 2\)"):
        finish_partition(view, partition, (KAnonymity(k=2),))


def test_groups_are_numbered_by_their_first_cell_and_empty_ones_go():
    view = partition_view(age=grid(0, 9))
    cells = cells_of(view, [(1, 0, 0), (2, 0, 0), (5, 0, 0)])
    boxes = Boxes(("age",), np.array([[5], [8], [1]]), np.array([[6], [9], [3]]))
    found = finish_partition(view, Partition(cells, np.array([2, SUPPRESSED, 0]), boxes), (KAnonymity(k=1),))
    assert found.group.tolist() == [0, SUPPRESSED, 1]
    assert found.boxes.starts.tolist() == [[1], [5]]


def test_groups_that_look_alike_are_one():
    view = partition_view(age=grid(0, 9))
    cells = cells_of(view, [(1, 0, 0), (1, 1, 0), (5, 0, 0), (7, 0, 0)])
    boxes = Boxes(("age",), np.array([[1], [1], [5]]), np.array([[2], [2], [6]]))
    found = merge_equal_regions(Partition(cells, np.array([0, 1, 2, SUPPRESSED]), boxes))
    assert found.group.tolist() == [0, 0, 1, SUPPRESSED]
    assert len(found.boxes) == 2


def test_what_no_table_can_keep_is_refused_with_the_largest_that_it_can():
    view = partition_view(age=grid(0, 9))
    cells = cells_of(view, [(1, 0, 0), (2, 1, 0)])
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set k to 2 or less"):
        refuse_unsatisfiable(view, cells, (KAnonymity(k=3),))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set l to 2 or less"):
        refuse_unsatisfiable(view, cells, (DistinctLDiversity(l=3),))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-011"):
        refuse_unsatisfiable(view, cells_of(view, []), (KAnonymity(k=1),))
