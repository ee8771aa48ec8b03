"""A release of noisy counts as its receiver uses it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import UsageError
from sfumato.release.answer.estimate import Estimate, query, query_about
from sfumato.release.draft import Draft, Groups
from sfumato.release.features import Features
from sfumato.release.forms.noisy_counts.count_table import Layout, group_values, noise_from
from sfumato.release.guarantee import guarantee_from
from sfumato.release.release import Counts, Release, as_frames
from sfumato.release.sample import sample
from sfumato.release.storage.untrusted import refuse_unexpected
from sfumato.study.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.release.forms.noisy_counts.encoder import RegionEncoder


@dataclass(frozen=True, eq=False, repr=False)
class CountsRelease(Release):
    """Noisy counts of groups, and nothing of the records behind them."""

    layout: Layout = field(repr=False)
    groups: Groups = field(repr=False)

    @property
    def cuts(self) -> dict[str, Cut]:
        """The regions that each predictor is published in."""
        return dict(zip(self.layout.names, self.layout.cuts, strict=True))

    @property
    def domains(self) -> dict[str, Domain]:
        """The public domain of every attribute, the class too."""
        return dict(self.layout.attributes)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order; none where no class is published."""
        return self.layout.labels[-1].all if self.layout.targeted else ()

    def to_draft(self, view: View) -> Draft:
        """The noisy counts as a draft."""
        return Draft(
            view=view,
            content=self.groups,
            form=self.form,
            guarantee=guarantee_from(self.manifest),
            facts=self.manifest["method"]["facts"],
        )

    @refuse_unexpected()
    def to_arrow(self) -> pa.Table:
        """The groups as an Arrow table; labels are dictionaries, which pandas and polars take as categories."""
        return self.layout.table(self.groups)

    @refuse_unexpected()
    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights (the published counts), one row per group.

        A numerical attribute becomes the middle of its interval (days as ordinals, see `datetime.date.toordinal`), a
        categorical one a 0/1 column per region; an attribute with only one region is omitted. As NumPy arrays, or
        ``as_frame`` as pandas objects.
        """
        if not self.layout.targeted:
            raise UsageError(
                "the release has no class, so there is nothing to train on",
                "use `to_arrow()` for the counts, or `sample()` for synthetic records with columns to choose from",
                code="SF-USAGE-057",
            )
        X = self.features.matrix(self.groups.regions)  # noqa: N806 - what scikit-learn calls it
        y: NDArray[np.object_] = np.array(self.classes, dtype=object)[self.groups.classes]
        w = self.groups.counts.astype(np.float64)
        if not as_frame:
            return X, y, w
        return as_frames(X, self.features.names, y, self.layout.class_name, w, self.layout.count)

    @refuse_unexpected()
    def encoder(self) -> "RegionEncoder":
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`."""
        from sfumato.release.forms.noisy_counts.encoder import RegionEncoder  # noqa: PLC0415 - scikit-learn takes a second to import

        return RegionEncoder(tuple(zip(self.layout.names, self.layout.domains, self.layout.cuts, strict=True)))

    @refuse_unexpected()
    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Synthetic records, drawn uniformly within the groups; see `sfumato.release.sample`."""
        return sample(self.layout, self.groups, n=n, seed=seed)

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.release.answer.estimate`."""
        return query(self.layout, self.groups, text, noise=noise_from(self.manifest, self.layout))

    def about(self, attribute: str) -> Callable[[str], Estimate]:
        """`query` for conditions on one attribute alone, for many of them."""
        if isinstance(self.domains[attribute], SetDomain):
            return self.query
        noise = noise_from(self.manifest, self.layout)
        return refuse_unexpected()(query_about(self.layout, self.groups, attribute, noise=noise))

    def value_counts(self, attribute: str) -> tuple[Counts, Counts]:
        """The single values of an attribute that are published, by their codes in order, each with its count."""
        return group_values(self.layout, self.groups, attribute)

    @property
    def features(self) -> Features:
        """How regions become numbers."""
        return Features(self.layout.cuts, self.layout.domains)
