"""Loss against numbers worked out by hand."""

import numpy as np
import pytest

from sfumato.domains.counts import Cells
from sfumato.release.partition import SUPPRESSED, Boxes, Partition
from sfumato.release.region_loss import attribute_losses, general_loss
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.small_domains import JOB, flat, grid


def view_of(**domains):
    return View(
        quasi=tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in domains.items()),
        sensitive=(),
        others=(),
        unit=RecordUnit(),
    )


def partition(names, rows, groups, boxes):
    codes = np.array([codes for codes, _ in rows], np.int64).reshape(len(rows), len(names))
    starts = np.array([[a for a, _ in box] for box in boxes], np.int64).reshape(len(boxes), len(names))
    stops = np.array([[b for _, b in box] for box in boxes], np.int64).reshape(len(boxes), len(names))
    cells = Cells(names, codes, np.array([n for _, n in rows], np.int64))
    return Partition(cells, np.array(groups, np.int64), Boxes(names, starts, stops))


def test_two_attributes_by_hand():
    """Age has 11 codes, job 4 leaves; six records in two groups and two suppressed ones."""
    found = partition(
        ("age", "job"),
        [((2, 0), 3), ((4, 1), 1), ((7, 2), 2), ((9, 3), 2)],
        [0, 0, 1, SUPPRESSED],
        [[(2, 5), (0, 2)], [(7, 8), (2, 3)]],
    )
    losses = attribute_losses(found, view_of(age=grid(0, 10), job=JOB))
    assert losses["age"] == pytest.approx((4 * 2 / 10 + 2 * 0 + 2) / 8)
    assert losses["job"] == pytest.approx((4 * 1 / 3 + 2 * 0 + 2) / 8)
    assert general_loss(found, view_of(age=grid(0, 10), job=JOB)) == pytest.approx((0.35 + 10 / 24) / 2)


def test_exact_is_0_and_the_whole_domain_is_1():
    view = view_of(age=grid(0, 9))
    assert general_loss(partition(("age",), [((3,), 5)], [0], [[(3, 4)]]), view) == 0
    assert general_loss(partition(("age",), [((3,), 5)], [0], [[(0, 10)]]), view) == 1


def test_a_domain_of_one_code_loses_only_what_is_suppressed():
    view = view_of(only=flat("a"))
    assert general_loss(partition(("only",), [((0,), 5)], [0], [[(0, 1)]]), view) == 0
    assert general_loss(partition(("only",), [((0,), 5)], [SUPPRESSED], []), view) == 1


def test_without_records_nothing_is_lost():
    assert general_loss(partition(("age",), [], [], []), view_of(age=grid(0, 9))) == 0
