"""The lattice of full-domain recoding: one level for each attribute, from exact values up to the root.

A level is counted from the leaves up. Level l of a taxonomy of depth d is the cut at depth d − l: every node at that
depth, and every leaf that ends above it, which stands for itself until the level reaches its own depth. (Written as a
table with a row a leaf, the form ARX reads, a shorter row repeats its leaf to get as long as the others.) So every
level is a cut, no two regions of it overlap, and each level is a coarser cut than the one before. Of a grid's
intervals, level 0 are the narrowest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute

Levels = tuple[int, ...]  # one a quasi-identifier: steps of its ladder
Bounds = tuple[int, int | None]  # the lowest and the highest level that may be published; None: the root


@dataclass(frozen=True)
class Ladder:
    """The cuts that one attribute may be published in, finest first, and the level each has in its taxonomy.

    Levels that change nothing (a taxonomy may repeat a label) and levels out of bounds have no step.
    """

    cuts: tuple[Cut, ...]
    levels: tuple[int, ...]

    @property
    def attribute(self) -> str:
        """The name of the attribute."""
        return self.cuts[0].attribute

    def __len__(self) -> int:
        return len(self.cuts)

    def losses(self, step: int) -> NDArray[np.float64]:
        """(codes covered − 1)/(codes of the domain − 1) of each region of a step; 0 in a domain of one code."""
        cut = self.cuts[step]
        widths = np.diff(np.asarray((*cut.starts, cut.size)))
        return np.asarray((widths - 1) / max(1, cut.size - 1))


@dataclass(frozen=True)
class Lattice:
    """All combinations of steps, one from each ladder.

    >>> from sfumato.domains.taxonomy.tree import Node
    >>> job = Taxonomy.of(Node("Any", (Node("Pro", (Node("Engineer"), Node("Lawyer"))), Node("Artist"))))
    >>> ladder = ladder_over("job", job)
    >>> [cut.ranges for cut in ladder.cuts]
    [((0, 1), (1, 2), (2, 3)), ((0, 2), (2, 3)), ((0, 3),)]
    >>> lattice = Lattice((ladder, ladder))
    >>> lattice.size, lattice.bottom, lattice.top
    (9, (0, 0), (2, 2))
    """

    ladders: tuple[Ladder, ...]

    @cached_property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(len(ladder) for ladder in self.ladders)

    @property
    def bottom(self) -> Levels:
        """The most specific node."""
        return (0,) * len(self.ladders)

    @property
    def top(self) -> Levels:
        """The most general node."""
        return tuple(len(ladder) - 1 for ladder in self.ladders)

    def cuts(self, node: Levels) -> tuple[Cut, ...]:
        """The cuts of a node."""
        return tuple(ladder.cuts[step] for ladder, step in zip(self.ladders, node, strict=True))

    def named(self, node: Levels) -> dict[str, int]:
        """The level of each attribute in its taxonomy."""
        return {ladder.attribute: ladder.levels[step] for ladder, step in zip(self.ladders, node, strict=True)}


def lattice_of(quasi: Sequence[Attribute], bounds: Mapping[str, Bounds]) -> Lattice:
    """The lattice of a view's quasi-identifiers, within the bounds that are given for some of them."""
    return Lattice(tuple(_ladder(attribute, bounds.get(attribute.name)) for attribute in quasi))


def ladder_over(name: str, taxonomy: Taxonomy, lowest: int = 0, highest: int | None = None) -> Ladder:
    """The ladder of a taxonomy between two levels."""
    depths = np.asarray(taxonomy.depths())
    starts = np.asarray(taxonomy.starts)
    leaf = np.asarray([not taxonomy.kids(node) for node in range(len(depths))])
    deepest = int(depths.max())
    cuts: list[Cut] = []
    levels: list[int] = []
    for level in range(lowest, (deepest if highest is None else highest) + 1):
        depth = deepest - level
        found = starts[(depths == depth) | (leaf & (depths < depth))]
        cut = Cut(name, tuple(int(start) for start in found), taxonomy.size)
        if not cuts or len(cut) < len(cuts[-1]):
            cuts.append(cut)
            levels.append(level)
    return Ladder(tuple(cuts), tuple(levels))


def _ladder(attribute: Attribute, bounds: Bounds | None) -> Ladder:
    name, domain = attribute.name, attribute.domain
    if domain is None or domain.taxonomy is None:
        raise StudyError(
            f"'{name}' has no levels: numbers without intervals can be cut anywhere",
            f"declare intervals for '{name}': `taxonomy: {{intervals: {{width: 5, levels: 3}}}}`, or use `mondrian`",
            code="SF-STUDY-049",
        )
    deepest = domain.taxonomy.depth
    lowest, highest = bounds or (0, None)
    highest = deepest if highest is None else highest
    if not 0 <= lowest <= highest <= deepest:
        raise StudyError(
            f"'{name}' cannot be published at levels {lowest} to {highest}",
            f"its levels range from 0 (exact values) to {deepest} (one value for all): choose two, the lower first",
            code="SF-STUDY-050",
        )
    narrow = narrowest(attribute)
    ladder = ladder_over(name, domain.taxonomy, lowest, highest)
    kept = [step for step, cut in enumerate(ladder.cuts) if _wide_enough(cut, domain, narrow)]
    if not kept:
        raise StudyError(
            f"no level of '{name}' has intervals as wide as its `at_least`",
            "choose wider intervals for its taxonomy, a higher level, or a smaller `at_least`",
            code="SF-STUDY-051",
        )
    return Ladder(ladder.cuts[kept[0] :], ladder.levels[kept[0] :])


def doubled_widths(grid: Grid, narrow: int) -> list[int]:
    """The levels of a grid without intervals, by their widths in points: 1, then ``narrow``, twice that, and so on.

    An interval at a level begins at a multiple of the width; the last one is wider, since a shorter rest goes with it.
    So intervals nest, none is narrower than its level says, and the widths end where there would be a single interval:
    above them there is only the root.

    >>> from fractions import Fraction
    >>> doubled_widths(Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1)), 5)
    [1, 5, 10, 20, 40]
    """
    widths = [1] if grid.points > 1 else []
    width = 2 if narrow == 1 else narrow
    while 2 * width <= grid.points:
        widths.append(width)
        width *= 2
    return widths


def narrowest(attribute: Attribute) -> int:
    """How many grid points the narrowest interval must have; 1 unless the owner set a least width."""
    if attribute.at_least is None or not isinstance(attribute.domain, Grid):
        return 1
    return -int(-attribute.at_least // attribute.domain.step)


def _wide_enough(cut: Cut, domain: Domain, narrow: int) -> bool:
    """Whether all intervals are wide enough; the missing value is no interval."""
    return narrow == 1 or all(stop - start >= narrow for start, stop in cut.ranges if start != domain.missing)
