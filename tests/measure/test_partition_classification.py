import numpy as np
import pytest

from sfumato.core.attribute import Attribute, Role
from sfumato.core.counts import Cells
from sfumato.core.partition import Boxes, PartitionView
from sfumato.core.unit import RecordUnit
from sfumato.errors import InfeasibleError
from sfumato.measure.classification import decision_tree
from sfumato.measure.partition_classification import nearest_box, partition_classification
from sfumato.methods.mondrian import Mondrian
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
    assert sharp.mean > 0.9, "only regions across 50 can be wrong, and k = 20 leaves them narrow"
    blind = partition_classification(VIEW, cells(np.arange(100) % 2), make, runs=3, classifier=decision_tree)
    assert blind.mean < 0.65, "neighbours of both classes share a region"


def test_a_record_goes_to_its_own_region_or_to_the_nearest():
    boxes = Boxes(("age",), np.array([[0], [40], [60]]), np.array([[20], [50], [100]]))
    codes = np.array([[5], [19], [24], [33], [45], [53], [99]])
    assert nearest_box(VIEW, boxes, codes).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_too_few_records_are_refused():
    few = Cells(("age", "class"), np.array([[1, 0], [2, 1]]), np.array([1, 1]))
    with pytest.raises(InfeasibleError, match="2 records cannot be split"):
        partition_classification(VIEW, few, make)
