"""From codes to regions: in the engine by comparisons, in numpy where a cut is fine; and cells in a fixed order."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import narrowest
from sfumato.domains.cut import Cut

Codes = NDArray[np.int64]
Narrow = NDArray[np.signedinteger]

_WORD = 2**62
_TOGETHER = 16  # columns in one number: each is nested in the SQL, and compilers go down by recursion
COARSE = 512  # regions of a cut that the engine finds by comparisons; those of a finer cut are looked up


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


def span(number: ir.IntegerColumn, spans: Sequence[int]) -> ir.IntegerValue:
    """What stands in a list at the number of a region: comparisons between neighbours that differ."""
    first = [place for place, one in enumerate(spans) if place == 0 or one != spans[place - 1]]

    def among(low: int, high: int) -> ir.IntegerValue:
        if low == high:
            return ibis.literal(spans[first[low]], "int64")
        middle = (low + high + 1) // 2
        return (number < first[middle]).ifelse(among(low, middle - 1), among(middle, high))

    return among(0, len(first) - 1)


def pack(sizes: Sequence[int]) -> list[range]:
    """Which neighbouring columns share a whole number of 62 bits: few keys are grouped and fetched faster than many.

    >>> pack([2**40, 2**20, 10, 7])
    [range(0, 2), range(2, 4)]
    """
    found: list[range] = []
    room = 1
    for place, size in enumerate(sizes):
        if found and room * max(size, 1) <= _WORD and len(found[-1]) < _TOGETHER:
            found[-1] = range(found[-1].start, place + 1)
            room *= max(size, 1)
        else:
            found.append(range(place, place + 1))
            room = max(size, 1)
    return found


def packed(columns: Sequence[ir.IntegerColumn], sizes: Sequence[int], places: range) -> ir.IntegerColumn:
    """Some columns as one number; one alone stays as it is."""
    found = columns[places.start]
    for place in places[1:]:
        found = found.cast("int64") * ibis.literal(sizes[place], "int64") + columns[place]
    return found


def unpacked(keys: Sequence[NDArray[np.int64]], sizes: Sequence[int], packs: Sequence[range]) -> list[Narrow]:
    """The columns that `packed` put together, each as narrow as its values."""
    found: dict[int, Narrow] = {}
    for key, places in zip(keys, packs, strict=True):
        rest = key
        for place in reversed(places[1:]):
            rest, found[place] = rest // sizes[place], (rest % sizes[place]).astype(narrowest(sizes[place]))
        found[places.start] = rest.astype(narrowest(sizes[places.start]))
    return [found[place] for place in range(len(sizes))]


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
        if keys and room * size < _WORD:
            keys[-1] *= size
            keys[-1] += column
            room *= size
        else:
            keys.append(column.astype(np.int64))  # a copy, which the next columns are packed into
            room = size
    return keys
