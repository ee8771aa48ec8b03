"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.measure.audit import Finding, audit, events_of
from sfumato.measure.classification import Accuracy, Comparison, classification, decision_tree
from sfumato.measure.evidence import Evidence
from sfumato.measure.max_k import MaxK, Tried, smallest_k
from sfumato.measure.measure import MEASURES, Measure, Reading, Refused
from sfumato.measure.partition_classification import partition_classification
from sfumato.measure.populations import Populations, large_populations
from sfumato.measure.privacy_loss import MeanPrivacyLoss, WorstPrivacyLoss
from sfumato.measure.utility_loss import UtilityLoss
from sfumato.measure.queries import LargeQueryError, QueryError, SmallQueryError

__all__ = [
    "MEASURES",
    "Accuracy",
    "Comparison",
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
    "LargeQueryError",
    "MeanPrivacyLoss",
    "Measure",
    "QueryError",
    "Reading",
    "SmallQueryError",
    "WorstPrivacyLoss",
    "audit",
    "classification",
    "decision_tree",
    "events_of",
    "large_populations",
    "partition_classification",
    "smallest_k",
]
