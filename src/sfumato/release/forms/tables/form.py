"""Measured tables with synthetic records drawn from them."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow.csv
from pydantic import Field

from sfumato.domains.domain import Domain
from sfumato.domains.json_form import cut_to_json, domain_to_json
from sfumato.domains.sets.set_cut import Sets
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.checks import Check
from sfumato.release.draft import Draft, Tables
from sfumato.release.form import FORMS, Form, Writer
from sfumato.release.forms.noisy_counts.count_table import in_order, same
from sfumato.release.forms.tables.layout import (
    TableLayout,
    TablesLayout,
    counts_of,
    layout_from,
    layout_of,
    measured_of,
)
from sfumato.release.forms.tables.readme import readme
from sfumato.release.forms.tables.release import TablesRelease
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import DpPrivacy, Manifest, Number, Strict
from sfumato.release.model.records import MOST_DRAWN
from sfumato.release.shown import Shown, shown_counts
from sfumato.release.storage.parquet_file import ParquetLimits, write_parquet
from sfumato.release.storage.seal import Json, stated_size
from sfumato.release.uniqueness import Uniqueness
from sfumato.study.view import View

_RECORDS = "records"
_MOST = 2**53


class AttributeEntry(Strict):
    """One attribute, with its public domain."""

    name: str
    role: Literal["predictor", "class"]
    domain: dict[str, Any]


class TableEntry(Strict):
    """One measured table.

    ``rows`` is how many score bands (of a stage) or predicted classes (of a remaining table) it tells apart.
    """

    kind: Literal["stage", "remaining"]
    rows: Annotated[int, Field(ge=1)]
    cuts: list[dict[str, Any]]
    noise_scale: Annotated[float, Field(gt=0, lt=_MOST, allow_inf_nan=False)]


class RecordNumbers(Strict):
    """How many rows of synthetic records there are."""

    rows: Number


class TablesManifest(Manifest):
    """The manifest of measured tables."""

    form: Literal["tables"]
    privacy: DpPrivacy  # nothing else makes noisy counts
    attributes: list[AttributeEntry]
    weight_column: str
    noisy_size: Annotated[int, Field(gt=-_MOST, lt=_MOST)]
    tables: list[TableEntry]
    records: RecordNumbers


class MeasuredTablesForm(Form):
    """Tables of noisy counts, each cell listed, and synthetic records with weights that were drawn from the tables."""

    name = "tables"
    schema = TablesManifest
    rows_are = "rows of synthetic records"

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[TablesLayout, Tables]:  # noqa: ARG002 - nothing is random here
        """The columns, and everything in an order that anybody could make."""
        content = draft.content
        assert isinstance(content, Tables), "a draft of this form"
        return layout_of(draft), content

    def writers(self, layout: TablesLayout, content: Tables) -> Mapping[str, Writer]:
        """Each table, and the records."""
        found: dict[str, Writer] = {}
        tables = {
            table.name: table.table(counts)
            for table, counts in zip(layout.tables, counts_of(content.measured), strict=True)
        }
        for name, table in (tables | {_RECORDS: layout.records.table(content.records)}).items():
            found[f"{name}.parquet"] = partial(write_parquet, table)
            found[f"{name}.csv"] = partial(pyarrow.csv.write_csv, table)
        return found

    def fields(self, draft: Draft, layout: TablesLayout, content: Tables) -> Json:  # noqa: ARG002 - the shape of a form
        """The domains, the tables with their noise, and how many rows the records have."""
        records, measured = layout.records, content.measured
        roles = (*("predictor" for _ in records.names), "class")
        return {
            "attributes": [
                {"name": name, "role": role, "domain": domain_to_json(domain)}
                for (name, domain), role in zip(records.attributes, roles, strict=True)
            ],
            "weight_column": records.count,
            "noisy_size": measured.size,
            "tables": [
                {
                    "kind": "stage" if table in layout.stages else "remaining",
                    "rows": len(table.first or (0,)),
                    "cuts": [cut_to_json(cut) for cut in table.cuts],
                    "noise_scale": table.scale,
                }
                for table in layout.tables
            ],
            "records": {"rows": len(content.records)},
        }

    def shown(self, draft: Draft, view: View, sets: Mapping[str, Sets]) -> Shown:
        """The synthetic records, as regions with weights."""
        return shown_counts(draft, tuple(attribute.name for attribute in view.quasi), sets)

    def readme(self, layout: TablesLayout, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:  # noqa: ARG002 - no records of people
        """What a receiver needs to know."""
        return readme(layout, manifest)

    def columns(self, layout: TablesLayout, manifest: Mapping[str, Any]) -> Mapping[str, Json]:  # noqa: ARG002 - the shape of a form
        """Labels, counts, and weights."""
        found = {table.name: _schema(table) for table in layout.tables}
        records = layout.records
        fields: list[Json] = [
            {"name": name, "type": "string", "constraints": {"required": True}} for name in records.columns[:-1]
        ]
        fields.append({"name": records.count, "type": "number", "constraints": {"required": True, "minimum": 0}})
        return found | {_RECORDS: {"fields": fields, "missingValues": [], "primaryKey": list(records.columns[:-1])}}

    def about(self) -> str:
        """What the data are."""
        return "Tables of noisy counts in which every cell is listed, and synthetic records drawn from them."

    def rows(self, draft: Draft) -> int:
        """Rows of synthetic records."""
        return len(draft.groups)

    def layout(self, manifest: Mapping[str, Any]) -> TablesLayout:
        """The columns that a manifest declares."""
        return layout_from(manifest)

    def files(self, layout: TablesLayout) -> tuple[str, ...]:
        """Two files a table."""
        names = (*(table.name for table in layout.tables), _RECORDS)
        return tuple(f"{name}.{ending}" for name in names for ending in ("parquet", "csv"))

    def read(self, place: Path, manifest: Mapping[str, Any], layout: TablesLayout, ending: str) -> Tables:
        """The tables and records of the files with this ending."""
        counts = [table.read(place, ending, stated_size(manifest, f"{table.name}.csv")) for table in layout.tables]
        records = layout.records
        if ending == "csv":
            found = records.read_csv(place / f"{_RECORDS}.csv")
        else:
            limits = ParquetLimits(
                rows=manifest["records"]["rows"], text_bytes=stated_size(manifest, f"{_RECORDS}.csv")
            )
            found = records.read_parquet(place / f"{_RECORDS}.parquet", limits)
        groups = records.groups(found)
        return Tables(measured_of(layout, counts, manifest["noisy_size"]), lambda: groups)

    def same(self, one: Tables, other: Tables) -> bool:
        """Whether all tables and records are equal."""
        pairs = zip(counts_of(one.measured), counts_of(other.measured), strict=True)
        return same(one.records, other.records) and all(np.array_equal(a, b) for a, b in pairs)

    def readable(self, layout: TablesLayout, content: Tables) -> str:
        """Tables with all their cells."""
        return (
            f"{len(layout.tables):,} tables with every declared cell, and {len(content.records):,} rows of synthetic "
            "records in the declared groups"
        )

    def checks(self, layout: TablesLayout, content: Tables, manifest: Mapping[str, Any]) -> list[Check]:
        """The order of the records, and that they stand for as many as the tables say."""
        ordered = in_order(content.records)
        detail = "every row once, in the order of its values" if ordered else "a row is listed twice, or out of order"
        stated = max(manifest["noisy_size"], 1)
        weight = float(content.records.counts.sum())
        rounding = 1e-4 * MOST_DRAWN * len(layout.classes)  # weights have four digits, and none of 0 is listed
        fits = abs(weight - stated) <= 0.01 * stated + rounding
        numbers = (
            "the weights add up to the noisy number of records"
            if fits and len(content.records) == manifest["records"]["rows"]
            else "the records do not stand for as many as the manifest says"
        )
        return [Check("order", ordered, detail), Check("numbers", numbers.startswith("the weights"), numbers)]

    def evidence(self, layout: TablesLayout, content: Tables, manifest: Mapping[str, Any]) -> None:  # noqa: ARG002 - the shape of a form
        """No records of people, no equivalence classes."""
        return

    def open(self, place: Path, manifest: Mapping[str, Any], layout: TablesLayout, content: Tables) -> TablesRelease:
        """The release as its receiver uses it."""
        return TablesRelease(place, manifest, layout, content)

    def domains(self, layout: TablesLayout) -> Mapping[str, Domain]:
        """The public domain of every attribute, the class too."""
        return dict(layout.records.attributes)


FORMS.add(MeasuredTablesForm())


def _schema(table: TableLayout) -> Json:
    fields: list[Json] = [
        {"name": name, "type": "string", "constraints": {"required": True}} for name in table.columns[:-1]
    ]
    count = {
        "name": table.count,
        "type": "integer",
        "description": "how many records, after noise; may be negative",
        "constraints": {"required": True},
    }
    return {"fields": [*fields, count], "missingValues": [], "primaryKey": list(table.columns[:-1])}
