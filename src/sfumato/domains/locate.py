"""Where records lie: for each the smallest region that holds it, or else the nearest; and how many a region holds."""

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

NOWHERE = -1  # the place of a record that no region holds
_TOGETHER = 4_000_000  # comparisons of records with regions that are held at once
_FEW = 50_000  # comparisons that are not worth halving


def containing_region(starts: Integers, stops: Integers, codes: Integers) -> Integers:
    """For each record the first region that holds it, or `NOWHERE`.

    >>> containing_region(np.array([[0], [40]]), np.array([[20], [50]]), np.array([[5], [30], [49]])).tolist()
    [0, -1, 1]
    """
    place = np.full(len(codes), NOWHERE, dtype=np.int64)
    for records, boxes in _near(starts, stops, codes):
        inside = _inside(starts[boxes], stops[boxes], codes[records])
        first = inside.argmax(axis=1)
        found = inside[np.arange(len(records)), first]
        place[records[found]] = boxes[first[found]]
    return place


def count_contained(starts: Integers, stops: Integers, codes: Integers, weights: Integers) -> tuple[Integers, Integers]:
    """The weight of the records that each region holds, and how many regions hold each record.

    >>> codes, weights = np.array([[5], [42], [60]]), np.array([7, 2, 9])
    >>> found = count_contained(np.array([[0], [40]]), np.array([[45], [50]]), codes, weights)
    >>> [part.tolist() for part in found]
    [[9, 2], [1, 2, 0]]
    """
    sums, times = np.zeros(len(starts), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    for records, boxes in _near(starts, stops, codes):
        inside = _inside(starts[boxes], stops[boxes], codes[records])
        sums[boxes] += weights[records] @ inside
        times[records] += inside.sum(axis=1)
    return sums, times


def nearest_region(
    starts: Integers, stops: Integers, codes: Integers, sizes: Integers, apart: Collection[int] = ()
) -> Integers:
    """For each record the region that holds it, or else the nearest one; of several the smallest.

    The distance is the sum over the attributes of how far the value is from the range, as a share of the domain's
    ``sizes``; in columns that are ``apart`` (of sets, whose order means nothing) it is 1 outside the range. The size
    of a region is the sum of its widths, as shares. Regions of a local recoding overlap, and a record that could be
    published in a narrow one says more there.

    >>> nearest_region(np.array([[0], [4]]), np.array([[9], [6]]), np.array([[5], [7], [9]]), np.array([10])).tolist()
    [1, 0, 0]
    """
    order = np.argsort(((stops - starts) / sizes).sum(axis=1), kind="stable")
    starts, stops = starts[order], stops[order]
    place = containing_region(starts, stops, codes)
    lost = np.flatnonzero(place == NOWHERE)
    if len(starts) and len(lost):
        scale = sizes.astype(np.float32)
        distinct, back = np.unique(codes[lost], axis=0, return_inverse=True)
        found = np.empty(len(distinct), dtype=np.int64)
        step = max(1, _TOGETHER // len(starts))
        for begin in range(0, len(distinct), step):
            some = distinct[begin : begin + step]
            distance = np.zeros((len(some), len(starts)), dtype=np.float32)
            for column in range(codes.shape[1]):
                here = some[:, column, None]
                below, above = starts[:, column] - here, here - (stops[:, column] - 1)
                away = np.maximum(np.maximum(below, above), 0)
                distance += away > 0 if column in apart else away / scale[column]
            found[begin : begin + step] = distance.argmin(axis=1)
        place[lost] = found[back.ravel()]
    return np.where(place == NOWHERE, NOWHERE, order[place]) if len(order) else place


def _near(starts: Integers, stops: Integers, codes: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Records with the regions that may hold them, few enough of both to compare each with each.

    Records and regions are halved together at medians of where regions begin, so that each record is compared with
    few regions. A record comes once, and its regions in order.
    """
    todo = [(np.arange(len(codes)), np.arange(len(starts)))]
    while todo:
        records, boxes = todo.pop()
        if not len(records) or not len(boxes):
            continue
        cut = _halving(starts[boxes], stops[boxes]) if len(records) * len(boxes) > _FEW else None
        if cut is None:
            step = max(1, _TOGETHER // len(boxes))
            for begin in range(0, len(records), step):
                yield records[begin : begin + step], boxes
            continue
        column, at = cut
        left = codes[records, column] < at
        todo.append((records[left], boxes[starts[boxes, column] < at]))
        todo.append((records[~left], boxes[stops[boxes, column] > at]))


def _halving(starts: Integers, stops: Integers) -> tuple[int, int] | None:
    """The attribute and code at which the fewest regions are on one side; None where all stay on one."""
    if not starts.shape[1]:
        return None
    at = np.ceil(np.median(starts, axis=0)).astype(np.int64)
    at = np.maximum(at, starts.min(axis=0) + 1)
    most = np.maximum((starts < at).sum(axis=0), (stops > at).sum(axis=0))
    column = int(most.argmin())
    return (column, int(at[column])) if most[column] < len(starts) else None


def _inside(starts: Integers, stops: Integers, codes: Integers) -> NDArray[np.bool_]:
    """Whether each record (a row) is in each region (a column)."""
    inside = np.ones((len(codes), len(starts)), dtype=np.bool_)
    for column in range(codes.shape[1]):
        here = codes[:, column, None]
        inside &= (starts[:, column] <= here) & (here < stops[:, column])
    return inside
