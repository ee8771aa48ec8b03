"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.measure.audit import Finding, audit, events_of
from sfumato.measure.classification import Accuracy, Comparison, classification, decision_tree
from sfumato.measure.evidence import Evidence
from sfumato.measure.max_k import MaxK, Tried, smallest_k
from sfumato.measure.measure import MEASURES, Measure, Reading, Refused
from sfumato.measure.classification import Accuracy, Comparison, classification
from sfumato.measure.counting import (
    AverageGroupSize,
    CellDivergence,
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
from sfumato.measure.measure import MEASURES, Measure, Reading
from sfumato.measure.partition_classification import partition_classification
from sfumato.measure.populations import Populations, large_populations
from sfumato.measure.privacy_loss import MeanPrivacyLoss, WorstPrivacyLoss
from sfumato.measure.utility_loss import UtilityLoss
from sfumato.measure.queries import LargeQueryError, QueryError, SmallQueryError
from sfumato.measure.risk import (
    JournalistRisk,
    MarketerRisk,
    PopulationUniques,
    ProsecutorRisk,
    RecordsAtRisk,
    SampleUniques,
)

__all__ = [
    "MEASURES",
    "Accuracy",
    "AverageGroupSize",
    "CellDivergence",
    "ClassificationMetric",
    "Comparison",
    "Discernibility",
    "Distortion",
    "Evidence",
    "Finding",
    "MaxK",
    "MeanPrivacyLoss",
    "Measure",
    "Populations",
    "Reading",
    "Refused",
    "Tried",
    "UtilityLoss",
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
    "MeanPrivacyLoss",
    "Measure",
    "OneWayDistance",
    "PopulationUniques",
    "ProsecutorRisk",
    "QueryError",
    "Reading",
    "RecordsAtRisk",
    "SampleUniques",
    "SmallQueryError",
    "Suppressed",
    "TwoWayDistance",
    "WorstPrivacyLoss",
    "audit",
    "classification",
    "decision_tree",
    "events_of",
    "large_populations",
    "intersect",
    "link",
    "partition_classification",
    "smallest_k",
]
