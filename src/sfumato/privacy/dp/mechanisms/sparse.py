"""Noisy counts over a domain far too large to list, at the cost of the occupied cells and the survivors.

Why this is the same as noising every cell and keeping those that reach the threshold t ≥ 1. The dense way draws one X
a cell, all independent, P(X = x) = (1-α)/(1+α) α^|x|, α = exp(-1/b), and keeps the cells with count + X ≥ t.

1. Cells whose count reaches t are done as the dense way does them, one X each, with the same scale b.
2. A cell whose count c is below t, such as an empty one, survives when X ≥ s = t-c ≥ 1, which has p = α^s/(1+α). Cells
   are independent, so over the cells of one count in order survival is a row of independent coins of probability p. The
   number of tails before each head is geometric, P(gap ≥ g) = (1-p)^g, and gaps are independent. Drawing gaps until
   the end is passed gives the same set of heads as tossing every coin: a draw that passes the end is the event that
   all the cells left are tails.
3. Given that it survives, such a cell's value is c + X given X ≥ s. For g ≥ 0, P(X ≥ s+g | X ≥ s) = α^(s+g)/α^s = α^g:
   the tail has no memory, so the value is t plus a geometric variable with P(G ≥ g) = α^g, independent of all else.

Survivors and their values then have the joint distribution of the dense way, and the pair of arrays returned is the
same function of them. `privacy.dp.geometric` draws both geometrics exactly, with b the very float given to opendp.
"""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.privacy.dp.geometric import NO_END, Rational, TailRate, geometric
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms._noise import with_laplace
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.privacy.dp.sampling import RandomSource

_BATCH: Final = 1_000_000
_LARGEST_EXPONENT: Final = 700


def noisy_sparse(
    occupied: NDArray[Any],
    counts: NDArray[np.int64],
    *,
    total: int,
    threshold: int,
    sensitivity: int,
    grant: Grant,
    source: RandomSource,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Noise all ``total`` cells of a public domain and keep those that reach the threshold, without listing them.

    Theorem: ε-differentially private: exactly the distribution of `noisy_counts` over every cell, the empty ones
    too, followed by a threshold, which is post-processing (the argument is in the module's text).

    Neighbours and sensitivity: for tables whose counts over all cells differ by at most Δ = ``sensitivity`` in L1;
    under add/remove of one record and with disjoint cells, Δ = 1.

    ``occupied`` are the flat indices of the cells that may have records, in order, each once; ``counts`` theirs.
    ``total`` may exceed 2**63, then indices are Python integers in object arrays. Returns the flat indices of the
    survivors, in order, and their noisy counts, all at least ``threshold`` ≥ 1. Cost: occupied + survivors.
    """
    _check(occupied, counts, total=total, threshold=threshold)
    epsilon = grant.redeem()
    scale = scale_for(epsilon, sensitivity=sensitivity)
    high = counts >= threshold
    noisy = with_laplace(counts[high], scale=scale, sensitivity=sensitivity, at_most=epsilon, source=source)
    kept = noisy >= threshold
    dtype = np.int64 if total <= NO_END else object
    places = np.asarray(occupied, dtype=dtype)
    ranks = _survivors(total - len(places), TailRate(Fraction(scale), threshold), source)
    risen = [_nth_empty(ranks.astype(dtype), places)]
    for count in np.unique(counts[~high]).tolist():
        alike = places[counts == count]
        risen.append(alike[_survivors(len(alike), TailRate(Fraction(scale), threshold - count), source)])
    below = np.concatenate(risen)
    values = threshold + geometric(len(below), rate=Rational(1 / Fraction(scale)), source=source)
    indices = np.concatenate([places[high][kept], below])
    order = np.argsort(indices, kind="stable")
    return indices[order], np.concatenate([noisy[kept], values])[order]


def expected_survivors(empty: int, threshold: int, scale: float | Fraction) -> float:
    """How many of the empty cells reach the threshold on average; infinite beyond the floats.

    >>> round(expected_survivors(10**8, 1, 1.0))
    26894142
    """
    logarithm = _log_expected(empty, float(scale)) - threshold / float(scale)
    return math.exp(logarithm) if logarithm < _LARGEST_EXPONENT else math.inf


def threshold_for(empty: int, scale: float | Fraction, at_most: float) -> int:
    """The smallest threshold t ≥ 1 with at most so many expected survivors among the empty cells.

    >>> t = threshold_for(10**8, 2.0, 45_222)
    >>> expected_survivors(10**8, t, 2.0) <= 45_222 < expected_survivors(10**8, t - 1, 2.0)
    True
    """
    if at_most <= 0:
        raise InternalError("a threshold for no survivors at all")
    excess = _log_expected(empty, float(scale)) - math.log(at_most)
    guess = max(1, math.ceil(float(scale) * excess) - 1) if math.isfinite(excess) else 1
    while expected_survivors(empty, guess, scale) > at_most:
        guess += 1
    return guess


def _log_expected(empty: int, scale: float) -> float:
    return math.log(empty) - math.log1p(math.exp(-1 / scale)) if empty else -math.inf


def _survivors(empty: int, rate: TailRate, source: RandomSource) -> NDArray[Any]:
    """The ranks, among so many cells alike in order, of those whose noise reaches the rate's threshold."""
    found: list[NDArray[Any]] = []
    start = 0  # cells before this rank are decided
    while start < empty:
        left = empty - start
        expected = expected_survivors(left, rate.threshold, rate.scale)
        batch = int(min(expected + 6 * math.sqrt(expected) + 8, _BATCH))
        gaps = geometric(batch, rate=rate, source=source, end=left)
        if (left + 1) * batch > NO_END:
            gaps = gaps.astype(object)  # the sum may not fit 64 bits
        ranks = start + np.cumsum(gaps + 1) - 1
        found.append(ranks[ranks < empty])
        # Draws after the one that passes the end are not looked at: they belong to cells that are not there.
        start = int(ranks[-1]) + 1
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _nth_empty(ranks: NDArray[Any], occupied: NDArray[Any]) -> NDArray[Any]:
    """The flat index of the empty cell of each rank: its rank plus the occupied cells before it."""
    empties_before = occupied - np.arange(len(occupied))
    return np.asarray(ranks + np.searchsorted(empties_before, ranks, side="right"), dtype=occupied.dtype)


def _check(occupied: NDArray[Any], counts: NDArray[np.int64], *, total: int, threshold: int) -> None:
    if threshold < 1:
        raise InternalError(f"a sparse release with threshold {threshold}: below 1 most empty cells survive")
    if len(occupied) != len(counts):
        raise InternalError("a count for each occupied cell")
    if len(occupied) and not (occupied[0] >= 0 and occupied[-1] < total and bool(np.all(occupied[1:] > occupied[:-1]))):
        raise InternalError("occupied cells in order, each once, inside the domain")
