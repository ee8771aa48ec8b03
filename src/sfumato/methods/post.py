"""Post-processing of noisy counts that an owner may ask for; it sees published numbers only, so it costs nothing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.core.draft import Groups
from sfumato.core.registry import Registry
from sfumato.errors import OursError

Counts = NDArray[np.int64]


class Post:
    """One way to post-process: its name, and a function of the noisy counts and a noisy total."""

    def __init__(self, name: str, summary: str, apply: Callable[[Counts, int], Counts]) -> None:
        self.name = name
        self.summary = summary
        self.apply = apply


def _none(counts: Counts, size: int) -> Counts:  # noqa: ARG001 - the shape of Post.apply
    return counts


def _scale(counts: Counts, size: int) -> Counts:
    """Multiply every count by the same factor so that they sum to the noisy total, then round to whole numbers.

    >>> _scale(np.array([6, 3, 3]), 8).tolist()
    [4, 2, 2]
    """
    factor = max(size, 0) / max(int(counts.sum()), 1)
    return _rounded(counts.astype(np.float64) * factor, max(size, 0))


def _least_squares(counts: Counts, size: int) -> Counts:
    """The non-negative counts nearest to the noisy ones (least squares) that sum to the noisy total.

    Cutting negative counts off at 0 leaves too much mass in groups that are noise; the nearest point of
    {x ≥ 0, Σx = size} takes the same amount λ off every count and cuts at 0. Counts that are not listed were 0 after
    cutting and stay 0 for any λ ≥ 0; where the listed counts fall short of the total nothing is added to groups that
    are not listed.

    >>> _least_squares(np.array([10, 3, 1, 1]), 11).tolist()
    [9, 2, 0, 0]
    """
    total = max(size, 0)
    falling = np.sort(counts)[::-1].astype(np.float64)
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    kept = np.nonzero(falling > excess)[0]
    shift = excess[kept[-1]] if len(kept) else 0.0
    return _rounded(np.maximum(counts - shift, 0.0), total)


def _rounded(values: NDArray[np.float64], total: int) -> Counts:
    """Whole numbers with the given sum, each within 1 of its value: largest remainders are rounded up.

    Equal remainders go in order of position, which is the order of the published values.
    """
    whole = np.floor(values).astype(np.int64)
    short = min(max(total - int(whole.sum()), 0), len(values))
    up = np.argsort(-(values - whole), kind="stable")[:short]
    whole[up] += 1
    return whole


POSTS: Registry[Post] = Registry("post-processing")
POSTS.add(Post("none", "noisy counts cut off at 0, as in the paper", _none))
POSTS.add(Post("scale", "counts scaled to a noisy total", _scale))
POSTS.add(Post("least_squares", "the nearest non-negative counts that sum to a noisy total", _least_squares))


def post_process(groups: Groups, name: str, size: int | None) -> Groups:
    """Apply a post-processing by name; groups whose count becomes 0 are no longer listed."""
    if name == "none" or len(groups) == 0:
        return groups
    if size is None:
        raise OursError(f"post-processing '{name}' has no noisy total")
    counts = POSTS[name].apply(groups.counts, size)
    keep = counts > 0
    return Groups(groups.cuts, groups.regions[keep], groups.classes[keep], counts[keep])
