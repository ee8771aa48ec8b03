"""The error of a classifier trained on a release and tested on the records it was made from."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array

from sfumato.domains.locate import nearest_region
from sfumato.evaluate.equivalence_classes import people_of
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.learning.accuracy import predicted
from sfumato.evaluate.learning.classifiers import DecisionTree, Floats, Integers, Mask
from sfumato.evaluate.learning.lessons import Lesson, region_features
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading
from sfumato.release.shown import Shown
from sfumato.wording import share_words

_RARE = 0.01  # of the records: nodes of a set that fewer have are no feature


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationLoss(Measure):
    """One minus the accuracy of a decision tree that is trained on the release and predicts the records of the table.

    In sample: the records it is tested on are those the release was made of, each in the region that holds it (of noisy
    counts also where no group of it is listed), or the nearest. Of sets the tree sees which nodes a region contains.
    `classification` measures the accuracy of a method on records that were not trained on; that needs releases of parts
    of the table, while this measure looks at one release.
    """

    name: ClassVar[str] = "classification-loss"
    title: ClassVar[str] = "Classification loss, in sample"
    summary: ClassVar[str] = (
        "the share of the table's records that a decision tree trained on the release misclassifies; next to it "
        "the error of the majority class"
    )
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a target, quasi-identifiers and records."""
        target = evidence.target
        if target is None or target.name not in evidence.shown.values:
            return "the release has no target (class attribute)"
        if evidence.shown.generalises(target.name):
            return "the release generalises the target (class attribute)"
        if not evidence.view.quasi:
            return "the release has no quasi-identifiers"
        return None if len(evidence.shown) and evidence.records else "the release contains no records"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            f"A decision tree trained on the release misclassifies {share_words(value)} of the table's own records. "
            "The command “sfumato evaluate accuracy” measures its accuracy on records that it was not trained on."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The share of misclassified records."""
        shown, target = evidence.shown, evidence.target
        assert target is not None, "see `refuses`"
        values = shown.values[target.name]
        over = values.over_ranges()
        spread = coo_array(over.shares[values.pool])
        row, column = spread.coords
        classes = over.starts[column]  # a class is published as it is
        regions, region = np.unique(np.hstack([shown.starts, shown.stops]), axis=0, return_inverse=True)
        width = len(shown.attributes)
        starts, stops = regions[:, :width], regions[:, width:]
        weights = spread.data * shown.weights[row]
        by_region: Floats = np.bincount(region.ravel(), weights=shown.weights).astype(np.float64)
        features, numbers = _features(shown, starts, stops, by_region)
        home, people = evidence.people[0], people_of(evidence)
        if shown.noisy and not shown.sets:
            own, place = np.unique(np.hstack(_own_regions(shown, people)), axis=0, return_inverse=True)
            test, place = region_features(own[:, :width], own[:, width:])[0], place.ravel()
        else:
            sets = [at for at, name in enumerate(shown.attributes) if name in shown.sets]
            sizes = np.array([evidence.size(name) for name in shown.attributes])
            test, place = features, nearest_region(starts, stops, people, sizes, apart=sets)
        said = predicted(Lesson(features[region.ravel()[row]], classes, weights, test, numbers), DecisionTree())
        wrong = said[place][home] != evidence.column(target.name)
        return Reading(
            value=float(np.average(wrong, weights=evidence.raw.counts)),
            details={"wrong by the most frequent class alone": float(1 - _largest(evidence.occurring(target.name)[2]))},
        )


def _own_regions(shown: Shown, people: Integers) -> tuple[Integers, Integers]:
    """The region that each record's values lie in, listed or not: noisy counts are of all combinations of cuts.

    A value that no listed group has goes to the nearest region of its attribute that one has.
    """
    starts, stops = np.empty_like(people), np.empty_like(people)
    for column in range(people.shape[1]):
        edges = np.unique(np.stack([shown.starts[:, column], shown.stops[:, column]], axis=1), axis=0)
        at = np.clip(np.searchsorted(edges[:, 0], people[:, column], side="right") - 1, 0, len(edges) - 1)
        starts[:, column], stops[:, column] = edges[at, 0], edges[at, 1]
    return starts, stops


def _largest(records: Floats) -> float:
    return float(records.max() / records.sum())


def _features(shown: Shown, starts: Integers, stops: Integers, weights: Floats) -> tuple[Floats, Mask]:
    """Where each region begins and ends on each attribute; of sets how likely it contains each node that is told of.

    Nodes that fewer than a hundredth of the records have tell a tree little, and there may be thousands.
    """
    plain = [at for at, name in enumerate(shown.attributes) if name not in shown.sets]
    blocks = [region_features(starts[:, plain], stops[:, plain])[0]]
    for at, name in enumerate(shown.attributes):
        if name in shown.sets:
            told = shown.sets[name].at(starts[:, at], stops[:, at])
            nodes = np.unique(np.stack([told.starts, told.stops], axis=1), axis=0)
            held = np.zeros((len(starts), 0)) if told.whole.all() else told.chance(nodes[:, 0], nodes[:, 1]).T
            blocks.append(held[:, weights @ held >= _RARE * weights.sum()])
    found = np.hstack(blocks)
    return found, np.ones(found.shape[1], dtype=bool)
