"""Publish tables about people under a stated privacy model, with what a release costs in privacy and utility.

import sfumato as sf
study = sf.Study.load("study.yaml")
published = study.release(sf.DiffGen(epsilon="0.5", h=10))
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.api import Study, describe, frontier, release, study_of, sweep, verify_table
    from sfumato.errors import SfumatoError
    from sfumato.evaluate.audit import audit
    from sfumato.evaluate.foreign import ForeignTable
    from sfumato.evaluate.learning.accuracy import classification
    from sfumato.interactive import DiffPC45
    from sfumato.methods import (
        Anatomy,
        Bucketization,
        ConfidenceCap,
        ContingencyTable,
        DiffGen,
        FullDomain,
        Marginals,
        Mondrian,
        Staged,
        Tds,
    )
    from sfumato.privacy.models import (
        AlphaKAnonymity,
        BasicBetaLikeness,
        CappedConfidence,
        DeltaDisclosure,
        DeltaPresence,
        DistinctLDiversity,
        EnhancedBetaLikeness,
        EntropyLDiversity,
        KAnonymity,
        ProbabilisticLDiversity,
        RecursiveLDiversity,
        TCloseness,
        Template,
        parse_models,
    )
    from sfumato.release.documentation import document_bundle
    from sfumato.release.release import Release
    from sfumato.release.verify import verify_bundle

# Where each public name lives. They load when first used, so that `import sfumato` is quick.
_HOMES = {
    "AlphaKAnonymity": "sfumato.privacy.models",
    "Anatomy": "sfumato.methods",
    "BasicBetaLikeness": "sfumato.privacy.models",
    "Bucketization": "sfumato.methods",
    "CappedConfidence": "sfumato.privacy.models",
    "ConfidenceCap": "sfumato.methods",
    "ContingencyTable": "sfumato.methods",
    "DeltaDisclosure": "sfumato.privacy.models",
    "DeltaPresence": "sfumato.privacy.models",
    "DiffGen": "sfumato.methods",
    "DiffPC45": "sfumato.interactive",
    "DistinctLDiversity": "sfumato.privacy.models",
    "EnhancedBetaLikeness": "sfumato.privacy.models",
    "EntropyLDiversity": "sfumato.privacy.models",
    "ForeignTable": "sfumato.evaluate.foreign",
    "FullDomain": "sfumato.methods",
    "KAnonymity": "sfumato.privacy.models",
    "Marginals": "sfumato.methods",
    "Mondrian": "sfumato.methods",
    "ProbabilisticLDiversity": "sfumato.privacy.models",
    "RecursiveLDiversity": "sfumato.privacy.models",
    "Release": "sfumato.release.release",
    "SfumatoError": "sfumato.errors",
    "Staged": "sfumato.methods",
    "Study": "sfumato.api",
    "TCloseness": "sfumato.privacy.models",
    "Tds": "sfumato.methods",
    "Template": "sfumato.privacy.models",
    "audit": "sfumato.evaluate.audit",
    "classification": "sfumato.evaluate.learning.accuracy",
    "describe": "sfumato.api",
    "document_bundle": "sfumato.release.documentation",
    "frontier": "sfumato.api",
    "parse_models": "sfumato.privacy.models",
    "release": "sfumato.api",
    "study_of": "sfumato.api",
    "sweep": "sfumato.frontier",
    "verify_bundle": "sfumato.release.verify",
    "verify_table": "sfumato.api",
}

__all__ = [
    "AlphaKAnonymity",
    "Anatomy",
    "BasicBetaLikeness",
    "Bucketization",
    "CappedConfidence",
    "ConfidenceCap",
    "ContingencyTable",
    "DeltaDisclosure",
    "DeltaPresence",
    "DiffGen",
    "DiffPC45",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "ForeignTable",
    "FullDomain",
    "KAnonymity",
    "Marginals",
    "Mondrian",
    "ProbabilisticLDiversity",
    "RecursiveLDiversity",
    "Release",
    "SfumatoError",
    "Staged",
    "Study",
    "TCloseness",
    "Tds",
    "Template",
    "audit",
    "classification",
    "describe",
    "document_bundle",
    "frontier",
    "parse_models",
    "release",
    "study_of",
    "sweep",
    "verify_bundle",
    "verify_table",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "interactive":  # `sf.interactive.DiffPC45`, without an import of its own
        return import_module("sfumato.interactive")
    raise AttributeError(f"module 'sfumato' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `sfumato.frontier` and `sfumato.release` the functions; once imported, packages would take their places."""

    @property
    def frontier(self) -> Any:
        """The function, see `sfumato.api`."""
        return __getattr__("frontier")

    @frontier.setter
    def frontier(self, package: ModuleType) -> None:
        """The import system calls this with the package, which `from sfumato.frontier import …` finds all the same."""

    @property
    def release(self) -> Any:
        """The function, see `sfumato.api`."""
        return __getattr__("release")

    @release.setter
    def release(self, package: ModuleType) -> None:
        """As for `frontier`."""


sys.modules[__name__].__class__ = _Package
