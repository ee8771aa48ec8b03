"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.measure.audit import Finding, audit, events_of
from sfumato.measure.cell_divergence import CellDivergence
from sfumato.measure.classification import Accuracy, Comparison, classification, classifications
from sfumato.measure.classification_loss import ClassificationLoss
from sfumato.measure.classifiers import CLASSIFIERS
from sfumato.measure.confidence import ConfidenceExcess, RecordsOverConfidence
from sfumato.measure.counting import (
    AverageGroupSize,
    ClassificationMetric,
    Discernibility,
    Distortion,
    GeneralLoss,
    Suppressed,
)
from sfumato.measure.evidence import Evidence
from sfumato.measure.histograms import HistogramCityBlock, HistogramDivergence
from sfumato.measure.intersection import Intersection, intersect
from sfumato.measure.linkage import Guess, GuessedValues, Linkage, LinkedPeople, link
from sfumato.measure.marginals import OneWayDistance, TwoWayDistance
from sfumato.measure.max_k import MaxK, Tried, smallest_k
from sfumato.measure.measure import MEASURES, Measure, Reading, Refused, range_words
from sfumato.measure.populations import Populations, large_populations
from sfumato.measure.privacy_loss import MeanPrivacyLoss, WorstPrivacyLoss
from sfumato.measure.protocols import PROTOCOLS
from sfumato.measure.queries import LargeQueryError, QueryError, SmallQueryError
from sfumato.measure.risk import (
    JournalistRisk,
    MarketerRisk,
    PopulationUniques,
    ProsecutorRisk,
    RecordsAtRisk,
    SampleUniques,
)
from sfumato.measure.scoring import Spread
from sfumato.measure.utility_loss import UtilityLoss

__all__ = [
    "CLASSIFIERS",
    "MEASURES",
    "PROTOCOLS",
    "Accuracy",
    "AverageGroupSize",
    "CellDivergence",
    "ClassificationLoss",
    "ClassificationMetric",
    "Comparison",
    "ConfidenceExcess",
    "Discernibility",
    "Distortion",
    "Evidence",
    "Finding",
    "GeneralLoss",
    "Guess",
    "GuessedValues",
    "HistogramCityBlock",
    "HistogramDivergence",
    "Intersection",
    "JournalistRisk",
    "LargeQueryError",
    "Linkage",
    "LinkedPeople",
    "MarketerRisk",
    "MaxK",
    "MeanPrivacyLoss",
    "Measure",
    "OneWayDistance",
    "PopulationUniques",
    "Populations",
    "ProsecutorRisk",
    "QueryError",
    "Reading",
    "RecordsAtRisk",
    "RecordsOverConfidence",
    "Refused",
    "SampleUniques",
    "SmallQueryError",
    "Spread",
    "Suppressed",
    "Tried",
    "TwoWayDistance",
    "UtilityLoss",
    "WorstPrivacyLoss",
    "audit",
    "classification",
    "classifications",
    "events_of",
    "intersect",
    "large_populations",
    "link",
    "range_words",
    "smallest_k",
]
