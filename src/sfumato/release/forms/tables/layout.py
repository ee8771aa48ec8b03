"""The columns of measured tables and of the synthetic records: as a draft has them, and as a manifest declares them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.json_form import cut_from_json, domain_from_json
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.count_table import Layout, free_name, refuse_other_cut
from sfumato.release.forms.tables.table_layout import MOST_CELLS, MOST_TABLES, TableLayout
from sfumato.release.measured import MOST_CLASSES, MOST_GROUPS, MeasuredTables, RemainingTable, StageTable
from sfumato.release.model.plug_in import BANDS, MARGINS
from sfumato.release.storage.seal import broken_bundle


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
    if len(content["tables"]) > MOST_TABLES:
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


def _bands(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The score bands in words: which class leads, and by how much in log-odds."""
    edges = ["0", *(f"{margin:g}" for margin in MARGINS)]
    ranges = [f"{low} to {high}" for low, high in pairwise(edges)] + [f"{edges[-1]} or more"]
    return tuple(f"{label} by {part}" for label in classes for part in ranges)
