"""The in-sample loss of one release: worked by hand, and in its place between nothing and everything."""

import numpy as np
import pytest

from sfumato.domains.counts import Cells
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import ClassificationLoss
from sfumato.release.shown import shown_counts, shown_records
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.evaluate.learning.test_accuracy import OF, people
from tests.evaluate.learning.test_classifiers import GROUPS, _sure
from tests.release.partitions import draft_of

from sfumato.tables.arrays.array_counter import ArrayCounter  # isort: skip

LOSS = ClassificationLoss()


def evidence(draft):
    return Evidence(view=draft.view, raw=draft.partition.cells, shown=shown_records(draft))


def in_groups(group, boxes):
    """Ages 10, 20, 30, 40 of one job; the old ones are of class 1."""
    rows = [(10, 0, 0, 3), (20, 0, 0, 2), (30, 0, 1, 2), (40, 0, 1, 1)]
    return draft_of(rows, group, boxes, view=GROUPS)


def test_groups_that_tell_the_classes_apart_lose_nothing():
    draft = in_groups([0, 0, 1, 1], [((10, 21), (0, 1)), ((30, 41), (0, 1))])
    found = LOSS.read(evidence(draft))
    assert found.value == 0
    assert found.details["wrong by the most frequent class alone"] == pytest.approx(3 / 8)


def test_one_group_loses_all_but_the_most_frequent_class():
    draft = in_groups([0, 0, 0, 0], [((0, 100), (0, 4))])
    assert LOSS.read(evidence(draft)).value == pytest.approx(3 / 8)


def test_a_mixed_group_is_wrong_about_its_minority():
    draft = in_groups([0, 1, 1, 1], [((10, 11), (0, 1)), ((20, 41), (0, 1))])
    assert LOSS.read(evidence(draft)).value == pytest.approx(2 / 8), "the age of 20 is among three of the other class"


def test_noisy_counts_are_learnt_from_as_published():
    codes = people()
    draft = _sure(OF, ArrayCounter(codes, {"class": 2}))
    distinct, counts = np.unique(
        np.stack([codes[n] for n in ("age", "job", "class")], axis=1), axis=0, return_counts=True
    )
    here = Evidence(
        view=GROUPS, raw=Cells(("age", "job", "class"), distinct, counts), shown=shown_counts(draft, ("age", "job"))
    )
    assert LOSS.read(here).value < 0.02
    assert LOSS.read(here) == LOSS.read(here)


def test_it_says_why_it_refuses():
    draft = in_groups([0, 0, 0, 0], [((0, 100), (0, 4))])
    view = View(quasi=GROUPS.quasi, sensitive=(), others=(), unit=RecordUnit())
    no_class = Evidence(view=view, raw=draft.partition.cells, shown=shown_records(draft))
    assert LOSS.refuses(no_class) == "the release has no target (class attribute)"
    assert LOSS.refuses(evidence(draft)) is None
    nothing = in_groups([-1, -1, -1, -1], [((0, 100), (0, 4))])
    assert LOSS.refuses(evidence(nothing)) == "the release contains no records"
