"""The owner's report of a differentially private release: its promise, its receipt, its noise, and what it costs.

What is measured against the raw table is covered by no promise: the page stays with the owner.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.domains.counts import Cells
from sfumato.domains.sets.cut import SetCut, Sets
from sfumato.release.draft import Draft
from sfumato.release.shown import Shown
from sfumato.report.chart import powers
from sfumato.report.distributions import distributions
from sfumato.report.frontier_section import frontier_plane, frontier_rows
from sfumato.report.grouped_records import facts_table
from sfumato.report.measure_sentences import Told
from sfumato.report.page import Made, Page, Tile, render
from sfumato.report.table_rows import Rows
from sfumato.study.partition_view import PartitionView

_ONE = (
    "The promise is about one unit's presence. What holds for many people alike, such as that smokers fall ill more "
    "often, can be learnt from the release and applied to anybody."
)
_OTHERS = (
    "Other releases of the same people add up: the ledger keeps the account of this study, and knows nothing of what "
    "others publish."
)
_SETS = " Of a set it is in how many nodes of its taxonomy, of how many codes: a record may have several of them."
_RAW = "Numbers on this page that compare the release with the raw table are not covered by ε. Do not give them away."


def counts_report(  # noqa: PLR0913 - all but the first two by keyword
    draft: Draft,
    made: Made,
    *,
    promise: Sequence[str],
    receipt: Sequence[Mapping[str, str]],
    left: str,
    beside: tuple[PartitionView, Cells, Shown] | None = None,
    sets: Mapping[str, Sets] | None = None,
    measures: Sequence[Told] = (),
    unmeasured: str = "",
) -> str:
    """One self-contained HTML page; ``beside`` is the release next to the table, where it was looked at.

    Codes of sets in the table are places in ``sets``.
    """
    facts: Mapping[str, Any] = draft.facts
    some = any(isinstance(cut, SetCut) for cut in draft.groups.cuts)
    steps = [(step["on"], step["epsilon"], step["mechanism"]) for step in receipt]
    return render(
        Page(
            made=made,
            promised=promise[:1],
            not_promised=(_ONE, _OTHERS, _RAW),
            tiles=_tiles(draft, left),
            published=(
                "Groups are published with a noisy count each. A group is a region of every attribute"
                f"{' together with a class' * draft.view.targeted}; a group that is not listed had too small a noisy "
                "count. No record is published."
            ),
            left_out=_left_out(facts),
            losses=powers(
                [(cut.attribute, len(cut.starts), f"{len(cut.starts):,} of {cut.size:,}") for cut in draft.groups.cuts],
                title="Regions by attribute",
                axis="number of regions, on a logarithmic axis",
            ),
            losses_mean=(
                "In how many regions an attribute is published, of how many values it has. One region says nothing of "
                "the attribute; as many regions as values are exact." + (_SETS if some else "")
            ),
            distributions=() if beside is None else distributions(*beside, sets),
            worst_missing=(
                "There are no worst groups: noise is added to every count alike, and the promise is the same for "
                "everybody, whatever group they are in."
            ),
            frontier=frontier_plane(made),
            frontier_rows=frontier_rows(made),
            receipt=Rows("Where ε went, step by step", ["spent on", "ε", "mechanism"], steps, (1,)),
            receipt_means=[*promise[1:], f"ε = {left} is left of the study's budget for everything that follows."],
            facts=facts_table(facts),
            measures=measures,
            unmeasured=unmeasured,
        )
    )


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
