"""Measured marginals with synthetic records drawn from the model that they make."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from sfumato.domains.json_form import cut_to_json, domain_to_json
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.draft import Draft, Tables
from sfumato.release.form import FORMS
from sfumato.release.forms.marginals.layout import MarginalsLayout, layout_from, layout_of
from sfumato.release.forms.marginals.readme import readme
from sfumato.release.forms.marginals.release import MarginalsRelease
from sfumato.release.forms.tables.synthetic_form import SyntheticForm
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import DpPrivacy, Manifest, Number, Strict
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.storage.seal import Json
from sfumato.release.uniqueness import Uniqueness

_MOST = 2**53

Scale = Annotated[float, Field(gt=0, lt=_MOST, allow_inf_nan=False)]


class AttributeEntry(Strict):
    """One attribute, with its public domain and the groups that it is counted by."""

    name: str
    role: Literal["predictor", "class"]
    domain: dict[str, Any]
    cut: dict[str, Any]


class TableEntry(Strict):
    """One measured table: the attributes that it counts, in the order of the list of attributes."""

    attributes: list[str]
    noise_scale: Scale


class RecordNumbers(Strict):
    """How many rows of synthetic records there are."""

    rows: Number


class MarginalsManifest(Manifest):
    """The manifest of measured marginals."""

    form: Literal["marginals"]
    privacy: DpPrivacy  # nothing else makes noisy counts
    attributes: list[AttributeEntry]
    weight_column: str
    noisy_size: Annotated[int, Field(gt=-_MOST, lt=_MOST)]
    noisy_size_scale: Scale
    tables: list[TableEntry]
    records: RecordNumbers


class MarginalsForm(SyntheticForm):
    """Marginals with noise, each cell listed, and synthetic records that were drawn from the model that they make."""

    name = "marginals"
    schema = MarginalsManifest

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[MarginalsLayout, Tables]:  # noqa: ARG002 - nothing is random here
        """The columns, and everything in an order that anybody could make."""
        content = draft.content
        assert isinstance(content, Tables), "a draft of this form"
        return layout_of(draft), content

    def fields(self, draft: Draft, layout: MarginalsLayout, content: Tables) -> Json:  # noqa: ARG002 - the shape of a form
        """The domains and groups, the tables with their noise, and how many rows the records have."""
        records, measured = layout.records, content.measured
        assert isinstance(measured, MeasuredMarginals), "a draft of this form"
        roles = [*("predictor" for _ in records.names), *(["class"] if records.targeted else [])]
        return {
            "attributes": [
                {"name": name, "role": role, "domain": domain_to_json(domain), "cut": cut_to_json(cut)}
                for (name, domain), role, cut in zip(records.attributes, roles, layout.cuts, strict=True)
            ],
            "weight_column": records.count,
            "noisy_size": measured.size,
            "noisy_size_scale": measured.size_scale,
            "tables": [
                {"attributes": [layout.cuts[a].attribute for a in places], "noise_scale": table.scale}
                for places, table in zip(layout.places, layout.tables, strict=True)
            ],
            "records": {"rows": len(content.records)},
        }

    def readme(self, layout: MarginalsLayout, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:  # noqa: ARG002 - no records of people
        """What a receiver needs to know."""
        return readme(layout, manifest)

    def about(self) -> str:
        """What the data are."""
        return "Marginals with noise in which every cell is listed, and synthetic records drawn from a model of them."

    def layout(self, manifest: Mapping[str, Any]) -> MarginalsLayout:
        """The columns that a manifest declares."""
        return layout_from(manifest)

    def read(self, place: Path, manifest: Mapping[str, Any], layout: MarginalsLayout, ending: str) -> Tables:
        """The tables and records of the files with this ending."""
        counts, groups = self.read_files(place, manifest, layout, ending)
        measured = layout.measured(counts, manifest["noisy_size"], manifest["noisy_size_scale"])
        return Tables(measured, lambda: groups)

    def open(
        self, place: Path, manifest: Mapping[str, Any], layout: MarginalsLayout, content: Tables
    ) -> MarginalsRelease:
        """The release as its receiver uses it."""
        return MarginalsRelease(place, manifest, layout, content)


FORMS.add(MarginalsForm())
