"""Synthetic records from measured tables: all attributes, with a weight for each class.

The groups of the first stage and a class are drawn from its table, those of each later stage from its table given the
score band and the class, and those of a remaining table given the class that the model predicts. The drawn class is not
kept: a record has one row a class, weighted by the model's probability given the whole record, so that no label adds
noise of its own. Draws are systematic: every cell occurs as often as expected, but for one.
"""

import hashlib
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.draft import Groups, Tables
from sfumato.release.measured import MeasuredTables
from sfumato.release.model.fit import cell_totals, expected_totals
from sfumato.release.model.plug_in import BANDS, PlugIn, band_of, softmax
from sfumato.study.view import View

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW: Final = 10.0


MOST_DRAWN: Final = 50_000
"""Synthetic records of a bundle; whoever wants more draws them from the tables."""

_FEWEST: Final = 100
_DIGITS: Final = 4  # of a weight


def with_records(tables: MeasuredTables, view: View) -> Tables:
    """The tables with synthetic records of them.

    The random numbers come from a hash of the tables, which are public: whoever has the tables can draw the same.
    """
    size = min(max(tables.size, _FEWEST), MOST_DRAWN)
    return Tables(tables, lambda: records_of(tables, view, size, np.random.default_rng(_seed(tables))))


def records_of(tables: MeasuredTables, view: View, size: int, rng: np.random.Generator) -> Groups:
    """So many synthetic records as groups with weights, those alike in one row; weights add up to the noisy size."""
    known = tables.cuts
    cuts = tuple(known.get(a.name) or view.domain(a.name).root(a.name) for a in view.predictors)
    regions, shares = _drawn(tables, cuts, size, rng)
    order = np.lexsort(regions.T[::-1])
    regions, shares = regions[order], shares[order]
    first = np.flatnonzero(np.concatenate([[True], np.any(regions[1:] != regions[:-1], axis=1)]))
    weights = np.add.reduceat(shares, first, axis=0) * (max(tables.size, 1) / size)
    weights = np.round(weights, _DIGITS).ravel()
    kept = np.flatnonzero(weights > 0)
    rows, classes = kept // tables.classes, kept % tables.classes
    return Groups(cuts, regions[first][rows], classes.astype(np.int64), weights[kept])


def groups_of(tables: MeasuredTables, cuts: tuple[Cut, ...], size: int, rng: np.random.Generator) -> Groups:
    """So many synthetic records, one by one, each with one class, drawn by the model's probability."""
    regions, shares = _drawn(tables, cuts, size, rng)
    classes = (np.cumsum(shares, axis=1) < rng.random((size, 1))).sum(axis=1)
    classes = np.minimum(classes, tables.classes - 1).astype(np.int64)
    return Groups(cuts, regions, classes, np.ones(size))


def _drawn(
    tables: MeasuredTables, cuts: tuple[Cut, ...], size: int, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """The groups of so many records, a column an attribute, and the probabilities of the classes."""
    drawn, shares = draw_records(tables, size, rng)
    none = np.zeros(size, dtype=np.int64)
    return np.stack([drawn.get(cut.attribute, none) for cut in cuts], axis=1), shares


def _seed(tables: MeasuredTables) -> int:
    found = hashlib.sha256(str(tables.size).encode())
    for counts in (*(table.counts for table in tables.stages), *(table.counts for table in tables.remaining)):
        found.update(np.ascontiguousarray(counts, dtype=np.int64).tobytes())
    return int.from_bytes(found.digest()[:16], "big")


def draw_records(tables: MeasuredTables, size: int, rng: np.random.Generator) -> tuple[dict[str, Integers], Floats]:
    """The groups of so many records, by attribute, and the probability of each class, a column each."""
    model, groups = PlugIn(tables.stages), {}
    scores = np.tile(model.first, (size, 1))
    label = np.zeros(size, dtype=np.int64)
    for number, stage in enumerate(model.stages):
        weights = stage.weights.reshape(stage.table.bands, -1, tables.classes)
        if number == 0:
            flat = _draw(weights.ravel(), size, rng)
            label, cell = flat % tables.classes, flat // tables.classes
        else:
            bands, cell = band_of(scores), np.zeros(size, dtype=np.int64)
            for band in range(BANDS * tables.classes):
                for one in range(tables.classes):
                    rows = np.flatnonzero((bands == band) & (label == one))
                    cell[rows] = band * weights.shape[1] + _draw(weights[band, :, one], len(rows), rng)
        scores = scores + stage.update[cell]
        for place, cut in enumerate(stage.table.cuts):
            groups[cut.attribute] = stage.table.cells[cell, 1 + place]
    predicted = scores.argmax(axis=1)
    for table in tables.remaining:
        groups[table.cut.attribute] = found = np.zeros(size, dtype=np.int64)
        shares = remaining_totals(table.counts, table.scale)
        for one, weight in enumerate(shares):
            rows = np.flatnonzero(predicted == one) if len(shares) > 1 else np.arange(size)
            found[rows] = _draw(weight, len(rows), rng)
    return groups, softmax(scores)


def remaining_totals(counts: Integers, scale: float) -> Floats:
    """How many records each cell of a remaining table has."""
    return _of_cells(cell_totals, counts, scale)


def expected_remaining(counts: Integers, scale: float) -> Floats:
    """How many records each cell of a remaining table has on average."""
    return _of_cells(expected_totals, counts, scale)


def _of_cells(estimate: Callable[..., Floats], counts: Integers, scale: float) -> Floats:
    noisy = counts.astype(np.float64).ravel()
    cells = np.stack(np.unravel_index(np.arange(counts.size), counts.shape), axis=1).astype(np.int64)
    total = max(float(noisy.sum()), _FEW)
    return estimate(cells, counts.shape, noisy, laplace_variance(scale), total).reshape(counts.shape)


def _draw(weights: Floats, size: int, rng: np.random.Generator) -> Integers:
    """So many places, each as often as its weight says, but for one, in random order."""
    if not size:
        return np.zeros(0, dtype=np.int64)
    edges = np.cumsum(weights + 1e-9)
    place = np.searchsorted(edges, (np.arange(size) + rng.random()) / size * edges[-1], side="right")
    return rng.permutation(np.minimum(place, len(edges) - 1)).astype(np.int64)
