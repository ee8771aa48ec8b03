"""Measured tables with synthetic records drawn from them: what all such forms have in common."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_cut import Sets
from sfumato.release.checks import Check
from sfumato.release.draft import Draft, Groups, Tables
from sfumato.release.form import Form, Writer
from sfumato.release.forms.noisy_counts.count_table import in_order, same
from sfumato.release.forms.tables.page_answers import page_answers
from sfumato.release.forms.tables.table_layout import FilesLayout
from sfumato.release.model.records import MOST_DRAWN
from sfumato.release.page.embedded_rows import PageAnswers
from sfumato.release.shown import Shown, shown_counts
from sfumato.release.storage.parquet_file import ParquetLimits, write_parquet
from sfumato.release.storage.seal import Json, stated_size
from sfumato.study.view import View

_RECORDS = "records"


class SyntheticForm(Form):
    """Tables of noisy counts, each cell listed, and synthetic records with weights that were drawn from the tables."""

    rows_are = "weighted rows of synthetic records"

    def writers(self, layout: FilesLayout, content: Tables) -> Mapping[str, Writer]:
        """Each table, and the records."""
        found: dict[str, Writer] = {}
        tables = {
            table.name: table.table(counts)
            for table, counts in zip(layout.tables, content.measured.counts, strict=True)
        }
        for name, table in (tables | {_RECORDS: layout.records.table(content.records)}).items():
            found[f"{name}.parquet"] = partial(write_parquet, table)
            found[f"{name}.csv"] = partial(pyarrow.csv.write_csv, table)
        return found

    def shown(self, draft: Draft, view: View, sets: Mapping[str, Sets]) -> Shown:
        """The synthetic records, as regions with weights."""
        return shown_counts(draft, tuple(attribute.name for attribute in view.quasi), sets)

    def columns(self, layout: FilesLayout, manifest: Mapping[str, Any]) -> Mapping[str, Json]:  # noqa: ARG002 - the shape of a form
        """Labels, counts, and weights."""
        found = {table.name: table.schema for table in layout.tables}
        records = layout.records
        fields: list[Json] = [
            {"name": name, "type": "string", "constraints": {"required": True}} for name in records.columns[:-1]
        ]
        fields.append({"name": records.count, "type": "number", "constraints": {"required": True, "minimum": 0}})
        return found | {_RECORDS: {"fields": fields, "missingValues": [], "primaryKey": list(records.columns[:-1])}}

    def rows(self, draft: Draft) -> int:
        """Rows of synthetic records."""
        return len(draft.groups)

    def files(self, layout: FilesLayout) -> tuple[str, ...]:
        """Two files a table."""
        names = (*(table.name for table in layout.tables), _RECORDS)
        return tuple(f"{name}.{ending}" for name in names for ending in ("parquet", "csv"))

    def same(self, one: Tables, other: Tables) -> bool:
        """Whether all tables and records are equal."""
        pairs = zip(one.measured.counts, other.measured.counts, strict=True)
        return same(one.records, other.records) and all(np.array_equal(a, b) for a, b in pairs)

    def readable(self, layout: FilesLayout, content: Tables) -> str:
        """Tables with all their cells."""
        return (
            f"{len(layout.tables):,} tables with every declared cell, and {len(content.records):,} rows of synthetic "
            "records in the declared groups"
        )

    def checks(self, layout: FilesLayout, content: Tables, manifest: Mapping[str, Any]) -> list[Check]:
        """The order of the records, and that they stand for as many as the tables say."""
        ordered = in_order(content.records)
        detail = "every row once, in the order of its values" if ordered else "a row is listed twice, or out of order"
        stated = content.measured.total
        weight = float(content.records.counts.sum())
        rounding = (
            1e-4 * MOST_DRAWN * layout.records.class_domain.size
        )  # weights have four digits, and none of 0 is listed
        fits = abs(weight - stated) <= 0.01 * stated + rounding
        numbers = (
            "the weights add up to the noisy number of records"
            if fits and len(content.records) == manifest["records"]["rows"]
            else "the records do not stand for as many as the manifest says"
        )
        return [Check("order", ordered, detail), Check("numbers", numbers.startswith("the weights"), numbers)]

    def evidence(self, layout: FilesLayout, content: Tables, manifest: Mapping[str, Any]) -> None:  # noqa: ARG002 - the shape of a form
        """No records of people, no equivalence classes."""
        return

    def page_answers(self, layout: FilesLayout, content: Tables, manifest: Mapping[str, Any]) -> PageAnswers:  # noqa: ARG002 - the shape of a form
        """What the page embeds to answer queries."""
        return page_answers(layout, content)

    def domains(self, layout: FilesLayout) -> Mapping[str, Domain]:
        """The public domain of every attribute, the class too."""
        return dict(layout.records.attributes)

    def read_files(
        self, place: Path, manifest: Mapping[str, Any], layout: FilesLayout, ending: str
    ) -> tuple[list[NDArray[np.int64]], Groups]:
        """The counts of all tables, and the records, of the files with this ending."""
        counts = [table.read(place, ending, stated_size(manifest, f"{table.name}.csv")) for table in layout.tables]
        records = layout.records
        if ending == "csv":
            found = records.read_csv(place / f"{_RECORDS}.csv")
        else:
            limits = ParquetLimits(
                rows=manifest["records"]["rows"], text_bytes=stated_size(manifest, f"{_RECORDS}.csv")
            )
            found = records.read_parquet(place / f"{_RECORDS}.parquet", limits)
        return counts, records.groups(found)
