"""The owner's report of a differentially private release: its promise, its receipt and its noise, no raw number."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sfumato.core.draft import Draft
from sfumato.publish import report_html as html
from sfumato.publish.report_svg import bars


def counts_report(
    draft: Draft,
    *,
    study: str,
    release: str,
    method: str,
    date: str,
    promise: Sequence[str],
    receipt: Sequence[Mapping[str, str]],
    left: str,
) -> str:
    """One self-contained HTML page, made from what the bundle tells as well."""
    name = f"{release} of {study}"
    facts: Mapping[str, Any] = draft.facts
    found = [(f"{len(draft.groups):,}", "groups listed"), (left, "ε left of the study's budget")]
    if "noise_scale" in facts:
        found.append((f"{float(facts['noise_scale']):.3g}", "scale of the noise on a count"))
    return html.page(
        f"Owner's report: {name}",
        [
            f"<h1>{escape(name)}</h1>",
            html.said(f"Owner's report, {date}. Method: {method}.", "quiet"),
            "<h2>What was promised</h2>",
            html.listed(promise),
            "<h2>Numbers</h2>",
            html.tiles(found),
            "<h2>Where ε went</h2>",
            html.rows(
                ["for", "ε", "mechanism"],
                [(step["on"], step["epsilon"], step["mechanism"]) for step in receipt],
                numbers=(1,),
            ),
            "<h2>Regions by attribute</h2>",
            bars(_regions(draft), title="Regions by attribute, of all values", most=1.0),
            html.said("How many regions an attribute is published in, as a share of its values.", "quiet"),
            "<h2>What the method tells</h2>",
            html.rows(["fact", "value"], [(str(key), str(value)) for key, value in facts.items()]),
        ],
    )


def _regions(draft: Draft) -> list[tuple[str, float]]:
    return [(f"{cut.attribute} ({len(cut):,})", len(cut) / cut.size) for cut in draft.groups.cuts]
