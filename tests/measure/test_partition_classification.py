import numpy as np
import pytest

from sfumato.core.attribute import Attribute, Role
from sfumato.core.counts import Cells
from sfumato.core.partition import Boxes, PartitionView
from sfumato.core.unit import RecordUnit
from sfumato.errors import InfeasibleError, UsageError
from sfumato.measure.classification import decision_tree
from sfumato.measure.partition_classification import nearest_box, partition_classification
from sfumato.methods import Bucketization, Mondrian
from tests.tables import flat, grid

VIEW = PartitionView(
    quasi=(Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 99)),),
    sensitive=(),
    others=(Attribute(name="class", role=Role.CLASS, domain=flat("N", "Y")),),
    unit=RecordUnit(),
)


def cells(classes):
    codes = np.stack([np.arange(100), classes], axis=1)
    return Cells(("age", "class"), codes, np.full(100, 9, dtype=np.int64))


def make(view, part):
    return Mondrian(k=20, ranges="partition").draft(view, part)


def test_a_class_that_follows_the_regions_is_learnt_and_one_that_does_not_is_not():
    sharp = partition_classification(VIEW, cells((np.arange(100) >= 50) * 1), make, runs=3, classifier=decision_tree)
    assert sharp.ca.mean > 0.9, "only regions across 50 can be wrong, and k = 20 leaves them narrow"
    blind = partition_classification(VIEW, cells(np.arange(100) % 2), make, runs=3, classifier=decision_tree)
    assert blind.ca.mean < 0.65, "neighbours of both classes share a region"
    for found in (sharp, blind):
        assert found.ba.mean > 0.99, "the raw age says it all"
        assert 0.4 < found.la.mean < 0.6
        assert len(found.ca.runs) == len(found.ba.runs) == len(found.la.runs) == 3


def test_buckets_leave_everything_to_learn_that_the_table_has():
    sick = Attribute(name="ill", role=Role.SENSITIVE, domain=flat("a", "b"))
    view = PartitionView(quasi=VIEW.quasi, sensitive=(sick,), others=VIEW.others, unit=RecordUnit())
    codes = np.stack([np.arange(100), np.arange(100) // 2 % 2, np.arange(100) % 2], axis=1)
    table = Cells(("age", "ill", "class"), codes, np.full(100, 9, dtype=np.int64))

    def buckets(part, some):
        return Bucketization(promise={"distinct-l-diversity": 2}).draft(part, some)

    found = partition_classification(view, table, buckets, runs=2, classifier=decision_tree)
    assert found.ca.runs == found.ba.runs


def test_a_single_class_is_no_problem_to_any_learner():
    found = partition_classification(VIEW, cells(np.zeros(100, np.int64)), make, runs=1, baseline=False)
    assert (found.ca.mean, found.la.mean, found.ba) == (1, 1, None)


def test_a_record_goes_to_its_own_region_or_to_the_nearest():
    boxes = Boxes(("age",), np.array([[0], [40], [60]]), np.array([[20], [50], [100]]))
    codes = np.array([[5], [19], [24], [33], [45], [53], [99]])
    assert nearest_box(VIEW, boxes, codes).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_too_few_records_are_refused():
    few = Cells(("age", "class"), np.array([[1, 0], [2, 1]]), np.array([1, 1]))
    with pytest.raises(InfeasibleError, match="2 records cannot be split"):
        partition_classification(VIEW, few, make)


def test_no_run_is_refused():
    with pytest.raises(UsageError, match="0 runs measure nothing"):
        partition_classification(VIEW, cells(np.arange(100) % 2), make, runs=0)
