"""Where a private tree stops, and what a node would be split into: rules on public domains and noisy sizes alone."""

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from typing import Final

from sfumato.domains.cut import Range
from sfumato.domains.domain import Categories, Domain

BRANCHES: Final = ("taxonomy", "values")


def children_of(domain: Domain, region: Range, branch: str) -> tuple[Range, ...]:
    """What a region of categories is split into; nothing if it is a leaf.

    `values` is the authors' way: all values at once, after which there is nothing left to ask. `taxonomy` is ours: the
    children of the node, which may be split again further down.
    """
    start, stop = region
    if branch == "values" and isinstance(domain, Categories):
        return tuple((code, code + 1) for code in range(start, stop)) if stop - start > 1 else ()
    return domain.children(start, stop)


def count_deviation(share: Fraction) -> float:
    """At most this is the standard deviation of the noise on a leaf's class count: two shares are theirs for certain.

    Lap(1/ε) has a standard deviation of √2/ε, and discrete Laplace noise of the same scale a smaller one.
    """
    return sqrt(2) / float(2 * share)


def least_size(
    domains: Mapping[str, Domain], regions: Mapping[str, Range], *, classes: int, share: Fraction, branch: str
) -> float:
    """The noisy size from which on a node is split.

    Friedman & Schuster's rule, in both of their algorithms: a node T is a leaf if N_T / (t·|C|) < √2/ε', with N_T its
    noisy size, t the most values of an attribute that is left, |C| the number of classes, and √2/ε' the standard
    deviation of the noise on a class count. What the rule compares is ours too: t is the most parts that one split can
    make here (all values of a category by `values`, the children of a node by `taxonomy`, two of a number), and the
    deviation is that of our class counts, which have two shares where theirs have one.

    It looks at domains, at regions that were drawn, and at ε, so which sizes are compared with what is public.
    """
    most = max(2 if d.free else len(children_of(d, regions[name], branch)) for name, d in domains.items())
    return count_deviation(share) * most * classes
