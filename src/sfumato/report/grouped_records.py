"""The owner's report of records: what is guaranteed, what it costs, and which classes are closest to the bound.

It is made from the raw table and stays with the owner. Nothing of it goes into a bundle.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.range_text import range_text
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.privacy.groups.sensitive import Sensitive, Strain
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import title
from sfumato.release.draft import Draft
from sfumato.release.guarantee import LIMITS
from sfumato.release.region_loss import attribute_losses, general_loss
from sfumato.release.uniqueness import exact_words, unique_words, uniqueness
from sfumato.report.cap_section import cap_section
from sfumato.report.chart import Chart, counts, percent, shares
from sfumato.report.report_page import Provenance, Tile
from sfumato.report.table_rows import Rows
from sfumato.wording import sentence

_BINS: Final = 12
_WORST: Final = 10


def record_sections(draft: Draft, made: Provenance, sets: Mapping[str, SetDomain]) -> dict[str, Any]:  # noqa: ARG001 - the shape of a form's sections
    """The sections about records; ``sets`` are those that have become categories."""
    groups = draft.partition.statistics(draft.view)
    generalised = draft.form == "generalised"
    return {
        "guaranteed": [model.sentence() for model in draft.models],
        "not_guaranteed": _not_guaranteed(draft),
        "tiles": _tiles(draft, groups, sets),
        "published": _published(draft),
        "left_out": _left_out(draft),
        "sizes": _sizes(draft, groups),
        "cap": cap_section(draft),
        "losses": _losses(draft, sets) if generalised else None,
        "losses_mean": (
            "The share of its domain that a published value covers on average: 0 % is exact, 100 % carries no "
            "information. A suppressed record counts as 100 %."
            if generalised
            else "Quasi-identifiers are published exactly, so none of them loses information. What is not published is "
            "which sensitive value belongs to which record within a bucket."
        ),
        "worst": _worst(draft, groups),
        "worst_missing": "" if len(groups) else "No group is published.",
    }


def _not_guaranteed(draft: Draft) -> list[str]:
    """What the models do not cover, and what exact columns reveal about single records."""
    limits = [LIMITS, *(m.limits for m in draft.models if hasattr(m, "limits"))]
    exact = [f"{sentence(said)}." for said in exact_words(draft.view, draft.form)]
    unique = [f"{sentence(said)}." for said in unique_words(uniqueness(draft))]
    return list(dict.fromkeys([*limits, *exact, *unique]))


def _what(draft: Draft) -> str:
    return "buckets" if draft.form != "generalised" else "groups"


def _tiles(draft: Draft, groups: Statistics, sets: Mapping[str, SetDomain] | None) -> list[Tile]:
    records, gone, what = int(draft.partition.cells.counts.sum()), draft.partition.suppressed, _what(draft)
    sizes = groups.sizes[groups.sizes > 0]
    drawn = (
        "records of the table are used"
        if draft.rate == 1
        else f"records were drawn, {percent(float(draft.rate))} of the table"
    )
    found = [
        Tile(f"{records:,}", drawn),
        Tile(f"{len(sizes):,}", f"{what} are published"),
    ]
    if len(sizes):
        found += [
            Tile(f"{int(sizes.min()):,}", f"records are in the smallest of the {what}"),
            Tile(f"{float(sizes.mean()):,.1f}", f"records are in one of the {what} on average"),
            Tile(f"{int(sizes.max()):,}", f"records are in the largest of the {what}"),
        ]
    found.append(Tile(f"{gone:,}", f"records are suppressed ({percent(gone / max(records, 1))} of the table)"))
    if draft.form == "generalised":
        found.append(
            Tile(
                f"{general_loss(draft.partition, draft.view, sets):.3f}",
                "of each attribute's domain is covered by a published value on average (0: exact, 1: no information)",
            )
        )
    alone = uniqueness(draft)
    if alone.exact:
        found.append(
            Tile(
                percent(alone.share),
                f"of the published records ({alone.unique:,}) are unique over all published columns, the exact ones "
                "included",
            )
        )
    return found


def _published(draft: Draft) -> str:
    return {
        "generalised": "Records are published one by one. The quasi-identifier values of a record are generalised to a "
        "region that all records of its group share; all other attributes are published unchanged.",
        "bucketized": "Records are published with their exact quasi-identifiers. The sensitive values are put into "
        "random order within each bucket: they belong to the bucket and not to the row.",
        "anatomy": "Records are published with their exact quasi-identifiers and the number of their bucket; a second "
        "table says how often each sensitive value occurs in each bucket.",
    }.get(draft.form, "")


def _left_out(draft: Draft) -> str:
    gone = draft.partition.suppressed
    if not gone:
        return "No record is suppressed: every record that is used is published."
    records = int(draft.partition.cells.counts.sum())
    return (
        f"{gone:,} records ({percent(gone / max(records, 1))}) are suppressed. With them, their groups would have "
        "violated the privacy model, or would have had to be generalised much further. They are published as rows "
        "that only say that there was a record. The numbers below count them as completely lost."
    )


def _sizes(draft: Draft, groups: Statistics) -> Chart:
    what = _what(draft)
    labels = _bin_sizes(groups.sizes[groups.sizes > 0])
    return counts(labels, title=f"Sizes of the {what}", axis=f"number of {what}, by their size in records")


def _bin_sizes(sizes: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Sizes in bins: one a size where there are few, else bins that grow by the same factor."""
    if not len(sizes):
        return []
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < _BINS:
        edges = list(range(low, high + 2))
    else:
        edges = [int(edge) for edge in np.unique(np.round(np.geomspace(low, high + 1, _BINS + 1)).astype(np.int64))]
    found, _ = np.histogram(sizes, bins=[*edges[:-1], high + 1])
    names = [f"{a:,}" if b == a + 1 else f"{a:,} to {b - 1:,}" for a, b in pairwise(edges)]
    return [(name, int(count)) for name, count in zip(names, found, strict=True)]


def _losses(draft: Draft, sets: Mapping[str, SetDomain] | None) -> Chart:
    losses = attribute_losses(draft.partition, draft.view, sets)
    return shares(
        list(losses.items()), title="Loss by attribute", axis="share of the domain that a published value covers"
    )


def _worst(draft: Draft, groups: Statistics) -> list[tuple[str, str, Rows]]:
    """For each privacy model the groups closest to its bound; if no number says so, those with the largest share."""
    found: list[tuple[str, str, Rows]] = []
    what = _what(draft)
    for model in draft.models if len(groups) else ():
        needed = model.needs()
        names = tuple(groups.sensitive) if needed is None else needed
        if not names:
            worst = np.argsort(groups.sizes, kind="stable")[:_WORST]
            caption = f"The smallest {what}"
            found.append((title(model), f"{caption}.", _table(draft, groups, worst, caption)))
        for name in names:
            strain = model.strain(groups, name) if isinstance(model, Sensitive) else None
            if strain is None:
                near = _largest_share(groups, name)
                caption = f"The {what} in which one value of {name} has the largest share"
                order = f"{caption}. No single number says how close they are to the bound."
            else:
                near = strain.numbers if strain.more_is_nearer else -strain.numbers
                caption = f"The {what} that are closest to the bound for {name}"
                order = f"Sorted by {strain.words}; the privacy model allows {strain.bound}."
            worst = np.lexsort((groups.sizes, -np.where(groups.sizes > 0, near, -np.inf)))[:_WORST]
            found.append((title(model), order, _table(draft, groups, worst, caption, name, strain)))
    return found


def _largest_share(groups: Statistics, name: str) -> NDArray[np.float64]:
    values = groups.sensitive[name]
    largest = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(largest, values.group, values.counts)
    found: NDArray[np.float64] = largest / np.maximum(groups.sizes, 1)
    return found


def _table(
    draft: Draft,
    groups: Statistics,
    worst: NDArray[np.int64],
    caption: str,
    name: str | None = None,
    strain: Strain | None = None,
) -> Rows:
    boxes = draft.partition.boxes
    own = [] if strain is None else [strain.head]
    heads = ["records", *own, *([] if name is None else ["largest share", f"of {name}"]), *boxes.attributes]
    lines = []
    for group in map(int, worst):
        regions = [
            range_text(draft.view.domain(a), int(boxes.starts[group, n]), int(boxes.stops[group, n]))
            for n, a in enumerate(boxes.attributes)
        ]
        most = [] if name is None else _most(groups, name, group)
        near = [] if strain is None else [_near(float(strain.numbers[group]))]
        lines.append([f"{int(groups.sizes[group]):,}", *near, *most, *regions])
    return Rows(caption, heads, lines, tuple(range(1 + len(own) + (name is not None))))


def _near(value: float) -> str:
    if np.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.3f}"


def _most(groups: Statistics, name: str, group: int) -> list[str]:
    values = groups.sensitive[name]
    here = slice(int(values.first[group]), int(values.first[group + 1]))
    if here.start == here.stop:
        return ["", ""]
    place = here.start + int(np.argmax(values.counts[here]))
    code = int(values.values[place])
    share = int(values.counts[place]) / max(int(groups.sizes[group]), 1)
    return [percent(share), range_text(groups.domains[name], code, code + 1)]
