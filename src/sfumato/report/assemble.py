"""The report as a whole: what every form has in common, around sections of its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS
from sfumato.release.shown import Shown
from sfumato.report.distributions import distributions
from sfumato.report.frontier_section import frontier_plane, frontier_rows, own_record_plane
from sfumato.report.grouped_records import record_sections
from sfumato.report.measure_sentences import MeasureResult
from sfumato.report.measured_tables import tables_sections
from sfumato.report.noisy_counts import counts_sections
from sfumato.report.report_page import Page, Provenance, Tile, render
from sfumato.report.table_rows import Rows
from sfumato.study.view import View

Sections = Callable[[Draft, Provenance, Mapping[str, SetDomain]], dict[str, Any]]
_SECTIONS: Final[dict[str, Sections]] = {
    **dict.fromkeys(("noisy-counts", "consistent-counts"), counts_sections),
    **dict.fromkeys(("tables", "marginals"), tables_sections),
    **dict.fromkeys(("generalised", "bucketized", "anatomy"), record_sections),
}


def report_page(
    draft: Draft,
    made: Provenance,
    *,
    beside: tuple[View, Cells, Shown] | None = None,
    tables_sets: Mapping[str, Sets] | None = None,
    sets: Mapping[str, SetDomain] | None = None,
    measures: Sequence[MeasureResult] = (),
    unmeasured: str = "",
) -> str:
    """One self-contained HTML page; ``beside`` is the release next to the table, if the table was read.

    ``sets`` are those that have become categories; codes of sets in the table are places in ``tables_sets``.
    """
    own = _SECTIONS.get(draft.form, _default_sections)(draft, made, sets or {})
    return render(
        Page(
            made=made,
            distributions=() if beside is None else distributions(*beside, tables_sets),
            frontier=frontier_plane(made),
            frontier_own=own_record_plane(made),
            frontier_rows=frontier_rows(made),
            facts=_facts_table(draft.facts),
            measures=measures,
            unmeasured=unmeasured,
            **own,
        )
    )


def _default_sections(draft: Draft, made: Provenance, sets: Mapping[str, SetDomain]) -> dict[str, Any]:  # noqa: ARG001 - the shape of a form's sections
    """The sections of a form that has none of its own."""
    form = FORMS[draft.form]
    return {
        "guaranteed": made.stated,
        "not_guaranteed": (),
        "tiles": [Tile(f"{form.rows(draft):,}", f"{form.rows_are} are published")],
        "published": form.about(),
        "left_out": "",
    }


def _facts_table(facts: Mapping[str, Any]) -> Rows | None:
    """What a method states about its run."""
    lines = [(str(key).replace("_", " "), _text(value)) for key, value in facts.items()]
    return Rows("What the method states about its run", ["fact", "value"], lines) if lines else None


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 9_999.5 else f"{value:.4g}"  # noqa: PLR2004 - four digits are enough
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(inner)}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(inner) for inner in value)
    return str(value)
