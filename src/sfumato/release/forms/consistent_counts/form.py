"""Consistent counts: a table of counts, and the noisy sums of neighbouring cells that they were estimated from."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow.csv
from pydantic import Field

from sfumato.domains.domain import Domain
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.checks import Check
from sfumato.release.draft import Draft, EstimatedGroups, Groups
from sfumato.release.form import FORMS, Writer
from sfumato.release.forms.consistent_counts.layout import (
    MEASURED,
    ConsistentLayout,
    layout_from_manifest,
    layout_of_draft,
)
from sfumato.release.forms.consistent_counts.page_answers import page_answers
from sfumato.release.forms.consistent_counts.readme import readme
from sfumato.release.forms.consistent_counts.release import ConsistentRelease
from sfumato.release.forms.noisy_counts.count_table import noise_from, put_in_order, same
from sfumato.release.forms.noisy_counts.form import CountsManifest, NoisyCounts
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import Strict
from sfumato.release.page.embedded_rows import PageAnswers
from sfumato.release.storage.parquet_file import write_parquet
from sfumato.release.storage.seal import Json, stated_size
from sfumato.release.uniqueness import Uniqueness

_MOST = 2**53


class MeasuredEntry(Strict):
    """What was measured: the ordered attribute, the strategy over its cells, and the scale of each noise."""

    attribute: str | None  # None: of the whole table
    strategy: dict[str, Any]
    sensitivity: Annotated[int, Field(ge=1)]
    noise_scale: Annotated[float, Field(gt=0, lt=_MOST, allow_inf_nan=False)]
    column: str


class ConsistentManifest(CountsManifest):
    """The manifest of consistent counts."""

    form: Literal["consistent-counts"]  # type: ignore[assignment]  # a form of its own name
    measured: MeasuredEntry


class ConsistentCounts(NoisyCounts):
    """Counts of groups, rounded and none below 1, with the measured numbers that unbiased answers are made of."""

    name = "consistent-counts"
    schema = ConsistentManifest

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[Any, Groups]:  # noqa: ARG002 - nothing is random here
        """The columns, the groups in the order of their values, and the measured numbers."""
        content = draft.groups
        assert isinstance(content, EstimatedGroups), "a draft of this form"
        return layout_of_draft(draft), content.with_groups(put_in_order(content))

    def writers(self, layout: Any, content: Groups) -> Mapping[str, Writer]:
        """Two tables."""
        assert isinstance(content, EstimatedGroups), "as prepared"
        measured = layout.measured.table(content.measured)
        return {
            **super().writers(layout.counts, content),
            f"{MEASURED}.parquet": partial(write_parquet, measured),
            f"{MEASURED}.csv": partial(pyarrow.csv.write_csv, measured),
        }

    def fields(self, draft: Draft, layout: Any, content: Groups) -> Json:
        """What noisy counts say, and what was measured."""
        measured = {
            "attribute": layout.ordered,
            "strategy": layout.strategy.facts(),
            "sensitivity": layout.strategy.sensitivity,
            "noise_scale": layout.scale,
            "column": layout.measured.first_column,
        }
        return {**super().fields(draft, layout.counts, content), "measured": measured}

    def readme(self, layout: Any, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:  # noqa: ARG002 - no records
        """What a receiver needs to know."""
        return readme(layout, manifest)

    def columns(self, layout: Any, manifest: Mapping[str, Any]) -> Mapping[str, Json]:
        """Labels and counts of both tables."""
        table = layout.measured
        fields: list[Json] = [
            {"name": name, "type": "string", "constraints": {"required": True}} for name in table.columns[:-1]
        ]
        count = {
            "name": table.count,
            "type": "integer",
            "description": "what was measured, with noise; may be negative",
            "constraints": {"required": True},
        }
        measured = {"fields": [*fields, count], "missingValues": [], "primaryKey": list(table.columns[:-1])}
        return {**super().columns(layout.counts, manifest), MEASURED: measured}

    def about(self) -> str:
        """What the data are."""
        return "Groups of records with estimated counts, and the noisy sums that these were estimated from."

    def layout(self, manifest: Mapping[str, Any]) -> Any:
        """The columns that a manifest declares."""
        return layout_from_manifest(manifest)

    def refuse_broken(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a strategy that is none of the declared cells, and noise that cannot be that of a release."""
        noise_from(manifest, layout_from_manifest(manifest).counts)

    def files(self, layout: Any) -> tuple[str, ...]:
        """Two tables."""
        return (*super().files(layout.counts), f"{MEASURED}.parquet", f"{MEASURED}.csv")

    def read(self, place: Path, manifest: Mapping[str, Any], layout: Any, ending: str) -> Groups:
        """The groups, and the measured numbers."""
        groups = super().read(place, manifest, layout.counts, ending)
        measured = layout.measured.read(place, ending, stated_size(manifest, f"{MEASURED}.csv"))
        return EstimatedGroups(
            groups.cuts, groups.regions, groups.classes, groups.counts,
            measured=measured, strategy=layout.strategy, ordered=layout.ordered, scale=layout.scale,
        )  # fmt: skip

    def same(self, one: Groups, other: Groups) -> bool:
        """Whether groups and measured numbers are equal."""
        assert isinstance(one, EstimatedGroups), "as read"
        assert isinstance(other, EstimatedGroups), "as read"
        return same(one, other) and np.array_equal(one.measured, other.measured)

    def readable(self, layout: Any, content: Groups) -> str:
        """Rows in declared cuts."""
        found = super().readable(layout.counts, content)
        return f"{found}, and {layout.measured.rows:,} measured numbers, all that are declared"

    def checks(self, layout: Any, content: Groups, manifest: Mapping[str, Any]) -> list[Check]:
        """Those of noisy counts, and that the totals follow from what was measured."""
        return [*super().checks(layout.counts, content, manifest), _check_measured(layout, content, manifest)]

    def open(self, place: Path, manifest: Mapping[str, Any], layout: Any, content: Groups) -> ConsistentRelease:
        """The release as its receiver uses it."""
        return ConsistentRelease(place, manifest, layout.counts, content, consistent=layout)

    def page_answers(self, layout: Any, content: Groups, manifest: Mapping[str, Any]) -> PageAnswers:  # noqa: ARG002 - the shape of a form
        """What the page embeds to answer queries."""
        assert isinstance(content, EstimatedGroups), "as read"
        return page_answers(layout, content)

    def domains(self, layout: Any) -> Mapping[str, Domain]:
        """The public domain of every attribute, the class too."""
        return super().domains(layout.counts)


FORMS.add(ConsistentCounts())


def _check_measured(layout: ConsistentLayout, content: Groups, manifest: Mapping[str, Any]) -> Check:
    assert isinstance(content, EstimatedGroups), "as read"
    stated = manifest["measured"]
    if stated["sensitivity"] != layout.strategy.sensitivity or stated["column"] != layout.measured.first_column:
        return Check("measured", ok=False, detail="the manifest states another sensitivity or column")
    totals = noise_from(manifest, layout.counts).totals
    found = layout.estimates(content.measured).sum(axis=tuple(range(len(layout.sizes) - 1)))
    if len(totals) == 1:
        found = found.sum(keepdims=True)
    if totals and (len(totals) != len(found) or np.any(np.abs(found - totals) > 1)):
        return Check("measured", ok=False, detail="the noisy totals do not follow from the measured numbers")
    return Check("measured", ok=True, detail="the noisy totals follow from the measured numbers")
