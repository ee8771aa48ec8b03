"""A point of a large grid, privately, at the cost of the ranges on which the score is constant.

Why the draw is exact, although floats are used. Range j holds wⱼ points of score sⱼ, so its mass is
mⱼ = wⱼ exp(r(sⱼ - max s)). With Cⱼ = m₁ + … + mⱼ and T the sum of all, the exponential mechanism takes the range with
Cⱼ₋₁ ≤ U·T < Cⱼ for a uniform real U, and then one of its points uniformly. The binary digits of U are revealed as
needed: after n bits, U lies in [k/2ⁿ, (k+1)/2ⁿ). From 64 bits we compute the Cⱼ in floats, with a bound e on everything
that may be wrong with any of them or with U·T. When no Cⱼ lies within e of U·T, the range is decided, whatever the
missing bits are. Otherwise we reveal more bits of the same U and enclose the masses between integers over 10^d, with
twice the digits each time, until the range is decided. The set of U for which this never ends is finite. The result is
a function of the real U alone: its distribution is the stated one, not an approximation of it.
"""

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.privacy.dp.enclosure import Arithmetic
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.sampling import RandomSource, random_below

_LARGEST: Final = 2**62


def choose_point(
    widths: NDArray[np.int64],
    scores: NDArray[np.int64],
    *,
    sensitivity: int,
    monotone: bool,
    grant: Grant,
    source: RandomSource,
) -> int:
    """Draw one of Σ ``widths`` points with probability ∝ exp(r · score), where range j's points share ``scores[j]``.

    Theorem: with r = ε/2Δ, ε-differentially private (McSherry & Talwar 2007; Dwork & Roth 2014, Thm 3.10). For monotone
    scores r = ε/Δ is enough: the factor 2 pays for the score of the chosen point and the normaliser moving in opposite
    directions, which they then cannot.

    Neighbours and sensitivity: one record more (add/remove) changes the score of every point by at most
    Δ = ``sensitivity``; ``monotone`` claims all in the same direction. The caller answers for both. The points are
    public; the ranges need not be, they only say where the score changes, and the distribution over points does not
    depend on how they are divided into ranges.

    Returns the 0-based offset of the point. Cost: one pass over the ranges.
    """
    if not len(widths) or len(widths) != len(scores) or int(widths.min()) < 1:
        raise InternalError("a choice among ranges needs a positive width and a score for each")
    if sum(widths.tolist()) > _LARGEST or max(abs(int(scores.min())), abs(int(scores.max()))) > _LARGEST // 2:
        raise InternalError("a width or a score does not fit 62 bits")
    if sensitivity < 1:
        raise InternalError(f"a sensitivity of {sensitivity}")
    rate = grant.redeem() / (sensitivity if monotone else 2 * sensitivity)
    behind = int(scores.max()) - scores  # how far each range is behind the best: masses are at most 1 a point
    prefix = source.bits(64)
    chosen = _range_by_floats(prefix, widths, behind, rate)
    if chosen is None:
        chosen = _range_exactly(prefix, 64, widths, behind, rate=rate, source=source)
    return int(widths[:chosen].sum()) + random_below(int(widths[chosen]), source)


def _range_by_floats(prefix: int, widths: NDArray[np.int64], behind: NDArray[np.int64], rate: Fraction) -> int | None:
    """The range that every U with these first 64 bits takes, or None when floats cannot tell.

    With u = 2^-53: the rate, the difference and their product are off by u each, relative, so the exponent x by 3u|x|,
    and |x| < 746 where exp does not underflow: 2238u. exp itself: 4 units in the last place, 8u; width and product:
    2u. A running sum of n positive terms: nu. Together (2248 + n)u of the sum; we allow four times (2300 + n)u of the
    total, for the error of Cⱼ, of T and of U·T. Underflow loses less than n·2^62·2^-1074, far below u·T, as T ≥ 1.
    """
    with np.errstate(under="ignore"):
        sums = np.cumsum(widths * np.exp(-(float(rate) * behind)))
    error = 4 * (2300 + len(widths)) * 2.0**-53 * sums[-1]
    drawn = prefix / 2**64 * sums[-1]  # the unrevealed bits add at most 2^-64 of the total: within the allowance
    first, last = np.searchsorted(sums, [drawn - error, drawn + error], side="right").clip(max=len(sums) - 1)
    return int(first) if first == last else None


def _range_exactly(
    prefix: int,
    bits: int,
    widths: NDArray[np.int64],
    behind: NDArray[np.int64],
    *,
    rate: Fraction,
    source: RandomSource,
) -> int:
    """The range that the U with these first bits takes, by decimals; reveals more bits of U as needed."""
    digits = 40
    while True:
        more = max(0, 4 * digits - bits)
        prefix, bits = prefix << more | source.bits(more), bits + more
        low, high = _cumulative_masses(widths, behind, rate, digits)
        last = len(widths) - 1  # U·T < T needs no proof
        chosen = bisect_right(high, prefix * low[-1] >> bits, hi=last)  # U·T ≥ Cⱼ for sure, for every range before it
        if chosen == last or (prefix + 1) * high[-1] <= low[chosen] << bits:
            return chosen
        digits *= 2


def _cumulative_masses(
    widths: NDArray[np.int64], behind: NDArray[np.int64], rate: Fraction, digits: int
) -> tuple[list[int], list[int]]:
    """Lower and upper bounds of the Cⱼ, in units of 10^-digits."""
    distinct, which = np.unique(behind, return_inverse=True)
    bounds = [_point_mass(rate * int(distance), digits) for distance in distinct]
    sizes = widths.tolist()
    low = list(accumulate(size * bounds[i][0] for size, i in zip(sizes, which, strict=True)))
    high = list(accumulate(size * bounds[i][1] for size, i in zip(sizes, which, strict=True)))
    return low, high


def _point_mass(exponent: Fraction, digits: int) -> tuple[int, int]:
    """Integers around exp(-exponent) · 10^digits."""
    if exponent > 3 * digits:  # e^-3 < 10^-1
        return 0, 1
    low, high = Arithmetic(digits + 3).exp(-exponent)
    unit = 10**digits
    return math.floor(Fraction(low) * unit), math.ceil(Fraction(high) * unit)
