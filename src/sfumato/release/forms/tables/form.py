"""Measured tables with synthetic records drawn from them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from sfumato.domains.json_form import cut_to_json, domain_to_json
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.draft import Draft, Tables
from sfumato.release.form import FORMS
from sfumato.release.forms.tables.layout import (
    TablesLayout,
    layout_from,
    layout_of,
    measured_of,
)
from sfumato.release.forms.tables.readme import readme
from sfumato.release.forms.tables.release import TablesRelease
from sfumato.release.forms.tables.synthetic_form import SyntheticForm
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import DpPrivacy, Manifest, Number, Strict
from sfumato.release.storage.seal import Json
from sfumato.release.uniqueness import Uniqueness

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


class MeasuredTablesForm(SyntheticForm):
    """Tables of noisy counts, each cell listed, and synthetic records with weights that were drawn from the tables."""

    name = "tables"
    schema = TablesManifest

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[TablesLayout, Tables]:  # noqa: ARG002 - nothing is random here
        """The columns, and everything in an order that anybody could make."""
        content = draft.content
        assert isinstance(content, Tables), "a draft of this form"
        return layout_of(draft), content

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

    def readme(self, layout: TablesLayout, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:  # noqa: ARG002 - no records of people
        """What a receiver needs to know."""
        return readme(layout, manifest)

    def about(self) -> str:
        """What the data are."""
        return "Tables of noisy counts in which every cell is listed, and synthetic records drawn from them."

    def layout(self, manifest: Mapping[str, Any]) -> TablesLayout:
        """The columns that a manifest declares."""
        return layout_from(manifest)

    def read(self, place: Path, manifest: Mapping[str, Any], layout: TablesLayout, ending: str) -> Tables:
        """The tables and records of the files with this ending."""
        counts, groups = self.read_files(place, manifest, layout, ending)
        return Tables(measured_of(layout, counts, manifest["noisy_size"]), lambda: groups)

    def open(self, place: Path, manifest: Mapping[str, Any], layout: TablesLayout, content: Tables) -> TablesRelease:
        """The release as its receiver uses it."""
        return TablesRelease(place, manifest, layout, content)


FORMS.add(MeasuredTablesForm())
