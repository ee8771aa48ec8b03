"""Counts with exact discrete Laplace noise."""

from fractions import Fraction
from math import exp

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms._noise import with_laplace
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.study.budget import round_down, round_up_scale


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


def laplace_variance(scale: float) -> float:
    """The variance of discrete Laplace noise of this scale: 2α/(1 − α)² with α = exp(−1/b).

    >>> round(laplace_variance(1.0), 3), round(laplace_variance(100.0))
    (1.841, 20000)
    """
    alpha = exp(-1 / scale)
    return 2 * alpha / (1 - alpha) ** 2
