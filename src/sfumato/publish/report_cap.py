"""The part of an owner's report that is about capped confidence: how far, how many lost and why, how close to it."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sfumato.core.partition import PartitionDraft
from sfumato.publish import report_html as html
from sfumato.publish.report_svg import field, histogram

_BARS = 20  # steps of distortion that are told apart in the picture


def cap_sections(draft: PartitionDraft) -> list[str]:
    """Sections for a draft that was capped; nothing for any other."""
    owner = draft.owner
    if "confidence" not in owner:
        return []
    return [*_distortion(owner["distortion"]), *_suppressed(owner["suppressed"]), *_confidence(draft)]


def _distortion(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    counts: dict[int, int] = {}
    for step in steps:
        place = min(int(step["distortion"] * _BARS + 1e-9), _BARS - 1)
        counts[place] = counts.get(place, 0) + int(step["records"])
    places = range(max(counts, default=0) + 1)
    return [
        "<h2>How far records were generalised</h2>",
        html.said(
            "Distortion is 0 where all values are exact and 1 where nothing is left: the mean over the attributes of "
            "how far up its taxonomy a value was taken.",
            "quiet",
        ),
        histogram(
            [counts.get(place, 0) for place in places],
            [f"{place / _BARS:.2f} …" for place in places],
            title="Records by distortion",
        ),
    ]


def _suppressed(reasons: Mapping[str, int]) -> list[str]:
    if not any(reasons.values()):
        return [html.said("No record had to be suppressed.")]
    rows = [(f"{count:,}", reason) for reason, count in reasons.items()]
    return ["<h3>Suppressed records, and why</h3>", html.rows(["records", "reason"], rows, numbers=(0,))]


def _confidence(draft: PartitionDraft) -> list[str]:
    published = max(int(draft.facts.get("published", 1)), 1)
    found = [
        "<h2>Expected and observed confidence</h2>",
        html.said(
            "Across: how likely it is that as many records drawn from public statistics hold such a record anyway. Up: "
            "how sure somebody may be of the value who finds the group. Every record must lie on or below the line.",
            "quiet",
        ),
    ]
    for of in draft.owner["confidence"]:
        free = of["uncapped"] / published
        found += [
            f"<h3>{escape(of['attribute'])}</h3>",
            field(
                [(x, y, count) for x, y, count in of["records"]],
                size=of["cells"],
                title=f"Expected and observed confidence, {of['attribute']}",
                across="expected confidence",
                up="observed confidence",
            ),
            html.said(
                f"{free:.1%} of the records are expected with more confidence than the sample rate: those the cap does "
                "not bind at all."
            ),
            "<h3>Closest to the cap</h3>",
            _closest(of["closest"]),
        ]
    return found


def _closest(pairs: Sequence[Mapping[str, Any]]) -> str:
    regions = list(pairs[0]["regions"]) if pairs else []
    heads = ["observed", "expected", "records", "group", "value", *regions]
    lines = [
        [
            f"{one['observed']:.1%}",
            f"{one['expected']:.1%}",
            f"{one['records']:,}",
            f"{one['group']:,}",
            one["value"],
            *one["regions"].values(),
        ]
        for one in pairs
    ]
    return html.rows(heads, lines, numbers=(0, 1, 2, 3))
