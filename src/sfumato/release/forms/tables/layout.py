"""The columns of measured tables and of the synthetic records: as a draft has them, and as a manifest declares them.

Every cell of a measured table is listed, in the order of its numbers. So all of a table but its counts follows from the
manifest, and reading one means to compare it with that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.json_form import cut_from_json, domain_from_json
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.count_table import Layout, free_name, refuse_other_cut
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.measured import MOST_CLASSES, MOST_GROUPS, MeasuredTables, RemainingTable, StageTable
from sfumato.release.model.plug_in import BANDS, MARGINS
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import ParquetLimits, read_parquet
from sfumato.release.storage.seal import broken_bundle
from sfumato.release.storage.untrusted import open_regular

MOST_CELLS: Final = 10**7
"""Cells of one table: no release has more, and a manifest that says so is refused before anything is read."""

_MOST_TABLES: Final = 10_000
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


@dataclass(frozen=True)
class TablesLayout:
    """All files of a release of measured tables."""

    records: Layout
    stages: tuple[TableLayout, ...]
    remaining: tuple[TableLayout, ...]
    band_column: str
    predicted_column: str

    @property
    def tables(self) -> tuple[TableLayout, ...]:
        """Every measured table."""
        return (*self.stages, *self.remaining)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order."""
        return self.records.labels[-1].all


def layout_of(draft: Draft) -> TablesLayout:
    """The columns that a draft is published in."""
    view, measured = draft.view, draft.measured
    names = tuple(attribute.name for attribute in view.predictors)
    assert view.target.domain is not None, "a target has a domain"
    records = Layout(
        names=names,
        domains=tuple(view.domain(name) for name in names),
        cuts=draft.groups.cuts,
        class_name=view.target.name,
        class_domain=view.target.domain,
        count=free_name("weight", [a.name for a in view.attributes]),
        weighted=True,
    )
    return _layout(
        records,
        stages=[(table.bands, table.cuts, table.scale) for table in measured.stages],
        remaining=[(len(table.counts), table.cut, table.scale) for table in measured.remaining],
    )


def _layout(
    records: Layout,
    *,
    stages: Sequence[tuple[int, tuple[Cut, ...], float]],
    remaining: Sequence[tuple[int, Cut, float]],
) -> TablesLayout:
    """The layout of tables with so many score bands or predicted classes, these cuts and this noise."""
    taken = [*records.names, records.class_name, records.count]
    band, predicted = free_name("score_band", taken), free_name("predicted", taken)
    count = free_name("count", taken)
    classes = records.labels[-1].all
    domains = dict(records.attributes)

    def table(
        name: str, first: tuple[str, ...] | None, column: str, cuts: tuple[Cut, ...], scale: float, *, counted: bool
    ) -> TableLayout:
        return TableLayout(
            name, first, column, cuts, tuple(domains[cut.attribute] for cut in cuts), classes if counted else None,
            records.class_name, count, scale,
        )  # fmt: skip

    return TablesLayout(
        records,
        tuple(
            table(f"table_{n}", _bands(classes) if bands > 1 else None, band, cuts, scale, counted=True)
            for n, (bands, cuts, scale) in enumerate(stages, start=1)
        ),
        tuple(
            table(f"other_{n}", classes if rows > 1 else None, predicted, (cut,), scale, counted=False)
            for n, (rows, cut, scale) in enumerate(remaining, start=1)
        ),
        band,
        predicted,
    )


def layout_from(content: Mapping[str, Any]) -> TablesLayout:
    """The columns that a manifest declares; refuses what contradicts itself."""
    entries = content["attributes"]
    names = [entry["name"] for entry in entries]
    roles = [entry["role"] for entry in entries]
    if roles[-1:] != ["class"] or roles.count("class") != 1 or len(set(names)) != len(names):
        raise broken_bundle(
            "the manifest does not declare its attributes once each, and its class last", code="SF-VERIFY-122"
        )
    domains = {entry["name"]: domain_from_json(entry["domain"]) for entry in entries}
    target = domains[names[-1]]
    if not isinstance(target, Categories) or not 1 < target.size <= MOST_CLASSES:
        raise broken_bundle("the class of the manifest does not have from 2 to 100 values", code="SF-VERIFY-129")
    if len(content["tables"]) > _MOST_TABLES:
        raise broken_bundle("the manifest declares more tables than any release has", code="SF-VERIFY-123")
    stages, remaining, used = _declared_tables(content["tables"], domains, names[-1])
    if not stages:
        raise broken_bundle("the manifest declares no measured table", code="SF-VERIFY-124")
    records = Layout(
        names=tuple(names[:-1]),
        domains=tuple(domains[name] for name in names[:-1]),
        cuts=tuple(used.get(name) or domains[name].root(name) for name in names[:-1]),
        class_name=names[-1],
        class_domain=domains[names[-1]],
        count=content["weight_column"],
        weighted=True,
    )
    if records.count in names:
        raise broken_bundle("two columns of the manifest have the same name", code="SF-VERIFY-050")
    return _layout(records, stages=stages, remaining=remaining)


_Stages = list[tuple[int, tuple[Cut, ...], float]]
_Remaining = list[tuple[int, Cut, float]]


def _declared_tables(
    stated: Sequence[Mapping[str, Any]], domains: Mapping[str, Domain], target: str
) -> tuple[_Stages, _Remaining, dict[str, Cut]]:
    """The tables of a manifest, and the cut of each attribute that one has."""
    stages: _Stages = []
    remaining: _Remaining = []
    used: dict[str, Cut] = {}
    classes = domains[target].size
    for table in stated:
        cuts = tuple(cut_from_json(cut) for cut in table["cuts"])
        for cut in cuts:
            if cut.attribute not in domains or cut.attribute == target or cut.attribute in used:
                raise broken_bundle(
                    "a table of the manifest counts an attribute that it cannot count", code="SF-VERIFY-125"
                )
            if cut.total > MOST_GROUPS:
                raise broken_bundle(
                    "a table of the manifest has more groups of an attribute than any release has", code="SF-VERIFY-130"
                )
            refuse_other_cut(cut.attribute, domains[cut.attribute], cut)
            used[cut.attribute] = cut
        rows, staged = table["rows"], table["kind"] == "stage"
        if staged:
            allowed = {BANDS * classes} if stages else {1}
            stages.append((rows, cuts, table["noise_scale"]))
        else:
            allowed = {1, classes}
            remaining += [(rows, cut, table["noise_scale"]) for cut in cuts]
        if rows not in allowed or (staged and remaining) or (not staged and len(cuts) != 1):
            raise broken_bundle(
                "a table of the manifest has other rows or columns than such a table has", code="SF-VERIFY-126"
            )
        if rows * prod(cut.total for cut in cuts) * (classes if staged else 1) > MOST_CELLS:
            raise broken_bundle("a table of the manifest has more cells than any release has", code="SF-VERIFY-127")
    return stages, remaining, used


def measured_of(layout: TablesLayout, counts: Sequence[NDArray[np.int64]], size: int) -> MeasuredTables:
    """The measured tables with these counts, in the order of the layout."""
    classes = len(layout.classes)
    found = iter(counts)
    stages = tuple(
        StageTable(len(table.first or (0,)), table.cuts, next(found).reshape(-1, classes), table.scale)
        for table in layout.stages
    )
    remaining = tuple(
        RemainingTable(table.cuts[0], next(found).reshape(len(table.first or (0,)), -1), table.scale)
        for table in layout.remaining
    )
    return MeasuredTables(size, classes, stages, remaining)


def counts_of(measured: MeasuredTables) -> list[NDArray[np.int64]]:
    """The counts of all tables, in the order of the layout."""
    return [*(table.counts for table in measured.stages), *(table.counts for table in measured.remaining)]


def _bands(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The score bands in words: which class leads, and by how much in log-odds."""
    edges = ["0", *(f"{margin:g}" for margin in MARGINS)]
    ranges = [f"{low} to {high}" for low, high in pairwise(edges)] + [f"{edges[-1]} or more"]
    return tuple(f"{label} by {part}" for label in classes for part in ranges)
