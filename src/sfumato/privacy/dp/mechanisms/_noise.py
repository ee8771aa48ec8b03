"""Discrete Laplace noise of a given scale; only the mechanisms call this, with a grant redeemed."""

import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.dp.geometric import Rational, geometric
from sfumato.privacy.dp.mechanisms import _opendp
from sfumato.privacy.dp.sampling import RandomSource

_CHUNK: Final = 2_000  # draws a task: small enough to share out evenly, large enough to hide the hand-over


def with_laplace(
    counts: NDArray[np.int64], *, scale: float, sensitivity: int, at_most: Fraction, source: RandomSource
) -> NDArray[np.int64]:
    """Every count plus its own X with P(X = x) = (1-α)/(1+α) α^|x|, α = exp(-1/scale).

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
