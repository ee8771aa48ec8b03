"""Noisy counts beside the table: which cells there are in a group, what is published of them, and who is where.

A *group* is a combination of regions of the quasi-identifiers, which the adversary knows of a person. A *cell* is a
combination of all that stands beside them: regions of the other attributes, and the class. Only cells that occur in
the table are looked at: the adversary knows the table's overall distribution, and a cell without a record in it has
none in any group. So nothing here is as long as a domain or a cross product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut, cross_product
from sfumato.domains.sets.set_cut import SetCut
from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.release.answer.interval import Noise
from sfumato.release.shown import NoisyCells

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_GROUPS: Final = 1e100  # more groups than this are counted as this many


@dataclass(frozen=True, eq=False)
class CellTable:
    """The occupied cells of the table by group, and the published counts of cells that occur in it."""

    shares: Floats  # (cells,): of the table's records, all above 0
    thresholds: Integers  # (cells,): a smaller noisy count is not published
    regions: dict[str, Integers]  # by attribute (cells,): the region of each cell, numbered from 0
    groups: int  # that are known by name: occupied, or with a published count
    possible: float  # groups that there are in all
    scale: float
    records: int
    # what is published
    group: Integers  # (published,)
    cell: Integers  # (published,)
    low: Floats  # (published,): the noisy count is at least this
    high: Floats  # (published,): and at most this
    # the table
    table_group: Integers  # (occupied,)
    table_cell: Integers  # (occupied,)
    table_count: Integers  # (occupied,)

    @property
    def people(self) -> Floats:
        """The records of the table in each group."""
        return np.bincount(self.table_group, weights=self.table_count, minlength=self.groups).astype(np.float64)


def cell_table(evidence: Evidence, source: NoisyCells) -> CellTable:
    """Read noisy counts beside the table they were made from."""
    groups, shown = source.groups, evidence.shown
    raw = [_regions(evidence, cut) for cut in groups.cuts]
    published: list[NDArray[Any]] = [groups.regions[:, place] for place in range(len(groups.cuts))]
    known = [cut.attribute in shown.attributes for cut in groups.cuts]
    target = evidence.target
    classes = np.zeros(len(evidence.raw), np.int64) if target is None else evidence.column(target.name)
    beside = [place for place, so in enumerate(known) if not so]
    rows = len(evidence.raw)
    joined = [_joined(one, other) for one, other in zip(raw, published, strict=True)]
    classed = np.concatenate([classes, groups.classes])
    of_group, first_group = distinct_rows([joined[n] for n, so in enumerate(known) if so], len(classed))
    of_cell, _ = distinct_rows([classed, *(joined[n] for n in beside)], len(classed))
    counts = evidence.raw.counts.astype(np.float64)
    total = np.bincount(of_cell[:rows], weights=counts, minlength=int(of_cell.max(initial=-1)) + 1)
    occurs = np.flatnonzero(total > 0)
    number = np.full(len(total), -1, np.int64)
    number[occurs] = np.arange(len(occurs))
    first = np.empty(len(total), np.int64)
    first[of_cell[:rows][::-1]] = np.arange(rows)[::-1]
    at = first[occurs]
    regions = {groups.cuts[n].attribute: np.unique(joined[n][at], return_inverse=True)[1].ravel() for n in beside}
    if target is not None:
        regions[target.name] = np.unique(classes[at], return_inverse=True)[1].ravel()
    listed = np.flatnonzero(number[of_cell[rows:]] >= 0)
    low, high = _noisy_counts(groups.counts, groups.classes, source.noise)
    unlisted = np.asarray(source.noise.unlisted, np.int64)
    pairs, place = distinct_rows([of_group[:rows], of_cell[:rows]], rows)
    occupied = np.bincount(pairs, weights=counts, minlength=len(place)).astype(np.int64)
    return CellTable(
        shares=total[occurs] / max(float(counts.sum()), 1.0),
        thresholds=unlisted[classes[at]] + 1,
        regions=regions,
        groups=len(first_group),
        possible=_possible([cut for cut, so in zip(groups.cuts, known, strict=True) if so], len(first_group)),
        scale=source.noise.scale,
        records=evidence.records,
        group=of_group[rows:][listed],
        cell=number[of_cell[rows:][listed]],
        low=low[listed],
        high=high[listed],
        table_group=of_group[:rows][place],
        table_cell=number[of_cell[:rows][place]],
        table_count=occupied,
    )


def _possible(cuts: Sequence[Cut], named: int) -> float:
    """How many groups there are, listed or not."""
    every = cross_product(cuts)
    return float(max(min(every, int(_MOST_GROUPS)), named))


def _regions(evidence: Evidence, cut: Cut) -> NDArray[Any]:
    """The region that each cell of the table is in, of one attribute; of sets by the nodes that they hold."""
    codes = evidence.column(cut.attribute)
    if isinstance(cut, SetCut):
        found: NDArray[Any] = cut.numbers(evidence.sets[cut.attribute])[codes]
        return found
    return cut.regions(codes)


def _joined(raw: NDArray[Any], published: NDArray[Any]) -> Integers:
    """Regions of the table and of the release, numbered together; of sets the numbers may fit no machine integer."""
    both = np.concatenate([raw.astype(object), published.astype(object)]) if _long(raw, published) else None
    if both is None:
        both = np.concatenate([raw.astype(np.int64), published.astype(np.int64)])
    return np.asarray(np.unique(both, return_inverse=True)[1]).ravel().astype(np.int64)


def _long(*columns: NDArray[Any]) -> bool:
    """Whether one of the columns has numbers beyond those of the machine."""
    return any(column.dtype == object and any(int(n).bit_length() > 62 for n in column) for column in columns)  # noqa: PLR2004


def _noisy_counts(counts: NDArray[Any], classes: Integers, noise: Noise) -> tuple[Floats, Floats]:
    """Between which numbers the noisy count behind each published one lies: post-processing is known, and undone.

    See `Undo` of the methods: noisy = count / factor + shift, moved by rounding by at most the slack. Of `class_totals`
    the one count below the cutoff of its class was reduced from it.
    """
    each = {name: np.asarray(getattr(noise, name), np.float64) for name in ("factor", "slack", "cutoff")}
    noisy = counts / each["factor"][classes] + noise.shift
    slack, cutoff = each["slack"][classes], each["cutoff"][classes]
    noisy = np.where(slack == 0, np.maximum(noisy, cutoff), noisy)
    least = np.maximum(np.ceil(noisy - slack - 1e-9), cutoff)
    return least, np.maximum(np.floor(noisy + slack + 1e-9), least)
