"""The models a second time: lists of values, fractions, one group at a time, straight from the definitions."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from sfumato.privacy.groups.sensitive import code_of
from tests.privacy.models.records import shares

CLOSE = 1e-9  # the slow logarithms and linear programs are floating point; ours must agree outside of this


def distinct(values, table, domain):
    return len(set(values))


def entropy(values, table, domain):
    return math.exp(-sum(float(p) * math.log(p) for p in shares(values).values()))


def recursive(values, c, l):  # noqa: E741 - the literature's letter
    counts = sorted(Counter(values).values(), reverse=True)
    return l == 1 or counts[0] < c * sum(counts[l - 1 :])


def largest_share(values, table, domain):
    return max(shares(values).values())


def basic_gain(values, table, domain):
    p, q = shares(table), shares(values)
    return max([(q[v] - p[v]) / p[v] for v in q if q[v] > p[v]], default=Fraction(0))


def enhanced(values, table, beta):
    p, q = shares(table), shares(values)
    return all(float((q[v] - p[v]) / p[v]) <= min(float(beta), -math.log(p[v])) + 1e-12 for v in q if q[v] > p[v])


def disclosure(values, table, domain):
    p, q = shares(table), shares(values)
    return max(abs(math.log(q[v] / p[v])) if v in q else math.inf for v in p)


def jensen_shannon(values, table, domain):
    p, q = shares(values), shares(table)
    middle = {v: (p.get(v, 0) + q.get(v, 0)) / 2 for v in {*p, *q}}
    return sum(float(d[v]) * math.log(d[v] / middle[v]) / 2 for d in (p, q) for v in d)


def earth_movers(values, table, domain, ground):
    """The cheapest way to turn one distribution into the other: the transport problem itself."""
    codes = sorted({*values, *table})
    p, q = shares(values), shares(table)
    costs = [ground(a, b) for a in codes for b in codes]
    size = len(codes)
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    supply = [float(p.get(c, 0)) for c in codes] + [float(q.get(c, 0)) for c in codes]
    return linprog(costs, A_eq=np.vstack([rows, columns]), b_eq=supply).fun


def equal(values, table, domain):
    return earth_movers(values, table, domain, lambda a, b: float(a != b))


def ordered(values, table, domain):
    rank = {code: place for place, code in enumerate(sorted(set(table)))}
    return earth_movers(values, table, domain, lambda a, b: abs(rank[a] - rank[b]) / max(len(rank) - 1, 1))


def hierarchical(values, table, domain):
    tree = domain.taxonomy

    def height(node):
        return max((1 + height(kid) for kid in tree.kids(node)), default=0)

    def ground(a, b):
        if max(a, b) >= tree.size:  # the missing value, a leaf below the root
            return 0.0 if a == b else 1.0
        node = 0
        while below := [k for k in tree.kids(node) if {a, b} <= set(range(*tree.range_of(k)))]:
            node = below[0]
        return height(node) / max(height(0), 1)

    return earth_movers(values, table, domain, ground)


def template(values, bounds, domain):
    share = shares(values)
    return all(share.get(code_of(domain, value), 0) <= h for value, h in bounds.items())


# Model -> (what a group achieves, how a parameter is asked for, whether more is better).
MEASURED = {
    "distinct-l-diversity": (distinct, "l", True),
    "entropy-l-diversity": (entropy, "l", True),
    "probabilistic-l-diversity": (lambda *a: 1 / largest_share(*a), "l", True),
    "basic-beta-likeness": (basic_gain, "beta", False),
    "delta-disclosure": (disclosure, "delta", False),
}
DISTANCE = {"equal": equal, "ordered": ordered, "hierarchical": hierarchical, "js": jensen_shannon}
