"""Noisy counts of groups: the form of differentially private tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pyarrow.csv
from pydantic import BaseModel, Field

from sfumato.domains.domain import Domain
from sfumato.domains.json_form import cut_to_json, domain_to_json
from sfumato.domains.sets.set_cut import Sets
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.checks import Check
from sfumato.release.draft import Draft, Groups
from sfumato.release.form import FORMS, Form, Writer
from sfumato.release.forms.noisy_counts.count_table import (
    Layout,
    in_order,
    layout_from,
    layout_of,
    noise_from,
    put_in_order,
    same,
)
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.forms.noisy_counts.page_answers import page_answers
from sfumato.release.forms.noisy_counts.readme import readme
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import DpPrivacy, Manifest, Number, Strict, Whole
from sfumato.release.page.embedded_rows import PageAnswers
from sfumato.release.shown import Shown, shown_counts
from sfumato.release.storage.parquet_file import ParquetLimits, write_parquet
from sfumato.release.storage.seal import Json, as_json_value, stated_size
from sfumato.release.uniqueness import Uniqueness
from sfumato.study.view import View

_FILES: Final = ("data.parquet", "data.csv")
_MOST_LISTED: Final = 1_000  # regions of one cut; longer lists are in the manifest in another form


class AttributeEntry(Strict):
    """One column of regions or the class: its public domain and its cut, in the forms of `domains.json_form`."""

    name: str
    role: Literal["predictor", "class"]
    domain: dict[str, Any]
    cut: dict[str, Any]


class GroupNumbers(Strict):
    """How many groups are listed, of how many; the threshold on noisy counts; the least count there can be."""

    listed: Number
    combinations: Whole
    threshold: Annotated[int, Field(ge=1)]
    least_count: Annotated[int, Field(ge=1)]


class CountsManifest(Manifest):
    """The manifest of noisy counts."""

    form: Literal["noisy-counts"]
    privacy: DpPrivacy  # nothing else makes noisy counts
    attributes: list[AttributeEntry]
    class_column: str | None  # None: no class is published
    count_column: str
    groups: GroupNumbers


class NoisyCounts(Form):
    """A row a group of the cross product of cuts and classes, with a noisy count; groups not listed have count 0."""

    name = "noisy-counts"
    schema: type[BaseModel] = CountsManifest
    rows_are = "groups"

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[Layout, Groups]:  # noqa: ARG002 - nothing is random here
        """The columns, and the groups in the order of their values: an order that anybody could make."""
        return layout_of(draft), put_in_order(draft.groups)

    def writers(self, layout: Layout, content: Groups) -> Mapping[str, Writer]:
        """One table."""
        table = layout.table(content)
        return {
            "data.parquet": lambda out: write_parquet(table, out),
            "data.csv": lambda out: pyarrow.csv.write_csv(table, out),
        }

    def fields(self, draft: Draft, layout: Layout, content: Groups) -> Json:
        """The cuts, and how many groups are listed."""
        threshold = int(draft.facts.get("threshold", 1))
        raw = draft.facts.get("post", "none") == "none"  # post-processing moves counts, also below the threshold
        roles = (*("predictor" for _ in layout.names), "class")
        return {
            "attributes": [
                {"name": name, "role": role, "domain": domain_to_json(domain), "cut": cut_to_json(labels.cut)}
                for (name, domain), labels, role in zip(layout.attributes, layout.labels, roles, strict=False)
            ],
            "class_column": layout.class_name or None,
            "count_column": layout.count,
            "groups": {
                "listed": len(content),
                "combinations": as_json_value(layout.combinations),
                "threshold": threshold,
                "least_count": threshold if raw else 1,
            },
        }

    def shown(self, draft: Draft, view: View, sets: Mapping[str, Sets]) -> Shown:
        """The quasi-identifiers' regions with noisy counts; all else stands beside them."""
        return shown_counts(draft, tuple(attribute.name for attribute in view.quasi), sets)

    def readme(self, layout: Layout, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:  # noqa: ARG002 - no records
        """What a receiver needs to know."""
        return readme(layout, manifest)

    def columns(self, layout: Layout, manifest: Mapping[str, Any]) -> Mapping[str, Json]:
        """Labels of regions, and the count."""
        fields = [_field(name, labels) for name, labels in zip(layout.columns, layout.labels, strict=False)]
        count = {
            "name": layout.count,
            "type": "integer",
            "description": "how many records, after noise",
            "constraints": {"required": True, "minimum": manifest["groups"]["least_count"]},
        }
        schema = {"fields": [*fields, count], "missingValues": [], "primaryKey": list(layout.columns[:-1])}
        return {"data": schema}

    def about(self) -> str:
        """What the data are."""
        return "Groups of records with noisy counts; groups not listed have count 0."

    def rows(self, draft: Draft) -> int:
        """Listed groups."""
        return len(draft.groups)

    def layout(self, manifest: Mapping[str, Any]) -> Layout:
        """The columns that a manifest declares."""
        return layout_from(manifest)

    def refuse_broken(self, manifest: Mapping[str, Any]) -> None:
        """Refuse cuts that are none of their domains, and noise that cannot be that of a release."""
        layout = layout_from(manifest)
        if "noise_scale" in manifest["method"]["facts"]:
            noise_from(manifest, layout)

    def files(self, layout: Layout) -> tuple[str, ...]:  # noqa: ARG002 - always the same
        """One table."""
        return _FILES

    def read(self, place: Path, manifest: Mapping[str, Any], layout: Layout, ending: str) -> Groups:
        """The groups of a data file."""
        if ending == "csv":
            return layout.groups(layout.read_csv(place / "data.csv"))
        limits = ParquetLimits(rows=manifest["groups"]["listed"], text_bytes=stated_size(manifest, "data.csv"))
        return layout.groups(layout.read_parquet(place / "data.parquet", limits))

    def same(self, one: Groups, other: Groups) -> bool:
        """Whether two lists of groups are equal."""
        return same(one, other)

    def readable(self, layout: Layout, content: Groups) -> str:  # noqa: ARG002 - the shape of a form
        """Rows in declared cuts."""
        return f"{len(content):,} rows, each in the declared cuts and classes"

    def checks(self, layout: Layout, content: Groups, manifest: Mapping[str, Any]) -> list[Check]:
        """The order of the groups, and the numbers of the manifest."""
        ordered = in_order(content)
        detail = (
            "every group once, in the order of its values" if ordered else "a group is listed twice, or out of order"
        )
        return [Check("order", ordered, detail), _check_numbers(layout, content, manifest["groups"])]

    def evidence(self, layout: Layout, content: Groups, manifest: Mapping[str, Any]) -> None:  # noqa: ARG002 - the shape of a form
        """No records, no equivalence classes."""
        return

    def open(self, place: Path, manifest: Mapping[str, Any], layout: Layout, content: Groups) -> CountsRelease:
        """The release as its receiver uses it."""
        return CountsRelease(place, manifest, layout, content)

    def page_answers(self, layout: Layout, content: Groups, manifest: Mapping[str, Any]) -> PageAnswers:
        """What the page embeds to answer queries."""
        return page_answers(layout, content, manifest)

    def domains(self, layout: Layout) -> Mapping[str, Domain]:
        """The public domain of every attribute, the class too."""
        return dict(layout.attributes)


FORMS.add(NoisyCounts())


def _check_numbers(layout: Layout, groups: Groups, stated: Mapping[str, Any]) -> Check:
    least = stated["least_count"]
    if len(groups) and int(groups.counts.min()) < least:
        return Check("counts", ok=False, detail=f"a count is below {least}")
    if stated["listed"] != len(groups) or stated["combinations"] != as_json_value(layout.combinations):
        return Check("counts", ok=False, detail="the manifest states other numbers of groups")
    return Check("counts", ok=True, detail=f"whole numbers from {least} on; groups not listed have count 0")


def _field(name: str, labels: Labels) -> Json:
    constraints: Json = {"required": True}
    if labels.cut.total <= _MOST_LISTED:
        constraints["enum"] = list(labels.all)
    return {"name": name, "type": "string", "constraints": constraints}
