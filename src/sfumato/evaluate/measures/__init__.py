"""Measures: numbers about a release. Those taken against raw data are for the owner alone."""

from sfumato.evaluate.measures.cell_divergence import CellDivergence
from sfumato.evaluate.measures.classification_loss import ClassificationLoss
from sfumato.evaluate.measures.coarseness import (
    AverageGroupSize,
    ClassificationMetric,
    Discernibility,
    Distortion,
    GeneralLoss,
    Suppressed,
)
from sfumato.evaluate.measures.confidence import ConfidenceExcess, RecordsOverConfidence
from sfumato.evaluate.measures.histograms import HistogramCityBlock, HistogramDivergence
from sfumato.evaluate.measures.li_privacy_loss import LiMeanPrivacyLoss, LiWorstPrivacyLoss
from sfumato.evaluate.measures.linkage import Guess, GuessedValues, Linkage, LinkedPeople, link
from sfumato.evaluate.measures.marginals import OneWayDistance, TwoWayDistance
from sfumato.evaluate.measures.measure import MEASURES, Measure, Reading, Refused, range_words
from sfumato.evaluate.measures.own_record_loss import OwnRecordLoss
from sfumato.evaluate.measures.populations import Populations, large_populations
from sfumato.evaluate.measures.privacy_loss import MeanPrivacyLoss, WorstPrivacyLoss
from sfumato.evaluate.measures.query_error import LargeQueryError, QueryError, SmallQueryError
from sfumato.evaluate.measures.risk import (
    JournalistRisk,
    MarketerRisk,
    PopulationUniques,
    ProsecutorRisk,
    RecordsAtRisk,
    SampleUniques,
)
from sfumato.evaluate.measures.utility_loss import UtilityLoss

__all__ = [
    "MEASURES",
    "AverageGroupSize",
    "CellDivergence",
    "ClassificationLoss",
    "ClassificationMetric",
    "ConfidenceExcess",
    "Discernibility",
    "Distortion",
    "GeneralLoss",
    "Guess",
    "GuessedValues",
    "HistogramCityBlock",
    "HistogramDivergence",
    "JournalistRisk",
    "LargeQueryError",
    "LiMeanPrivacyLoss",
    "LiWorstPrivacyLoss",
    "Linkage",
    "LinkedPeople",
    "MarketerRisk",
    "MeanPrivacyLoss",
    "Measure",
    "OneWayDistance",
    "OwnRecordLoss",
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
    "Suppressed",
    "TwoWayDistance",
    "UtilityLoss",
    "WorstPrivacyLoss",
    "large_populations",
    "link",
    "range_words",
]
