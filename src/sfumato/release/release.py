"""The release as its receiver uses it: groups, tables, training data, plain records, queries."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import pyarrow as pa

from sfumato.domains.domain import Domain
from sfumato.errors import UsageError, VerifyError
from sfumato.release.answer.estimate import Estimate
from sfumato.release.bundle.files import facts_if_as_told
from sfumato.release.file_checks import MANIFEST, find_bundle
from sfumato.release.forms.noisy_counts.manifest import parse_manifest
from sfumato.release.storage.seal import form_of
from sfumato.release.storage.untrusted import open_regular, read_bounded, refuse_unexpected, size_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


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

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)

    @classmethod
    def open(cls, path: str | Path) -> "Release":
        """Open a bundle by its folder; refuses one whose manifest or data was changed."""
        with refuse_unexpected():
            place = find_bundle(Path(path))
            try:
                manifest = parse_manifest(read_bounded(place / MANIFEST))
                return form_named(form_of(manifest)).read(place, manifest)
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


_HOMES: Final = {
    "counts": ("sfumato.release.forms.noisy_counts.release", "CountsRelease"),
    "records": ("sfumato.release.forms.records.release", "RecordsRelease"),
}


def form_named(name: str) -> type[Release]:
    """The form of a bundle by its name in the manifest; loaded when the first such bundle is opened."""
    if name not in _HOMES:
        raise VerifyError(f"the manifest names a form that does not exist: {name[:40]!r}", "get the bundle again")
    module, kind = _HOMES[name]
    found: type[Release] = getattr(import_module(module), kind)
    return found


def as_frames(X: Any, names: Sequence[str], y: Any, target: str, w: Any, weights: str) -> tuple[Any, Any, Any]:  # noqa: N803 - scikit-learn's names
    """Training data as pandas objects with names."""
    pandas = _need("pandas")
    return pandas.DataFrame(X, columns=list(names)), pandas.Series(y, name=target), pandas.Series(w, name=weights)


def _need(package: str) -> Any:
    """A library that only some receivers have."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise UsageError(f"{package} is not installed", f"install {package}, or use `to_arrow()`") from None
