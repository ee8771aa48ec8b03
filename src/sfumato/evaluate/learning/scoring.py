"""How well classes are predicted: accuracy, balanced accuracy and the area under the ROC curve (AUC)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from sfumato.evaluate.learning.classifiers import Floats, Integers

CHANCE = 0.5  # the AUC of scores that say nothing


@dataclass(frozen=True)
class Spread:
    """One number a run; a run in which it is not defined has nan."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average over the runs that have it; nan if none has."""
        known = self._known
        return fmean(known) if known else nan

    @property
    def deviation(self) -> float:
        """The standard deviation over the runs that have it."""
        known = self._known
        return stdev(known) if len(known) > 1 else 0.0

    def as_json(self) -> dict[str, Any]:
        """Mean and deviation as plain values; no mean where no run has one."""
        return {"mean": self.mean if isfinite(self.mean) else None, "deviation": self.deviation}

    @property
    def _known(self) -> list[float]:
        return [run for run in self.runs if isfinite(run)]


class Scored(NamedTuple):
    """How well the classes of some records were predicted."""

    accuracy: float
    balanced: float
    auc: float


def score(truth: Integers, said: Integers, scores: Floats) -> Scored:
    """Accuracy, balanced accuracy and AUC of one run; ``scores`` has a column a class.

    >>> score(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), np.array([[3, 0], [2, 1], [1, 2], [0, 3.0]]))
    Scored(accuracy=0.75, balanced=0.833333333333333..., auc=1.0)
    """
    right = said == truth
    return Scored(float(right.mean()), balanced_accuracy(truth, said), area_under_curve(truth, scores))


def balanced_accuracy(truth: Integers, said: Integers) -> float:
    """The share predicted right of each class, averaged over the classes that occur."""
    right = said == truth
    return fmean(float(right[truth == value].mean()) for value in np.unique(truth))


def area_under_curve(truth: Integers, scores: Floats) -> float:
    """How likely a record of a class has a higher score for it than a record of another class; ties count one half.

    That is the area under the ROC curve (Hanley & McNeil 1982). For two classes it is the same for both. For more it
    is the mean over the classes, each against all others (one-vs-rest, macro average); classes that do not occur, or
    that are all there is, have none. nan where no class has one.
    """
    found = []
    for value in np.unique(truth):
        of = truth == value
        some, others = int(of.sum()), int((~of).sum())
        if others:
            ranks = rankdata(scores[:, value]) if value < scores.shape[1] else np.full(len(truth), (len(truth) + 1) / 2)
            found.append((float(ranks[of].sum()) - some * (some + 1) / 2) / (some * others))
    return fmean(found) if found else nan


def class_scores(model: Any, rows: Floats, said: Integers, classes: int) -> Floats:
    """A model's scores of rows, a column a class code; of a class that it never saw, the same for every row.

    Probabilities where it has them, else its decision function. An estimator with neither is scored by what it
    predicted, and then its AUC for two classes is its balanced accuracy.
    """
    if hasattr(model, "learner_and_rows"):  # one of ours, around another
        model, rows = model.learner_and_rows(rows)
    known = getattr(model, "classes_", None)
    ask = getattr(model, "predict_proba", getattr(model, "decision_function", None))
    if known is None or ask is None:
        return one_hot(said, classes)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn, needed here alone

    with threadpool_limits(limits=1):  # see `GradientBoosting`
        found = np.asarray(ask(rows), dtype=np.float64)
    if found.ndim == 1:
        found = np.stack([-found, found], axis=1)
    scores = np.zeros((len(rows), classes))
    scores[:, np.asarray(known, dtype=np.int64)] = found
    return scores


def one_hot(said: Integers, classes: int) -> Floats:
    """Predictions as scores."""
    found: Floats = np.eye(max(classes, int(said.max(initial=0)) + 1))[said]
    return found


def by_score(runs: Sequence[Scored]) -> tuple[tuple[float, ...], Spread, Spread]:
    """Accuracies, balanced accuracies and AUCs of several runs."""
    return (
        tuple(run.accuracy for run in runs), Spread(tuple(run.balanced for run in runs)),
        Spread(tuple(run.auc for run in runs)),
    )  # fmt: skip
