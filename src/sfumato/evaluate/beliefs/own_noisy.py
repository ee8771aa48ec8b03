"""How far the belief about a person moves because the person's own record is in a table of noisy counts.

The belief is taken in expectation over the noise of the person's own cell, all other counts as they are published, α
and s held fixed: JS(Σ_z L(z | n)·Q(z), Σ_z L(z | n − 1)·Q(z)). The noise is divided into intervals, each with its exact
probability under n and under n − 1, the tails among them. The two probabilities of an interval differ by a factor of at
most e^(1/b), and JS does not grow when two distributions pass through the same channel z → Q(z). So the result is at
most the largest JS of two distributions with that ratio, whatever the threshold: ln 2 − H(1/(1 + e^(1/b))).
"""

from dataclasses import dataclass
from math import ceil, exp, log
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sfumato.evaluate.beliefs.group_posterior import GroupPosterior
from sfumato.evaluate.beliefs.noisy_beliefs import Regions, js_terms
from sfumato.evaluate.evidence import distinct_rows

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_INTERVALS: Final = 61
_REACH: Final = 12  # scales of the noise; the tails beyond belong to the outermost intervals
_TERMS: Final = 2_000_000  # numbers that are held at once
_LARGEST: Final = 700.0  # e^ of more is no number


def largest_loss(epsilon: float) -> float:
    """The most that ε-differential privacy lets any belief move in expectation, in nats: ln 2 − H(1/(1 + e^ε)).

    >>> [round(largest_loss(epsilon), 3) for epsilon in (0.1, 0.5, 1, 4)]
    [0.001, 0.03, 0.111, 0.603]
    """
    share = 1 / (1 + exp(min(epsilon, _LARGEST)))
    return max(0.0, float(log(2) + xlogy(share, share) + xlogy(1 - share, 1 - share)))


@dataclass(frozen=True, eq=False)
class NoiseIntervals:
    """Intervals of the noise: one number of each, and their probabilities for the true count and for one less."""

    middle: Integers
    with_record: Floats
    without_record: Floats

    @classmethod
    def of(cls, scale: float) -> "NoiseIntervals":
        """Intervals of equal width around 0, as wide as needed."""
        half = ceil(_REACH * scale) + 1
        width = max(1, ceil((2 * half + 1) / _INTERVALS))
        many = (2 * half + width) // width
        starts = -half + width * np.arange(many)
        # y = n + X with the record, and n − 1 + X without it: then the noise is one more.
        with_record, without_record = (_chances(starts[1:] + less, scale) for less in (0, 1))
        return cls(starts + (width - 1) // 2, with_record, without_record)


def _chances(edges: Integers, scale: float) -> Floats:
    """P of discrete Laplace noise between every two edges, below the first and from the last on.

    Each from the tail on its own side, so that the ratio of two small ones is right.
    """
    rho = exp(-1 / scale)
    below = np.concatenate([[0.0], rho ** (1.0 - np.minimum(edges, 0)) / (1 + rho), [1.0]])  # P(X < edge) up to 0
    above = np.concatenate([[1.0], rho ** np.maximum(edges, 1.0) / (1 + rho), [0.0]])  # P(X ≥ edge) from 1 on
    low = np.concatenate([[True], edges <= 0, [False]])
    found = np.where(low[1:], below[1:] - below[:-1], above[:-1] - above[1:])
    across = low[:-1] & ~low[1:]
    return np.asarray(np.where(across, 1 - below[:-1] - above[1:], found))


def own_losses(posterior: GroupPosterior, name: str) -> Floats:
    """The loss of the people of each occupied cell, for one protected attribute."""
    table, regions = posterior.table, Regions.of(posterior, name)
    found = np.zeros(len(table.table_cell))
    if len(regions.shares) <= 1:
        return found
    intervals = NoiseIntervals.of(table.scale)
    own = _OwnEntries(posterior, regions)
    # Groups of which nothing is published look alike, so their people with the same cell and count do.
    named = np.bincount(table.group, minlength=table.groups)[table.table_group] > 0
    alike, one = distinct_rows(
        [np.where(named, table.table_group, -1) + 1, table.table_cell, table.table_count], len(found)
    )
    kind = posterior.kinds.kind[table.table_cell[one]]
    order = one[np.argsort(kind, kind="stable")]
    ends = np.searchsorted(np.sort(kind), np.arange(len(posterior.kinds.shares) + 1))
    for number in range(len(posterior.kinds.shares)):
        likelihood = posterior.likelihood_of(number)
        least = int(posterior.kinds.thresholds[number])
        mine = order[ends[number] : ends[number + 1]]
        step = max(1, _TERMS // (len(intervals.middle) * len(posterior.parts)))
        for start in range(0, len(mine), step):
            some = mine[start : start + step]
            counts = table.table_count[some][:, None] + intervals.middle
            log_ratio, expected = likelihood.at(counts)
            listed = (counts >= least)[..., None]
            log_ratio = np.where(listed, log_ratio - likelihood.log_unpublished, 0.0)
            expected = np.where(listed, expected, likelihood.expected_unpublished)
            found[some] = own.losses(some, log_ratio, expected, intervals)
    return np.asarray(found[one][alike])


class _OwnEntries:
    """What is published of each occupied cell's group, with and without the cell itself."""

    def __init__(self, posterior: GroupPosterior, regions: Regions) -> None:
        self._posterior, self._regions = posterior, regions
        table = posterior.table
        self._order = np.argsort(table.group, kind="stable")
        self._first = np.searchsorted(table.group[self._order], np.arange(table.groups + 1))
        cells = len(table.shares)
        keys = table.group * cells + table.cell
        asked = table.table_group * cells + table.table_cell
        by_key = np.argsort(keys, kind="stable")
        place = np.minimum(np.searchsorted(keys[by_key], asked), max(len(keys) - 1, 0))
        there = keys[by_key][place] == asked if len(keys) else np.zeros(len(asked), np.bool_)
        self._own = np.where(there, posterior.entry[by_key][place], -1) if len(keys) else np.full(len(asked), -1)

    def losses(self, some: Integers, log_ratio: Floats, expected: Floats, intervals: NoiseIntervals) -> Floats:
        """JS of the two expected beliefs, for occupied cells of one kind."""
        posterior, regions, table = self._posterior, self._regions, self._posterior.table
        group, cell = table.table_group[some], table.table_cell[some]
        pattern, _, _ = posterior.patterns
        others = posterior.log_likelihood[pattern[group]]
        own = self._own[some]
        there = own >= 0
        others[there] -= posterior.log_ratio[own[there]]
        weights = posterior.components(others[:, None, :] + log_ratio)  # (cells, intervals, components)
        kept = np.flatnonzero(np.repeat(posterior.weight.sum(axis=1) > 0, len(posterior.parts.lambdas)))
        weights, expected = weights[:, :, kept], expected[:, :, kept]
        found = np.empty(len(some))
        few = max(1, _TERMS // (len(kept) * (len(regions.times) + 64)))
        for start in range(0, len(some), few):
            here = slice(start, start + few)
            told = self._told(group[here], cell[here], kept)
            belief = np.matmul(weights[here], told.expected)
            rows = np.arange(len(told.own))
            belief[rows, :, told.own] += np.einsum("ezp,ezp->ez", weights[here], expected[here])
            whole = np.einsum("ezc,ec->ez", belief, told.times)
            belief = np.divide(belief, whole[..., None], out=np.zeros_like(belief), where=whole[..., None] > 0)
            both = [
                np.einsum("z,ezc->ec", chance, belief) for chance in (intervals.with_record, intervals.without_record)
            ]
            found[here] = np.einsum("ec,ec->e", js_terms(both[0], both[1]), told.times)
        return np.clip(found, 0.0, np.log(2.0))

    def _told(self, group: Integers, cell: Integers, kept: NDArray[np.intp]) -> "_Told":
        """Columns for kinds of regions, and for each region of which something is published, or that is asked of."""
        posterior, regions, table = self._posterior, self._regions, self._posterior.table
        many = self._first[group + 1] - self._first[group]
        row = np.repeat(np.arange(len(group)), many)
        within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        at = self._order[self._first[group][row] + within]
        other = table.cell[at] != cell[row]  # the person's own cell is added by whoever asks
        row, at = row[other], at[other]
        gain = posterior.expected[posterior.entry[at]][:, kept]
        gain = gain - posterior.expected_without[posterior.entry_kind[posterior.entry[at]]][:, kept]
        region, mine = regions.region[table.cell[at]], regions.region[cell]
        columns, place = np.unique(np.concatenate([mine, region]), return_inverse=True)
        own, place = place.ravel()[: len(mine)], place.ravel()[len(mine) :]
        kinds = len(regions.times)
        expected = np.empty((len(group), len(kept), kinds + len(columns)))
        expected[:, :, :kinds] = regions.without[kept]
        expected[:, :, kinds:] = regions.without[kept][:, regions.kind[columns]]
        np.add.at(expected.transpose(0, 2, 1), (row, kinds + place), gain)
        expected[np.arange(len(group)), :, kinds + own] -= posterior.expected_without[posterior.kinds.kind[cell]][
            :, kept
        ]
        times = np.zeros((len(group), kinds + len(columns)))
        times[row, kinds + place] = 1
        times[np.arange(len(group)), kinds + own] = 1
        named = np.zeros((len(group), kinds))
        np.add.at(named.T, regions.kind[columns], times[:, kinds:].T)
        times[:, :kinds] = regions.times - named
        return _Told(expected, times, kinds + own)


@dataclass(frozen=True, eq=False)
class _Told:
    """E[n] of columns of regions for some people, how many regions each column is, and which is the person's own."""

    expected: Floats  # (people, components, columns)
    times: Floats  # (people, columns)
    own: Integers  # (people,)
