"""The release as its receiver uses it: tables, training data, synthetic records, queries."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.display import Display, Displayed
from sfumato.domains.domain import Domain
from sfumato.domains.domain_words import domain_words
from sfumato.errors import UsageError, VerifyError
from sfumato.release.answer.estimate import Estimate
from sfumato.release.bundle.atomic_files import MANIFEST, facts_if_as_stated, find_bundle
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS, Form
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.storage.untrusted import open_regular, read_bounded, refuse_unexpected, size_of
from sfumato.study.view import View

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pandas as pd
    import polars as pl


Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StatedRelease:
    """What a bundle says of itself: its manifest. None of its data files is read for that."""

    path: Path
    manifest: Mapping[str, Any]
    form: Form
    layout: Any

    @classmethod
    def read(cls, path: Path) -> "StatedRelease":
        """The manifest of a bundle by its folder, with what its form makes of it."""
        with refuse_unexpected(), _refuse_unreadable(path):
            place = find_bundle(path)
            manifest = parse_manifest(read_bounded(place / MANIFEST))
            form = FORMS[manifest["form"]]
            return cls(place, manifest, form, form.layout(manifest))

    @property
    def declared_domains(self) -> Mapping[str, Domain]:
        """The domain of every attribute as the owner declared it."""
        return self.form.declared_domains(self.layout)


class Names(Protocol):
    """Whatever names the columns of training data."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Release(Displayed, ABC):
    """A published release, as its receiver uses it; what `open` gives depends on the form."""

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)

    @classmethod
    def open(cls, path: str | Path, *, data: str | None = None, memory_limit: str | None = None) -> "Release":
        """Open a bundle by its folder; refuses one whose manifest or data was changed.

        ``data`` is where the tables are if the bundle does not hold them: see `verify_bundle`, also for the limit.
        """
        stated = StatedRelease.read(Path(path))
        place, manifest, form, layout = stated.path, stated.manifest, stated.form, stated.layout
        with refuse_unexpected(), _refuse_unreadable(place):
            if manifest.get("stored") is not None:
                return form.open(place, manifest, layout, _stored(form, layout, manifest, data, memory_limit))
            refuse_needless_data(data)
            _refuse_changed(place, manifest, form.files(layout))
            return form.open(place, manifest, layout, form.read(place, manifest, layout, "parquet"))

    @property
    def form(self) -> str:
        """The name of the form it is published in."""
        return str(self.manifest["form"])

    @property
    def guarantee(self) -> str:
        """The guarantee in words that can be quoted, with what it is not."""
        return str(self.manifest["guarantee"])

    @property
    def private(self) -> bool:
        """Whether it is differentially private."""
        return stated_private(self.manifest)

    def display(self) -> Display:
        """What it guarantees and what its columns are: all of it is in the manifest, and public."""
        stated, roles = self.manifest, self.roles
        release, study = stated["release"], stated["study"]
        return Display(
            title=f"Release '{release}' of the study '{study}'",
            facts=(
                ("guarantee", self.guarantee),
                ("method", str(stated["method"]["name"])),
                ("form", self.form),
                ("date", str(stated["date"])),
                ("folder", str(self.path)),
            ),
            columns=("column", "role", "values"),
            rows=tuple(
                (name, roles.get(name, "predictor").replace("_", "-"), domain_words(domain))
                for name, domain in self.domains.items()
            ),
        )

    @property
    @abstractmethod
    def domains(self) -> dict[str, Domain]:
        """The domain of every attribute, the class too."""

    @property
    @abstractmethod
    def features(self) -> Names:
        """How regions become numbers."""

    @property
    def declared_domains(self) -> dict[str, Domain]:
        """The domain of every attribute as the owner declared it; those of sets are of their codes."""
        return self.domains

    @property
    def roles(self) -> dict[str, str]:
        """The role of every attribute, as far as it is published."""
        return stated_roles(self.manifest)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The measured tables by name, of the forms `tables` and `marginals`; others have one table, see `to_arrow`."""
        raise UsageError(
            f"a release of the form '{self.form}' has no measured tables",
            "use `to_arrow()`: it has one table",
            code="SF-USAGE-745",
        )

    def classifier(self) -> Any:
        """The classifier that the tables of `staged` make; for others train one on `to_training`."""
        raise UsageError(
            f"a release of the form '{self.form}' makes no classifier",
            "train one on `to_training()`",
            code="SF-USAGE-746",
        )

    @abstractmethod
    def to_draft(self, view: View) -> Draft:
        """The release as the draft that it was, by what is published; ``view`` has the attributes as declared."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The published table; labels are dictionaries, which pandas and polars take as categories."""

    def to_pandas(self) -> "pd.DataFrame":
        """The published table as a pandas table."""
        _need("pandas")
        table: pd.DataFrame = self.to_arrow().to_pandas()
        return table

    def to_polars(self) -> "pl.DataFrame":
        """The published table as a polars table."""
        frame: pl.DataFrame = _need("polars").from_arrow(self.to_arrow())
        return frame

    def to_ibis(self) -> "ir.Table":
        """The published table as an Ibis table in memory."""
        import ibis  # noqa: PLC0415 - a slow import, needed here alone

        return ibis.memtable(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The published table for any library that takes Arrow streams, such as `polars.DataFrame(release)`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @abstractmethod
    def to_training(self, *, as_frame: bool = False) -> tuple[Any, Any, Any]:
        """Features, class labels and weights, one row per group or record; NumPy arrays, or pandas objects."""

    @abstractmethod
    def encoder(self) -> Any:
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`."""

    @abstractmethod
    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Synthetic records, drawn uniformly within the regions."""

    @abstractmethod
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated; see `sfumato.release.answer.estimate`."""

    def about(self, attribute: str) -> Callable[[str], Estimate]:  # noqa: ARG002 - some forms are quicker about one
        """`query` for conditions on one attribute alone, for many of them."""
        return self.query

    @abstractmethod
    def value_counts(self, attribute: str) -> tuple[Counts, Counts]:
        """The single values of an attribute that are published, by their codes in order, each with its count."""


def stated_private(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is that of a differentially private release."""
    return bool(manifest["privacy"]["kind"] == "differential privacy")


def stated_roles(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The role of every attribute, as far as a manifest states it."""
    return {stated["name"]: stated["role"] for stated in manifest["attributes"] if stated["role"] != "predictor"}


@contextmanager
def _refuse_unreadable(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException):
        raise VerifyError(
            f"the bundle in '{place}' cannot be read", "get the bundle again", code="SF-VERIFY-090"
        ) from None


def refuse_needless_data(data: object) -> None:
    """A bundle with data files is not read from elsewhere."""
    if data is not None:
        raise UsageError("the bundle holds its data itself", "omit `--data`", code="SF-USAGE-396")


def _stored(form: Form, layout: Any, manifest: Mapping[str, Any], data: str | None, memory_limit: str | None) -> Any:
    """The content of tables that an engine keeps; most releases need no engine, so none is imported for them."""
    from sfumato.release.bundle.stored_tables import read_stored  # noqa: PLC0415
    from sfumato.tables.publishing.open_destination import AddressedTables  # noqa: PLC0415

    names = ", ".join(f"'{table['name']}'" for table in manifest["stored"]["tables"].values())
    if data is None:
        raise UsageError(
            f"the data of the release is not in its bundle but in {names}",
            "say where that is: --data ADDRESS, in Python data='…'",
            code="SF-USAGE-397",
        )
    with AddressedTables(data, memory_limit) as tables:
        found = read_stored(form, layout, manifest, tables, memory_limit=memory_limit)
    if not all(check.ok for check in found.checks):
        raise VerifyError(
            f"{names} is not the table that the manifest describes", "check the address", code="SF-VERIFY-133"
        )
    return found.content


def _refuse_changed(place: Path, manifest: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse Parquet files that are not those that the manifest describes, and CSV files of another length.

    The CSV files are not read here, but their length says how many rows there can be (see `ParquetLimits`).
    """
    for name in names:
        stated = manifest["files"].get(name)
        with open_regular(place / name) as file:
            changed = stated is None or size_of(file) != stated["size"]
        if changed or (name.endswith(".parquet") and facts_if_as_stated(place / name, stated) is None):
            raise VerifyError(
                f"{name} is not the file that the manifest describes", "get the bundle again", code="SF-VERIFY-091"
            )


def as_frames(X: Any, names: Sequence[str], y: Any, target: str, w: Any, weights: str) -> tuple[Any, Any, Any]:  # noqa: N803 - scikit-learn's names
    """Training data as pandas objects with names."""
    pandas = _need("pandas")
    return pandas.DataFrame(X, columns=list(names)), pandas.Series(y, name=target), pandas.Series(w, name=weights)


def _need(package: str) -> Any:
    """A library that only some receivers have."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise UsageError(
            f"{package} is not installed", f"install {package}, or use `to_arrow()`", code="SF-USAGE-063"
        ) from None
