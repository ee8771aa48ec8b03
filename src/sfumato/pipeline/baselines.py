"""The two ends of every frontier: nothing published of the quasi-identifiers, and everything published."""

import numpy as np
from scipy.sparse import csr_array

from sfumato.core.counts import Cells
from sfumato.core.partition import PartitionView
from sfumato.core.shown import Shown, Values


def everything(view: PartitionView, raw: Cells) -> Shown:
    """The original table: every record with its exact values (Li & Li 2009, 4.3: the second special case)."""
    names = tuple(a.name for a in view.quasi)
    codes = raw.codes[:, [raw.attributes.index(name) for name in names]].astype(np.int64)
    rows = np.arange(len(raw))
    weights = raw.counts.astype(np.float64)
    values = {
        a.name: Values(rows, csr_array((weights, (rows, _column(raw, a.name))), shape=(len(raw), _size(view, a.name))))
        for a in (*view.sensitive, *view.others)
    }
    return Shown(names, codes, codes + 1, weights, values, "generalised")


def nothing(view: PartitionView, raw: Cells) -> Shown:
    """The trivial release: all quasi-identifiers suppressed, so one region holds all (the first special case)."""
    names = tuple(a.name for a in view.quasi)
    weights = raw.counts.astype(np.float64)
    values = {}
    for a in (*view.sensitive, *view.others):
        counts = np.bincount(_column(raw, a.name), weights=weights, minlength=_size(view, a.name))
        values[a.name] = Values(np.zeros(1, np.int64), csr_array(counts[None, :]))
    stops = np.array([[_size(view, name) for name in names]], np.int64).reshape(1, len(names))
    return Shown(names, np.zeros_like(stops), stops, np.array([weights.sum()]), values, "generalised")


def _column(raw: Cells, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return raw.codes[:, raw.attributes.index(name)].astype(np.int64)


def _size(view: PartitionView, name: str) -> int:
    return view.domain(name).size
