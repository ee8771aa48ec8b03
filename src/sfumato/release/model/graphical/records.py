"""Synthetic records from measured marginals: all attributes, drawn from the model that the tables make."""

import hashlib
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.release.draft import Groups, Tables
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.model.graphical.draw import Floats, Integers, draw_values
from sfumato.release.model.graphical.fit_model import fit
from sfumato.release.model.graphical.graphical_model import GraphicalModel

MOST_DRAWN: Final = 50_000
"""Synthetic records of a bundle; whoever wants more draws them from the tables."""

STEPS: Final = 300
"""Of the fit, at most; it changes little after half of them."""

_FEWEST: Final = 100
_DIGITS: Final = 4  # of a weight


@lru_cache(maxsize=2)
def model_of(measured: MeasuredMarginals) -> GraphicalModel:
    """The model that the tables make: the same for whoever has the tables."""
    return fit(measured.sizes, measured.measurements, measured.total, steps=STEPS).model


def with_model_records(measured: MeasuredMarginals, *, targeted: bool) -> Tables:
    """The tables with synthetic records of them.

    The random numbers come from a hash of the tables, which are public: the records contain nothing but the tables.
    """
    size = int(min(max(measured.total, _FEWEST), MOST_DRAWN))
    return Tables(
        measured,
        lambda: records_of(measured, size, np.random.default_rng(_seed(measured)), targeted=targeted),
    )


def records_of(measured: MeasuredMarginals, size: int, rng: np.random.Generator, *, targeted: bool) -> Groups:
    """So many synthetic records, those alike in one row, with weights that add up to the number of records."""
    values = draw_values(model_of(measured), size, rng)
    rows, many = np.unique(values, axis=0, return_counts=True)
    weights = np.round(many * (measured.total / size), _DIGITS)
    return as_groups(measured, rows, weights, targeted=targeted)


def as_groups(measured: MeasuredMarginals, rows: Integers, weights: Floats, *, targeted: bool) -> Groups:
    """Values of all attributes as groups of the predictors with a class; without a target the class is 0 for all."""
    if targeted:
        return Groups(measured.cuts[:-1], rows[:, :-1], rows[:, -1], weights)
    return Groups(measured.cuts, rows, np.zeros(len(rows), dtype=np.int64), weights)


def _seed(measured: MeasuredMarginals) -> int:
    found = hashlib.sha256(str(measured.size).encode())
    for counts in measured.counts:
        found.update(np.ascontiguousarray(counts, dtype=np.int64).tobytes())
    return int.from_bytes(found.digest()[:16], "big")
