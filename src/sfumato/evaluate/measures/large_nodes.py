"""The nodes of one attribute that many records are in: of its taxonomy, halves of its range, or contained by sets."""

from collections.abc import Callable
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]
Range = tuple[int, int]


def large_nodes(attribute: Attribute, codes: Integers, counts: Integers, least: float) -> list[Range]:
    """The nodes of an attribute, without the root, that ``least`` records are in; the others are in no population.

    >>> from fractions import Fraction
    >>> from sfumato.study.attribute import Role
    >>> grid = Grid(lower=Fraction(0), upper=Fraction(7), step=Fraction(1), unit="integer")
    >>> number = Attribute(name="n", role=Role.QUASI_IDENTIFIER, domain=grid)
    >>> large_nodes(number, np.array([1, 2, 5]), np.array([1, 1, 9]), least=2)
    [(0, 4), (4, 8), (4, 6), (5, 6)]
    """
    domain = attribute.domain
    assert domain is not None, "quasi-identifiers have domains"
    order = np.argsort(codes, kind="stable")
    there, below = codes[order], np.concatenate([[0], np.cumsum(counts[order])])

    def large(node: Range) -> bool:
        begin, end = np.searchsorted(there, node)
        return bool(below[end] - below[begin] >= least)

    if domain.taxonomy is not None:
        found = dict.fromkeys(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
    else:
        assert isinstance(domain, Grid), "categories have a taxonomy"
        width = 1 if attribute.at_least is None else max(1, ceil(attribute.at_least / domain.step))
        found = dict.fromkeys(_halves((0, domain.points), width, large))
    if domain.missing is not None:
        found[(domain.missing, domain.missing + 1)] = None
    found.pop((0, domain.size), None)
    return [node for node in found if large(node)]


def edges_of(ranges: Integers) -> Integers:
    """Where some node begins or ends, in order: between two edges all codes are in the same nodes."""
    return np.unique(ranges)


def _halves(whole: Range, width: int, large: Callable[[Range], bool]) -> list[Range]:
    """The range, its halves, theirs and so on, as long as they are large and a half is no narrower than ``width``."""
    level, found = [whole], [whole]
    while level:
        split = [node for node in level if large(node) and (node[1] - node[0]) // 2 >= width]
        level = [half for a, b in split for half in ((a, (a + b) // 2), ((a + b) // 2, b))]
        found += level
    return found


def large_held(attribute: Attribute, sets: Sets, codes: Integers, counts: Integers, least: float) -> list[Range]:
    """The nodes of a set's taxonomy, without the root, that the sets of ``least`` records contain.

    They are at its declared level or above. Of nodes with the same codes under them only one is listed. Records
    without codes come last.
    """
    domain = attribute.domain
    assert isinstance(domain, SetDomain), "of sets alone"
    records = np.bincount(codes, weights=counts, minlength=len(sets))
    owner = sets.owner
    found: dict[Range, None] = {}
    for depth in range(1, domain.shallow.depth + 1):
        edges = np.array([*domain.starts_at(depth), domain.size])
        node = np.searchsorted(edges, sets.leaves, side="right") - 1
        pairs = np.unique(owner * len(edges) + node)  # a set contains a node once
        many = np.bincount(pairs % len(edges), weights=records[pairs // len(edges)], minlength=len(edges))
        for one in np.flatnonzero(many >= least).tolist():
            found[(int(edges[one]), int(edges[one + 1]))] = None
    found.pop((0, domain.size), None)
    if float(records[sets.lengths == 0].sum()) >= least:
        found[(domain.size, domain.size + 1)] = None
    return list(found)
