"""One attribute in the table and in releases of it: the same bins, with the share of records in each.

Shares of a release are those that its receiver reads under the uniform assumption. For the owner only: the table's
shares are counts of raw records, and the bins of a number begin and end where the table's values do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.range_text import range_text
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_cut import NONE, Sets
from sfumato.release.shown import Shown

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST = 12  # bins of one attribute
_DUST = 1e-12  # of all records: what sums of floats leave where nothing is


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnBins:
    """The bins of one attribute, by name, with the share of records in each.

    ``releases`` has an entry for each release, None for one that says nothing about the attribute; ``published`` is how
    many different values or regions each of them publishes, ``values`` how many different values the table has. Of
    categories and sets the ``rest`` are bins that are not listed, as they are rarer in the table: how many, and of
    categories the shares of records in all of them together. A record may have several codes of a set (``sets``): its
    bins are nodes, whose shares add up to more than 1, and each of the rest has at most ``rest_of_table``.
    """

    labels: tuple[str, ...]
    table: Floats
    releases: tuple[Floats | None, ...]
    published: tuple[int, ...]
    values: int
    rest: int = 0
    rest_of_table: float = 0.0
    rest_of_releases: tuple[float | None, ...] = ()
    sets: bool = False


def column_bins(
    name: str, domain: Domain, raw: Cells, releases: Sequence[Shown], sets: Mapping[str, Sets] | None = None
) -> ColumnBins:
    """The attribute ``name`` in the table and in each release; codes of sets in the table are places in ``sets``."""
    codes = raw.codes[:, raw.attributes.index(name)]
    if sets and name in sets:
        return _of_sets(name, codes, raw.counts, sets[name], releases)
    edges = _edges(domain, codes)
    table = _part(_bin_codes(codes, raw.counts.astype(np.float64), edges))
    found = [None if _says_nothing(name, domain, one) else _part(_released(name, one, edges)) for one in releases]
    published = tuple(_published(name, one) for one in releases)
    if isinstance(domain, Grid):
        at = np.array(_trimmed([table, *(one for one in found if one is not None)]), np.int64)
        return ColumnBins(
            labels=_labels(domain, edges, at),
            table=table[at],
            releases=tuple(None if one is None else one[at] for one in found),
            published=published,
            values=len(np.unique(codes)),
        )
    single = np.flatnonzero(np.diff(edges) == 1)  # bins of several are values that the table does not have
    at = single[np.argsort(-table[single], kind="stable")][:_MOST]
    return ColumnBins(
        labels=_labels(domain, edges, at),
        table=table[at],
        releases=tuple(None if one is None else one[at] for one in found),
        published=published,
        values=len(np.unique(codes)),
        rest=domain.size - len(at),
        rest_of_table=_beyond(table, at),
        rest_of_releases=tuple(None if one is None else _beyond(one, at) for one in found),
    )


def _beyond(shares: Floats, at: Integers) -> float:
    return max(float(shares.sum() - shares[at].sum()), 0.0)


def _labels(domain: Domain, edges: Integers, bins: Integers) -> tuple[str, ...]:
    return tuple(range_text(domain, int(edges[at]), int(edges[at + 1])) for at in bins)


def _says_nothing(name: str, domain: Domain, shown: Shown) -> bool:
    if name not in shown.attributes:
        return name not in shown.values
    place = shown.attributes.index(name)
    return bool(np.all(shown.stops[:, place] - shown.starts[:, place] == domain.size)) and domain.size > 1


def _published(name: str, shown: Shown) -> int:
    """How many different values or regions a release publishes of an attribute."""
    if name in shown.attributes:
        place = shown.attributes.index(name)
        return len(np.unique(np.stack([shown.starts[:, place], shown.stops[:, place]], axis=1), axis=0))
    return len(shown.values[name].as_published().starts) if name in shown.values else 0


def _released(name: str, shown: Shown, edges: Integers) -> Floats:
    if name in shown.attributes:
        place = shown.attributes.index(name)
        return _bin_ranges(shown.starts[:, place], shown.stops[:, place], shown.weights, edges)
    values = shown.values[name]
    over = values.over_ranges()
    used = np.bincount(values.pool, weights=shown.weights, minlength=over.shares.shape[0]).astype(np.float64)
    return _bin_ranges(over.starts, over.stops, np.asarray(used @ over.shares, dtype=np.float64).ravel(), edges)


def _edges(domain: Domain, codes: Integers) -> Integers:
    """Where bins begin, and the end of the last: numbers in equal steps between the codes that occur, and beyond.

    Categories have a bin for each that occurs, and for the first ones; all between two of those are one bin.
    """
    if domain.size <= _MOST:
        return np.arange(domain.size + 1)
    if not isinstance(domain, Grid):
        alone = np.union1d(codes, np.arange(_MOST))
        return np.unique(np.concatenate([alone, alone + 1, [domain.size]]))
    low, high = (int(codes.min()), int(codes.max()) + 1) if len(codes) else (0, domain.size)
    inner = np.arange(low, high, max(-(-(high - low) // _MOST), 1))
    return np.unique([0, *inner, high, domain.size])


def _trimmed(sides: Sequence[Floats]) -> list[int]:
    """The bins without those at the ends that nobody is in, neither in the table nor in a release."""
    there = np.flatnonzero(np.any(np.stack(sides) > 0, axis=0))
    return list(range(int(there[0]), int(there[-1]) + 1)) if len(there) else [0]


def _bin_codes(codes: Integers, weights: Floats, edges: Integers) -> Floats:
    """The weight in each bin."""
    place = np.searchsorted(edges, codes, side="right") - 1
    return np.bincount(place, weights=weights, minlength=len(edges) - 1).astype(np.float64)


def _bin_ranges(starts: Integers, stops: Integers, weights: Floats, edges: Integers) -> Floats:
    """The weight in each bin, with every region's weight spread evenly over its codes."""
    density = weights / np.maximum(stops - starts, 1)
    ends = np.concatenate([starts, stops])
    order = np.argsort(ends, kind="stable")
    ends, slope = ends[order], np.cumsum(np.concatenate([density, -density])[order])
    # The weight below a code is linear between the ends of regions, and grows there by what covers it.
    reached = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(ends))]) if len(ends) else np.zeros(0)
    found = np.diff(np.interp(edges, ends, reached)) if len(ends) else np.zeros(len(edges) - 1)
    return np.asarray(np.where(np.abs(found) < _DUST * max(float(weights.sum()), 1.0), 0.0, found))


def _part(weights: Floats) -> Floats:
    return np.asarray(weights / max(float(weights.sum()), 1e-9))


def _of_sets(name: str, codes: Integers, counts: Integers, sets: Sets, releases: Sequence[Shown]) -> ColumnBins:
    """The nodes that any of the releases publishes, the most frequent in the table first.

    ``codes`` are places in ``sets``, and ``counts`` how many records have each.
    """
    told = [_told_sets(name, shown) for shown in releases]
    speaking = [one for one in told if one is not None]
    published = tuple(0 if one is None else len(_nodes(one[0])) for one in told)
    if not speaking:
        silent: tuple[Floats | None, ...] = tuple(None for _ in releases)
        return ColumnBins(labels=(), table=np.zeros(0), releases=silent, published=published, values=0, sets=True)
    found = np.unique(np.concatenate([_nodes(regions) for regions, _ in speaking]), axis=0)
    found = found[found[:, 1] - found[:, 0] < sets.size]  # every record with a code has one under the root
    held = sets.contain(found[:, 0], found[:, 1]) @ np.bincount(codes, weights=counts, minlength=len(sets))
    order = np.argsort(-held, kind="stable")
    at, whole = order[:_MOST], max(float(counts.sum()), 1e-9)
    domain = next(shown.sets[name].domain for shown in releases if name in shown.sets)
    labels = [NONE if start == sets.size else domain.label(start, stop) for start, stop in found[at].tolist()]
    after = [None if one is None else _chance(*one, found[at]) for one in told]
    return ColumnBins(
        labels=tuple(labels),
        table=np.asarray(held[at] / whole),
        releases=tuple(after),
        published=published,
        values=len(np.unique(sets.leaves)),
        rest=len(order) - len(at),
        rest_of_table=float(held[order[_MOST]] / whole) if len(order) > _MOST else 0.0,
        sets=True,
    )


def _nodes(regions: SetRegions) -> Integers:
    return np.unique(np.stack([regions.starts, regions.stops], axis=1), axis=0)


def _chance(regions: SetRegions, weights: Floats, nodes: Integers) -> Floats:
    """The share of a release's records that have a code under each node."""
    return np.asarray(regions.chance(nodes[:, 0], nodes[:, 1]) @ weights / max(float(weights.sum()), 1e-9))


def _told_sets(name: str, shown: Shown) -> tuple[SetRegions, Floats] | None:
    """The regions of sets that a release publishes, and the records of each; None if it says nothing of them."""
    if name not in shown.sets or (name not in shown.attributes and name not in shown.values):
        return None
    regions, weights = _set_regions(name, shown)
    return None if not len(regions) or bool(regions.whole[weights > 0].all()) else (regions, weights)


def _set_regions(name: str, shown: Shown) -> tuple[SetRegions, Floats]:
    published = shown.sets[name]
    if name in shown.attributes:
        place = shown.attributes.index(name)
        ranges, row = np.unique(
            np.stack([shown.starts[:, place], shown.stops[:, place]], axis=1), axis=0, return_inverse=True
        )
        weights = np.bincount(row.ravel(), weights=shown.weights, minlength=len(ranges)).astype(np.float64)
        return published.at(ranges[:, 0], ranges[:, 1]), weights
    values = shown.values[name]
    over = values.as_published()
    used = np.bincount(values.pool, weights=shown.weights, minlength=over.shares.shape[0])
    return published.at(over.starts, over.stops), np.asarray(used @ over.shares, dtype=np.float64).ravel()
