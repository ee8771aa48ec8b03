"""Records drawn from a graphical model, clique by clique, each given what it has in common with its parent.

Draws are systematic: among the records that have the same values so far, every cell occurs as often as expected, but
for one. So records have less chance in them than independent draws, and the same distribution each.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.release.model.graphical.graphical_model import GraphicalModel

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_values(model: GraphicalModel, size: int, rng: np.random.Generator) -> Integers:
    """The values of so many records, a column an attribute."""
    tree = model.tree
    found = np.zeros((size, len(tree.sizes)), dtype=np.int64)
    for place, clique in enumerate(tree.cliques):
        separator = tree.separators[place]
        new = tuple(a for a in clique if a not in separator)
        shares = model.within(place, (*separator, *new)).reshape(prod(tree.shape(separator)), -1)
        known = _place(found, separator, tree.shape(separator))
        cells = systematic_given(shares, known, rng)
        for a, column in zip(new, np.unravel_index(cells, tree.shape(new)), strict=True):
            found[:, a] = column
    return found


def systematic_given(shares: Floats, known: Integers, rng: np.random.Generator) -> Integers:
    """A column for each record, in proportion to the shares in its row."""
    found = np.zeros(len(known), dtype=np.int64)
    order = np.argsort(known, kind="stable")
    rows, starts, many = np.unique(known[order], return_index=True, return_counts=True)
    for row, start, size in zip(rows.tolist(), starts.tolist(), many.tolist(), strict=True):
        found[order[start : start + size]] = systematic(shares[row], size, rng)
    return found


def systematic(weights: Floats, size: int, rng: np.random.Generator) -> Integers:
    """So many places, each as often as its weight says, but for one, in random order."""
    if not size:
        return np.zeros(0, dtype=np.int64)
    edges = np.cumsum(weights + 1e-9 * max(float(weights.max()), 1e-300))
    place = np.searchsorted(edges, (np.arange(size) + rng.random()) / size * edges[-1], side="right")
    return rng.permutation(np.minimum(place, len(edges) - 1)).astype(np.int64)


def _place(values: Integers, attributes: tuple[int, ...], shape: tuple[int, ...]) -> Integers:
    """The number of each record's values in a table of some attributes."""
    found = np.zeros(len(values), dtype=np.int64)
    for a, size in zip(attributes, shape, strict=True):
        found = found * size + values[:, a]
    return found
