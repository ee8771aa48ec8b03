"""The owner's report of measured tables with synthetic records: the guarantee, where ε went, the noise of each table.

What is measured against the raw table is covered by no guarantee: the page stays with the owner.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.draft import Draft, Tables
from sfumato.release.guarantee import DpGuarantee
from sfumato.release.measured import MeasuredTables
from sfumato.report.chart import powers
from sfumato.report.noisy_counts import ONE_UNIT, OTHER_RELEASES, RAW_NUMBERS, breakdown_section
from sfumato.report.report_page import Provenance, Tile


def tables_sections(draft: Draft, made: Provenance, sets: Mapping[str, SetDomain]) -> dict[str, Any]:  # noqa: ARG001 - the shape of a form's sections
    """The sections about measured tables."""
    guarantee, content = draft.guarantee, draft.content
    assert isinstance(guarantee, DpGuarantee), "measured tables are differentially private"
    assert isinstance(content, Tables), "a draft of such a form"
    return {
        "guaranteed": made.stated[:1],
        "not_guaranteed": (ONE_UNIT, OTHER_RELEASES, RAW_NUMBERS),
        "tiles": _tiles(content, made.left),
        "published": (
            "Tables of noisy counts are published, each with all its cells, and synthetic records that were drawn from "
            "a model of these tables. No record of the table is published."
        ),
        "left_out": (
            "No record is suppressed one by one. A record is not used if the study's rules leave it out (see the rules "
            "below); the number of such records is not published."
        ),
        "losses": powers(
            [(cut.attribute, len(cut.starts), f"{len(cut.starts):,} of {cut.size:,}") for cut in draft.groups.cuts],
            title="Groups by attribute",
            axis="number of groups, on a logarithmic axis",
        ),
        "losses_mean": (
            "The number of groups in which an attribute is counted, of how many values it has. One group says nothing "
            "about the attribute; as many groups as values are exact."
        ),
        "worst_missing": (
            "There are no worst groups: all counts of a table get the same noise, and the guarantee is the same for "
            "everybody, whatever group they are in."
        ),
        **breakdown_section(guarantee, made),
    }


def _tiles(content: Tables, left: str) -> list[Tile]:
    measured = content.measured
    if isinstance(measured, MeasuredTables):
        scales = [*(table.scale for table in measured.stages), *(table.scale for table in measured.remaining)]
    else:
        scales = [table.scale for table in measured.tables]
    least, most = (sqrt(laplace_variance(scale)) for scale in (min(scales), max(scales)))
    return [
        Tile(f"{len(measured.counts):,}", "tables are published, each with all its cells"),
        Tile(f"{len(content.records):,}", "weighted rows of synthetic records are published"),
        Tile(f"± {least:.3g} to {most:.3g}", "records is the standard deviation of the noise on one count, by table"),
        Tile(left, "of the study's ε remains for later releases and questions"),
    ]
