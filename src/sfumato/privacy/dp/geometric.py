"""Exact geometric draws, many at a time: the one sampler under the sparse release and the seeded mechanisms.

A geometric variable with rate λ has P(G ≥ g) = exp(-λg) for g = 0, 1, 2, …. Inverse distribution function: with U
uniform in (0, 1) and E = -ln U,

    G = floor(E / λ),    since G ≥ g  ⟺  E ≥ λg  ⟺  U ≤ exp(-λg).

Why the draws are exact, although floats are used. U is a real number whose binary digits are revealed as needed. After
n bits, U lies in [k/2ⁿ, (k+1)/2ⁿ). From 64 bits we compute q ≈ E/λ in floats and a bound δ on all that may be wrong
with it: the unrevealed bits, the rounding of every operation, and four units in the last place for the logarithm. When
q - δ and q + δ have the same floor, that is the floor of the true E/λ, whatever the missing bits are. Otherwise (about
once in 10¹² draws at common scales) we reveal more bits of the same U and enclose E/λ with decimals, twice as many each
time, until the two ends agree. The set of U for which this never ends is countable, so it has probability 0. The result
is a function of the real U alone: its distribution is the geometric one, not an approximation of it.

Where λ is so small that E/λ leaves the exact range of floats, the draw is taken apart: G = 2ᵐH + R with H geometric of
rate 2ᵐλ and R in [0, 2ᵐ) with P(R = r) ∝ exp(-λr), independent, because exp(-λ(2ᵐh + r)) is the product of the two. H
is drawn as above; R is drawn uniformly and kept with probability exp(-λr), which is close to 1 (rejection).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.dp.enclosure import INFINITY, ONE, ZERO, Arithmetic, Bounds
from sfumato.privacy.dp.sampling import RandomSource

Floats: TypeAlias = NDArray[np.float64]

NO_END: Final = 2**62
"""Draws are cut off here so that they fit 64 bits; cutting off is post-processing."""

_EXACT_FLOATS: Final = 2**53
_SMALL: Final = 2.0**-30  # below this rate a draw is taken apart


class Rate(Protocol):
    """A positive number λ that can be enclosed as closely as needed; a frozen value, so that enclosures are kept."""

    def __hash__(self) -> int: ...

    def bounds(self, digits: int) -> Bounds:
        """Enclose λ to about this many significant digits; the lower bound may be 0 when λ is below 10^-10¹⁵."""
        ...


@dataclass(frozen=True, slots=True)
class Rational:
    """A rate that is a fraction."""

    value: Fraction

    def bounds(self, digits: int) -> Bounds:
        """Enclose λ."""
        return Arithmetic(digits).ratio(self.value.numerator, self.value.denominator)


@dataclass(frozen=True, slots=True)
class TailRate:
    """The rate of the gaps between empty cells whose noise reaches a threshold t ≥ 1.

    Discrete Laplace noise X of scale b has P(X = x) = (1-α)/(1+α) α^|x| with α = exp(-1/b), so one cell reaches t with
    p = P(X ≥ t) = α^t/(1+α), and the number of cells before the next one that does has P(G ≥ g) = (1-p)^g = exp(-λg)
    with λ = -ln(1-p).
    """

    scale: Fraction
    threshold: int

    def probability(self, digits: int) -> Bounds:
        """Enclose p."""
        sums = Arithmetic(digits + 3)
        alpha = sums.exp(-1 / self.scale)
        return sums.divide(sums.exp(-self.threshold / self.scale), sums.add(Bounds(ONE, ONE), alpha))

    def bounds(self, digits: int) -> Bounds:
        """Enclose λ."""
        p = self.probability(digits)
        if p.high.adjusted() < -digits:  # p ≤ -ln(1-p) ≤ p/(1-p), and the two are this close
            sums = Arithmetic(digits + 3)
            return Bounds(p.low, sums.divide(p, sums.one_minus(p)).high)
        wide = Arithmetic(2 * digits + 10)  # 1-p loses up to `digits` digits of p
        return wide.negative_log(wide.one_minus(self.probability(2 * digits + 10)))


@dataclass(frozen=True, slots=True)
class Block:
    """The rate 2ᵐλ of blocks of 2ᵐ."""

    rate: Rate
    m: int

    def bounds(self, digits: int) -> Bounds:
        """Enclose 2ᵐλ."""
        sums = Arithmetic(digits + 1)
        return sums.multiply(self.rate.bounds(digits + 1), sums.ratio(1 << self.m, 1))


@lru_cache(maxsize=256)
def _enclose(rate: Rate, digits: int) -> Bounds:
    return rate.bounds(digits)


def geometric(n: int, *, rate: Rate, source: RandomSource, end: int = NO_END) -> NDArray[Any]:
    """Draw n independent min(G, end); int64, or Python integers in an object array where ``end`` needs them."""
    low = _enclose(rate, 40).low
    if low >= _SMALL:
        return _by_inversion(n, rate=rate, source=source, end=end)
    # λ < 10^(a+1) with a its decimal exponent, so this m gives 2ᵐλ < 2^-20, and more than 2^-25 unless `end` is near.
    m = math.floor(-20 - (low.adjusted() + 1) * math.log2(10)) if low else end.bit_length()
    return _by_blocks(n, min(m, end.bit_length()), rate=rate, source=source, end=end)


def _by_inversion(n: int, *, rate: Rate, source: RandomSource, end: int) -> NDArray[Any]:
    prefixes = source.uint64(n)
    draws = np.zeros(n, dtype=np.int64 if end <= NO_END else object)
    undecided = np.ones(n, dtype=bool)
    approximate = float(_enclose(rate, 40).low)  # relative error below 2^-52
    if approximate >= _SMALL:
        low, high = _float_bounds(prefixes, approximate, end)
        undecided = low != high
        draws[~undecided] = low[~undecided].astype(np.int64)
    for place in np.flatnonzero(undecided):
        draws[place] = draw_exactly(int(prefixes[place]), 64, rate=rate, source=source, end=end)
    return draws


def _by_blocks(n: int, m: int, *, rate: Rate, source: RandomSource, end: int) -> NDArray[Any]:
    blocks = _by_inversion(n, rate=Block(rate, m), source=source, end=(end >> m) + 1)
    rests = (_rest(m, rate=rate, source=source) for _ in range(n))
    draws = [min((int(block) << m) + rest, end) for block, rest in zip(blocks, rests, strict=True)]
    return np.array(draws, dtype=np.int64 if end <= NO_END else object)


def _rest(m: int, *, rate: Rate, source: RandomSource) -> int:
    """Draw R in [0, 2ᵐ) with P(R = r) ∝ exp(-λr), for 2ᵐλ < 2^-19."""
    while True:
        rest, prefix = source.bits(m), source.bits(64)
        # Keep when U ≤ exp(-λr). As exp(-λr) ≥ 1 - λr ≥ 1 - 2^-19, most U are decided by their first bits;
        # for the others, U ≤ exp(-λr) ⟺ floor(E/λ) ≥ r.
        if prefix < 2**64 - 2**45 or draw_exactly(prefix, 64, rate=rate, source=source, end=rest) == rest:
            return rest


def _float_bounds(prefixes: NDArray[np.uint64], rate: float, end: int) -> tuple[Floats, Floats]:
    """Floats whose floors enclose floor(E/λ), for the given first 64 bits of each U; infinite if nothing is known.

    With u = 2^-53: k as a float is off by u (relative), so E by u; the logarithm by at most 4 units in the last place,
    8u·E; λ by 2u, the quotient and the sums below by u each, relative. Together u + 12u·E, over λ; and the unrevealed
    bits move E by ln((k+1)/k) ≤ 1/k. We allow 2^-51 + 2^-48·E + 4/k.
    """
    k = prefixes.astype(np.float64)
    known = k > 0
    e = -np.log(np.where(known, k, 1.0) * 2.0**-64)
    error = (2.0**-51 + 2.0**-48 * e + 4.0 / np.where(known, k, 1.0)) / rate
    low = np.floor(e / rate - error).clip(min=0.0)
    high = np.where(known, np.floor(e / rate + error), np.inf)
    if end <= _EXACT_FLOATS:
        return low.clip(max=end), high.clip(max=end)
    # Beyond 2^52 the allowance is over 1, so the two differ and the decimals decide.
    return low, high


def draw_exactly(prefix: int, bits: int, *, rate: Rate, source: RandomSource, end: int) -> int:
    """min(G, end) for the U that starts with these bits, by decimals; reveals more bits of U as needed."""
    digits = 20 + len(str(end))
    while True:
        more = max(0, 4 * digits - bits)  # 4 bits for a decimal digit: the bits are never the coarser of the two
        prefix, bits = prefix << more | source.bits(more), bits + more
        low, high = _quotient(prefix, bits, Arithmetic(digits), _enclose(rate, digits))
        if low >= end:
            return end
        if high < end and int(low) == int(high):
            return int(low)
        digits *= 2


def _quotient(prefix: int, bits: int, sums: Arithmetic, rate: Bounds) -> Bounds:
    """Enclose -ln(U)/λ for every U that starts with these bits."""
    low = max(ZERO, sums.negative_log(sums.ratio(prefix + 1, 1 << bits)).low)
    high = sums.negative_log(sums.ratio(prefix, 1 << bits)).high if prefix else INFINITY
    return sums.divide(Bounds(low, high), rate)
