"""The index of the best score, privately."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sfumato.errors import InternalError
from sfumato.privacy.dp.geometric import Rational, geometric
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms import _noise
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.privacy.dp.sampling import RandomSource, random_permutation

_LARGEST: Final = 2**62


def noisy_max(scores: Sequence[int], *, sensitivity: int, monotone: bool, grant: Grant, source: RandomSource) -> int:
    """Choose an index; the higher its score the likelier, by report-noisy-max with exponential noise of scale b.

    Theorem: ε-differentially private with b = 2Δ/ε (McKenna & Sheldon 2020, permute-and-flip, which draws the same
    index by Ding et al. 2021; opendp's `make_noisy_max` proves it, and its own privacy map is compared with ε exactly).
    For monotone scores b = Δ/ε is enough.

    Neighbours and sensitivity: one record more (add/remove) changes every score by at most Δ = ``sensitivity``
    (L∞). ``monotone`` claims that it changes all scores in the same direction, none up while another goes down; the
    caller answers for that.

    Returns the 0-based index. Never worse in expectation than the exponential mechanism with the same ε. With an
    insecure source we run permute-and-flip ourselves: visit the indices in random order and take the first that
    passes a coin of probability exp(-(max - score)/b), which is [G ≥ max - score] for a geometric G of rate 1/b.
    """
    if not scores:
        raise InternalError("a choice among no candidates")
    if max(abs(score) for score in scores) > _LARGEST:
        raise InternalError("a score does not fit 62 bits")
    epsilon = grant.redeem()
    scale = scale_for(epsilon, sensitivity=sensitivity if monotone else 2 * sensitivity)
    if not source.secure:
        return _permute_and_flip(scores, scale=scale, source=source)
    measurement = _noise.noisy_max(scale, monotone=monotone, sensitivity=sensitivity, at_most=epsilon)
    return int(measurement([int(score) for score in scores]))


def _permute_and_flip(scores: Sequence[int], *, scale: float, source: RandomSource) -> int:
    best = max(scores)
    coins = geometric(len(scores), rate=Rational(1 / Fraction(scale)), source=source, end=2 * _LARGEST)
    return next(i for i in random_permutation(len(scores), source) if coins[i] >= best - scores[i])
