"""The classifiers that releases are judged by, all scikit-learn's, with settings that were fitted to no release.

Each says what it reads of a release of groups: `regions` (where a region begins and ends, for trees, which can cut at
either) or `values` (the middle of an interval, and a category as shares over the leaves it stands for). Raw records
are given in the same way as the release that they are compared with: the region of a raw value is that value alone.
Noisy counts, and raw records beside them, are always given as values.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import UsageError
from sfumato.registry import Registry

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Reads = Literal["regions", "values"]

_BINS = 16  # quantiles of a number, for naive Bayes
_ENOUGH = 20_000  # records from which on a tree's settings are shares of them
_WRITTEN_OUT = 2_000_000  # records up to which weighted rows are written out for boosting


class Classifier(Protocol):
    """Something that learns classes from rows with weights."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    reads: ClassVar[Reads]

    def estimator(self, numbers: Mask) -> Any:
        """A fresh one, with `fit(rows, classes, sample_weight)` and `predict(rows)`; told which columns are numbers."""
        ...


CLASSIFIERS: Registry[type[Any]] = Registry("classifier", UsageError)


def decision_tree(weight: float) -> Any:
    """A C4.5-like tree for records of such a total ``weight``: entropy, grown out, then pruned.

    scikit-learn has no C4.5; cost-complexity pruning at 10⁻⁴ with leaves of at least a thousandth of the weight stands
    in for its error-based pruning. The settings were not fitted to any release: they are what brings the tree to the
    paper's accuracy on the raw table. On 20,000 records they mean leaves of 20 records and 2 bits saved by a split. On
    fewer records both stay at that, as far as a leaf is at most a fiftieth of the weight: a share alone would allow
    leaves of a few records, which fit raw records by heart and predict others worse than a tree of any release does.
    """
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - a slow import, needed here alone

    small = max(1.0, min(_ENOUGH / weight, 20.0)) if weight > 0 else 1.0
    return DecisionTreeClassifier(
        criterion="entropy", ccp_alpha=1e-4 * small, min_weight_fraction_leaf=1e-3 * small, random_state=0
    )


@CLASSIFIERS.add
class DecisionTree:
    """See `decision_tree`."""

    name: ClassVar[str] = "decision-tree"
    title: ClassVar[str] = "decision tree"
    summary: ClassVar[str] = "C4.5-like: entropy, grown out, pruned by cost and complexity"
    reads: ClassVar[Reads] = "regions"

    def estimator(self, numbers: Mask) -> Any:  # noqa: ARG002 - a tree cuts any column
        """A fresh tree, which is set up when it sees how many records there are."""
        return _Sized(decision_tree)


@CLASSIFIERS.add
class NaiveBayes:
    """Naive Bayes over categories: a number is cut at the quantiles of what is learnt from, at most sixteen parts."""

    name: ClassVar[str] = "naive-bayes"
    title: ClassVar[str] = "naive Bayes"
    summary: ClassVar[str] = "over categories, numbers in at most 16 quantiles, one record of each class added"
    reads: ClassVar[Reads] = "values"

    def estimator(self, numbers: Mask) -> Any:
        """A fresh one.

        Every attribute's columns sum to 1, so the multinomial likelihood is the product over the attributes, up to a
        factor that is the same for all classes.
        """
        from sklearn.naive_bayes import MultinomialNB  # noqa: PLC0415 - a slow import, needed here alone

        return _Prepared(_Binned(numbers), MultinomialNB())


@CLASSIFIERS.add
class LogisticRegression:
    """Logistic regression with scikit-learn's own settings (ridge, C = 1), on columns of mean 0 and deviation 1."""

    name: ClassVar[str] = "logistic-regression"
    title: ClassVar[str] = "logistic regression"
    summary: ClassVar[str] = "with a ridge (C = 1), on columns scaled to mean 0 and deviation 1"
    reads: ClassVar[Reads] = "values"

    def estimator(self, numbers: Mask) -> Any:  # noqa: ARG002 - all columns are scaled
        """A fresh one."""
        from sklearn.linear_model import LogisticRegression as Logistic  # noqa: PLC0415 - a slow import
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - a slow import

        return _Prepared(StandardScaler(), Logistic(max_iter=500))


@CLASSIFIERS.add
class SupportVectors:
    """A linear support vector machine (squared hinge, C = 1): a kernel would take hours at our sizes."""

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "support vector machine"
    summary: ClassVar[str] = "linear (squared hinge, C = 1), on columns scaled to mean 0 and deviation 1"
    reads: ClassVar[Reads] = "values"

    def estimator(self, numbers: Mask) -> Any:  # noqa: ARG002 - all columns are scaled
        """A fresh one."""
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - a slow import
        from sklearn.svm import LinearSVC  # noqa: PLC0415 - a slow import

        return _Prepared(StandardScaler(), LinearSVC(dual=False, tol=1e-3, random_state=0))


@CLASSIFIERS.add
class GradientBoosting:
    """Gradient boosting on histograms, as XGBoost and LightGBM do it, with scikit-learn's own settings.

    It counts rows in a leaf and not their weight, so a group of noisy count n is written out as n rows. It has one
    thread: processes share the runs, and threads that wait for each other on a busy machine take minutes for seconds.
    """

    name: ClassVar[str] = "gradient-boosting"
    title: ClassVar[str] = "gradient boosting"
    summary: ClassVar[str] = "100 trees on histograms; weighted rows are written out as records"
    reads: ClassVar[Reads] = "regions"

    def estimator(self, numbers: Mask) -> Any:  # noqa: ARG002 - a tree cuts any column
        """A fresh one."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - a slow import

        return _WrittenOut(HistGradientBoostingClassifier(random_state=0))


class Own:
    """A classifier of the caller's: a function that gives a fresh estimator in the manner of scikit-learn."""

    name: ClassVar[str] = "own"
    reads: ClassVar[Reads] = "regions"

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def estimator(self, numbers: Mask) -> Any:  # noqa: ARG002 - it takes the columns as they are
        """A fresh one."""
        return self.make()


class _Sized:
    """An estimator that is made for the total weight of what it learns from."""

    def __init__(self, make: Callable[[float], Any]) -> None:
        self.make = make
        self.learner: Any = None

    def fit(self, rows: Floats, classes: Integers, sample_weight: Floats) -> None:
        self.learner = self.make(float(sample_weight.sum())).fit(rows, classes, sample_weight=sample_weight)

    def predict(self, rows: Floats) -> Integers:
        found: Integers = self.learner.predict(rows)
        return found

    def learner_and_rows(self, rows: Floats) -> tuple[Any, Floats]:
        """The learner, and the rows as it takes them."""
        return self.learner, rows


class _Prepared:
    """An estimator behind a transformer that learns from the same rows, with the same weights."""

    def __init__(self, prepare: Any, learner: Any) -> None:
        self.prepare, self.learner = prepare, learner

    def fit(self, rows: Floats, classes: Integers, sample_weight: Floats) -> None:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - a slow import, needed here alone

        self.prepare.fit(rows, sample_weight=sample_weight)
        with catch_warnings():
            # What is measured is how well it predicts, whether or not the last digits of its weights have settled.
            simplefilter("ignore", ConvergenceWarning)
            self.learner.fit(self.prepare.transform(rows), classes, sample_weight=sample_weight)

    def predict(self, rows: Floats) -> Integers:
        found: Integers = self.learner.predict(self.prepare.transform(rows))
        return found

    def learner_and_rows(self, rows: Floats) -> tuple[Any, Floats]:
        """The learner, and the rows as it takes them."""
        return self.learner, self.prepare.transform(rows)


class _Binned:
    """Numbers to indicators of the quantiles they lie between; indicators and shares stay as they are."""

    def __init__(self, numbers: Mask) -> None:
        self.numbers = numbers
        self.edges: dict[int, Floats] = {}

    def fit(self, rows: Floats, sample_weight: Floats) -> None:
        for column in np.flatnonzero(self.numbers):
            order = np.argsort(rows[:, column], kind="stable")
            values = rows[order, column]
            reached = np.cumsum(sample_weight[order]) / sample_weight.sum()
            cut = np.searchsorted(reached, np.arange(1, _BINS) / _BINS)
            self.edges[int(column)] = np.unique(values[np.minimum(cut, len(values) - 1)])

    def transform(self, rows: Floats) -> Floats:
        blocks = [rows[:, ~self.numbers]]
        for column, edges in self.edges.items():
            blocks.append(np.eye(len(edges) + 1)[np.searchsorted(edges, rows[:, column], side="left")])
        return np.hstack(blocks)


class _WrittenOut:
    """An estimator that is given records in place of rows with whole weights."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, rows: Floats, classes: Integers, sample_weight: Floats) -> None:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn, needed here alone

        whole = sample_weight.astype(np.int64)
        with threadpool_limits(limits=1):
            if np.array_equal(whole, sample_weight) and whole.sum() <= _WRITTEN_OUT:
                self.learner.fit(np.repeat(rows, whole, axis=0), np.repeat(classes, whole))
            else:
                self.learner.fit(rows, classes, sample_weight=sample_weight)

    def predict(self, rows: Floats) -> Integers:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn, needed here alone

        with threadpool_limits(limits=1):
            found: Integers = self.learner.predict(rows)
        return found

    def learner_and_rows(self, rows: Floats) -> tuple[Any, Floats]:
        """The learner, and the rows as it takes them."""
        return self.learner, rows
