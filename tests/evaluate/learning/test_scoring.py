"""Balanced accuracy and AUC: against scikit-learn, at their edges, and in a comparison."""

from math import isnan, nan

import numpy as np
import pytest

from sfumato.evaluate.learning.accuracy import classification
from sfumato.evaluate.learning.scoring import Spread, area_under_curve, balanced_accuracy, class_scores
from tests.evaluate.learning.test_accuracy import OF, by_diffgen, nothing, people
from tests.evaluate.learning.test_classifiers import FIVE, GROUPS, by_mondrian


@pytest.mark.parametrize("classes", [2, 4])
def test_they_are_those_of_scikit_learn(classes):
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, 500)
    scores = rng.integers(0, 6, (500, classes)) + np.eye(classes)[truth]  # whole numbers: many ties
    scores = scores / scores.sum(axis=1, keepdims=True)
    theirs = roc_auc_score(truth, scores[:, 1]) if classes == 2 else roc_auc_score(truth, scores, multi_class="ovr")
    ours = [scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, 0]] if classes == 2 else scores.T
    if classes == 2:
        theirs = roc_auc_score(truth, ours[1])
    assert area_under_curve(truth, np.stack(ours, axis=1)) == pytest.approx(theirs)
    said = scores.argmax(axis=1)
    assert balanced_accuracy(truth, said) == pytest.approx(balanced_accuracy_score(truth, said))


def test_scores_that_say_nothing_have_an_area_of_one_half():
    truth = np.array([0, 1, 2, 1])
    assert area_under_curve(truth, np.zeros((4, 3))) == 0.5
    assert area_under_curve(truth, np.zeros((4, 1))) == 0.5, "of classes without a column nothing is known"


def test_where_one_class_occurs_there_is_no_area():
    assert isnan(area_under_curve(np.zeros(4, dtype=np.int64), np.eye(4)))
    assert Spread((nan, 0.5)).mean == 0.5
    assert isnan(Spread((nan,)).mean)
    assert Spread((nan,)).deviation == 0


def test_an_estimator_without_scores_is_scored_by_what_it_predicts():
    assert class_scores(object(), np.zeros((2, 1)), np.array([0, 1]), 2).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("view", "make"), [(OF, by_diffgen), (GROUPS, by_mondrian)], ids=["counts", "groups"])
@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("name", FIVE)
def test_a_comparison_has_all_three_scores(view, make, name):
    """The class follows the age: the release and the raw table tell it, the majority class does not."""
    found = classification(view, people(600), make, private=view is OF, classifier=name, runs=2)
    for one in (found.on_release, found.on_raw):
        assert one.auc.mean > 0.95
        assert one.balanced.mean > 0.88
        assert len(one.auc.runs) == len(one.balanced.runs) == 2
    assert found.of_majority.auc.runs == (0.5, 0.5)
    assert found.of_majority.balanced.runs == (0.5, 0.5)


def test_an_empty_release_tells_no_class_apart():
    found = classification(OF, people(), nothing, runs=1, baseline=False)
    assert (found.ca.auc.mean, found.ca.balanced.mean) == (0.5, 0.5)
    assert found.on_raw is None
