"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.measure.audit import Finding, audit, events_of
from sfumato.measure.classification import Accuracy, Comparison, classification, decision_tree
from sfumato.measure.evidence import Evidence
from sfumato.measure.max_k import MaxK, Tried, smallest_k
from sfumato.measure.measure import MEASURES, Measure, Reading
from sfumato.measure.partition_classification import partition_classification
from sfumato.measure.privacy_loss import MeanPrivacyLoss, WorstPrivacyLoss

__all__ = [
    "MEASURES",
    "Accuracy",
    "Comparison",
    "Evidence",
    "Finding",
    "MaxK",
    "MeanPrivacyLoss",
    "Measure",
    "Reading",
    "Tried",
    "WorstPrivacyLoss",
    "audit",
    "classification",
    "decision_tree",
    "events_of",
    "partition_classification",
    "smallest_k",
]
