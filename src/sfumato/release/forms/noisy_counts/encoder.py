"""A scikit-learn transformer that puts new raw records into the regions of a release."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import UsageError
from sfumato.release.features import Features, region_matrix

Spec = tuple[str, Domain, Cut]


class InputError(UsageError, ValueError):
    """Records that the encoder cannot take; a ValueError too, as scikit-learn expects."""


class RawRecordEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What scikit-learn must know of an encoder of raw records: a release has fitted it, and any value may come in."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


class RegionEncoder(RawRecordEncoder):
    """Raw records to the columns of `Release.to_training`, by the release's cuts; it learns nothing from data.

    Takes pandas, polars and Arrow tables (columns are found by name, others are left alone) and two-dimensional arrays
    or lists with the release's predictors in order. A value that is missing or outside its domain follows the rule of
    the domain; where that rule leaves the record out of the release, it still gets a row here: 0 in every column of a
    categorical attribute, the middle of the domain for a numerical one. A set is a list of codes or text with the
    separator of its domain; where it was joined from several columns, those are found in a table, too.

    ``attributes`` has a name, a domain and a cut for each predictor.
    """

    def __init__(self, attributes: Sequence[Spec] = ()) -> None:
        self.attributes = attributes

    def fit(self, X: Any, y: Any = None) -> "RegionEncoder":  # noqa: ARG002, N803 - scikit-learn's signature
        """Check that records have the predictors; there is nothing to learn."""
        self._columns(X)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """The columns of `Release.to_training`, a row a record."""
        columns = self._columns(X)
        codes = [
            domain.encode(values) if cut.total > 1 else np.zeros(len(values), dtype=np.int64)
            for (_, domain, cut), values in zip(self.attributes, columns, strict=True)
        ]
        return self._features.matrix(region_matrix([cut for _, _, cut in self.attributes], codes))

    def regions(self, X: Any) -> NDArray[np.int64]:  # noqa: N803 - scikit-learn's name
        """Which region each record is in, a column a predictor; -1 where the rules leave the record out."""
        return region_matrix(
            [cut for _, _, cut in self.attributes],
            [domain.encode(values) for (_, domain, _), values in zip(self.attributes, self._columns(X), strict=True)],
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that come out."""
        names = [name for name, _, _ in self.attributes]
        if input_features is not None and list(input_features) != names:
            raise InputError(
                "the input features are not the predictors of the release",
                "leave `input_features` out",
                code="SF-USAGE-051",
            )
        return np.array(self._features.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many predictors the release has."""
        return len(self.attributes)

    @property
    def _features(self) -> Features:
        return Features(tuple(cut for _, _, cut in self.attributes), tuple(domain for _, domain, _ in self.attributes))

    def _columns(self, X: Any) -> list[Sequence[object]]:  # noqa: N803 - scikit-learn's name
        """The raw values of each predictor."""
        if not self.attributes:
            raise InputError("this encoder has no attributes", "get one from `release.encoder()`", code="SF-USAGE-052")
        return set_columns(X, [(name, domain) for name, domain, _ in self.attributes], type(self).__name__)


def set_columns(X: Any, wanted: Sequence[tuple[str, Domain | None]], encoder: str) -> list[Sequence[object]]:  # noqa: N803 - scikit-learn's name
    """The raw values of each wanted column; a set that is joined from several columns is found in those, too."""
    joined = {
        name: domain.columns
        for name, domain in wanted
        if isinstance(domain, SetDomain) and domain.columns and _lacks(X, name)
    }
    names = [column for name, _ in wanted for column in joined.get(name, (name,))]
    found = iter(raw_columns(X, names, encoder, sets=any(isinstance(domain, SetDomain) for _, domain in wanted)))
    return [
        list(zip(*(next(found) for _ in joined[name]), strict=True)) if name in joined else next(found)
        for name, _ in wanted
    ]


def _lacks(X: Any, name: str) -> bool:  # noqa: N803 - scikit-learn's name
    """Whether the records are a table without such a column: a set may then stand in several."""
    columns = getattr(X, "columns", None) if hasattr(X, "iloc") else getattr(X, "column_names", None)
    if columns is None and hasattr(X, "__arrow_c_stream__"):
        columns = getattr(X, "columns", None)
    return columns is not None and name not in [str(column) for column in columns]


def raw_columns(X: Any, wanted: list[str], encoder: str, *, sets: bool = False) -> list[Sequence[object]]:  # noqa: N803 - scikit-learn's name
    """The raw values of each wanted column, from whatever people hold their records in; those of sets may be lists."""
    if hasattr(X, "toarray"):
        raise InputError(
            "the records are a sparse matrix, and raw records are not",
            "give a table or a dense array",
            code="SF-USAGE-053",
        )
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _named_columns([str(name) for name in X.columns], wanted, lambda place: _pandas_values(X.iloc[:, place]))
    if hasattr(X, "__arrow_c_stream__"):
        table = X if isinstance(X, pa.Table) else pa.table(X)
        return _named_columns(table.column_names, wanted, lambda place: table.column(place).to_pylist())
    return _positional_columns(X, wanted, encoder, sets=sets)


def _named_columns(found: list[str], wanted: list[str], values: Any) -> list[Sequence[object]]:
    missing = [name for name in wanted if name not in found]
    if missing:
        raise InputError(
            f"the records have no column '{missing[0]}'", f"give the columns: {', '.join(wanted)}", code="SF-USAGE-047"
        )
    return [values(found.index(name)) for name in wanted]


def _positional_columns(X: Any, wanted: list[str], encoder: str, *, sets: bool) -> list[Sequence[object]]:  # noqa: N803 - scikit-learn's name
    # Lists hold records of mixed types: as objects, else NumPy would turn every number into text.
    array = np.asarray(X) if hasattr(X, "__array__") else _objects(list(_rows(X)), sets=sets)
    if array.ndim != 2:  # noqa: PLR2004 - a table
        raise InputError(
            f"the records are an array of {array.ndim} dimensions. Reshape your data: a row a record",
            "give a table, or a two-dimensional array",
            code="SF-USAGE-054",
        )
    if np.iscomplexobj(array):
        raise InputError("Complex data not supported", "give raw records", code="SF-USAGE-055")
    if array.shape[1] != len(wanted):
        raise InputError(
            f"X has {array.shape[1]} features, but {encoder} is expecting {len(wanted)} features as input",
            f"give the columns in this order: {', '.join(wanted)}",
            code="SF-USAGE-056",
        )
    return [list(array[:, place]) for place in range(array.shape[1])]


def _pandas_values(series: Any) -> Sequence[object]:
    """Plain objects, with None for every kind of missing value that pandas has."""
    values: list[object] = series.astype(object).where(series.notna(), None).tolist()
    return values


def _objects(rows: list[Any], *, sets: bool) -> NDArray[np.object_]:
    """Rows as a table of objects; where a value may be a list, NumPy would take it for one dimension more."""
    widths = {len(row) for row in rows if isinstance(row, list)}
    if not sets or len(widths) != 1 or not all(isinstance(row, list) for row in rows):
        return np.array(rows, dtype=object)
    table = np.empty((len(rows), widths.pop()), dtype=object)
    for place, row in enumerate(rows):
        for column, value in enumerate(row):
            table[place, column] = value
    return table


def _rows(X: Any) -> Iterable[list[object]]:  # noqa: N803 - scikit-learn's name
    for row in X:
        yield list(row) if isinstance(row, Iterable) and not isinstance(row, str | bytes) else row
