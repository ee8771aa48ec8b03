"""Classification accuracy: what a release is worth to somebody who learns from it (Mohammed et al. 2011, section 5).

CA: learn on the release of one part of the table, predict the rest, generalised by the same cut. BA: learn on the raw
records, the most there is to get. LA: predict the most frequent class, what one gets without any attribute. All three
look at raw records, so they are for the owner only and never go into a bundle.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.array_counter import ArrayCounter
from sfumato.core.attribute import Attribute
from sfumato.core.counts import Counter
from sfumato.core.cut import Cut
from sfumato.core.domain import Grid
from sfumato.core.draft import Draft
from sfumato.core.features import Features, region_matrix
from sfumato.core.view import View
from sfumato.errors import InfeasibleError, OursError, UsageError

Make = Callable[[View, Counter], Draft]
"""Makes a draft of a part of the table: a method with its budget, closed over."""

Codes = dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Accuracy:
    """The share of test records whose class is predicted, a number a run."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average over the runs."""
        return fmean(self.runs)

    @property
    def deviation(self) -> float:
        """The standard deviation over the runs."""
        return stdev(self.runs) if len(self.runs) > 1 else 0.0


@dataclass(frozen=True)
class Comparison:
    """CA against what could be had at best (BA) and for nothing (LA)."""

    ca: Accuracy
    ba: Accuracy | None
    la: Accuracy

    @classmethod
    def of(cls, found: Mapping[str, Sequence[float]]) -> "Comparison":
        """From the numbers of all runs by their names; without numbers for BA there is none."""
        ca, ba, la = (Accuracy(tuple(found[name])) for name in ("ca", "ba", "la"))
        return cls(ca, ba if ba.runs else None, la)


def decision_tree() -> Any:
    """A C4.5-like tree: entropy, grown out, then pruned.

    scikit-learn has no C4.5; cost-complexity pruning at 10⁻⁴ with leaves of at least a thousandth of the weight stands
    in for its error-based pruning. The settings were not fitted to any release: they are what brings the tree to the
    paper's accuracy on the raw table.
    """
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - a slow import, needed here alone

    return DecisionTreeClassifier(criterion="entropy", ccp_alpha=1e-4, min_weight_fraction_leaf=1e-3, random_state=0)


def classification(
    view: View,
    codes: Codes,
    make: Make,
    *,
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    classifier: Callable[[], Any] = decision_tree,
) -> Comparison:
    """Accuracy over several splits into two thirds to learn on and one third to test on.

    ``codes`` holds the records, one array of codes an attribute. The seed fixes the splits, not the noise.
    """
    size = len(codes[view.target.name])
    found: dict[str, list[float]] = {"ca": [], "ba": [], "la": []}
    for train, test in splits(size, runs=runs, seed=seed):
        draft = make(view, ArrayCounter(_part(codes, train), {view.target.name: len(view.classes)}))
        truth = codes[view.target.name][test]
        learned = _from_draft(draft, view, _part(codes, test))
        found["ca"].append(score(*learned, truth, classifier))
        learn = codes[view.target.name][train]
        found["la"].append(float(np.mean(truth == np.bincount(learn).argmax())))
        if baseline:
            raw = raw_features(view.predictors, codes)
            found["ba"].append(score(raw[train], learn, np.ones(len(train)), raw[test], truth, classifier))
    return Comparison.of(found)


def splits(size: int, *, runs: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Two thirds of the records to learn on and one third to test on, a run at a time."""
    if runs < 1:
        raise UsageError(f"{runs} runs measure nothing", "use at least one run")
    if size < 3:  # noqa: PLR2004 - two to learn on, one to test
        raise InfeasibleError(
            f"{size} records cannot be split into a part to learn on and one to test", "use a larger table"
        )
    for run in range(runs):
        order = np.random.default_rng([seed, run]).permutation(size)
        yield order[: 2 * size // 3], order[2 * size // 3 :]


def _part(codes: Codes, places: NDArray[np.int64]) -> Codes:
    return {name: column[places] for name, column in codes.items()}


def _features(cuts: tuple[Cut, ...], view: View) -> Features:
    domains = []
    for attribute in view.predictors:
        if attribute.domain is None:
            raise OursError(f"'{attribute.name}' reached a measure without a domain")
        domains.append(attribute.domain)
    return Features(cuts, tuple(domains))


def _from_draft(draft: Draft, view: View, test: Codes) -> tuple[Any, Any, Any, Any]:
    features = _features(draft.groups.cuts, view)
    regions = region_matrix(draft.groups.cuts, [test[a.name] for a in view.predictors])
    groups = draft.groups
    return features.matrix(groups.regions), groups.classes, groups.counts.astype(np.float64), features.matrix(regions)


def raw_features(attributes: Sequence[Attribute], codes: Codes) -> NDArray[np.float64]:
    """Raw records as features: numbers as their codes, categories as an indicator a value."""
    blocks = []
    for attribute in attributes:
        column = codes[attribute.name]
        if attribute.domain is None or isinstance(attribute.domain, Grid):  # a grid may have millions of points
            blocks.append(column[:, None].astype(np.float64))
        else:
            blocks.append(np.eye(attribute.domain.size)[column])
    return np.hstack(blocks)


def score(
    learn: NDArray[np.float64],
    classes: NDArray[np.int64],
    weights: NDArray[np.float64],
    test: NDArray[np.float64],
    truth: NDArray[np.int64],
    classifier: Callable[[], Any],
) -> float:
    """Learn with weights, predict, compare. Without features or records, the weightiest class is predicted.

    So it is where there is one class alone: some learners refuse that.
    """
    if not len(classes):
        return float(np.mean(truth == 0))
    if not learn.shape[1] or bool(np.all(classes == classes[0])):
        return float(np.mean(truth == np.bincount(classes, weights=weights).argmax()))
    model = classifier()
    model.fit(learn, classes, sample_weight=weights)
    return float(np.mean(model.predict(test) == truth))
