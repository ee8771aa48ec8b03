"""Methods: algorithms that turn counts into a release that keeps a model."""

from sfumato.methods.anatomy import Anatomy
from sfumato.methods.bucketization import Bucketization
from sfumato.methods.capped_confidence.algorithm import ConfidenceCap
from sfumato.methods.contingency import ContingencyTable
from sfumato.methods.diffgen.algorithm import DiffGen
from sfumato.methods.from_recipe import build, recipe_of
from sfumato.methods.full_domain.algorithm import FullDomain
from sfumato.methods.marginals.algorithm import Marginals
from sfumato.methods.method import METHODS, Context, Forecast, Method
from sfumato.methods.mondrian.algorithm import Mondrian
from sfumato.methods.specialization.scores import SCORES
from sfumato.methods.staged.algorithm import Staged
from sfumato.methods.tds.algorithm import Tds

__all__ = [
    "METHODS",
    "SCORES",
    "Anatomy",
    "Bucketization",
    "ConfidenceCap",
    "Context",
    "ContingencyTable",
    "DiffGen",
    "Forecast",
    "FullDomain",
    "Marginals",
    "Method",
    "Mondrian",
    "Staged",
    "Tds",
    "build",
    "recipe_of",
]
