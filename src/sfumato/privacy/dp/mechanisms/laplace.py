"""Counts with exact discrete Laplace noise."""

import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.privacy.dp.geometric import Rational, geometric
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms import _opendp
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.study.budget import round_down, round_up_scale

_CHUNK: Final = 2_000  # draws a task: small enough to share out evenly, large enough to hide the hand-over


def noisy_counts(
    counts: NDArray[np.int64], *, sensitivity: int, grant: Grant, source: RandomSource
) -> NDArray[np.int64]:
    """Add independent discrete Laplace noise to every count: P(X = x) ∝ exp(-|x|/b), b = Δ/ε rounded up.

    Theorem: ε-differentially private (the geometric mechanism of Ghosh, Roughgarden & Sundararajan 2012; opendp's
    `make_laplace` proves it, and its own privacy map is compared with ε exactly).

    Neighbours and sensitivity: for tables whose counts differ by at most Δ = ``sensitivity`` in L1. Under add/remove of
    one record and with disjoint cells, Δ = 1. ``counts`` must list every cell of the public domain, the empty ones too:
    a cell that is left out tells that it is empty.

    Returns integers, some negative; nothing is rounded or cut off here. With an insecure source the same distribution
    comes from our own sampler, so that a seeded run repeats.
    """
    epsilon = grant.redeem()
    scale = scale_for(epsilon, sensitivity=sensitivity)
    return with_laplace(counts, scale=scale, sensitivity=sensitivity, at_most=epsilon, source=source)


def scale_for(epsilon: Fraction, *, sensitivity: int) -> float:
    """The scale b ≥ Δ/ε that `noisy_counts` uses: Δ over the largest float that is not above ε, rounded up.

    So Δ/b is at most a float that is at most ε, and stays so when opendp rounds Δ/b up to a float in its turn. It draws
    nothing, so it takes ε itself: `plan` asks it for the noise before anything is paid.

    >>> scale_for(Fraction(1, 2), sensitivity=1)
    2.0
    >>> Fraction(scale_for(Fraction(1, 10), sensitivity=1)) >= 10
    True
    """
    if sensitivity < 1:
        raise InternalError(f"a sensitivity of {sensitivity}")
    return round_up_scale(sensitivity / Fraction(round_down(epsilon)))


def with_laplace(
    counts: NDArray[np.int64], *, scale: float, sensitivity: int, at_most: Fraction, source: RandomSource
) -> NDArray[np.int64]:
    """Every count plus its own X with P(X = x) = (1-α)/(1+α) α^|x|, α = exp(-1/scale).

    Only mechanisms call this, with a grant redeemed.

    opendp confirms that this loses ``at_most`` so much privacy at this sensitivity, or nothing is drawn.
    """
    if not source.secure:
        # The difference of two independent geometric variables with P(G ≥ g) = α^g is exactly this X.
        rate = Rational(1 / Fraction(scale))
        up, down = (geometric(len(counts), rate=rate, source=source) for _ in range(2))
        return np.asarray(counts + up - down, dtype=np.int64)
    measurement = _opendp.laplace(scale, sensitivity=sensitivity, at_most=at_most)
    chunks = [counts[start : start + _CHUNK].tolist() for start in range(0, len(counts), _CHUNK)]
    if len(chunks) <= 1:
        noisy = [measurement(chunk) for chunk in chunks]
    else:
        with ThreadPoolExecutor(_cores()) as pool:  # opendp draws in Rust, without Python's lock
            noisy = list(pool.map(measurement, chunks))
    return np.concatenate([np.empty(0, dtype=np.int64), *(np.asarray(part, dtype=np.int64) for part in noisy)])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
