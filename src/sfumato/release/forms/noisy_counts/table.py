"""Groups as a table of labels with a count, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count as counting
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.cut import plain_numbers
from sfumato.errors import VerifyError
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import ParquetLimits, read_parquet
from sfumato.release.storage.untrusted import open_regular

_BLOCK = 1 << 24  # bytes of CSV read at a time; a row must fit
_MOST_COUNTED = 2**62  # by all counts together
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Layout:
    """The columns of a release: a region an attribute, the class, and the count."""

    names: tuple[str, ...]  # the predictors, in order
    domains: tuple[Domain, ...]
    cuts: tuple[Cut, ...]
    class_name: str  # empty where there is no class: then there is no such column
    class_domain: Domain
    count: str

    @property
    def targeted(self) -> bool:
        """Whether a class is published."""
        return bool(self.class_name)

    @property
    def attributes(self) -> tuple[tuple[str, Domain], ...]:
        """The name and domain of every column but the count."""
        pairs = tuple(zip(self.names, self.domains, strict=True))
        return (*pairs, (self.class_name, self.class_domain)) if self.targeted else pairs

    @cached_property
    def labels(self) -> tuple[Labels, ...]:
        """How each column but the count reads; the class is published as it is."""
        found = tuple(Labels(domain, cut) for domain, cut in zip(self.domains, self.cuts, strict=True))
        if not self.targeted:
            return found
        return (*found, Labels(self.class_domain, Cut.finest(self.class_name, self.class_domain.size)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order."""
        return (*(name for name, _ in self.attributes), self.count)

    @property
    def combinations(self) -> int:
        """How many groups the cuts and the class make, listed or not."""
        total = self.class_domain.size
        for cut in self.cuts:
            total *= cut.total
        return total

    def table(self, groups: Groups) -> pa.Table:
        """The groups as a table, in the order they have."""
        numbers = [plain_numbers(*pair) for pair in zip(self.cuts, groups.regions.T, strict=True)]
        numbers += [groups.classes] if self.targeted else []
        arrays = [label.column(column) for label, column in zip(self.labels, numbers, strict=True)]
        return pa.table([*arrays, pa.array(groups.counts, pa.int64())], names=list(self.columns))

    def groups(self, table: pa.Table) -> Groups:
        """The groups of a table; what does not fit the columns, the cuts or the classes is a `VerifyError`."""
        if tuple(table.column_names) != self.columns:
            raise VerifyError("the columns are not the declared ones", "get the bundle again", code="SF-VERIFY-056")
        counts = table.column(self.count)
        if counts.type != pa.int64() or any(table.column(name).null_count for name in self.columns):
            raise VerifyError(
                "a count is not a whole number, or a value is empty", "get the bundle again", code="SF-VERIFY-057"
            )
        if len(table) and (pc.min(counts).as_py() < 1 or pc.max(counts).as_py() > _MOST_COUNTED // len(table)):
            raise VerifyError(
                "a count is below 1, or too large to be added up", "get the bundle again", code="SF-VERIFY-058"
            )
        numbers = [_numbers(label, table.column(place)) for place, label in enumerate(self.labels)]
        classes = numbers.pop() if self.targeted else np.zeros(len(table), dtype=np.int64)
        regions = np.stack(numbers, axis=1) if self.names else np.empty((len(table), 0), dtype=np.int64)
        return Groups(self.cuts, regions, classes, counts.to_numpy().astype(np.int64))

    def read_parquet(self, path: Path, limits: ParquetLimits) -> pa.Table:
        """The table of a Parquet file, each label once."""
        return read_parquet(path, {**dict.fromkeys(self.columns[:-1], _TEXT), self.count: pa.int64()}, limits)

    def read_csv(self, path: Path) -> pa.Table:
        """The table of a CSV file: text as it stands, nothing taken for a missing value."""
        refuse_header(path, self.columns)
        types = dict.fromkeys(self.columns[:-1], _TEXT)
        with open_regular(path) as file:
            return pa.csv.read_csv(
                file,
                read_options=pa.csv.ReadOptions(block_size=_BLOCK),
                parse_options=pa.csv.ParseOptions(newlines_in_values=self._has_line_ends),
                convert_options=pa.csv.ConvertOptions(
                    column_types={**types, self.count: pa.int64()}, strings_can_be_null=False, check_utf8=True
                ),
            )

    @property
    def _has_line_ends(self) -> bool:
        """Whether a quoted value may go over a line end; most do not, and are read twice as fast."""
        texts = [*self.columns]
        for labels in self.labels:
            texts += labels.domain.taxonomy.labels if labels.domain.taxonomy else ()
            texts += [labels.domain.missing_label] if isinstance(labels.domain, Grid) else ()
        return any("\n" in text or "\r" in text for text in texts)


def count_column(names: Sequence[str]) -> str:
    """A name for the count that no other column has, capitals aside: databases do not tell them apart.

    >>> count_column(["age", "Count"])
    'count_1'
    """
    taken = {name.casefold() for name in names}
    return next(name for n in counting() if (name := f"count_{n}" if n else "count") not in taken)


def in_order(groups: Groups) -> bool:
    """Whether the groups stand in the order of their region numbers and class, each once."""
    before = np.ones(max(len(groups) - 1, 0), dtype=bool)  # still equal to the row before
    rising = np.zeros_like(before)
    for column in (*groups.regions.T, groups.classes):
        rising |= before & (column[:-1] < column[1:])
        before &= column[:-1] == column[1:]
    return bool(rising.all())


def put_in_order(groups: Groups) -> Groups:
    """The same groups in the order of their region numbers and class: an order that anybody could make."""
    if in_order(groups):
        return groups
    order = np.lexsort((groups.classes, *groups.regions.T[::-1]))
    return Groups(groups.cuts, groups.regions[order], groups.classes[order], groups.counts[order])


def same(one: Groups, other: Groups) -> bool:
    """Whether two lists of groups over the same cuts are equal."""
    pairs = ((one.regions, other.regions), (one.classes, other.classes), (one.counts, other.counts))
    return one.cuts == other.cuts and all(np.array_equal(a, b) for a, b in pairs)


def _numbers(labels: Labels, column: pa.ChunkedArray) -> NDArray[np.int64]:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if column.type.value_type != pa.string():
        raise VerifyError(
            f"'{labels.cut.attribute}' is not a column of text", "get the bundle again", code="SF-VERIFY-059"
        )
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no rows: nothing to combine
        return np.empty(0, dtype=np.int64)
    places = whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    regions: NDArray[np.int64] = labels.regions(whole.dictionary.to_pylist())[places]
    return regions
