"""The two opendp measurements we use, built on first use.

Each is checked once when built: the privacy loss that opendp proves for it is compared exactly, as a fraction, with the
ε it is built for.
"""
# ruff: noqa: PLC0415 - imported late: opendp takes a third of a second, and most commands draw no noise

from fractions import Fraction
from functools import lru_cache
from typing import Any

from sfumato.errors import InternalError


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
