"""Two candidate releases beside the raw table, column by column, for the owner alone.

Drafts of both are made, looked at and thrown away: nothing is published or entered into the ledger, and no ε is spent.
The table's distributions are counts of raw records, and a choice between the two by them is a choice on the raw table:
no guarantee covers any number here, so none of it may be published or stand in a bundle.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import UsageError
from sfumato.evaluate.column_bins import ColumnBins, column_bins
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.frontier import Spread, Sweep, label
from sfumato.methods import Method, build, recipe_of
from sfumato.progress import Progress, silent
from sfumato.study.purpose import refuse_undecided
from sfumato.study.recipe import Recipe, recipe_from_study
from sfumato.study.study import Study
from sfumato.workflow.sweep import REPEATS, choose_sweep, refuse_repeats
from sfumato.workflow.sweeping.candidate_drafts import Table, evidence_of, read_table, shown_of, with_files

_DISTANCE = "marginals-1"
_OWNER = "computed from raw records and covered by no guarantee: for the owner only, never to be published"
What = str | Method


@dataclass(frozen=True, kw_only=True)
class ComparedRelease:
    """One of the two: what it is called, how often it was drawn, and how large the draft is whose columns are shown."""

    label: str
    recipe: Recipe
    draws: int
    rows: int
    records: int
    suppressed: int
    distance: float  # the mean total variation distance over the columns
    spread: Spread | None

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "label": self.label, "method": self.recipe.method, "parameters": self.recipe.plain_parameters(),
            "draws": self.draws, "rows": self.rows, "records": self.records, "suppressed": self.suppressed,
            "distance": self.distance, "spread": None if self.spread is None else self.spread.as_json(),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReleasedColumn:
    """A column in one of the two releases.

    ``shares`` are those of the first draw in the column's bins; None if the release says nothing about the column.
    ``distance`` is the total variation distance from the table's distribution, the mean over the draws.
    """

    shares: tuple[float, ...] | None
    rest: float | None
    published: int
    distance: float
    spread: Spread | None

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "shares": None if self.shares is None else list(self.shares), "rest": self.rest,
            "published": self.published, "distance": self.distance,
            "spread": None if self.spread is None else self.spread.as_json(),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ComparedColumn:
    """A column: its bins, the share of the table's records in each, and the same of both releases.

    ``rest`` is how many rarer values are not listed, ``rest_share`` the share of records that have them. ``values`` is
    how many values the table has. Of a set, bins are nodes, and a record may be in several.
    """

    name: str
    role: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]
    values: int
    rest: int
    rest_share: float
    set: bool
    releases: tuple[ReleasedColumn, ReleasedColumn]

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "name": self.name, "role": self.role, "labels": list(self.labels), "shares": list(self.shares),
            "values": self.values, "rest": self.rest, "rest_share": self.rest_share, "set": self.set,
            "releases": [one.as_json() for one in self.releases],
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ColumnComparison:
    """Two releases and the table, column by column. For the owner's eyes only."""

    study: str
    purpose: str | None
    records: int
    releases: tuple[ComparedRelease, ComparedRelease]
    columns: tuple[ComparedColumn, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "owner_only": _OWNER, "study": self.study, "purpose": self.purpose, "records": self.records,
            "releases": [one.as_json() for one in self.releases],
            "columns": [one.as_json() for one in self.columns],
        }  # fmt: skip


def compare_columns(
    study: Study,
    first: What,
    second: What,
    *,
    sweep: Sweep | str | None = None,
    purpose: str | None = None,
    repeats: int = REPEATS,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> ColumnComparison:
    """Make drafts of two releases and compare them with the table, column by column.

    ``first`` and ``second`` are methods, names of releases that the study declares, or candidates of ``sweep`` as
    `frontier` calls them, such as ``mondrian, k = 5``. A release that is random is drawn ``repeats`` times: the columns
    show the first draw, and the distances are means over all of them. The published release would be a new draw.
    """
    recipes = _recipes(study, (first, second), sweep, purpose)
    refuse_repeats(repeats)
    purpose = recipes[0].purpose
    refuse_undecided(study, purpose)
    table = read_table(study, purpose, {}, progress, memory_limit=memory_limit)
    table = with_files(study, table, recipes, memory_limit=memory_limit)
    sides = []
    for recipe in recipes:
        many = repeats if build(recipe).needs.random else 1
        drafts = []
        for draw in range(many):
            progress(f"making {label(recipe)}", draw, many)
            drafts.append(evidence_of(table, shown_of(table, recipe)))
        sides.append((recipe, drafts))
    progress("comparing the columns", 0, 1)
    return _compared(study, purpose, table, sides)


def _recipes(study: Study, wanted: Sequence[What], sweep: Sweep | str | None, purpose: str | None) -> list[Recipe]:
    """The recipes of both; they have to be of one purpose, since each purpose has columns of its own."""
    found = [_recipe(study, what, sweep, purpose) for what in wanted]
    if found[0].purpose != found[1].purpose:
        raise UsageError(
            f"'{label(found[0])}' and '{label(found[1])}' are of different purposes, which have different columns",
            "compare two releases of one purpose",
            code="SF-USAGE-662",
        )
    return found


def _recipe(study: Study, what: What, sweep: Sweep | str | None, purpose: str | None) -> Recipe:
    if not isinstance(what, str):
        return recipe_of(what, name=what.name, purpose=purpose)
    if what in study.releases:
        return recipe_from_study(study, what)
    candidates = {label(recipe): recipe for recipe in choose_sweep(study, sweep, purpose)[1].recipes(purpose)}
    if what not in candidates:
        named = "; ".join([*study.releases, *candidates][:_NAMED])
        raise UsageError(
            f"neither a release of the study nor a candidate of the sweep is called '{what[:_LONG]}'",
            f"use one of: {named}",
            code="SF-USAGE-663",
        )
    return candidates[what]


_NAMED, _LONG = 12, 80  # names that an error lists, and letters of one that it repeats


def _compared(
    study: Study, purpose: str | None, table: Table, sides: Sequence[tuple[Recipe, Sequence[Evidence]]]
) -> ColumnComparison:
    measure = MEASURES[_DISTANCE]()
    distances: list[list[Mapping[str, Any]]] = []  # by side and draw: each column's, and the mean over the columns
    for _, drafts in sides:
        read: list[Mapping[str, Any]] = []
        for draft in drafts:
            if (why := measure.refuses(draft)) is not None:
                raise UsageError(
                    f"the columns cannot be compared: {why}", "compare other releases", code="SF-USAGE-664"
                )
            reading = measure.read(draft)
            read.append({**reading.details, "": reading.value})
        distances.append(read)
    columns = []
    for attribute in table.view.attributes:
        shown = [drafts[0].shown for _, drafts in sides]
        bins = column_bins(attribute.name, table.view.domain(attribute.name), table.raw.cells, shown, table.raw.sets)
        a, b = (_released(bins, side, distances[side], attribute.name) for side in (0, 1))
        columns.append(
            ComparedColumn(
                name=attribute.name,
                role=attribute.role.value.replace("_", "-"),
                labels=bins.labels,
                shares=tuple(bins.table.tolist()),
                values=bins.values,
                rest=bins.rest,
                rest_share=bins.rest_of_table,
                set=bins.sets,
                releases=(a, b),
            )
        )
    one, other = (_release(*side, distances[at]) for at, side in enumerate(sides))
    records = int(table.raw.cells.counts.sum())
    return ColumnComparison(
        study=study.name, purpose=purpose, records=records, releases=(one, other), columns=tuple(columns)
    )


def _release(recipe: Recipe, drafts: Sequence[Evidence], distances: Sequence[Mapping[str, Any]]) -> ComparedRelease:
    shown = drafts[0].shown
    distance, spread = _mean([float(one[""]) for one in distances])
    return ComparedRelease(
        label=label(recipe), recipe=recipe, draws=len(drafts), rows=len(shown), records=round(shown.records),
        suppressed=shown.suppressed, distance=distance, spread=spread,
    )  # fmt: skip


def _released(bins: ColumnBins, side: int, distances: Sequence[Mapping[str, Any]], name: str) -> ReleasedColumn:
    shares, rest = bins.releases[side], bins.rest_of_releases[side] if bins.rest_of_releases else None
    distance, spread = _mean([float(one[name]) for one in distances])
    return ReleasedColumn(
        shares=None if shares is None else tuple(shares.tolist()), rest=rest, published=bins.published[side],
        distance=distance, spread=spread,
    )  # fmt: skip


def _mean(values: Sequence[float]) -> tuple[float, Spread | None]:
    """The mean of some draws, and how far they lie apart; nothing of a release that is always the same."""
    if len(values) == 1:
        return values[0], None
    return statistics.fmean(values), Spread(deviation=statistics.stdev(values), least=min(values), most=max(values))
