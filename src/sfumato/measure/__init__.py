"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.measure.audit import Finding, audit, events_of
from sfumato.measure.classification import Accuracy, Comparison, classification
from sfumato.measure.partition_classification import partition_classification

__all__ = [
    "Accuracy",
    "Comparison",
    "Finding",
    "audit",
    "classification",
    "events_of",
    "partition_classification",
]
