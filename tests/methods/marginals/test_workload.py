"""Workloads: read, refused, and turned into candidates with weights."""

from itertools import combinations

import pytest

from sfumato.errors import StudyError
from sfumato.methods.marginals.workload import MOST_SETS, parse_workload, workload_of
from tests.raising import raises_code

NAMES = ("age", "job", "sex", "class")


@pytest.mark.parametrize(
    "wrong", ["all", "", [], ["age"], [[]], [["a", "b", "c", "d"]], [["a", "a"]], [[1]], {"a": 1}, 5, True, [None]]
)
def test_what_is_no_workload_is_refused(wrong):
    with raises_code(StudyError, "SF-STUDY-300"):
        parse_workload(wrong)


def test_pairs_and_the_target_with_each():
    pairs = workload_of("pairs", NAMES, (5, 4, 2, 2), targeted=True)
    assert pairs.sets == pairs.candidates == tuple(combinations(range(4), 2))
    assert pairs.weights == (1,) * 6, "all alike, in the smallest whole numbers"
    both = workload_of(None, NAMES, (5, 4, 2, 2), targeted=True)
    assert set(both.sets) == {*pairs.sets, (0, 1, 3), (0, 2, 3), (1, 2, 3)}
    weights = dict(zip(both.candidates, both.weights, strict=True))
    assert weights[0, 3] > weights[0, 1] and weights[0, 1, 3] > weights[0, 3]
    assert workload_of("target", NAMES, (5, 4, 2, 2), targeted=True) == both
    assert workload_of(None, NAMES, (5, 4, 2, 2), targeted=False) == pairs


def test_a_weight_is_what_a_set_has_in_common_with_all():
    found = workload_of((("age", "job"), ("job", "sex"), ("class",)), NAMES, (5, 4, 2, 2), targeted=True)
    common = {one: sum(len({*one} & {*other}) for other in found.sets) for one in found.candidates}
    assert found.candidates == ((0, 1), (1, 2), (3,))
    assert found.weights == tuple(common.values()) == (3, 3, 1)


def test_attributes_with_one_group_say_nothing():
    found = workload_of((("age", "job"), ("sex",)), NAMES, (5, 1, 1, 2), targeted=True)
    assert found.candidates == ((0,),)
    assert workload_of(None, NAMES, (1, 1, 1, 1), targeted=True).candidates == ()
    assert workload_of(None, NAMES, (4, 4, 1, 1), targeted=True).candidates == ((0, 1),)


def test_pairs_stand_for_a_set_with_too_many_cells():
    found = workload_of((("age", "job", "sex"),), NAMES, (100, 100, 10, 2), targeted=True)
    assert found.sets == ((0, 1, 2),)
    assert found.candidates == ((0, 2), (1, 2))


def test_names_and_a_target_that_are_not_there_are_refused():
    with raises_code(StudyError, "SF-STUDY-302", match="'pay', which the release does not have"):
        workload_of((("age", "pay"),), NAMES, (5, 4, 2, 2), targeted=True)
    with raises_code(StudyError, "SF-STUDY-301"):
        workload_of("target", NAMES, (5, 4, 2, 2), targeted=False)


def test_too_many_sets_are_refused_before_they_are_listed():
    many = 1_000_000
    with raises_code(StudyError, "SF-STUDY-303"):
        workload_of("pairs", range(many), [2] * many, targeted=False)
    names = tuple(f"a{n}" for n in range(141))
    assert len(workload_of(None, names, [2] * 141, targeted=True).sets) == 141 * 140 // 2 + 140 * 139 // 2 <= MOST_SETS
