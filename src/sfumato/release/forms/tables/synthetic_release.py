"""A release of measured tables with synthetic records, as its receiver uses it: what all such forms have in common."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain
from sfumato.errors import UsageError
from sfumato.release.answer.estimate import Estimate
from sfumato.release.draft import Draft, Groups, Tables
from sfumato.release.features import Features
from sfumato.release.forms.noisy_counts.count_table import group_values
from sfumato.release.forms.tables.answer import query
from sfumato.release.guarantee import guarantee_from
from sfumato.release.release import Counts, Release, as_frames
from sfumato.release.sample import plain_records, random_numbers
from sfumato.release.storage.untrusted import refuse_unexpected
from sfumato.study.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.release.forms.noisy_counts.count_table import Layout
    from sfumato.release.forms.noisy_counts.encoder import RegionEncoder


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticRelease(Release):
    """Measured tables, and synthetic records that were drawn from them: no record of anybody."""

    layout: Any = field(repr=False)  # a `FilesLayout`
    content: Tables = field(repr=False)

    @property
    def groups(self) -> Groups:
        """The synthetic records as groups with weights."""
        return self.content.records

    @property
    def cuts(self) -> dict[str, Cut]:
        """The groups that each predictor is published in."""
        return {cut.attribute: cut for cut in self.content.records.cuts}

    @property
    def domains(self) -> dict[str, Domain]:
        """The public domain of every attribute, the class too."""
        return dict(self.layout.records.attributes)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order; none where no class is published."""
        records: Layout = self.layout.records
        return records.labels[-1].all if records.targeted else ()

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The measured tables by name, every cell with its noisy count."""
        counts = self.content.measured.counts
        return {table.name: table.table(found) for table, found in zip(self.layout.tables, counts, strict=True)}

    def to_draft(self, view: View) -> Draft:
        """The tables and records as a draft."""
        return Draft(
            view=view,
            content=self.content,
            form=self.form,
            guarantee=guarantee_from(self.manifest),
            facts=self.manifest["method"]["facts"],
        )

    @refuse_unexpected()
    def to_arrow(self) -> pa.Table:
        """The synthetic records with their weights."""
        records: Layout = self.layout.records
        return records.table(self.content.records)

    @refuse_unexpected()
    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights of the synthetic records; see `CountsRelease.to_training`."""
        records, layout = self.content.records, self.layout.records
        if not layout.targeted:
            raise UsageError(
                "the release has no class, so there is nothing to train on",
                "use `to_arrow()` for the synthetic records, or `sample()` for some with plain values",
                code="SF-USAGE-300",
            )
        X = self.features.matrix(records.regions)  # noqa: N806 - what scikit-learn calls it
        y: NDArray[np.object_] = np.array(self.classes, dtype=object)[records.classes]
        w = records.counts.astype(np.float64)
        if not as_frame:
            return X, y, w
        return as_frames(X, self.features.names, y, layout.class_name, w, layout.count)

    @refuse_unexpected()
    def encoder(self) -> "RegionEncoder":
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`."""
        from sfumato.release.forms.noisy_counts.encoder import RegionEncoder  # noqa: PLC0415 - scikit-learn takes a second to import

        layout = self.layout.records
        return RegionEncoder(tuple(zip(layout.names, layout.domains, layout.cuts, strict=True)))

    @refuse_unexpected()
    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Synthetic records with plain values, drawn from the tables: as many as wanted, without weights.

        Groups are drawn anew for every record, and values uniformly within the groups. Without ``n`` as many as the
        release says that there are.
        """
        size = max(self._size, 0) if n is None else n
        rng = random_numbers(size, seed)
        return plain_records(self.layout.records, self._draw(size, rng), np.arange(size), rng)

    def value_counts(self, attribute: str) -> tuple[Counts, Counts]:
        """The single values of an attribute that the synthetic records have, in order, each with its weight."""
        return group_values(self.layout.records, self.content.records, attribute)

    @property
    @abstractmethod
    def _size(self) -> int:
        """How many records there are, by the release."""

    @abstractmethod
    def _draw(self, size: int, rng: np.random.Generator) -> Groups:
        """So many synthetic records, one by one, each with one class."""

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.release.forms.tables.answer`."""
        return query(self.layout, self.content, text)

    @property
    def features(self) -> Features:
        """How groups become numbers."""
        layout = self.layout.records
        return Features(layout.cuts, layout.domains)
