"""Finding the region of a record agrees with looking at every region."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains import locate
from sfumato.domains.locate import NOWHERE, containing_region, count_contained, nearest_region
from tests.examples import examples


def first_by_hand(starts, stops, record):
    for box in range(len(starts)):
        if all(starts[box, a] <= record[a] < stops[box, a] for a in range(len(record))):
            return box
    return NOWHERE


def apart(start, stop, record, sizes):
    return sum(max(b - r, r - (e - 1), 0) / s for b, e, r, s in zip(start, stop, record, sizes, strict=True))


@st.composite
def some(draw):
    width, boxes, records = draw(st.integers(1, 3)), draw(st.integers(1, 30)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    starts = rng.integers(0, 20, (boxes, width))
    return starts, starts + rng.integers(1, 8, (boxes, width)), rng.integers(0, 28, (records, width))


@settings(max_examples=examples(quick=80, slow=200), deadline=None)
@given(some(), st.sampled_from([0, 20, 50_000]))
def test_every_record_is_in_the_first_region_that_holds_it(found, few):
    starts, stops, codes = found
    before, locate._FEW = locate._FEW, few
    try:
        place = containing_region(starts, stops, codes)
        near = nearest_region(starts, stops, codes, np.full(codes.shape[1], 28))
    finally:
        locate._FEW = before
    assert place.tolist() == [first_by_hand(starts, stops, record) for record in codes]
    wide = (stops - starts).sum(axis=1)
    for record, was, now in zip(codes, place, near, strict=True):
        if was != NOWHERE:
            holds = [box for box in range(len(starts)) if np.all((starts[box] <= record) & (record < stops[box]))]
            assert now in holds
            assert wide[now] == min(wide[holds]), "of several, the smallest"
        else:
            each = [apart(b, e, record, [28] * len(record)) for b, e in zip(starts, stops, strict=True)]
            assert each[now] <= min(each) + 1e-5


def test_a_record_goes_to_its_own_region_or_to_the_nearest():
    starts, stops = np.array([[0], [40], [60]]), np.array([[20], [50], [100]])
    codes = np.array([[5], [19], [24], [33], [45], [53], [99]])
    assert nearest_region(starts, stops, codes, np.array([100])).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_no_region_holds_nothing():
    none = np.empty((0, 2), np.int64)
    assert containing_region(none, none, np.zeros((3, 2), np.int64)).tolist() == [NOWHERE] * 3
    assert nearest_region(none, none, np.zeros((3, 2), np.int64), np.array([5, 5])).tolist() == [NOWHERE] * 3


@settings(max_examples=examples(quick=40, slow=100), deadline=None)
@given(some(), st.sampled_from([0, 20, 50_000]))
def test_what_regions_hold_is_counted_where_they_overlap_too(found, few):
    starts, stops, codes = found
    weights = np.arange(1, len(codes) + 1)
    before, locate._FEW = locate._FEW, few
    try:
        sums, times = count_contained(starts, stops, codes, weights)
    finally:
        locate._FEW = before
    inside = [
        {box for box in range(len(starts)) if np.all((starts[box] <= code) & (code < stops[box]))} for code in codes
    ]
    for box, total in enumerate(sums.tolist()):
        assert total == sum(int(weight) for weight, boxes in zip(weights, inside, strict=True) if box in boxes)
    assert times.tolist() == [len(boxes) for boxes in inside]
