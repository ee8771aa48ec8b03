"""The regions that capped confidence may publish an attribute in, and the way from each to the next one up.

A level is counted from the leaves up, as in `lattice`; the paper counts from the root down, which changes nothing in
its two measures. The left domain size of a region is the number of nodes of the taxonomy at its level and above (in
the paper's figure: 7 for age 26-50, 3 for a sex), its distortion is 1 − (level from the root)/(deepest level). In an
uneven tree a leaf stands at every depth below its own, too, and counts as at the deepest: exact values have distortion
0. A step up goes to the next region that is a different one.

Only regions that hold records are listed, so a grid of a billion points costs what its occupied ones cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Grid
from sfumato.errors import StudyError
from sfumato.methods.full_domain.lattice import doubled_widths, ladder_over, narrowest
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Regions = Callable[[Integers], tuple[Integers, Integers]]


@dataclass(frozen=True, slots=True)
class Level:
    """One level of an attribute: where a code's region begins and ends, and the nodes at this level and above."""

    number: int
    nodes: int
    narrowest: int  # the width of the narrowest interval, in points
    regions: Regions


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """One attribute's regions by number: range of codes, the next region up (itself for the root), both measures."""

    starts: Integers
    stops: Integers
    above: Integers
    left: Integers
    distortion: Floats
    first: Integers  # the lowest region that each cell may be published in

    @classmethod
    def of(cls, attribute: Attribute, codes: Integers, lowest: int = 0) -> "Steps":
        """The steps of an attribute from its ``lowest`` level on, for the codes of some cells."""
        levels = levels_of(attribute)
        begin = first_level(attribute, levels, lowest)
        deepest, size = levels[-1].number, _size(attribute)
        values, cell = np.unique(codes, return_inverse=True)
        starts, stops = levels[0].regions(values)
        since = np.zeros(len(values), dtype=np.int64)  # the level at which each value's region is met first
        number = np.zeros(len(values), dtype=np.int64)
        found: list[tuple[Integers, Integers, Integers]] = []
        above = first = number
        for place, level in enumerate(levels):
            wider, ends = level.regions(values)
            changed = (wider != starts) | (ends != stops)
            starts, stops, since = wider, ends, np.where(changed, place, since)
            if place < begin:
                continue
            new = changed if place > begin else np.ones(len(values), dtype=np.bool_)
            rows, inverse = np.unique(wider[new], return_index=True, return_inverse=True)[1:]
            total = 0 if place == begin else len(above)
            after = number.copy()
            after[new] = total + inverse.ravel()
            if place > begin:
                above[number] = after  # those that did not change stay their own, until they do
            else:
                first = after
            above = np.concatenate([above[:total], np.arange(total, total + len(rows))])
            found.append((wider[new][rows], ends[new][rows], since[new][rows]))
            number = after
        begins, ends, since = (np.concatenate(parts) for parts in zip(*found, strict=True))
        numbers = np.array([level.number for level in levels])
        nodes = np.array([level.nodes for level in levels])
        distortion = numbers[since] / max(deepest, 1)
        distortion[(ends - begins == size) & (size > 1)] = 1.0
        return cls(begins, ends, above, nodes[since], distortion, first[cell.ravel()])

    def __len__(self) -> int:
        return len(self.starts)


def levels_of(attribute: Attribute) -> tuple[Level, ...]:
    """All levels of an attribute, exact values first, the root last; levels that change nothing are left out."""
    name, domain = attribute.name, attribute.domain
    assert domain is not None, "a quasi-identifier has a domain"
    if domain.taxonomy is not None:
        depths = np.sort(np.asarray(domain.taxonomy.depths()))
        deepest = int(depths[-1])
        ladder = ladder_over(name, domain.taxonomy)
        return tuple(
            Level(
                number,
                int(np.searchsorted(depths, deepest - number, side="right")),
                _narrowest(cut, domain.missing),
                _in_cut(cut),
            )
            for number, cut in zip(ladder.levels, ladder.cuts, strict=True)
        )
    assert isinstance(domain, Grid), "categories have a taxonomy"
    lost = domain.missing is not None
    widths = doubled_widths(domain, narrowest(attribute))
    parts = [domain.points // width + lost for width in widths] + [1]
    if not widths and lost:
        widths, parts = [1], [domain.points + 1, 1]
    nodes = np.cumsum(parts[::-1])[::-1]
    found = [Level(number, int(nodes[number]), width, _in_widths(domain, width)) for number, width in enumerate(widths)]
    root = Level(len(widths), 1, domain.points, _in_cut(Cut(name, (0,), domain.size)))
    return (*found, root)


def first_level(attribute: Attribute, levels: Sequence[Level], lowest: int) -> int:
    """The place of the lowest level that may be published: not below ``lowest``, and as wide as `at_least` says."""
    name = attribute.name
    if not 0 <= lowest <= levels[-1].number:
        raise StudyError(
            f"'{name}' cannot be published at level {lowest} or above",
            f"choose a level from 0 (exact values) to {levels[-1].number} (one value for all)",
            code="SF-STUDY-043",
        )
    place = max(n for n, level in enumerate(levels) if level.number <= lowest)
    narrow = narrowest(attribute)
    wide = [n for n, level in enumerate(levels) if n >= place and level.narrowest >= narrow]
    if not wide:
        raise StudyError(
            f"no level of '{name}' has intervals as wide as its `at_least`",
            "choose wider intervals for its taxonomy, or a smaller `at_least`",
            code="SF-STUDY-044",
        )
    return wide[0]


def _in_cut(cut: Cut) -> Regions:
    edges = None if isinstance(cut.starts, range) else np.asarray((*cut.starts, cut.size))

    def regions(codes: Integers) -> tuple[Integers, Integers]:
        if edges is None:
            return codes, codes + 1
        place = np.searchsorted(edges, codes, side="right") - 1
        return edges[place], edges[place + 1]

    return regions


def _in_widths(grid: Grid, width: int) -> Regions:
    last = grid.points // width - 1

    def regions(codes: Integers) -> tuple[Integers, Integers]:
        part = np.minimum(codes // width, last)
        starts, stops = part * width, np.where(part == last, grid.points, (part + 1) * width)
        lost = codes >= grid.points
        return np.where(lost, codes, starts), np.where(lost, codes + 1, stops)

    return regions


def _narrowest(cut: Cut, missing: int | None) -> int:
    """The width of a cut's narrowest interval; the missing value is no interval."""
    if isinstance(cut.starts, range):
        return 1
    widths = np.diff(np.asarray((*cut.starts, cut.size)))
    kept = widths if missing is None else widths[np.asarray(cut.starts) != missing]
    return int(kept.min(initial=cut.size))


def _size(attribute: Attribute) -> int:
    assert attribute.domain is not None, "a quasi-identifier has a domain"
    return attribute.domain.size
