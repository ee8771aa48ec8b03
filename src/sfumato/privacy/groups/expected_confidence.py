"""Expected and observed confidence: the two sides of capped confidence, on arrays.

Sattar, Li, Ding, Liu & Vincent (2014), equations 1 and 2.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def expected_confidence(chance: Floats, records: float) -> Floats:
    """1 − (1 − Pr(t'))ⁿ: how likely it is that n records drawn at random hold one like t'.

    By logarithms, so that a chance of 10⁻¹² does not round to nothing.

    >>> expected_confidence(np.array([0.00375]), 100).round(3).tolist()
    [0.313]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(records * np.log1p(-np.minimum(chance, 1.0))))


def least_records(chance: Floats, observed: Floats) -> Floats:
    """The least n at which the expected confidence reaches the observed one: infinity if none does.

    >>> least_records(np.array([0.00375, 0.0, 1.0]), np.array([0.313, 0.1, 1.0])).round(1).tolist()
    [99.9, inf, 0.0]
    """
    certain, never = chance >= 1.0, chance <= 0.0
    usual = ~certain & ~never
    found = np.where(certain, 0.0, np.inf)
    with np.errstate(divide="ignore"):
        found[usual] = np.log1p(-observed[usual]) / np.log1p(-chance[usual])
    return found
