"""The posterior by its definition: sums over every true count up to a limit, with the distributions of scipy."""

import math

import numpy as np
from scipy.stats import dlaplace, nbinom

ALPHAS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SPREADS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
LAMBDAS = np.geomspace(0.01, 1e5, 29)
COUNTS = np.arange(300)  # true counts that are added up


def js(p, q):
    """Jensen-Shannon divergence."""
    found = 0.0
    for one, other in ((p, q), (q, p)):
        found += sum(a * math.log(2 * a / (a + b)) / 2 for a, b in zip(one, other, strict=True) if a > 0)
    return found


class Plain:
    """Groups × cells of noisy counts, None where a count is not published."""

    def __init__(self, y, shares, scale, threshold, records):
        self.shares, self.scale, self.threshold = shares, scale, threshold
        self._known = {}
        apart = np.log(LAMBDAS / (records / len(y)))
        self.pi = {s: np.exp(-0.5 * (apart / s + s / 2) ** 2) for s in SPREADS}
        log = {
            (a, s): 2 * math.log(a) - 4 * s + sum(math.log(self.sizes(row, a, s).sum()) for row in y)
            for a in ALPHAS
            for s in SPREADS
        }
        top = max(log.values())
        whole = sum(math.exp(one - top) for one in log.values())
        self.hyper = {key: math.exp(one - top) / whole for key, one in log.items()}

    def cell(self, y, share, a):
        """P(y) and E[n | y] of one cell, for every λ."""
        if (y, share, a) not in self._known:
            f = nbinom.pmf(COUNTS, a * share, a / (a + LAMBDAS[:, None]))
            if y is None:
                f = f * dlaplace.cdf(self.threshold - 1 - COUNTS, 1 / self.scale)
            else:
                f = f * dlaplace.pmf(y - COUNTS, 1 / self.scale)
            chance = f.sum(axis=1)
            self._known[y, share, a] = chance, (f * COUNTS).sum(axis=1) / np.maximum(chance, 1e-300)
        return self._known[y, share, a]

    def sizes(self, row, a, s):
        """P(the group's counts, λ) for every λ."""
        parts = [self.cell(y, share, a)[0] for y, share in zip(row, self.shares, strict=True)]
        return np.prod(parts, axis=0) * self.pi[s] / self.pi[s].sum()

    def belief(self, row, regions):
        """The share of every region among the expected counts of a group."""
        found = np.zeros(max(regions) + 1)
        for (a, s), weight in self.hyper.items():
            odds = self.sizes(row, a, s)
            for y, share, region in zip(row, self.shares, regions, strict=True):
                found[region] += weight * (odds / odds.sum() * self.cell(y, share, a)[1]).sum()
        return (found / found.sum()).tolist()

    def own(self, row, j, n, regions):
        """JS of the expected beliefs with a record of cell j and without it."""
        half = math.ceil(14 * self.scale)
        beliefs = {}
        for z in range(-half - 1, half + 1):
            y = n + z if n + z >= self.threshold else None
            beliefs[z] = np.array(self.belief([*row[:j], y, *row[j + 1 :]], regions))
        chances = [dlaplace.pmf(np.array(list(beliefs)) + less, 1 / self.scale) for less in (0, 1)]
        return js(*((chance @ np.array(list(beliefs.values())) / chance.sum()).tolist() for chance in chances))
