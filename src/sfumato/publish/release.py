"""The release as its receiver uses it: groups, tables, training data, plain records, queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.cut import Cut
from sfumato.core.domain import Domain
from sfumato.core.draft import Groups
from sfumato.core.features import Features
from sfumato.errors import UsageError, VerifyError
from sfumato.publish.files import file_facts
from sfumato.publish.manifest import layout_from, parse_manifest
from sfumato.publish.query import Estimate, query
from sfumato.publish.sample import sample
from sfumato.publish.table import Layout
from sfumato.publish.verify import MANIFEST, find_bundle

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from sfumato.publish.encoder import RegionEncoder


@dataclass(frozen=True, eq=False)
class Release:
    """A published release: noisy counts of groups, and nothing of the records behind them."""

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    layout: Layout = field(repr=False)
    groups: Groups = field(repr=False)

    @classmethod
    def open(cls, path: str | Path) -> "Release":
        """Open a bundle by its folder; refuses one whose manifest or data.parquet was changed."""
        place = find_bundle(Path(path))
        try:
            manifest = parse_manifest((place / MANIFEST).read_bytes())
            layout = layout_from(manifest)
            found = file_facts(place / "data.parquet")
            if manifest["files"].get("data.parquet") != {"size": found.size, "sha256": found.sha256}:
                raise VerifyError("data.parquet is not the file that the manifest describes", "get the bundle again")
            groups = layout.groups(layout.read_parquet(place / "data.parquet"))
        except (OSError, pa.ArrowException):
            raise VerifyError(f"the bundle in '{place}' cannot be read", "get the bundle again") from None
        return cls(place, manifest, layout, groups)

    @property
    def guarantee(self) -> str:
        """The promise in one sentence."""
        return str(self.manifest["guarantee"])

    @property
    def cuts(self) -> dict[str, Cut]:
        """The regions that each predictor is published in."""
        return dict(zip(self.layout.names, self.layout.cuts, strict=True))

    @property
    def domains(self) -> dict[str, Domain]:
        """The public domain of every attribute, the class too."""
        names = (*self.layout.names, self.layout.class_name)
        return dict(zip(names, (*self.layout.domains, self.layout.class_domain), strict=True))

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order."""
        return self.layout.labels[-1].all

    def to_arrow(self) -> pa.Table:
        """The groups as an Arrow table; labels are dictionaries, which pandas and polars take as categories."""
        return self.layout.table(self.groups)

    def to_pandas(self) -> "pd.DataFrame":
        """The groups as a pandas table."""
        _need("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """The groups as a polars table."""
        frame: pl.DataFrame = _need("polars").from_arrow(self.to_arrow())
        return frame

    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights (the published counts), a row a group.

        A numerical attribute becomes the middle of its interval (days as ordinals, see `datetime.date.toordinal`), a
        categorical one a 0/1 column a region; an attribute in one region says nothing and is left out. As NumPy arrays,
        or ``as_frame`` as pandas objects.
        """
        X = self.features.matrix(self.groups.regions)  # noqa: N806 - what scikit-learn calls it
        y: NDArray[np.object_] = np.array(self.classes, dtype=object)[self.groups.classes]
        w = self.groups.counts.astype(np.float64)
        if not as_frame:
            return X, y, w
        pandas = _need("pandas")
        return (
            pandas.DataFrame(X, columns=list(self.features.names)),
            pandas.Series(y, name=self.layout.class_name),
            pandas.Series(w, name=self.layout.count),
        )

    def encoder(self) -> "RegionEncoder":
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`."""
        from sfumato.publish.encoder import RegionEncoder  # noqa: PLC0415 - scikit-learn takes a second to import

        return RegionEncoder(tuple(zip(self.layout.names, self.layout.domains, self.layout.cuts, strict=True)))

    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Plain records drawn inside the groups; see `sfumato.publish.sample`."""
        return sample(self.layout, self.groups, n=n, seed=seed)

    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.publish.query`."""
        scale = self.manifest["method"]["facts"].get("noise_scale")
        return query(self.layout, self.groups, text, noise_scale=scale if isinstance(scale, float) else None)

    @property
    def features(self) -> Features:
        """How regions become numbers."""
        return Features(self.layout.cuts, self.layout.domains)


def _need(package: str) -> Any:
    """A library that only some receivers have."""
    from importlib import import_module  # noqa: PLC0415 - here alone

    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise UsageError(f"{package} is not installed", f"install {package}, or use `to_arrow()`") from None
