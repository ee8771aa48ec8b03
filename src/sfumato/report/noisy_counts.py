"""The owner's report of noisy counts: the guarantee, the budget breakdown, the noise, and what it costs.

What is measured against the raw table is covered by no guarantee: the page stays with the owner.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.domains.sets.cut import SetCut
from sfumato.domains.sets.domain import SetDomain
from sfumato.release.draft import Draft
from sfumato.release.guarantee import DpGuarantee
from sfumato.report.chart import powers
from sfumato.report.page import Made, Tile
from sfumato.report.table_rows import Rows
from sfumato.study.budget import show

_ONE = (
    "The guarantee is about one unit's presence. What holds for many people alike, such as that smokers fall ill more "
    "often, can be learnt from the release and applied to anybody."
)
_OTHERS = (
    "Other releases of the same people add up: the ledger keeps the account of this study, and knows nothing of what "
    "others publish."
)
_SETS = " Of a set it is in how many nodes of its taxonomy, of how many codes: a record may have several of them."
_RAW = "Numbers on this page that compare the release with the raw table are not covered by ε. Do not give them away."


def counts_sections(draft: Draft, made: Made, sets: Mapping[str, SetDomain]) -> dict[str, Any]:  # noqa: ARG001 - the shape of a form's sections
    """What the page says of noisy counts alone."""
    guarantee = draft.guarantee
    assert isinstance(guarantee, DpGuarantee), "noisy counts are differentially private"
    some = any(isinstance(cut, SetCut) for cut in draft.groups.cuts)
    steps = [(step.on, show(step.epsilon), step.mechanism) for step in guarantee.breakdown]
    return {
        "promised": made.stated[:1],
        "not_promised": (_ONE, _OTHERS, _RAW),
        "tiles": _tiles(draft, made.left),
        "published": (
            "Groups are published with a noisy count each. A group is a region of every attribute"
            f"{' together with a class' * draft.view.targeted}; a group that is not listed had too small a noisy "
            "count. No record is published."
        ),
        "left_out": _left_out(draft.facts),
        "losses": powers(
            [(cut.attribute, len(cut.starts), f"{len(cut.starts):,} of {cut.size:,}") for cut in draft.groups.cuts],
            title="Regions by attribute",
            axis="number of regions, on a logarithmic axis",
        ),
        "losses_mean": (
            "In how many regions an attribute is published, of how many values it has. One region says nothing of "
            "the attribute; as many regions as values are exact." + (_SETS if some else "")
        ),
        "worst_missing": (
            "There are no worst groups: noise is added to every count alike, and the guarantee is the same for "
            "everybody, whatever group they are in."
        ),
        "receipt": Rows("Budget breakdown: where ε went, step by step", ["spent on", "ε", "mechanism"], steps, (1,)),
        "receipt_means": [
            *made.stated[1:],
            f"ε = {made.left} is left of the study's budget for everything that follows.",
        ],
    }


def _tiles(draft: Draft, left: str) -> list[Tile]:
    groups = draft.groups
    total = int(groups.counts.sum())
    found = [
        Tile(f"{len(groups):,}", "groups are listed, each with a noisy count"),
        Tile(f"{total:,}", "records they count together; with noise, so not the number of records in the table"),
        Tile(left, "of the study's ε is left for everything that follows"),
    ]
    if "noise_scale" in draft.facts:
        scale = float(draft.facts["noise_scale"])
        found.append(
            Tile(f"± {2**0.5 * scale:.3g}", "records is how far noise moves one count, as a standard deviation")
        )
    return found


def _left_out(facts: Mapping[str, Any]) -> str:
    threshold = facts.get("threshold")
    return (
        "No record is suppressed one by one. A record takes no part if the study's rules leave it out (see the rules "
        "below); how many those are is not published."
        + (f" Groups with a noisy count below {threshold} are not listed." if threshold is not None else "")
    )
