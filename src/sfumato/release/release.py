"""The release as its receiver uses it: groups, tables, training data, plain records, queries."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain
from sfumato.errors import UsageError, VerifyError
from sfumato.release.answer.estimate import Estimate, query
from sfumato.release.bundle.files import facts_if_as_told
from sfumato.release.draft import Groups
from sfumato.release.features import Features
from sfumato.release.file_checks import DATA, MANIFEST, find_bundle
from sfumato.release.forms.noisy_counts.manifest import layout_from, noise_from, parse_manifest, table_limits
from sfumato.release.forms.noisy_counts.table import Layout
from sfumato.release.sample import sample
from sfumato.release.storage.seal import form_of
from sfumato.release.storage.untrusted import open_regular, read_bounded, refuse_unexpected, size_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from sfumato.release.forms.noisy_counts.encoder import RegionEncoder


class Names(Protocol):
    """Whatever names the columns of training data."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        ...


@dataclass(frozen=True, eq=False)
class Release(ABC):
    """A published release, as its receiver uses it: noisy counts of groups, or records in groups.

    What `open` gives depends on what was published; both kinds have what stands here.
    """

    form: ClassVar[str]
    _forms: ClassVar[dict[str, type["Release"]]] = {}

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)

    def __init_subclass__(cls) -> None:
        Release._forms[cls.form] = cls

    @classmethod
    def open(cls, path: str | Path) -> "Release":
        """Open a bundle by its folder; refuses one whose manifest or data was changed."""
        with refuse_unexpected():
            place = find_bundle(Path(path))
            try:
                manifest = parse_manifest(read_bounded(place / MANIFEST))
                return cls._forms[form_of(manifest)].read(place, manifest)
            except (OSError, pa.ArrowException):
                raise VerifyError(f"the bundle in '{place}' cannot be read", "get the bundle again") from None

    @classmethod
    @abstractmethod
    def read(cls, place: Path, manifest: Mapping[str, Any]) -> "Release":
        """Read the data of a bundle of this form; `open` chooses the form."""

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """The promise in words that can be quoted."""

    @property
    @abstractmethod
    def domains(self) -> dict[str, Domain]:
        """The domain of every attribute, the class too."""

    @property
    @abstractmethod
    def features(self) -> Names:
        """How regions become numbers."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The published table; labels are dictionaries, which pandas and polars take as categories."""

    def to_pandas(self) -> "pd.DataFrame":
        """The published table as a pandas table."""
        _need("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """The published table as a polars table."""
        frame: pl.DataFrame = _need("polars").from_arrow(self.to_arrow())
        return frame

    @abstractmethod
    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights, a row a group or record; NumPy arrays, or pandas objects."""

    @abstractmethod
    def encoder(self) -> Any:
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`."""

    @abstractmethod
    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Plain records drawn inside the regions."""

    @abstractmethod
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.release.answer.estimate`."""

    @classmethod
    def _refuse_changed(cls, place: Path, manifest: Mapping[str, Any], names: Sequence[str]) -> None:
        """Refuse Parquet files that are not those that the manifest describes, and CSV files of another length.

        The CSV files are not read here, but their length says how many rows there can be (see `ParquetLimits`).
        """
        for name in names:
            told = manifest["files"].get(name)
            with open_regular(place / name) as file:
                changed = told is None or size_of(file) != told["size"]
            if changed or (name.endswith(".parquet") and facts_if_as_told(place / name, told) is None):
                raise VerifyError(f"{name} is not the file that the manifest describes", "get the bundle again")


def as_frames(X: Any, names: Sequence[str], y: Any, target: str, w: Any, weights: str) -> tuple[Any, Any, Any]:  # noqa: N803 - scikit-learn's names
    """Training data as pandas objects with names."""
    pandas = _need("pandas")
    return pandas.DataFrame(X, columns=list(names)), pandas.Series(y, name=target), pandas.Series(w, name=weights)


@dataclass(frozen=True, eq=False)
class CountsRelease(Release):
    """Noisy counts of groups, and nothing of the records behind them."""

    form: ClassVar[str] = "counts"

    layout: Layout = field(repr=False)
    groups: Groups = field(repr=False)

    @classmethod
    def read(cls, place: Path, manifest: Mapping[str, Any]) -> "CountsRelease":
        """Read data.parquet."""
        layout = layout_from(manifest)
        cls._refuse_changed(place, manifest, DATA)
        return cls(
            place, manifest, layout, layout.groups(layout.read_parquet(place / "data.parquet", table_limits(manifest)))
        )

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
        return dict(self.layout.attributes)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order; none where no class is published."""
        return self.layout.labels[-1].all if self.layout.targeted else ()

    @refuse_unexpected()
    def to_arrow(self) -> pa.Table:
        """The groups as an Arrow table; labels are dictionaries, which pandas and polars take as categories."""
        return self.layout.table(self.groups)

    @refuse_unexpected()
    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights (the published counts), a row a group.

        A numerical attribute becomes the middle of its interval (days as ordinals, see `datetime.date.toordinal`), a
        categorical one a 0/1 column a region; an attribute in one region says nothing and is left out. As NumPy arrays,
        or ``as_frame`` as pandas objects.
        """
        if not self.layout.targeted:
            raise UsageError(
                "the release has no class, so there is nothing to train on",
                "use `to_arrow()` for the counts, or `sample()` for synthetic records with columns to choose from",
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
        """Plain records drawn inside the groups; see `sfumato.release.sample`."""
        return sample(self.layout, self.groups, n=n, seed=seed)

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.release.answer.estimate`."""
        return query(self.layout, self.groups, text, noise=noise_from(self.manifest, self.layout))

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
