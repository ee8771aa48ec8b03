"""Capped confidence in the owner's report: distortion, suppressed records, and records close to the cap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.release.draft import Draft
from sfumato.report.chart import Chart, counts, percent
from sfumato.report.scatter import Field, field
from sfumato.report.table_rows import Rows

_BARS = 20  # steps of distortion that the chart shows


@dataclass(frozen=True)
class CappedAttribute:
    """One sensitive attribute: expected and observed confidence, how many records are not capped, the closest ones."""

    attribute: str
    field: Field
    free: str
    closest: Rows


@dataclass(frozen=True)
class Cap:
    """How far records were generalised, which were suppressed and why, and each sensitive attribute."""

    distortion: Chart
    suppressed: Rows | None
    attributes: tuple[CappedAttribute, ...]


def cap_section(draft: Draft) -> Cap | None:
    """The section of a draft that was capped; None for any other."""
    owner = draft.owner
    if "confidence" not in owner:
        return None
    published = max(int(draft.facts.get("published", 1)), 1)
    return Cap(
        _distortion(owner["distortion"]),
        _suppressed(owner["suppressed"]),
        tuple(_capped(of, published) for of in owner["confidence"]),
    )


def _distortion(steps: Sequence[Mapping[str, Any]]) -> Chart:
    found: dict[int, int] = {}
    for step in steps:
        place = min(int(step["distortion"] * _BARS + 1e-9), _BARS - 1)
        found[place] = found.get(place, 0) + int(step["records"])
    places = range(max(found, default=0) + 1)
    return counts(
        [(f"{place / _BARS:.2f} …", found.get(place, 0)) for place in places],
        title="How far records were generalised",
        axis="records, by distortion",
    )


def _suppressed(reasons: Mapping[str, int]) -> Rows | None:
    if not any(reasons.values()):
        return None
    lines = [(f"{count:,}", reason) for reason, count in reasons.items()]
    return Rows("Suppressed records, and why", ("records", "reason"), lines, (0,))


def _capped(of: Mapping[str, Any], published: int) -> CappedAttribute:
    name = of["attribute"]
    shown = field(
        [(x, y, count) for x, y, count in of["records"]],
        size=of["cells"],
        title=f"Expected and observed confidence, {name}",
        across="expected confidence",
        up="observed confidence",
    )
    free = (
        f"For {percent(of['uncapped'] / published)} of the records, the expected confidence is above the sample rate: "
        "the cap does not bind these records."
    )
    return CappedAttribute(name, shown, free, _closest(name, of["closest"]))


def _closest(name: str, pairs: Sequence[Mapping[str, Any]]) -> Rows:
    regions = list(pairs[0]["regions"]) if pairs else []
    lines = [
        (
            percent(one["observed"]),
            percent(one["expected"]),
            f"{one['records']:,}",
            f"{one['group']:,}",
            one["value"],
            *one["regions"].values(),
        )
        for one in pairs
    ]
    heads = ("observed", "expected", "records", "group", "value", *regions)
    return Rows(f"Closest to the cap, {name}", heads, lines, (0, 1, 2, 3))
