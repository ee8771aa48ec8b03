"""Attributes before and after: their distribution in the table, and what a receiver would take it for."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.core.attribute import Attribute, Role
from sfumato.core.counts import Cells
from sfumato.core.domain import Domain, Grid
from sfumato.core.partition import PartitionView
from sfumato.core.set_cut import Sets
from sfumato.core.shown import Shown
from sfumato.publish.ranges import range_text
from sfumato.publish.report_chart import Chart, pairs, percent
from sfumato.publish.report_sets import sets_before_and_after

Floats = NDArray[np.float64]

_MOST = 12  # values, or bins, of one attribute
_QUASI = 8  # quasi-identifiers that are shown


def distributions(
    view: PartitionView, raw: Cells, shown: Shown, sets: Mapping[str, Sets] | None = None
) -> list[tuple[str, str, Chart | None, str]]:
    """Sensitive attributes, the class and the first quasi-identifiers: name, role, chart, and what is to be said.

    A quasi-identifier of which nothing is published has no chart. Codes of sets are places in ``sets``.
    """
    protected = [*view.sensitive, *(a for a in view.others if a.role is Role.CLASS)]
    found: list[tuple[str, str, Chart | None, str]] = []
    for attribute in (*protected, *view.quasi[:_QUASI]):
        domain = view.domain(attribute.name)
        if attribute.name in shown.sets:
            codes = raw.codes[:, raw.attributes.index(attribute.name)]
            of = (sets or {})[attribute.name]
            told = sets_before_and_after(attribute.name, codes, raw.counts, of, shown)
            found.append((attribute.name, _role(attribute), *told))
        elif attribute.name in shown.attributes and _nothing(attribute.name, domain, shown):
            found.append((attribute.name, _role(attribute), None, "The release says nothing of this attribute."))
        else:
            found.append((attribute.name, _role(attribute), *_before_and_after(attribute, domain, raw, shown)))
    return found


def _nothing(name: str, domain: Domain, shown: Shown) -> bool:
    place = shown.attributes.index(name)
    return bool(np.all(shown.stops[:, place] - shown.starts[:, place] == domain.size)) and domain.size > 1


def _role(attribute: Attribute) -> str:
    return attribute.role.value.replace("_", "-")


def _before_and_after(attribute: Attribute, domain: Domain, raw: Cells, shown: Shown) -> tuple[Chart, str]:
    codes = raw.codes[:, raw.attributes.index(attribute.name)]
    edges = _edges(domain, codes)
    before = _counted(codes, raw.counts.astype(np.float64), edges)
    if attribute.name in shown.attributes:
        place = shown.attributes.index(attribute.name)
        after = _binned(shown.starts[:, place], shown.stops[:, place], shown.weights, edges)
    else:
        after = _beside(attribute.name, shown, edges)
    labels = [range_text(domain, int(a), int(b)) for a, b in itertools.pairwise(edges)]
    rows = [(label, float(b), float(a)) for label, b, a in zip(labels, _part(before), _part(after), strict=True)]
    if isinstance(domain, Grid):
        rows = _trimmed(rows)
        return pairs(rows, title=f"{attribute.name}, before and after", axis="share of records"), ""
    rows.sort(key=lambda row: -row[1])
    rest = rows[_MOST:]
    told = (
        f"{len(rest):,} rarer values are not drawn; together they are {percent(sum(row[1] for row in rest))} of the "
        f"table and {percent(sum(row[2] for row in rest))} of the release."
        if rest
        else ""
    )
    return pairs(rows[:_MOST], title=f"{attribute.name}, before and after", axis="share of records"), told


def _edges(domain: Domain, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where bins begin, and the end of the last: numbers in equal steps between the codes that occur, and beyond."""
    if not isinstance(domain, Grid) or domain.size <= _MOST:
        return np.arange(domain.size + 1)
    low, high = (int(codes.min()), int(codes.max()) + 1) if len(codes) else (0, domain.size)
    inner = np.arange(low, high, max(-(-(high - low) // _MOST), 1))
    return np.unique([0, *inner, high, domain.size])


def _trimmed(rows: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Without bins at the ends that nobody is in, neither before nor after."""
    there = [place for place, (_, before, after) in enumerate(rows) if before or after]
    return rows[there[0] : there[-1] + 1] if there else rows[:1]


def _counted(codes: NDArray[np.int64], weights: Floats, edges: NDArray[np.int64]) -> Floats:
    """The weight in each bin."""
    place = np.searchsorted(edges, codes, side="right") - 1
    return np.bincount(place, weights=weights, minlength=len(edges) - 1).astype(np.float64)


def _binned(starts: NDArray[np.int64], stops: NDArray[np.int64], weights: Floats, edges: NDArray[np.int64]) -> Floats:
    """The weight in each bin, with every region's weight spread evenly over its codes."""
    wide = int(stops.max(initial=0)) + 1
    keys, place = np.unique(starts * wide + stops, return_inverse=True)
    ranges = np.stack([keys // wide, keys % wide], axis=1)
    weight = np.bincount(place, weights=weights, minlength=len(ranges))
    low, high = ranges[:, :1], ranges[:, 1:]
    inner = edges[None, 1:-1]
    below = np.clip((inner - low) / (high - low), 0.0, 1.0)  # the share of each region below each inner edge
    reached = np.concatenate([[0.0], weight @ below, [weight.sum()]])
    return np.asarray(np.diff(reached))


def _beside(name: str, shown: Shown, edges: NDArray[np.int64]) -> Floats:
    values = shown.values[name]
    totals = np.asarray(values.counts.sum(axis=1), dtype=np.float64).ravel()
    used = np.bincount(values.pool, weights=shown.weights, minlength=len(totals)).astype(np.float64)  # also if empty
    scale = np.divide(used, totals, out=np.zeros_like(used), where=totals > 0)
    by_code = np.asarray(scale @ values.counts, dtype=np.float64).ravel()
    return _counted(np.arange(len(by_code)), by_code, edges)


def _part(weights: Floats) -> Sequence[float]:
    found: list[float] = (weights / max(float(weights.sum()), 1e-9)).tolist()
    return found
