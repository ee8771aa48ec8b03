"""The adversary's posterior over the groups of a table, from all its noisy counts together.

Two numbers are shared by all groups: the strength α (how alike the groups are) and the spread s of their sizes, where
λ is log-normal around records / groups. Their prior α²·e^(−4s) prefers "every group is like the table", so what a
release does not tell stays at the table's distribution; then the likelihood of every count decides, published or not.
For each (α, s) a group has a posterior over λ; the mean over (α, s) is by their weight.

What was tried and is worse: a Poisson prior overrules the noise; a fixed α says more than exact counts do; free weights
of components let one outlier buy its own.

Groups with the same published counts are one pattern, and all groups without any are another: their number may be
astronomical, their probability is computed once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sfumato.evaluate.beliefs.count_likelihood import Components, CountLikelihood, count_likelihood, nodes_for
from sfumato.evaluate.beliefs.noisy_cells import CellTable

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ALPHAS: Final = np.array([0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
SPREADS: Final = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
_LAMBDAS: Final = (0.01, 1e5, 29)  # from, to, how many; the same ratio goes on where a table needs it
_SMALLEST: Final = 1e-9
_POINTS: Final = 5  # of a count that rounding left uncertain
_FORGET: Final = 1e-6  # weight of (α, s) that may be dropped in all
_TERMS: Final = 4_000_000  # numbers that are held at once


@dataclass(frozen=True, eq=False)
class Kinds:
    """Cells that look alike: the same share of the records, and the same threshold."""

    kind: Integers  # (cells,)
    shares: Floats  # (kinds,)
    thresholds: Integers  # (kinds,)
    cells: Integers  # (kinds,): how many cells of each a group has

    @classmethod
    def of(cls, table: CellTable) -> "Kinds":
        """The kinds of a table's cells."""
        order = np.lexsort((table.thresholds, table.shares))
        share, least = table.shares[order], table.thresholds[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(share) > 0) | (np.diff(least) != 0)
        kind = np.empty(len(order), np.int64)
        kind[order] = np.cumsum(new) - 1
        return cls(kind, share[new], least[new], np.bincount(kind, minlength=int(new.sum())).astype(np.int64))


class GroupPosterior:
    """α, s and λ given all published counts, and what follows for the counts of a group."""

    def __init__(self, table: CellTable) -> None:
        self.table = table
        self.kinds = Kinds.of(table)
        self.size = max(table.records, 1) / table.possible
        most = int(max(table.high.max(initial=0), table.table_count.max(initial=0)))
        self.parts = Components(ALPHAS, _lambdas(self.size, most))
        largest = table.table_count.max(initial=0) + np.ceil(14 * table.scale)
        asked = [table.low.astype(np.int64), table.high.astype(np.int64), np.array([largest], np.int64)]
        self.nodes = nodes_for([*asked, self.kinds.thresholds, self.kinds.thresholds - 1], table.scale)
        self._read_counts()
        self._fit()

    def likelihood_of(self, kind: int) -> CountLikelihood:
        """The likelihood of a count of one kind of cell."""
        kinds = self.kinds
        return count_likelihood(
            float(kinds.shares[kind]), int(kinds.thresholds[kind]), self.table.scale, self.parts, self.nodes
        )

    def _read_counts(self) -> None:
        """Every distinct published count of a kind of cell once: how much likelier than no count, and what it means."""
        table, kinds = self.table, self.kinds
        kind = kinds.kind[table.cell]
        order = np.lexsort((table.high, table.low, kind))
        of_kind, low, high = kind[order], table.low[order], table.high[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(of_kind) != 0) | (np.diff(low) != 0) | (np.diff(high) != 0)
        self.entry = np.empty(len(order), np.int64)
        self.entry[order] = np.cumsum(new) - 1
        of_kind, low, high = of_kind[new], low[new], high[new]
        many = len(of_kind)
        self.log_ratio, self.expected = np.empty((many, len(self.parts))), np.empty((many, len(self.parts)))
        self.log_without = np.empty((len(kinds.shares), len(self.parts)))
        self.expected_without = np.empty_like(self.log_without)
        ends = np.searchsorted(of_kind, np.arange(len(kinds.shares) + 1))
        for number in range(len(kinds.shares)):
            found = self.likelihood_of(number)
            here = slice(int(ends[number]), int(ends[number + 1]))
            self.log_without[number], self.expected_without[number] = found.log_unpublished, found.expected_unpublished
            log, mean = _between(found, low[here], high[here])
            self.log_ratio[here], self.expected[here] = log - found.log_unpublished, mean
        self.entry_kind = of_kind

    @cached_property
    def patterns(self) -> tuple[Integers, csr_array, Floats]:
        """The pattern of each named group, the entries of each pattern, and how many groups have it."""
        table, many = self.table, len(self.entry_kind)
        marks = _scramble(self.entry.astype(np.uint64))
        total = np.zeros(table.groups, np.uint64)
        np.add.at(total, table.group, marks)
        listed = np.bincount(table.group, minlength=table.groups)
        order = np.lexsort((total, listed))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(listed[order]) != 0) | (total[order][1:] != total[order][:-1])
        pattern = np.empty(len(order), np.int64)
        pattern[order] = np.cumsum(new) - 1
        first = order[new]
        everyone = csr_array((np.ones(len(self.entry)), (table.group, self.entry)), shape=(table.groups, many))
        entries, times = csr_array(everyone[first]), np.bincount(pattern, minlength=len(first)).astype(np.float64)
        unnamed = max(table.possible - table.groups, 0.0)
        empty = np.flatnonzero(listed[first] == 0)
        if len(empty):
            times[empty[0]] += unnamed
        else:
            bare = csr_array((1, many))
            entries = csr_array(_stack(entries, bare))
            times = np.append(times, unnamed)
        return pattern, entries, times

    @cached_property
    def log_likelihood(self) -> Floats:
        """Log P(all counts of a group), a row a pattern."""
        _, entries, _ = self.patterns
        base = self.kinds.cells @ self.log_without
        return np.asarray(entries @ self.log_ratio + base)

    def _fit(self) -> None:
        """The weight of every (α, s), and of every λ given s before anything is published."""
        lambdas = self.parts.lambdas
        apart = np.log(lambdas / self.size)[None] / SPREADS[:, None] + SPREADS[:, None] / 2
        log_pi = -0.5 * apart**2
        self.log_pi = log_pi - logsumexp(log_pi, axis=1, keepdims=True)
        _, _, times = self.patterns
        total = np.zeros((len(ALPHAS), len(SPREADS)))
        for some in blocks(len(times), len(self.parts) * len(SPREADS)):
            shaped = self.log_likelihood[some].reshape(-1, len(ALPHAS), 1, len(lambdas))
            total += np.tensordot(times[some], logsumexp(shaped + self.log_pi, axis=3), axes=1)
        log_weight = total + 2 * np.log(ALPHAS)[:, None] - 4 * SPREADS
        weight = np.exp(log_weight - logsumexp(log_weight))
        order = np.argsort(weight.ravel())
        gone = order[np.cumsum(weight.ravel()[order]) <= _FORGET]
        kept = weight.ravel().copy()
        kept[gone] = 0
        self.weight = (kept / kept.sum()).reshape(weight.shape)

    def components(self, log_likelihood: Floats) -> Floats:
        """The posterior of the components, from the likelihood of a group's counts (…, components)."""
        lambdas = len(self.parts.lambdas)
        shaped = log_likelihood.reshape(*log_likelihood.shape[:-1], len(ALPHAS), lambdas)
        found = np.zeros_like(shaped)
        for a, s in zip(*np.nonzero(self.weight), strict=True):
            log = shaped[..., a, :] + self.log_pi[s]
            odds = np.exp(log - log.max(axis=-1, keepdims=True))
            found[..., a, :] += self.weight[a, s] * odds / odds.sum(axis=-1, keepdims=True)
        return found.reshape(log_likelihood.shape)


def _between(found: CountLikelihood, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Log P and E[n] of counts that are known to lie between two numbers; a constant of P does not matter."""
    if np.array_equal(low, high):
        return found.at(low)
    points = [found.at(np.round(low + (high - low) * part)) for part in np.linspace(0, 1, _POINTS)]
    log = np.stack([one[0] for one in points])
    share = np.exp(log - logsumexp(log, axis=0))
    return logsumexp(log, axis=0) - np.log(_POINTS), np.asarray((share * np.stack([one[1] for one in points])).sum(0))


def _lambdas(size: float, most: int) -> Floats:
    """Expected sizes of a group, evenly spaced in their logarithm, as far as the table needs them."""
    low, high, many = _LAMBDAS
    step = np.log(high / low) / (many - 1)
    below = max(0, int(np.ceil(np.log(low / max(size / 10, _SMALLEST)) / step)))
    above = max(0, int(np.ceil(np.log(max(2 * most, 1) / high) / step)))
    return np.asarray(low * np.exp(step * np.arange(-below, many + above)))


def blocks(rows: int, width: int) -> list[slice]:
    """Rows in parts of which not too many numbers are held at once."""
    step = max(1, _TERMS // max(width, 1))
    return [slice(start, start + step) for start in range(0, rows, step)]


def _scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers as 64 bits that look random, the same each time (splitmix64), so that sums of them tell sets apart."""
    with np.errstate(over="ignore"):
        z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _stack(one: csr_array, other: csr_array) -> csr_array:
    indptr = np.concatenate([one.indptr, one.indptr[-1] + other.indptr[1:]])
    return csr_array(
        (np.concatenate([one.data, other.data]), np.concatenate([one.indices, other.indices]), indptr),
        shape=(one.shape[0] + other.shape[0], one.shape[1]),
    )
