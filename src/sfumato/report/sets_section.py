"""Sets before and after: how many records have a code under each node that the release publishes."""

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.sets.set_cut import NONE, Sets
from sfumato.release.shown import Shown
from sfumato.report.chart import Chart, pairs, percent

Integers = NDArray[np.int64]

_MOST = 12  # nodes of one attribute
_EXPLAINED = "The share of records that have a code under each node; a record may have several."


def sets_before_and_after(
    name: str, codes: Integers, counts: Integers, sets: Sets, shown: Shown
) -> tuple[Chart | None, str]:
    """The chart, and a sentence; no chart if the release says nothing about the sets.

    ``codes`` are places in ``sets``, and ``counts`` how many records have each.
    """
    published = shown.sets[name]
    if name in shown.attributes:
        place = shown.attributes.index(name)
        ranges, row = np.unique(
            np.stack([shown.starts[:, place], shown.stops[:, place]], axis=1), axis=0, return_inverse=True
        )
        regions = published.at(ranges[:, 0], ranges[:, 1])
        weights = np.bincount(row.ravel(), weights=shown.weights, minlength=len(ranges)).astype(np.float64)
    else:
        values = shown.values[name]
        over = values.as_published()
        used = np.bincount(values.pool, weights=shown.weights, minlength=over.shares.shape[0])
        weights = np.asarray(used @ over.shares, dtype=np.float64).ravel()
        regions = published.at(over.starts, over.stops)
    if not len(regions) or bool(regions.whole[weights > 0].all()):
        return None, "The release says nothing about this attribute."
    nodes = np.unique(np.stack([regions.starts, regions.stops], axis=1), axis=0)
    nodes = nodes[nodes[:, 1] - nodes[:, 0] < sets.size]  # every record with a code has one under the root
    before = sets.contain(nodes[:, 0], nodes[:, 1]) @ np.bincount(codes, weights=counts, minlength=len(sets))
    after = regions.chance(nodes[:, 0], nodes[:, 1]) @ weights
    labels = [NONE if start == sets.size else published.domain.label(start, stop) for start, stop in nodes.tolist()]
    whole, drawn = max(float(counts.sum()), 1e-9), max(float(weights.sum()), 1e-9)
    rows = [(label, b / whole, a / drawn) for label, b, a in zip(labels, before.tolist(), after.tolist(), strict=True)]
    rows.sort(key=lambda found: -found[1])
    rest = len(rows) - _MOST
    more = (
        f" {rest:,} rarer nodes are not shown; each of them is in at most {percent(rows[_MOST][1])} of the "
        "table's records."
        if rest > 0
        else ""
    )
    return pairs(rows[:_MOST], title=f"{name}, before and after", axis="share of records"), _EXPLAINED + more
