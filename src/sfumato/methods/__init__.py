"""Methods: algorithms that turn counts into a release that keeps a model."""

from sfumato.methods.build import build, recipe_of
from sfumato.methods.contingency import ContingencyTable
from sfumato.methods.diffgen import DiffGen
from sfumato.methods.method import METHODS, Forecast, Method
from sfumato.methods.scores import SCORES

__all__ = [
    "METHODS",
    "SCORES",
    "ContingencyTable",
    "DiffGen",
    "Forecast",
    "Method",
    "build",
    "recipe_of",
]
