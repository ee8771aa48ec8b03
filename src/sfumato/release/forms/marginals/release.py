"""A release of marginals as its receiver uses it."""

from dataclasses import dataclass

import numpy as np

from sfumato.release.draft import Groups
from sfumato.release.forms.tables.synthetic_release import SyntheticRelease
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.model.graphical.draw import draw_values
from sfumato.release.model.graphical.records import as_groups, model_of


@dataclass(frozen=True, eq=False, repr=False)
class MarginalsRelease(SyntheticRelease):
    """Measured marginals, and synthetic records from the graphical model that they make."""

    @property
    def measured(self) -> MeasuredMarginals:
        """The measured marginals as arrays."""
        measured = self.content.measured
        assert isinstance(measured, MeasuredMarginals), "a release of this form"
        return measured

    @property
    def _size(self) -> int:
        return round(self.measured.total)

    def _draw(self, size: int, rng: np.random.Generator) -> Groups:
        """Records from the model, which is fitted to the tables when it is first asked for."""
        values = draw_values(model_of(self.measured), size, rng)
        return as_groups(self.measured, values, np.ones(size), targeted=self.layout.records.targeted)
