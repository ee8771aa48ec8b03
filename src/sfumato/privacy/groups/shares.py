"""Shares: how the values of attributes are distributed over a population, as far as it is known.

A distribution is kept in runs of codes over each of which it is even, with the sum of the weights up to each run's end.
So the share of a range is a difference of two numbers, and a grid of millions of points costs what its runs cost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.cut import Range
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.range_text import ranges_of
from sfumato.errors import StudyError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Given = Mapping[str, Mapping[str, Fraction]]  # attribute -> value, node or interval -> share

SLACK = Fraction(1, 10**6)  # by how much given shares may miss 1: they are rounded when they are written down
_FINE = 7  # binary digits of a width that are looked at when regions are ordered by width


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """One attribute's weights over its codes 0 … size − 1, even over each run.

    >>> found = Distribution.from_counts(np.array([1, 4]), np.array([3, 1]), 6)
    >>> found.share(np.array([0, 1, 2]), np.array([6, 2, 6])).tolist()
    [1.0, 0.75, 0.25]
    """

    edges: Integers  # (runs + 1,): from 0 to the size of the domain, increasing
    sums: Floats  # (runs + 1,): the weight of all codes below each edge; counts are exact

    @classmethod
    def from_counts(cls, codes: Integers, counts: NDArray[np.int64], size: int) -> "Distribution":
        """How often codes occur; a code may stand several times."""
        present, place = np.unique(codes, return_inverse=True)
        weights = np.bincount(place, weights=counts, minlength=len(present))
        edges = np.unique(np.concatenate([[0, size], present, present + 1]))
        below = np.concatenate([[0.0], np.cumsum(weights)])
        return cls(edges, below[np.searchsorted(present, edges)])

    @classmethod
    def of_pieces(cls, starts: Integers, stops: Integers, weights: Floats) -> "Distribution":
        """Pieces that follow each other and make up the domain, each with its weight."""
        assert len(starts) and bool(np.all(starts[1:] == stops[:-1])) and starts[0] == 0, "no gaps"
        return cls(np.append(starts, stops[-1]), np.concatenate([[0.0], np.cumsum(weights)]))

    def share(self, starts: Integers, stops: Integers) -> Floats:
        """The share of each range of codes; 0 where there is no weight at all."""
        total = float(self.sums[-1])
        inside = np.interp(stops, self.edges, self.sums) - np.interp(starts, self.edges, self.sums)
        return np.asarray(np.clip(inside / total, 0.0, 1.0) if total > 0 else np.zeros(len(inside)))


def distribution_of_regions(
    starts: Integers, stops: Integers, sizes: Integers, size: int, *, free: bool = True
) -> Distribution:
    """What published regions show of one attribute's values: a best guess that anybody can make from a release alone.

    Regions are taken in the order of their width. The records of a region are spread over it as the records of narrower
    regions are there, evenly where there are none: those in `[20, 25)` say how those in `[0, 120]` may lie. On a
    ``free`` grid, widths that agree in their seven leading binary digits count as equal, which bounds the work on huge
    ones. Nodes of a taxonomy are taken one width after the other: a node then follows all that are published below it,
    so its share is the same however many values the tree has that nobody publishes (sets that are left out of a
    release take no part in its guarantee).

    >>> found = distribution_of_regions(np.array([0, 2, 0]), np.array([1, 4, 4]), np.array([2, 2, 4]), 4)
    >>> found.share(np.arange(4), np.arange(4) + 1).tolist()
    [0.5, 0.0, 0.25, 0.25]
    """
    edges = np.unique(np.concatenate([[0, size], starts, stops]))
    key = np.searchsorted(edges, starts) * len(edges) + np.searchsorted(edges, stops)
    keys, place = np.unique(key, return_inverse=True)
    weights = np.bincount(place.ravel(), weights=sizes, minlength=len(keys))
    first, last = np.divmod(keys[weights > 0], len(edges))
    weights = weights[weights > 0]
    widths = np.diff(edges).astype(np.float64)
    mass = np.zeros(len(widths))
    rank = _width_class(edges[last] - edges[first]) if free else edges[last] - edges[first]
    order = np.argsort(rank, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(rank[order])) + 1) if len(order) else []:
        sums = np.concatenate([[0.0], np.cumsum(mass)])
        there = sums[last[some]] - sums[first[some]]
        # A difference of sums may miss 0 by rounding, and weights below are whole numbers or parts of them.
        known = there > 1e-9 * max(1.0, float(sums[-1]))
        factor = np.where(known, weights[some] / np.where(known, there, 1.0), 0.0)
        even = np.where(known, 0.0, weights[some] / (edges[last[some]] - edges[first[some]]))
        mass = mass * (1.0 + _over(first[some], last[some], factor, len(mass)))
        mass += widths * _over(first[some], last[some], even, len(mass))
    return Distribution(edges, np.concatenate([[0.0], np.cumsum(mass)]))


def shown_distributions(boxes: Boxes, sizes: Integers, domains: Mapping[str, Domain]) -> dict[str, Distribution]:
    """What the regions of groups show, an attribute each."""
    return {
        name: distribution_of_regions(
            boxes.starts[:, place], boxes.stops[:, place], sizes, domains[name].size, free=domains[name].free
        )
        for place, name in enumerate(boxes.attributes)
    }


def distribution_of_shares(name: str, domain: Domain, shares: Mapping[str, Fraction]) -> Distribution:
    """The distribution that an owner writes down: values, nodes or intervals with their shares.

    What a node or interval has beyond the values given inside it is spread evenly over its other values. All together
    may have at most 1; what is missing to 1 is spread evenly over the values that are not mentioned.

    >>> from sfumato.domains.taxonomy.tree import Node, Taxonomy
    >>> job = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("Pro", (Node("a"), Node("b"), Node("c"))), Node("d")))))
    >>> found = distribution_of_shares("job", job, {"Pro": Fraction(9, 10), "b": Fraction(1, 2)})
    >>> found.share(np.arange(4), np.arange(4) + 1).round(9).tolist()
    [0.2, 0.5, 0.2, 0.1]
    """
    texts = list(shares)
    ranges = _ranges(name, domain, texts)
    order = sorted(range(len(texts)), key=lambda n: (ranges[n][0], -ranges[n][1]))
    pieces: list[tuple[int, int, Fraction]] = []
    open_: list[_Open] = [_Open((0, domain.size), Fraction(1), "all values")]
    for n in order:
        start, stop = ranges[n]
        while start >= open_[-1].range[1]:
            pieces += open_.pop().close(name)
        above = open_[-1]
        if stop > above.range[1]:
            raise StudyError(
                f"the shares of '{name}' are given for '{above.text}' and for '{texts[n]}', which overlap",
                "give shares of values, nodes or intervals that lie apart or inside each other",
                code="SF-STUDY-082",
            )
        if above.range == (start, stop) and len(open_) > 1:
            raise StudyError(
                f"the share of '{texts[n]}' of '{name}' is given twice, once as '{above.text}'",
                "give it once",
                code="SF-STUDY-083",
            )
        above.inside(ranges[n], shares[texts[n]])
        open_.append(_Open(ranges[n], shares[texts[n]], texts[n]))
    while open_:
        pieces += open_.pop().close(name)
    pieces.sort()
    edges = np.array([(start, stop) for start, stop, _ in pieces], dtype=np.int64)
    return Distribution.of_pieces(edges[:, 0], edges[:, 1], np.array([float(weight) for _, _, weight in pieces]))


def shares_of_counts(domain: Domain, codes: Integers, counts: Integers) -> dict[str, Fraction]:
    """Counts of codes in the form that `distribution_of_shares` reads: each value that occurs, with its share."""
    total = int(counts.sum())
    present, place = np.unique(codes, return_inverse=True)
    often = np.bincount(place.ravel(), weights=counts, minlength=len(present)).astype(np.int64)
    return {
        domain.label(code, code + 1): Fraction(count, total)
        for code, count in zip(present.tolist(), often.tolist(), strict=True)
        if count
    }


class _Open:
    """A range whose share is being divided: what is inside it, and where nothing is given."""

    def __init__(self, range_: Range, share: Fraction, text: str) -> None:
        self.range, self.share, self.text = range_, share, text
        self._left, self._at = share, range_[0]
        self._free: list[Range] = []

    def inside(self, part: Range, share: Fraction) -> None:
        """Something is given inside."""
        if part[0] > self._at:
            self._free.append((self._at, part[0]))
        self._at, self._left = part[1], self._left - share

    def close(self, name: str) -> Iterable[tuple[int, int, Fraction]]:
        """The parts that nothing is given for, with what is left for each."""
        if self._at < self.range[1]:
            self._free.append((self._at, self.range[1]))
        codes = sum(stop - start for start, stop in self._free)
        if self._left < -SLACK or (not codes and self._left > SLACK):
            told = float(self.share - self._left)
            raise StudyError(
                f"the shares of '{name}' given inside {self.text} add up to {told:g} in place of {float(self.share):g}",
                f"make them add up to {'at most ' if codes else ''}{float(self.share):g}",
                code="SF-STUDY-084",
            )
        rest = max(self._left, Fraction(0))
        return [(start, stop, rest * (stop - start) / codes) for start, stop in self._free]


def _ranges(name: str, domain: Domain, texts: Sequence[str]) -> list[Range]:
    """The ranges of texts; any name of a node will do."""
    tree = domain.taxonomy if isinstance(domain, Categories) else None
    nodes = {} if tree is None else {label: tree.range_of(node) for node, label in enumerate(tree.labels)}
    found: list[Range] = []
    for text, other in zip(texts, ranges_of(domain, texts), strict=True):
        one = nodes.get(text, other)
        if one is None:
            raise StudyError(
                f"'{text[:60]}' is no value, node or interval of '{name}'",
                "write it as the domain has it, such as a value's name, or `[20, 40)` for numbers",
                code="SF-STUDY-085",
            )
        found.append(one)
    return found


def range_named(name: str, domain: Domain, text: str) -> Range:
    """The codes that a value, node or interval stands for, as the owner writes it."""
    return _ranges(name, domain, [text])[0]


def _width_class(widths: Integers) -> Integers:
    """Widths in classes that keep their order: exact below 128, then by seven leading binary digits."""
    shift = np.maximum(np.frexp(widths.astype(np.float64))[1].astype(np.int64) - _FINE, 0)
    return (shift << (_FINE - 1)) + (widths >> shift)


def _over(first: Integers, last: Integers, values: Floats, size: int) -> Floats:
    """The sum over all ranges of places of the value of each range, at each place."""
    steps = np.bincount(first, weights=values, minlength=size + 1) - np.bincount(
        last, weights=values, minlength=size + 1
    )
    # Sums of differences leave dust where no range is: a place that no range covers gets exactly 0.
    covered = np.cumsum(np.bincount(first, minlength=size + 1) - np.bincount(last, minlength=size + 1))[:-1] > 0
    return np.asarray(np.where(covered, np.cumsum(steps)[:-1], 0.0))
