"""Candidates for specialization: a node of a cut with the children it would get, and their score.

A candidate's score depends only on the (attribute × class) counts below it, so one pass over the table is enough for
any number of specializations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Marginal
from sfumato.domains.cut import Range
from sfumato.domains.domain import Domain
from sfumato.errors import InternalError
from sfumato.methods.specialization.scores import Score
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms.interval_choice import choose_point
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.study.attribute import Attribute


@dataclass(frozen=True, slots=True)
class Candidate:
    """A region of one attribute's cut and the ranges it would be replaced by; of sets, a node and those below it."""

    attribute: str
    region: Range
    children: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Splits:
    """The grid points at which a region can be cut in two, in runs of points that give the same two halves.

    A point s cuts ``[start, stop)`` into ``[start, s)`` and ``[s, stop)``. Between two neighbouring codes that occur,
    all points give the same class counts on both sides, so a run has a length and one score: the grid is never
    enumerated, however fine its step.
    """

    first: int  # the lowest split point
    widths: NDArray[np.int64]  # (runs,) how many points each run has
    parts: NDArray[np.int64]  # (runs, 2, classes)

    @classmethod
    def of(cls, marginal: Marginal, region: Range) -> "Splits":
        """All split points of a region."""
        start, stop = region
        part = marginal.within(start, stop)
        edges = np.concatenate([[start], part.codes, [stop - 1]])
        below = np.zeros((len(part.codes) + 1, marginal.classes), dtype=np.int64)
        np.cumsum(part.counts, axis=0, out=below[1:])
        widths = np.diff(edges)
        real = widths > 0
        return cls(start + 1, widths[real], np.stack([below, below[-1] - below], axis=1)[real])

    def __len__(self) -> int:
        return int(self.widths.sum())


def can_split(domain: Domain, region: Range) -> bool:
    """Whether a region can be specialized at all; public, since it looks at the domain alone."""
    start, stop = region
    return stop - start > 1 if domain.free else bool(domain.children(start, stop))


def split_point(marginal: Marginal, region: Range, score: Score, *, grant: Grant, source: RandomSource) -> int:
    """Draw a split point by the exponential mechanism (Mohammed et al. 2011, eqs. 6 and 7).

    Neighbours: one record more in the region. The score's Δ holds for every split point, so the draw is ε-DP for the
    records of this region and does not depend on any other record; regions of one attribute's cut are disjoint, so
    their draws compose in parallel.
    """
    splits = Splits.of(marginal, region)
    if len(splits) == 0:
        raise InternalError("a region of one grid point was asked for a split point")
    offset = choose_point(
        splits.widths,
        score.ticks(splits.parts),
        sensitivity=score.sensitivity(marginal.classes),
        monotone=score.monotone,
        grant=grant,
        source=source,
    )
    return splits.first + offset


class Frontier:
    """The candidates of all cuts, with their scores: a growing value inside one run of one method."""

    def __init__(self, predictors: Iterable[Attribute], marginals: Mapping[str, Marginal], score: Score) -> None:
        self._domains = {a.name: domain_of(a) for a in predictors}
        self._marginals = marginals
        self._score = score
        self._scores: dict[Candidate, int] = {}

    def __len__(self) -> int:
        return len(self._scores)

    def open(self, attribute: str, region: Range, split: int | None = None) -> None:
        """Enter a region as a candidate; a free grid needs its split point. A leaf is passed over."""
        domain = self._domains[attribute]
        if not can_split(domain, region):
            return
        start, stop = region
        if domain.free:
            if split is None:
                raise InternalError(f"a candidate of '{attribute}' has no split point")
            children: tuple[Range, ...] = ((start, split), (split, stop))
        else:
            children = domain.children(start, stop)
        parts = self._marginals[attribute].parts(region, children)
        self._scores[Candidate(attribute, region, children)] = int(self._score.ticks(parts))

    def scored(self) -> tuple[list[Candidate], list[int]]:
        """The candidates in a public order (attribute as declared, then position), with their scores."""
        order = {name: place for place, name in enumerate(self._domains)}
        found = sorted(self._scores, key=lambda c: (order[c.attribute], c.region))
        return found, [self._scores[c] for c in found]

    def take(self, candidate: Candidate) -> None:
        """Remove a candidate that is being specialized."""
        del self._scores[candidate]


def domain_of(attribute: Attribute) -> Domain:
    """The domain of a predictor; tailoring lets no other through."""
    if attribute.domain is None:
        raise InternalError(f"'{attribute.name}' reached a method without a domain")
    return attribute.domain
