"""One-way marginals of a release, from the published tables alone, with the intervals of its queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from sfumato.domains.cut import Cut, Range
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.query.condition import condition_text, others_text
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import UsageError
from sfumato.release.answer.estimate import Estimate
from sfumato.release.release import Release

MOST_BARS: Final = 24  # parts of a domain that are counted; more say nothing to a reader
CHOSEN: Final = "values with the largest published counts"
"""How `Marginal.of` begins where counts have chosen the parts: of noisy ones the largest are more often too large."""

_BINS: Final = 8  # of a grid that the release does not divide in one way for all records
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True)
class Part:
    """A part of a domain: how it reads, the query that asks for it, and what the release answers."""

    label: str
    asked: str
    estimate: Estimate


@dataclass(frozen=True)
class Marginal:
    """The parts of one attribute's domain; those of sets overlap, all others add up."""

    attribute: str
    parts: tuple[Part, ...]
    of: str  # where the parts come from, in words


def marginal(release: Release, attribute: str) -> Marginal:
    """How many records are in each part of a domain.

    The parts are the regions that the release publishes for all records alike, where there are few enough, else nodes
    of the taxonomy, or equal intervals, or the values with the largest published counts and the sum of the others.
    Nothing but the declared domain and published numbers decides them.
    """
    domains = release.declared_domains
    if attribute not in domains:
        raise UsageError("the release has no such attribute", "name one that it has", code="SF-USAGE-461")
    domain = domains[attribute]
    ask = release.about(attribute)
    ranges, of = _parts(release, attribute, domain)
    if len(ranges) == 1 and len(domain.children(*ranges[0])) > MOST_BARS and not isinstance(domain, SetDomain):
        codes, counts = release.value_counts(attribute)
        if len(codes):
            first = codes[np.lexsort((codes, -counts))[: MOST_BARS - 1]]
            return _some(attribute, domain, [domain.label(code, code + 1) for code in first.tolist()], ask)
    labels = [domain.label(start, stop) for start, stop in ranges]
    asked = [condition_text({attribute: [label]}, domains) for label in labels]
    return Marginal(
        attribute, tuple(Part(label, text, ask(text)) for label, text in zip(labels, asked, strict=True)), of
    )


def _some(attribute: str, domain: Domain, labels: Sequence[str], ask: Callable[[str], Estimate]) -> Marginal:
    """Some values, and all others together, of a domain without inner nodes."""
    parts = []
    for label in labels:
        text = condition_text({attribute: [label]}, {attribute: domain})
        parts.append(Part(label, text, ask(text)))
    rest = others_text(attribute, labels)
    parts.append(Part(f"all other {domain.size - len(labels):,} values", rest, ask(rest)))
    return Marginal(attribute, tuple(parts), f"{CHOSEN}, of {domain.size:,}")


def _parts(release: Release, attribute: str, domain: Domain) -> tuple[list[Range], str]:
    cuts: dict[str, Cut] = getattr(release, "cuts", {})
    cut = cuts.get(attribute)
    if cut is not None and not isinstance(domain, SetDomain) and cut.total <= MOST_BARS:
        return _whole(domain, list(cut.ranges)), "the published groups"
    if domain.taxonomy is not None:
        return _nodes(domain), "nodes of the taxonomy"
    if isinstance(domain, Grid):
        return _bins(domain), "equal intervals"
    return [(code, code + 1) for code in range(min(domain.size, MOST_BARS))], "values"


def _whole(domain: Domain, ranges: list[Range]) -> list[Range]:
    """The same with a missing value of a grid by itself, which no interval can ask for."""
    missing = domain.missing
    if not isinstance(domain, Grid) or missing is None:
        return ranges
    plain = [(start, min(stop, missing)) for start, stop in ranges if start < missing]
    return [*plain, (missing, missing + 1)]


def _nodes(domain: Domain) -> list[Range]:
    """The deepest cut through the taxonomy, level by level, that has few enough nodes."""
    found: list[Range] = [(0, domain.size)]
    while True:
        below = [child for start, stop in found for child in (domain.children(start, stop) or ((start, stop),))]
        if below == found or len(below) > MOST_BARS:
            return found
        found = below


def _bins(grid: Grid) -> list[Range]:
    """Intervals of equal length that begin at round steps of the grid, and the missing value."""
    step = next(
        width
        for power in range(20)
        for width in (digit * 10**power for digit in _ROUND)
        if grid.points <= width * _BINS
    )
    ranges = list(pairwise([*range(0, grid.points, step), grid.points]))
    return ranges if grid.missing is None else [*ranges, (grid.missing, grid.missing + 1)]
