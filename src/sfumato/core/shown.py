"""What a release shows, in codes: regions with weights, and how the other values are spread over them.

Every kind of release can be read this way, under the uniform assumption: a row's records lie evenly in its region, and
each of the values that stand with them belongs to any of them alike. Measures see releases as this and nothing else, so
one measure serves generalised, bucketized, sampled and noisy releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.core.draft import Draft
from sfumato.core.partition import SUPPRESSED, PartitionDraft
from sfumato.core.set_cut import SetCut

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Values:
    """One attribute beside the regions: how often each of its values occurs in each pool, and each row's pool.

    In a generalised release a pool is a group, in a bucketized one a bucket for what is shuffled and a row for what is
    not.
    """

    pool: Integers  # (rows,)
    counts: csr_array  # (pools, size of the domain)

    def shares(self) -> csr_array:
        """The distribution in each pool; a pool without records has none."""
        totals = np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()
        scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        return csr_array(self.counts.multiply(scale[:, None]))


@dataclass(frozen=True, eq=False)
class Shown:
    """A release as a receiver sees it.

    Rows with the same region may stand apart (buckets). ``weights`` are published records, or noisy counts, all above
    0; divided by ``rate`` they estimate records of the table. ``suppressed`` records are known to be missing, no more.
    """

    attributes: tuple[str, ...]  # the quasi-identifiers
    starts: Integers  # (rows, attributes)
    stops: Integers  # (rows, attributes)
    weights: Floats  # (rows,)
    values: Mapping[str, Values]  # sensitive attributes, the class, and others that are published
    form: str  # generalised, bucketized, anatomy, or counts
    rate: float = 1.0
    suppressed: int = 0

    def __post_init__(self) -> None:
        assert self.starts.shape == self.stops.shape == (len(self.weights), len(self.attributes)), "a region a row"

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def records(self) -> float:
        """How many records are published, or counted with noise."""
        return float(self.weights.sum())


def shown_records(draft: PartitionDraft) -> Shown:
    """What a draft of records in groups would show."""
    view, partition = draft.view, draft.partition
    kept = partition.group != SUPPRESSED
    group, counts = partition.group[kept], partition.cells.counts[kept].astype(np.float64)
    names = tuple(a.name for a in view.quasi)
    hidden = {a.name for a in view.sensitive}
    beside = [a.name for a in (*view.sensitive, *view.others)]
    if draft.form == "generalised":
        place = [partition.boxes.attributes.index(name) for name in names]
        row, rows = group, len(partition.boxes)
        starts, stops = partition.boxes.starts[:, place], partition.boxes.stops[:, place]
    else:
        exact = np.stack([group, *(partition.column(name)[kept] for name in names)], axis=1)
        distinct, row = np.unique(exact, axis=0, return_inverse=True)
        row, rows = row.ravel(), len(distinct)
        starts, stops = distinct[:, 1:], distinct[:, 1:] + 1
    weights: Floats = np.bincount(row, weights=counts, minlength=rows).astype(np.float64)
    bucket = np.zeros(rows, np.int64)
    bucket[row] = group
    values = {}
    for name in beside:
        shuffled = name in hidden and draft.form != "generalised"
        pool, pools = (group, len(partition.boxes)) if shuffled else (row, rows)
        table = csr_array((counts, (pool, partition.column(name)[kept])), shape=(pools, view.domain(name).size))
        values[name] = Values(bucket if shuffled else np.arange(rows), table)
    return _without_empty(
        Shown(names, starts, stops, weights, values, draft.form, float(draft.rate), partition.suppressed)
    )


def shown_counts(draft: Draft, quasi: tuple[str, ...]) -> Shown:
    """What noisy counts show of the ``quasi`` attributes; all others stand beside them, the class among them.

    Published groups that differ only in what stands beside become one row. A value that was published as a region
    stands for each code of it alike. Groups that are not listed have count 0, and there are no negative ones. Sets are
    left out, and counts are summed over them: their regions are no ranges of codes.
    """
    groups = draft.groups
    plain = [index for index, cut in enumerate(groups.cuts) if not isinstance(cut, SetCut)]
    place = [index for index in plain if groups.cuts[index].attribute in quasi]
    distinct, row = np.unique(groups.regions[:, place].astype(np.int64), axis=0, return_inverse=True)
    row, rows, counts = row.ravel(), len(distinct), groups.counts.astype(np.float64)
    edges = [np.asarray((*groups.cuts[p].starts, groups.cuts[p].size), np.int64) for p in place]
    starts = np.stack([edge[distinct[:, n]] for n, edge in enumerate(edges)], axis=1) if place else distinct
    stops = np.stack([edge[distinct[:, n] + 1] for n, edge in enumerate(edges)], axis=1) if place else distinct
    own = np.arange(rows)
    target = csr_array((counts, (row, groups.classes)), shape=(rows, len(draft.view.classes)))
    values = {draft.view.target.name: Values(own, target)}
    for index in plain:
        if index not in place:
            cut, regions = groups.cuts[index], groups.regions[:, index].astype(np.int64)
            begin = np.asarray((*cut.starts, cut.size), np.int64)
            first, widths = begin[regions], np.diff(begin)[regions]
            steps = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
            at = (np.repeat(row, widths), np.repeat(first, widths) + steps)
            values[cut.attribute] = Values(
                own, csr_array((np.repeat(counts / widths, widths), at), shape=(rows, cut.size))
            )
    names = tuple(groups.cuts[p].attribute for p in place)
    weights: Floats = np.bincount(row, weights=counts, minlength=rows).astype(np.float64)
    return Shown(names, starts, stops, weights, values, "counts")


def _without_empty(shown: Shown) -> Shown:
    """The same without rows that have no records: groups all of whose records were suppressed."""
    kept = np.flatnonzero(shown.weights > 0)
    if len(kept) == len(shown):
        return shown
    values = {name: Values(found.pool[kept], found.counts) for name, found in shown.values.items()}
    return Shown(
        shown.attributes, shown.starts[kept], shown.stops[kept], shown.weights[kept], values, shown.form, shown.rate,
        shown.suppressed,
    )  # fmt: skip
