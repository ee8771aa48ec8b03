"""The owner's report of noisy counts: the guarantee, the budget breakdown, the noise, and what it costs.

What is measured against the raw table is covered by no guarantee: the page stays with the owner.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.draft import Draft
from sfumato.release.guarantee import DpGuarantee
from sfumato.report.chart import powers
from sfumato.report.report_page import Provenance, Tile
from sfumato.report.table_rows import Rows
from sfumato.study.budget import show

ONE_UNIT = (
    "The guarantee is about the presence of one unit. Facts about many people, such as that smokers fall ill more "
    "often, can be learnt from the release and applied to anybody."
)
OTHER_RELEASES = (
    "The ε of several releases about the same people adds up. The ledger records the releases of this study, and not "
    "those of others."
)
_SETS = " For a set, it is the number of nodes of its taxonomy, of how many codes: a record may have several of them."
RAW_NUMBERS = (
    "Numbers on this page that compare the release with the raw table are not covered by ε. Do not publish them."
)


def counts_sections(draft: Draft, made: Provenance, sets: Mapping[str, SetDomain]) -> dict[str, Any]:  # noqa: ARG001 - the shape of a form's sections
    """The sections about noisy counts."""
    guarantee = draft.guarantee
    assert isinstance(guarantee, DpGuarantee), "noisy counts are differentially private"
    some = any(isinstance(cut, SetCut) for cut in draft.groups.cuts)
    return {
        "guaranteed": made.stated[:1],
        "not_guaranteed": (ONE_UNIT, OTHER_RELEASES, RAW_NUMBERS),
        "tiles": _tiles(draft, made.left),
        "published": (
            "Groups are published, each with a noisy count. A group is a combination of one region per attribute"
            f"{' and a class' * draft.view.targeted}. Groups with too small a noisy count are not listed. No record is "
            "published."
        ),
        "left_out": _left_out(draft.facts),
        "losses": powers(
            [(cut.attribute, len(cut.starts), f"{len(cut.starts):,} of {cut.size:,}") for cut in draft.groups.cuts],
            title="Regions by attribute",
            axis="number of regions, on a logarithmic axis",
        ),
        "losses_mean": (
            "The number of regions in which an attribute is published, of how many values it has. One region says "
            "nothing about the attribute; as many regions as values are exact." + (_SETS if some else "")
        ),
        "worst_missing": (
            "There are no worst groups: every number that is measured gets the same noise, and the guarantee is the "
            "same for everybody, whatever group they are in."
        ),
        **breakdown_section(guarantee, made),
    }


def breakdown_section(guarantee: DpGuarantee, made: Provenance) -> dict[str, Any]:
    """Where ε went, and what is left of it."""
    steps = [(step.on, show(step.epsilon), step.mechanism) for step in guarantee.breakdown]
    return {
        "breakdown": Rows("Budget breakdown: ε by step", ["spent on", "ε", "mechanism"], steps, (1,)),
        "breakdown_means": [
            *made.stated[1:],
            f"ε = {made.left} of the study's budget remains for later releases and questions.",
        ],
    }


def _tiles(draft: Draft, left: str) -> list[Tile]:
    groups = draft.groups
    total = int(groups.counts.sum())
    found = [
        Tile(f"{len(groups):,}", "groups are listed, each with a noisy count"),
        Tile(f"{total:,}", "is the sum of the noisy counts, which is not the number of records in the table"),
        Tile(left, "of the study's ε remains for later releases and questions"),
    ]
    if "noise_scale" in draft.facts:
        scale = float(draft.facts["noise_scale"])
        one = "measured number" if "strategy" in draft.facts else "count"
        found.append(Tile(f"± {2**0.5 * scale:.3g}", f"records is the standard deviation of the noise on one {one}"))
    return found


def _left_out(facts: Mapping[str, Any]) -> str:
    threshold = facts.get("threshold")
    return (
        "No record is suppressed one by one. A record is not used if the study's rules leave it out (see the rules "
        "below); the number of such records is not published."
        + (f" Groups with a noisy count below {threshold} are not listed." if threshold is not None else "")
    )
