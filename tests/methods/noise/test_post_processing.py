import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.methods.noise.post_processing import POSTS

COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=8).map(lambda c: np.array(c, dtype=np.int64))
TOTALS = st.lists(st.integers(0, 400), min_size=3, max_size=3)
NOISY = st.lists(st.integers(-200, 400), min_size=3, max_size=3)


def processed(name, counts, totals, classes=None):
    one = np.zeros(len(counts), dtype=np.int64) if classes is None else classes
    return POSTS[name].apply(counts, one, totals, 1, len(totals))


@given(counts=COUNTS, totals=NOISY)
def test_post_processed_counts_are_whole_and_never_negative(counts, totals):
    classes = np.arange(len(counts)) % 3
    for name in POSTS:
        found, undo = processed(name, counts, totals, classes)
        assert found.dtype == np.int64
        assert np.all(found >= 0)
        assert len(undo.cutoff) == 3


@given(counts=COUNTS, totals=TOTALS)
def test_class_totals_are_reached_by_the_largest_noisy_counts(counts, totals):
    classes = np.arange(len(counts)) % 3
    found, undo = processed("class_totals", counts, totals, classes)
    for number, total in enumerate(totals):
        mine, noisy = found[classes == number], counts[classes == number]
        if not len(mine):
            continue
        if total <= noisy.sum():
            assert mine.sum() == max(total, 0)
        if 0 < total <= noisy.sum():
            changed = np.flatnonzero((mine > 0) & (mine != noisy))
            assert len(changed) <= 1  # the last one, and it only goes down
            assert np.all(mine <= noisy)
            cutoff = undo.cutoff[number]
            assert np.all(mine[noisy > cutoff] == noisy[noisy > cutoff])
            assert np.all(mine[noisy < cutoff] == 0)
            assert np.all(noisy[mine == 0] <= undo.unlisted[number])


@given(totals=NOISY)
def test_totals_below_0_are_taken_off_the_others_so_that_the_sum_stays(totals):
    """Cut off at 0 alone, the sum would be too high by all that was cut off."""
    counts, classes = np.full(3_000, 1), np.arange(3_000) % 3
    found, _ = processed("class_totals", counts, totals, classes)
    sums = np.bincount(classes, weights=found, minlength=3)
    assert sums.sum() == max(sum(totals), 0)
    if min(totals) >= 0:
        assert sums.tolist() == totals
    kept = sums > 1  # rounded to whole records
    assert np.ptp(np.array(totals)[kept] - sums[kept]) <= 1 if kept.any() else True


def test_a_total_of_0_or_less_lists_nothing():
    counts = np.array([3, 9, 1])
    for name in ("scale", "least_squares", "class_totals"):
        for total in (0, -4):
            assert processed(name, counts, [total])[0].tolist() == [0, 0, 0]


@given(counts=COUNTS, totals=TOTALS)
def test_classes_that_fall_short_are_scaled_up_together(counts, totals):
    classes = np.arange(len(counts)) % 3
    found, undo = processed("class_totals", counts, totals, classes)
    short = [k for k, total in enumerate(totals) if 0 < counts[classes == k].sum() < total]
    mine = np.isin(classes, short)
    if short:
        assert found[mine].sum() == sum(totals[k] for k in short)
        assert len({undo.factor[k] for k in short}) == 1
        assert np.all(np.abs(found[mine] - counts[mine] * undo.factor[short[0]]) <= 1)
    assert all(undo.factor[k] == 1 for k in range(3) if k not in short)


@given(counts=COUNTS, size=st.integers(1, 400))
def test_scaling_reaches_the_total_and_keeps_the_shares(counts, size):
    found, _ = processed("scale", counts, [size])
    assert found.sum() == size
    assert np.all(np.abs(found - counts * size / counts.sum()) < 1)


@given(counts=COUNTS, size=st.integers(1, 400))
def test_noisy_counts_can_be_told_from_scaled_and_projected_ones(counts, size):
    for name in ("scale", "least_squares"):
        found, undo = processed(name, counts, [size])
        kept = found > 0
        again = found[kept] / undo.factor[0] + undo.shift
        assert np.all(np.abs(again - counts[kept]) <= 1.001 / undo.factor[0])


@given(counts=COUNTS, part=st.floats(0.05, 1))
def test_least_squares_finds_the_nearest_point_that_sums_to_the_total(counts, part):
    """Compared with a general solver, up to the rounding to whole numbers."""
    size = max(1, int(part * counts.sum()))
    found, _ = processed("least_squares", counts, [size])
    solved = minimize(
        lambda x: np.sum((x - counts) ** 2),
        np.full(len(counts), size / len(counts)),
        jac=lambda x: 2 * (x - counts),
        bounds=[(0, None)] * len(counts),
        constraints={"type": "eq", "fun": lambda x: x.sum() - size},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.sum() == size
    assert np.max(np.abs(found - solved.x)) < 1.01
