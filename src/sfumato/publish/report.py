"""The owner's report of a release of records: what was promised, what it cost in detail, and where it is closest.

It is made from the raw table and stays with the owner. Nothing of it goes into a bundle.
"""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domain import Domain, Grid
from sfumato.core.loss import attribute_losses, general_loss
from sfumato.core.partition import PartitionDraft
from sfumato.core.statistics import Statistics
from sfumato.models import title
from sfumato.publish import report_html as html
from sfumato.publish.ranges import range_text
from sfumato.publish.record_manifest import LIMITS
from sfumato.publish.report_cap import cap_sections
from sfumato.publish.report_svg import bars, histogram, pairs

_BINS: Final = 12
_SHOWN: Final = 20  # values of one attribute
_WORST: Final = 10


def partition_report(draft: PartitionDraft, *, study: str, release: str, method: str, date: str) -> str:
    """One self-contained HTML page."""
    groups = draft.partition.statistics(draft.view)
    name = f"{release} of {study}"
    return html.page(
        f"Owner's report: {name}",
        [
            f"<h1>{escape(name)}</h1>",
            html.said(f"Owner's report, {date}. Method: {method}.", "quiet"),
            html.said("For the owner only: this page is made from the raw table. Do not give it away.", "warning"),
            "<h2>What was promised</h2>",
            html.listed([model.sentence() for model in draft.models]),
            html.said(
                " ".join(dict.fromkeys([LIMITS, *(m.limits for m in draft.models if hasattr(m, "limits"))])), "quiet"
            ),
            *_numbers(draft, groups),
            *_losses(draft),
            *cap_sections(draft),
            *_distributions(draft, groups),
            *_worst(draft, groups),
            *_facts(draft),
        ],
    )


def _numbers(draft: PartitionDraft, groups: Statistics) -> list[str]:
    records = int(draft.partition.cells.counts.sum())
    gone = draft.partition.suppressed
    sizes = groups.sizes[groups.sizes > 0]
    what = "buckets" if draft.form != "generalised" else "groups"
    drawn = "records in the table" if draft.rate == 1 else f"records drawn, {float(draft.rate):.3g} of the table"
    found = [(f"{records:,}", drawn), (f"{len(sizes):,}", what)]
    if len(sizes):
        found += [
            (f"{int(sizes.min()):,}", f"smallest of the {what}"),
            (f"{float(sizes.mean()):,.1f}", "average size"),
            (f"{int(sizes.max()):,}", "largest"),
        ]
    share = gone / records if records else 0.0
    found += [(f"{gone:,}", f"suppressed records ({share:.2%})")]
    if draft.form == "generalised":
        found.append((f"{general_loss(draft.partition, draft.view):.3f}", "loss (0: exact, 1: nothing left)"))
    counts, labels = _binned(sizes)
    return [
        f"<h2>{what.capitalize()}</h2>",
        html.tiles(found),
        f"<h3>How many {what} have which size</h3>",
        histogram(counts, labels, title=f"Number of {what} by size"),
    ]


def _binned(sizes: NDArray[np.int64]) -> tuple[list[int], list[str]]:
    """Sizes in bins: one a size where there are few, else bins that grow by the same factor."""
    if not len(sizes):
        return [], []
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < _BINS:
        edges = list(range(low, high + 2))
    else:
        steps = np.unique(np.round(np.geomspace(low, high + 1, _BINS + 1)).astype(np.int64))
        edges = [int(edge) for edge in steps]
    counts, _ = np.histogram(sizes, bins=[*edges[:-1], high + 1] if len(edges) > 1 else [low, high + 1])
    labels = [str(a) if b == a + 1 else f"{a} …" for a, b in pairwise(edges)]  # up to where the next bar begins
    return [int(count) for count in counts], labels


def _losses(draft: PartitionDraft) -> list[str]:
    if draft.form != "generalised":
        return []
    losses = attribute_losses(draft.partition, draft.view)
    return [
        "<h2>Loss by attribute</h2>",
        html.said(
            "How much of its domain a published value covers on average: 0 % is exact, 100 % says nothing. A "
            "suppressed record counts 100 %.",
            "quiet",
        ),
        bars(list(losses.items()), title="Loss by attribute"),
    ]


def _distributions(draft: PartitionDraft, groups: Statistics) -> list[str]:
    """Each sensitive attribute over the table, and over the published records."""
    found: list[str] = []
    cells = draft.partition.cells
    for attribute in draft.view.sensitive:
        domain = draft.view.domain(attribute.name)
        codes = draft.partition.column(attribute.name)
        labels, bins = _value_bins(domain, codes)
        before = np.bincount(bins[codes], weights=cells.counts, minlength=len(labels))
        after = np.bincount(bins, weights=groups.table[attribute.name], minlength=len(labels))
        total, kept = max(before.sum(), 1), max(after.sum(), 1)
        rows = [(label, before[n] / total, after[n] / kept) for n, label in enumerate(labels)]
        if not isinstance(domain, Grid):
            rows.sort(key=lambda row: -row[1])
        rest = len(rows) - _SHOWN
        found += [
            f"<h3>{escape(attribute.name)}</h3>",
            pairs(rows[:_SHOWN], title=f"{attribute.name}, before and after"),
        ]
        if rest > 0:
            found.append(html.said(f"and {rest:,} rarer values", "quiet"))
    if not found:
        return []
    key = (
        '<p class="key quiet"><i style="background:#c9b79c"></i>table <i style="background:#2b6a6c"></i>published '
        "records</p>"
    )
    return ["<h2>Sensitive attributes, before and after</h2>", key, *found]


def _value_bins(domain: Domain, codes: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
    """Names of bins, and the bin of each code: numbers in at most twenty steps, categories as they are."""
    bins = np.arange(domain.size)
    if isinstance(domain, Grid) and domain.size > _SHOWN:
        low, high = (int(codes.min()), int(codes.max()) + 1) if len(codes) else (0, domain.size)
        wide = max(-(-(high - low) // _SHOWN), 1)
        bins = np.clip((np.arange(domain.size) - low) // wide, 0, (high - low - 1) // wide)
        starts = [low + n * wide for n in range(int(bins.max()) + 1)]
        return [range_text(domain, start, min(start + wide, high)) for start in starts], bins
    return [range_text(domain, code, code + 1) for code in range(domain.size)], bins


def _worst(draft: PartitionDraft, groups: Statistics) -> list[str]:
    """For each promise the groups that are closest to breaking it."""
    if not len(groups):
        return []
    found = ["<h2>The worst groups</h2>"]
    for model in draft.models:
        found.append(f"<h3>{escape(title(model))}</h3>")
        needed = model.needs()
        names = tuple(groups.sensitive) if needed is None else needed
        if not names:
            worst = np.argsort(groups.sizes, kind="stable")[:_WORST]
            found += [html.said("The smallest ones.", "quiet"), _table(draft, groups, worst, None)]
        for name in names:
            share = _largest_share(groups, name)
            worst = np.lexsort((groups.sizes, -share))[:_WORST]
            told = f"Those in which one value of {name} has the largest share."
            found += [html.said(told, "quiet"), _table(draft, groups, worst, name)]
    return found


def _largest_share(groups: Statistics, name: str) -> NDArray[np.float64]:
    values = groups.sensitive[name]
    largest = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(largest, values.group, values.counts)
    shares: NDArray[np.float64] = largest / np.maximum(groups.sizes, 1)
    return shares


def _table(
    draft: PartitionDraft, groups: Statistics, worst: Sequence[int] | NDArray[np.int64], name: str | None
) -> str:
    boxes = draft.partition.boxes
    heads = ["size", *([] if name is None else ["share", f"of {name}"]), *boxes.attributes]
    lines = []
    for group in map(int, worst):
        regions = [
            range_text(draft.view.domain(a), int(boxes.starts[group, n]), int(boxes.stops[group, n]))
            for n, a in enumerate(boxes.attributes)
        ]
        most = [] if name is None else _most(groups, name, group)
        lines.append([f"{int(groups.sizes[group]):,}", *most, *regions])
    return html.rows(heads, lines, numbers=(0,) if name is None else (0, 1))


def _most(groups: Statistics, name: str, group: int) -> list[str]:
    values = groups.sensitive[name]
    here = slice(int(values.first[group]), int(values.first[group + 1]))
    if here.start == here.stop:
        return ["", ""]
    place = here.start + int(np.argmax(values.counts[here]))
    code = int(values.values[place])
    share = int(values.counts[place]) / max(int(groups.sizes[group]), 1)
    return [f"{share:.1%}", range_text(groups.domains[name], code, code + 1)]


def _facts(draft: PartitionDraft) -> list[str]:
    if not draft.facts:
        return []
    return [
        "<h2>What the method tells</h2>",
        html.rows(["fact", "value"], [(str(k), str(v)) for k, v in draft.facts.items()]),
    ]
