"""How badly a release as it stands teaches to predict the class of its own records."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array

from sfumato.core.locate import nearest
from sfumato.measure.classification import predicted
from sfumato.measure.classifiers import DecisionTree
from sfumato.measure.evidence import Evidence
from sfumato.measure.lessons import Lesson, region_features
from sfumato.measure.measure import MEASURES, Better, Kind, Reading


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationLoss:
    """One minus the accuracy of a decision tree that learns on the release and predicts the records of the table.

    In sample: the records it is tested on are those the release was made of, each in the region that holds it, or the
    nearest. What a method is worth to a learner on records it has not seen, `classification` measures; that needs
    releases of parts of the table, and this one looks at one release as it is.
    """

    name: ClassVar[str] = "classification-loss"
    title: ClassVar[str] = "Classification loss, in sample"
    summary: ClassVar[str] = (
        "the share of the table's records whose class a decision tree gets wrong that learnt on the release; beside it "
        "what always saying the most frequent class gets wrong"
    )
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """Without a class, or without records, there is nothing to learn."""
        target = evidence.target
        if target is None or target.name not in evidence.shown.values:
            return "the release has no class"
        if not evidence.view.quasi:
            return "the release has no quasi-identifier to learn from"
        return None if len(evidence.shown) and evidence.records else "nothing is published"

    def read(self, evidence: Evidence) -> Reading:
        """The share that is wrong."""
        shown, target = evidence.shown, evidence.target
        assert target is not None, "see `refuses`"
        values = shown.values[target.name]
        spread = coo_array(values.shares()[values.pool])
        row, classes = spread.coords
        learn, numbers = region_features(shown.starts, shown.stops)
        regions = np.unique(np.hstack([shown.starts, shown.stops]), axis=0)
        weights = spread.data * shown.weights[row]
        lesson = Lesson(learn[row], classes.astype(np.int64), weights, regions.astype(np.float64), numbers)
        said = predicted(lesson, DecisionTree())
        home, people = evidence.people
        width = len(shown.attributes)
        codes = people.codes[:, [people.attributes.index(name) for name in shown.attributes]]
        sizes = np.array([evidence.view.domain(name).size for name in shown.attributes])
        place = nearest(regions[:, :width], regions[:, width:], codes, sizes)
        wrong = said[place][home] != evidence.column(target.name)
        return Reading(
            value=float(np.average(wrong, weights=evidence.raw.counts)),
            details={"wrong by the most frequent class alone": float(1 - evidence.overall(target.name).max())},
        )
