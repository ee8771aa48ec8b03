"""Classification accuracy of releases of records in groups: learn on the regions, test on the rest in the same regions.

CA, BA and LA are those of `classification`. For the owner only: the test records are raw.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.attribute import Role
from sfumato.core.counts import Cells
from sfumato.core.partition import SUPPRESSED, Boxes, PartitionDraft, PartitionView
from sfumato.errors import OursError
from sfumato.measure.classification import Comparison, raw_features, score, splits

Integers = NDArray[np.int64]

_TOGETHER = 4_000_000  # comparisons of records with regions that are held at once


def boosted_trees() -> Any:
    """Gradient boosting on histograms, as XGBoost and LightGBM do it."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - a slow import, needed here alone

    return HistGradientBoostingClassifier(random_state=0)


def partition_classification(
    view: PartitionView,
    cells: Cells,
    make: Callable[[PartitionView, Cells], PartitionDraft],
    *,
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    classifier: Callable[[], Any] = boosted_trees,
) -> Comparison:
    """Learn on the release of two thirds of the records, test on the last third in the regions of that release.

    A region is given to the learner as where it begins and ends on each quasi-identifier, in codes; a test record as
    the region it lies in, or, where it lies in none (tight ranges leave gaps), the one nearest to it. Buckets leave
    quasi-identifiers exact, so there the learner gets them as they are, as it does of the raw table. Other attributes
    play no part: a release has them as the table has.
    """
    target = next((place for place, a in enumerate(view.attributes) if a.role is Role.CLASS), None)
    if target is None:
        raise OursError("classification was asked for without a class")
    rows = np.repeat(cells.codes, cells.counts, axis=0)
    classes, raw = rows[:, target], _exact(view, rows)
    found: dict[str, list[float]] = {"ca": [], "ba": [], "la": []}
    for train, test in splits(len(rows), runs=runs, seed=seed):
        distinct, counts = np.unique(rows[train], axis=0, return_counts=True)
        draft = make(view, Cells(cells.attributes, distinct, counts.astype(np.int64)))
        kept = draft.partition.group != SUPPRESSED
        published = draft.partition.cells.codes[kept]
        if draft.form == "generalised":
            boxes = draft.partition.boxes
            learn = _features(boxes, draft.partition.group[kept])
            ask = _features(boxes, nearest_box(view, boxes, rows[test][:, : len(view.quasi)]))
        else:
            learn, ask = _exact(view, published), raw[test]
        weights = draft.partition.cells.counts[kept].astype(np.float64)
        truth, seen = classes[test], classes[train]
        found["ca"].append(score(learn, published[:, target], weights, ask, truth, classifier))
        found["la"].append(float(np.mean(truth == np.bincount(seen).argmax())))
        if baseline:
            found["ba"].append(score(raw[train], seen, np.ones(len(train)), raw[test], truth, classifier))
    return Comparison.of(found)


def _exact(view: PartitionView, rows: Integers) -> NDArray[np.float64]:
    return raw_features(view.quasi, {a.name: rows[:, place] for place, a in enumerate(view.quasi)})


def nearest_box(view: PartitionView, boxes: Boxes, codes: Integers) -> Integers:
    """For each record the region it lies in, or else the nearest: the sum of its distances as shares of the domains."""
    sizes = np.array([view.domain(name).size for name in boxes.attributes], dtype=np.float32)
    place = np.empty(len(codes), dtype=np.int64)
    step = max(1, _TOGETHER // max(len(boxes), 1))
    for start in range(0, len(codes), step):
        some = codes[start : start + step]
        apart = np.zeros((len(some), len(boxes)), dtype=np.float32)
        for column in range(codes.shape[1]):
            here = some[:, column, None]
            below, above = boxes.starts[:, column] - here, here - (boxes.stops[:, column] - 1)
            apart += np.maximum(np.maximum(below, above), 0) / sizes[column]
        place[start : start + step] = apart.argmin(axis=1)
    return place


def _features(boxes: Boxes, group: Integers) -> NDArray[np.float64]:
    return np.hstack([boxes.starts[group], boxes.stops[group]]).astype(np.float64)
