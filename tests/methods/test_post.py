import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.methods.post import POSTS

COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=8).map(lambda c: np.array(c, dtype=np.int64))


@given(counts=COUNTS, size=st.integers(-5, 400))
def test_post_processed_counts_are_whole_and_never_negative(counts, size):
    for post in POSTS.values():
        found = post.apply(counts, size)
        assert found.dtype == np.int64
        assert np.all(found >= 0)


@given(counts=COUNTS, size=st.integers(1, 400))
def test_scaling_reaches_the_total_and_keeps_the_shares(counts, size):
    found = POSTS["scale"].apply(counts, size)
    assert found.sum() == size
    assert np.all(np.abs(found - counts * size / counts.sum()) < 1)


@given(counts=COUNTS, part=st.floats(0.05, 1))
def test_least_squares_finds_the_nearest_point_that_sums_to_the_total(counts, part):
    """Compared with a general solver, up to the rounding to whole numbers."""
    size = max(1, int(part * counts.sum()))
    found = POSTS["least_squares"].apply(counts, size)
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
