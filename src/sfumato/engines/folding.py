"""From codes to regions: in the engine by comparisons, in numpy where a cut is fine; and cells in a fixed order."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from sfumato.core.cut import Cut

Codes = NDArray[np.int64]


def region(code: ir.IntegerColumn, cut: Cut) -> ir.IntegerColumn:
    """Which region of the cut a code falls into: a balanced tree of comparisons with where regions start."""
    if len(cut) == cut.size:
        return code

    def among(first: int, last: int) -> ir.IntegerValue:
        if first == last:
            return ibis.literal(first, "int32")
        middle = (first + last + 1) // 2
        return (code < cut.starts[middle]).ifelse(among(first, middle - 1), among(middle, last))

    return among(0, len(cut) - 1)


def fold(codes: Codes, counts: Codes) -> tuple[Codes, Codes]:
    """Cells with equal codes become one."""
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    folded = np.zeros(len(distinct), np.int64)
    np.add.at(folded, place.ravel(), counts)
    return distinct, folded


def in_order(codes: Codes, counts: Codes, sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """The cells in the order of their codes: an engine with threads gives them in any."""
    order = np.lexsort(_keys(codes, sizes)[::-1]) if codes.shape[1] else np.arange(len(counts))
    return np.take(codes.T, order, axis=1).T, counts[order]


def _keys(codes: Codes, sizes: Sequence[int]) -> list[Codes]:
    """Columns packed together, as many as fit into one whole number: fewer keys sort faster."""
    keys: list[Codes] = []
    room = 1
    for place, size in enumerate(sizes):
        if keys and room * size < 2**62:
            keys[-1] = keys[-1] * size + codes[:, place]
            room *= size
        else:
            keys.append(codes[:, place])
            room = size
    return keys
