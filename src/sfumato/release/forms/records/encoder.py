"""A scikit-learn transformer that puts new raw records into the regions of a release of records."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.release.forms.noisy_counts.encoder import InputError, RawRecordEncoder, set_columns
from sfumato.release.forms.records.record_features import RecordFeatures, Regions
from sfumato.release.forms.records.record_table import Column


class RecordEncoder(RawRecordEncoder):
    """Raw records to the columns of `RecordsRelease.to_training`; it learns nothing from data.

    Takes pandas, polars and Arrow tables (columns are found by name) and arrays with the release's columns in order.
    Quasi-identifiers are put into the region that holds the record, or the nearest one; exact columns stay what they
    are. A value that no published record has gives 0 in every column of a categorical attribute.

    A set is a list of codes, or text with the separator of its domain; where it was joined from several columns, those
    are found in a table, too. It becomes the published set of nodes that it falls under; one that no published region
    holds is such a value. Where the codes are not public (they were read off the table), a set comes as a name that
    it is published by.
    """

    def __init__(self, features: RecordFeatures | None = None, regions: Regions | None = None) -> None:
        self.features = features
        self.regions = regions

    def fit(self, X: Any, y: Any = None) -> "RecordEncoder":  # noqa: ARG002, N803 - scikit-learn's signature
        """Check that records have the columns; there is nothing to learn."""
        self._raw(X)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """The columns of `to_training`, a row a record."""
        if self.features is None or self.regions is None:
            raise InputError("this encoder has no release", "get one from `release.encoder()`", code="SF-USAGE-058")
        columns = self.features.columns
        codes = {c.name: _codes(c, values) for c, values in zip(columns, self._raw(X), strict=True)}
        quasi = [c.name for c in columns if c.role == "quasi_identifier"]
        places = dict(zip(quasi, self.regions.places([codes[name] for name in quasi]), strict=True))
        for column in columns:
            if column.name not in places:
                places[column.name] = _exact(self.features.spans[column.name].starts, codes[column.name])
        return self.features.matrix(places)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002 - scikit-learn's
        """The names of the columns that come out."""
        return np.array(() if self.features is None else self.features.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns of records it takes."""
        return len(self._names)

    def _raw(self, X: Any) -> list[Sequence[object]]:  # noqa: N803 - scikit-learn's name
        columns = () if self.features is None else self.features.columns
        return set_columns(X, [(column.name, column.sets) for column in columns], type(self).__name__)

    @property
    def _names(self) -> list[str]:
        return [] if self.features is None else [column.name for column in self.features.columns]


def _codes(column: Column, values: Sequence[object]) -> NDArray[np.int64]:
    """The codes of raw values; of sets those that they are published by, -1 where no published region holds one."""
    if column.sets is None or column.published_sets is None:
        return column.domain.encode(values)
    read = column.sets.encode(values)
    places = np.append(
        column.published_sets.places.of(read.sets), -1
    )  # the last place is that of a record that is left out
    found: NDArray[np.int64] = places[np.asarray(read)]
    return found


def _exact(known: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each code among those that are published, -1 for others."""
    place = np.clip(np.searchsorted(known, codes), 0, len(known) - 1)
    return np.where(known[place] == codes, place, -1).astype(np.int64)
