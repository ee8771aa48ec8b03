"""Distances between distributions, for many pairs at once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def jensen_shannon(one: Floats, two: Floats) -> Floats:
    """JS(p, q) = ½KL(p‖m) + ½KL(q‖m) with m = ½(p + q), in nats, of each row: from 0 to ln 2.

    >>> jensen_shannon(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]])).round(4).tolist()
    [0.6931, 0.0]
    """
    middle = (one + two) / 2
    found = (_entropic(one, middle) + _entropic(two, middle)) / 2
    return np.clip(found, 0.0, np.log(2.0))


def _entropic(p: Floats, m: Floats) -> Floats:
    """KL(p‖m) of each row, where m > 0 wherever p is."""
    logs = np.zeros(np.broadcast_shapes(p.shape, m.shape))
    np.divide(p, m, out=logs, where=p > 0)
    np.log(logs, out=logs, where=logs > 0)
    return np.asarray((p * logs).sum(axis=-1))
