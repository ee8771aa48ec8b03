"""Attributes before and after: their distribution in the table, and in the release as its receiver reads it."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.range_text import range_text
from sfumato.domains.sets.set_cut import Sets
from sfumato.release.shown import Shown
from sfumato.report.chart import Chart, pairs, percent
from sfumato.report.sets_section import sets_before_and_after
from sfumato.study.attribute import Attribute, Role
from sfumato.study.view import View

Floats = NDArray[np.float64]

_MOST = 12  # values, or bins, of one attribute
_QUASI = 8  # quasi-identifiers that are shown
_DUST = 1e-12  # of all records: what sums of floats leave where nothing is


def distributions(
    view: View, raw: Cells, shown: Shown, sets: Mapping[str, Sets] | None = None
) -> list[tuple[str, str, Chart | None, str]]:
    """Sensitive attributes, the class and the first quasi-identifiers: name, role, chart, and a sentence.

    A quasi-identifier of which nothing is published has no chart. Codes of sets are places in ``sets``.
    """
    protected = [*view.sensitive, *(a for a in view.others if a.role is Role.CLASS)]
    found: list[tuple[str, str, Chart | None, str]] = []
    for attribute in (*protected, *view.quasi[:_QUASI]):
        domain = view.domain(attribute.name)
        if attribute.name in shown.sets:
            codes = raw.codes[:, raw.attributes.index(attribute.name)]
            of = (sets or {})[attribute.name]
            section = sets_before_and_after(attribute.name, codes, raw.counts, of, shown)
            found.append((attribute.name, _role(attribute), *section))
        elif attribute.name in shown.attributes and _nothing(attribute.name, domain, shown):
            found.append((attribute.name, _role(attribute), None, "The release says nothing about this attribute."))
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
    before = _bin_codes(codes, raw.counts.astype(np.float64), edges)
    if attribute.name in shown.attributes:
        place = shown.attributes.index(attribute.name)
        after = _bin_ranges(shown.starts[:, place], shown.stops[:, place], shown.weights, edges)
    else:
        after = _beside(attribute.name, shown, edges)
    sides = np.stack([_part(before), _part(after)], axis=1)
    if isinstance(domain, Grid):
        rows = _trimmed(_rows(domain, edges, range(len(before)), sides))
        return pairs(rows, title=f"{attribute.name}, before and after", axis="share of records"), ""
    single = np.flatnonzero(np.diff(edges) == 1)  # bins of several are values that the table does not have
    drawn = single[np.argsort(-sides[single, 0], kind="stable")][:_MOST]
    rows = _rows(domain, edges, drawn.tolist(), sides)
    rest = np.maximum(sides.sum(axis=0) - sides[drawn].sum(axis=0), 0.0)
    rarer = (
        f"{domain.size - len(drawn):,} rarer values are not shown; together they make up {percent(float(rest[0]))} of "
        f"the table and {percent(float(rest[1]))} of the release."
        if domain.size > len(drawn)
        else ""
    )
    return pairs(rows, title=f"{attribute.name}, before and after", axis="share of records"), rarer


def _rows(
    domain: Domain, edges: NDArray[np.int64], bins: Iterable[int], sides: Floats
) -> list[tuple[str, float, float]]:
    """Bins as a chart has them: their name, the table's share and the release's."""
    return [
        (range_text(domain, int(edges[at]), int(edges[at + 1])), float(sides[at, 0]), float(sides[at, 1]))
        for at in bins
    ]


def _edges(domain: Domain, codes: NDArray[np.int64]) -> NDArray[np.int64]:
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


def _trimmed(rows: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Without bins at the ends that nobody is in, neither before nor after."""
    there = [place for place, (_, before, after) in enumerate(rows) if before or after]
    return rows[there[0] : there[-1] + 1] if there else rows[:1]


def _bin_codes(codes: NDArray[np.int64], weights: Floats, edges: NDArray[np.int64]) -> Floats:
    """The weight in each bin."""
    place = np.searchsorted(edges, codes, side="right") - 1
    return np.bincount(place, weights=weights, minlength=len(edges) - 1).astype(np.float64)


def _bin_ranges(
    starts: NDArray[np.int64], stops: NDArray[np.int64], weights: Floats, edges: NDArray[np.int64]
) -> Floats:
    """The weight in each bin, with every region's weight spread evenly over its codes."""
    density = weights / np.maximum(stops - starts, 1)
    ends = np.concatenate([starts, stops])
    order = np.argsort(ends, kind="stable")
    ends, slope = ends[order], np.cumsum(np.concatenate([density, -density])[order])
    # The weight below a code is linear between the ends of regions, and grows there by what covers it.
    reached = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(ends))]) if len(ends) else np.zeros(0)
    found = np.diff(np.interp(edges, ends, reached)) if len(ends) else np.zeros(len(edges) - 1)
    return np.asarray(np.where(np.abs(found) < _DUST * max(float(weights.sum()), 1.0), 0.0, found))


def _beside(name: str, shown: Shown, edges: NDArray[np.int64]) -> Floats:
    values = shown.values[name]
    over = values.over_ranges()
    used = np.bincount(values.pool, weights=shown.weights, minlength=over.shares.shape[0]).astype(np.float64)
    return _bin_ranges(over.starts, over.stops, np.asarray(used @ over.shares, dtype=np.float64).ravel(), edges)


def _part(weights: Floats) -> Floats:
    return np.asarray(weights / max(float(weights.sum()), 1e-9))
