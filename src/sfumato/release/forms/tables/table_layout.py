"""The columns of one measured table, and its counts in a file.

Every cell of a measured table is listed, in the order of its numbers. So all of a table but its counts follows from the
manifest, and reading one means to compare it with that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain
from sfumato.release.forms.noisy_counts.count_table import Layout
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import ParquetLimits, read_parquet
from sfumato.release.storage.seal import Json, broken_bundle
from sfumato.release.storage.untrusted import open_regular

MOST_CELLS: Final = 10**7
"""Cells of one table: no release has more, and a manifest that says so is refused before anything is read."""

MOST_TABLES: Final = 10_000
"""Tables of one release."""

_MOST_COUNTED: Final = 2**53
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class TableLayout:
    """The columns of one measured table: the score band or the predicted class, the groups, the class, the count."""

    name: str  # of its files, without ending
    first: tuple[str, ...] | None  # the labels of the first column; None where there is no such column
    first_column: str
    cuts: tuple[Cut, ...]
    domains: tuple[Domain, ...]
    classes: tuple[str, ...] | None  # the labels of the class; None where the class is not counted
    class_column: str
    count: str
    scale: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has, the count not among them."""
        found = [] if self.first is None else [len(self.first)]
        found += [cut.total for cut in self.cuts]
        return (*found, *([] if self.classes is None else [len(self.classes)]))

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return prod(self.sizes)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order."""
        first = () if self.first is None else (self.first_column,)
        target = () if self.classes is None else (self.class_column,)
        return (*first, *(cut.attribute for cut in self.cuts), *target, self.count)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The values of each column but the count, in order."""
        found: list[tuple[str, ...]] = [] if self.first is None else [self.first]
        found += [Labels(domain, cut).all for domain, cut in zip(self.domains, self.cuts, strict=True)]
        return (*found, *([] if self.classes is None else [self.classes]))

    def table(self, counts: NDArray[np.int64]) -> pa.Table:
        """The cells with their counts."""
        return pa.table([*self._cells(), pa.array(counts.ravel(), pa.int64())], names=list(self.columns))

    @property
    def known(self) -> set[str]:
        """The attributes that it counts."""
        return {*(cut.attribute for cut in self.cuts), *([] if self.classes is None else [self.class_column])}

    @property
    def schema(self) -> Json:
        """For datapackage.json: labels, and a count."""
        fields: list[Json] = [
            {"name": name, "type": "string", "constraints": {"required": True}} for name in self.columns[:-1]
        ]
        count = {
            "name": self.count,
            "type": "integer",
            "description": "how many records, after noise; may be negative",
            "constraints": {"required": True},
        }
        return {"fields": [*fields, count], "missingValues": [], "primaryKey": list(self.columns[:-1])}

    @property
    def _text_length(self) -> int:
        """How many characters the labels of all rows have."""
        return sum(sum(map(len, labels)) * (self.rows // len(labels)) for labels in self.labels)

    def _cells(self) -> list[pa.Array]:
        numbers = np.unravel_index(np.arange(self.rows), self.sizes)
        return [
            pa.DictionaryArray.from_arrays(pa.array(column.astype(np.int32)), pa.array(labels, pa.string()))
            for column, labels in zip(numbers, self.labels, strict=True)
        ]

    def read(self, place: Path, ending: str, text_bytes: int) -> NDArray[np.int64]:
        """The counts of a file; one that does not list the declared cells in order is a `VerifyError`."""
        if self._text_length > text_bytes:  # a CSV file has every label of every row
            raise broken_bundle(
                f"the table '{self.name}' is larger than its CSV file has room for", code="SF-VERIFY-128"
            )
        kinds = {**dict.fromkeys(self.columns[:-1], _TEXT), self.count: pa.int64()}
        path = place / f"{self.name}.{ending}"
        if ending == "parquet":
            table = read_parquet(path, kinds, ParquetLimits(rows=self.rows, text_bytes=text_bytes))
        else:
            table = self._read_csv(path, kinds)
        if tuple(table.column_names) != self.columns or len(table) != self.rows:
            raise broken_bundle(
                f"the table '{self.name}' does not have the declared columns and rows", code="SF-VERIFY-118"
            )
        for name, expected in zip(self.columns[:-1], self._cells(), strict=True):
            found = table.column(name)
            if found.null_count or not pc.all(pc.equal(found.cast(pa.string()), expected.cast(pa.string()))).as_py():
                raise broken_bundle(
                    f"the table '{self.name}' does not list the declared cells in their order", code="SF-VERIFY-119"
                )
        counts = table.column(self.count)
        if counts.type != pa.int64() or counts.null_count:
            raise broken_bundle(f"a count of the table '{self.name}' is not a whole number", code="SF-VERIFY-120")
        numbers: NDArray[np.int64] = counts.to_numpy().astype(np.int64)
        if max(-int(numbers.min()), int(numbers.max())) > _MOST_COUNTED // len(numbers):
            raise broken_bundle(f"a count of the table '{self.name}' is too large to be added up", code="SF-VERIFY-121")
        return numbers

    def _read_csv(self, path: Path, kinds: Mapping[str, pa.DataType]) -> pa.Table:
        refuse_header(path, self.columns)
        with open_regular(path) as file:
            return pa.csv.read_csv(
                file,
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict(kinds), strings_can_be_null=False, check_utf8=True
                ),
            )


class FilesLayout(Protocol):
    """The columns of the measured tables and of the synthetic records."""

    @property
    def tables(self) -> tuple[TableLayout, ...]:
        """Every measured table."""
        ...

    @property
    def records(self) -> Layout:
        """The synthetic records."""
        ...
