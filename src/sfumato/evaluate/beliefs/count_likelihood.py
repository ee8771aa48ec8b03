"""How likely a noisy count is, and which true count is to be expected behind it.

A cell that has the share p of all records has n ~ NegBin(shape αp, mean λp) of them in a group: then the shares of a
group are Dirichlet(αp) around the table's, and λ is how many records the group is expected to have. What is published
is y = n + X with discrete Laplace noise X of scale b, or nothing where y stays below a threshold t. Here is, for every
component (α, λ),

    P(y) = Σₙ f(n)·P(X = y − n)   and   E[n | y] = Σₙ n·f(n)·P(X = y − n) / P(y),   and the same for "y < t".

Σₙ f(n)·ρ^|y − n| is the sum of two recursions, one from either side, so all y together cost what one costs. Nothing is
as long as the largest count: up to `_EACH` every whole number is a node, above it nodes are 1/128 apart, and between
two nodes f is log-linear, for which a step of the recursion is a geometric series. Published counts are nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_EACH: Final = 512  # whole numbers up to this are nodes
_GROWTH: Final = 128  # above them a node is this part of its value away from the next
_REACH: Final = 40.0  # noise of so many scales is as good as impossible
_LEAST: Final = 1e-300


def nodes_for(asked: Sequence[Integers], scale: float) -> Integers:
    """The counts that f is evaluated at: those that are asked for, and enough others for everything between."""
    wanted = np.unique(np.concatenate([np.zeros(1, np.int64), *(np.asarray(one, np.int64).ravel() for one in asked)]))
    end = int(wanted[-1] + np.ceil(_REACH * scale) + 50)
    found = [np.arange(min(end, _EACH) + 1)]
    if end > _EACH:
        steps = int(np.ceil(np.log(end / _EACH) * _GROWTH)) + 1
        found.append(np.minimum(_EACH * (1 + 1 / _GROWTH) ** np.arange(1, steps + 1), end).astype(np.int64))
    return np.unique(np.concatenate([wanted[wanted >= 0], *found]))


@dataclass(frozen=True, eq=False)
class Components:
    """Every pair of a strength α and an expected size λ."""

    alphas: Floats
    lambdas: Floats

    @property
    def alpha(self) -> Floats:
        """α of each component."""
        return np.repeat(self.alphas, len(self.lambdas))

    @property
    def size(self) -> Floats:
        """λ of each component."""
        return np.tile(self.lambdas, len(self.alphas))

    def __len__(self) -> int:
        return len(self.alphas) * len(self.lambdas)


@dataclass(frozen=True, eq=False)
class CountLikelihood:
    """log P(y) and E[n | y] of one cell's count at the nodes, and of a count that is not published; by component."""

    nodes: Integers
    log_published: Floats  # (nodes, components)
    expected: Floats  # (nodes, components)
    log_unpublished: Floats  # (components,)
    expected_unpublished: Floats  # (components,)

    def at(self, counts: NDArray[np.number]) -> tuple[Floats, Floats]:
        """Log P(y) and E[n | y] for these counts, a row each; between nodes on a straight line."""
        asked = np.clip(np.asarray(counts, np.float64), self.nodes[0], self.nodes[-1])
        right = np.clip(np.searchsorted(self.nodes, asked), 1, len(self.nodes) - 1)
        low, high = self.nodes[right - 1], self.nodes[right]
        part = ((asked - low) / (high - low))[..., None]
        exact = np.asarray(asked == high)[..., None]
        found = []
        for table in (self.log_published, self.expected):
            between = table[right - 1] * (1 - part) + table[right] * part
            found.append(np.where(exact, table[right], between))
        return found[0], found[1]


def count_likelihood(share: float, threshold: int, scale: float, parts: Components, nodes: Integers) -> CountLikelihood:
    """The likelihood of a cell with this share of all records; the threshold and the one before have to be nodes."""
    alpha, size = parts.alpha, parts.size
    shape, n = alpha * share, nodes[:, None].astype(np.float64)
    by_alpha = parts.alphas * share
    from_gamma = gammaln(n + by_alpha) - gammaln(by_alpha) - gammaln(n + 1)
    log_f = (
        np.repeat(from_gamma, len(parts.lambdas), axis=1) - shape * np.log1p(size / alpha) - n * np.log1p(alpha / size)
    )
    with np.errstate(divide="ignore"):
        log_nf = log_f + np.log(n)
    rate = 1 / scale
    left, right = _sides(log_f, nodes, rate)
    left_n, right_n = _sides(log_nf, nodes, rate)
    peak = np.tanh(rate / 2)  # P(X = 0) = (1 − ρ)/(1 + ρ)
    published = np.maximum((left + right) * peak, _LEAST)
    expected = (left_n + right_n) * peak / published
    # P(X ≤ t − 1 − n) is 1 − ρ^(t − n)/(1 + ρ) below the threshold and ρ^(n − t + 1)/(1 + ρ) from it on.
    before, here = np.searchsorted(nodes, (threshold - 1, threshold))
    tail = np.exp(-rate) / (1 + np.exp(-rate))
    chance = 1 / (1 + size / alpha)
    gain = (np.exp(log_f[here]) + right[here] - left[before]) * tail
    below = betainc(shape, float(threshold), chance) + gain
    above = betainc(float(threshold), shape, 1 - chance) - gain
    gain_n = (np.exp(log_nf[here]) + right_n[here] - left_n[before]) * tail
    mean = shape * size / alpha
    below_n = (mean * betainc(shape + 1, threshold - 1.0, chance) if threshold > 1 else 0.0) + gain_n
    below = np.maximum(below, _LEAST)
    log_below = np.where(above < 0.5, np.log1p(-np.clip(above, 0, 0.5)), np.log(below))  # noqa: PLR2004 - the accurate one
    return CountLikelihood(nodes, np.log(published), expected, log_below, np.maximum(below_n, 0) / below)


def _sides(log_f: Floats, nodes: Integers, rate: float) -> tuple[Floats, Floats]:
    """Σ over n ≤ y of f(n)·ρ^(y − n), and Σ over n > y of f(n)·ρ^(n − y), for y at every node."""
    f = np.exp(log_f)
    width = np.diff(nodes)[:, None].astype(np.float64)
    fade = np.exp(-rate * width)
    into_left, into_right = f[1:].copy(), f[1:] * np.exp(-rate)
    wide = np.flatnonzero(width[:, 0] > 1)
    if len(wide):
        into_left[wide], into_right[wide] = _series(log_f, f, width, fade, rate, wide)
    left, right = np.empty_like(f), np.empty_like(f)
    left[0], right[-1] = f[0], 0.0
    for place in range(len(width)):
        left[place + 1] = left[place] * fade[place] + into_left[place]
    for place in range(len(width) - 1, -1, -1):
        right[place] = right[place + 1] * fade[place] + into_right[place]
    return left, right


def _series(
    log_f: Floats, f: Floats, width: Floats, fade: Floats, rate: float, wide: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """What the counts between two nodes that lie apart, and the upper one, add to either recursion."""
    h, lost = width[wide], fade[wide]
    slope = (log_f[wide + 1] - log_f[wide]) / h
    low, high = f[wide], f[wide + 1]
    rising, falling = slope + rate, slope - rate
    left = np.where(
        rising >= 0,
        high * _geometric(np.maximum(rising, 0), h),
        low * lost * np.exp(np.minimum(rising, 0)) * _geometric(np.maximum(-rising, 0), h),
    )
    right = np.where(
        falling <= 0,
        low * np.exp(np.minimum(falling, 0)) * _geometric(np.maximum(-falling, 0), h),
        high * lost * _geometric(np.maximum(falling, 0), h),
    )
    return left, right


def _geometric(x: Floats, terms: Floats) -> Floats:
    """Σ of e^(−x·i) for i from 0 to terms − 1, x ≥ 0."""
    small = x < 1e-12  # noqa: PLR2004 - then all terms are 1
    return np.where(small, terms, np.expm1(-x * terms) / np.expm1(-np.where(small, 1.0, x)))
