"""A release of the tables of stages as its receiver uses it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.release.draft import Groups
from sfumato.release.forms.tables.synthetic_release import SyntheticRelease
from sfumato.release.measured import MeasuredTables
from sfumato.release.model.records import groups_of
from sfumato.release.storage.untrusted import refuse_unexpected

if TYPE_CHECKING:
    from sfumato.release.forms.tables.classifier import PlugInClassifier


@dataclass(frozen=True, eq=False, repr=False)
class TablesRelease(SyntheticRelease):
    """Tables of stages, the model of the class that they make, and synthetic records."""

    @property
    def measured(self) -> MeasuredTables:
        """The measured tables as arrays."""
        measured = self.content.measured
        assert isinstance(measured, MeasuredTables), "a release of this form"
        return measured

    @refuse_unexpected()
    def classifier(self) -> "PlugInClassifier":
        """The model that the tables make, as a scikit-learn classifier of raw records with `predict_proba`."""
        from sfumato.release.forms.tables.classifier import PlugInClassifier  # noqa: PLC0415 - scikit-learn takes a second to import

        layout = self.layout.records
        return PlugInClassifier(self.measured, tuple(zip(layout.names, layout.domains, strict=True)), self.classes)

    @property
    def _size(self) -> int:
        return self.measured.size

    def _draw(self, size: int, rng: np.random.Generator) -> Groups:
        """Groups from the tables, the class by the model's probability."""
        return groups_of(self.measured, self.content.records.cuts, size, rng)
