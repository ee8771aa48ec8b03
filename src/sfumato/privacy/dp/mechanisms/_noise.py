"""Noise of a given scale: our draws, and the two opendp measurements that we use, built on first use.

Only the mechanisms call this, with a grant redeemed. Each measurement is checked once when it is built: the privacy
loss that opendp proves for it is compared exactly, as a fraction, with the ε it is built for.
"""
# ruff: noqa: PLC0415 - imported late: opendp takes a third of a second, and most commands draw no noise

import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.privacy.dp.geometric import Rational, geometric
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
    measurement = laplace(scale, sensitivity=sensitivity, at_most=at_most)
    chunks = [counts[start : start + _CHUNK].tolist() for start in range(0, len(counts), _CHUNK)]
    if len(chunks) <= 1:
        noisy = [measurement(chunk) for chunk in chunks]
    else:
        with ThreadPoolExecutor(_cores()) as pool:  # opendp draws in Rust, without Python's lock
            noisy = list(pool.map(measurement, chunks))
    return np.concatenate([np.empty(0, dtype=np.int64), *(np.asarray(part, dtype=np.int64) for part in noisy)])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=64)
def laplace(scale: float, *, sensitivity: int, at_most: Fraction) -> Any:
    """Discrete Laplace noise on a vector of 64-bit integers, for the L1 distance."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    _enable()
    measurement = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale)
    return _checked(measurement, sensitivity=sensitivity, at_most=at_most)


@lru_cache(maxsize=64)
def noisy_max(scale: float, *, monotone: bool, sensitivity: int, at_most: Fraction) -> Any:
    """The index of the largest of some 64-bit integer scores after exponential noise, for the L∞ distance."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance

    _enable()
    scores, distance = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=monotone)
    measurement = make_noisy_max(scores, distance, max_divergence(), scale=scale)
    return _checked(measurement, sensitivity=sensitivity, at_most=at_most)


def _checked(measurement: Any, *, sensitivity: int, at_most: Fraction) -> Any:
    if Fraction(measurement.map(sensitivity)) > at_most:
        raise InternalError("the noise scale does not satisfy the granted ε")
    return measurement


def _enable() -> None:
    from opendp.mod import enable_features

    enable_features("contrib")
