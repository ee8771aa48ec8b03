"""Methods: algorithms that turn counts into a release that keeps a model."""

from sfumato.methods.anatomy import Anatomy
from sfumato.methods.bucketization import Bucketization
from sfumato.methods.build import build, recipe_of
from sfumato.methods.capped_confidence.algorithm import ConfidenceCap
from sfumato.methods.contingency import ContingencyTable
from sfumato.methods.diffgen.algorithm import DiffGen
from sfumato.methods.full_domain.algorithm import FullDomain
from sfumato.methods.method import METHODS, Forecast, Method, PartitionMethod, is_partition, method_needs_class
from sfumato.methods.mondrian.algorithm import Mondrian
from sfumato.methods.specialization.scores import SCORES
from sfumato.methods.tds import Tds

__all__ = [
    "METHODS",
    "SCORES",
    "Anatomy",
    "Bucketization",
    "ConfidenceCap",
    "ContingencyTable",
    "DiffGen",
    "Forecast",
    "FullDomain",
    "Method",
    "Mondrian",
    "PartitionMethod",
    "Tds",
    "build",
    "is_partition",
    "method_needs_class",
    "recipe_of",
]
