"""From codes to regions: in the engine by comparisons, in numpy where a cut is fine; and cells in a fixed order."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut

Codes = NDArray[np.int64]
Narrow = NDArray[np.signedinteger]


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


def sort_cells(columns: Sequence[Narrow], counts: Codes, sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """The cells in the order of their codes: an engine with threads gives them in any. No two have the same codes.

    Columns stay as narrow as the engine gives them until they are in order: wide ones take longer to move than to sort.
    """
    keys = _keys(columns, sizes) or [np.arange(len(counts))]
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    codes = np.empty((len(columns), len(counts)), np.int64)  # a column in one piece each: faster to fill and to use
    for place, column in enumerate(columns):
        codes[place] = column[order]
    return codes.T, counts[order]


def _keys(columns: Sequence[Narrow], sizes: Sequence[int]) -> list[Codes]:
    """Columns packed together, as many as fit into one whole number: fewer keys sort faster."""
    keys: list[Codes] = []
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        if keys and room * size < 2**62:
            keys[-1] *= size
            keys[-1] += column
            room *= size
        else:
            keys.append(column.astype(np.int64))  # a copy, which the next columns are packed into
            room = size
    return keys
