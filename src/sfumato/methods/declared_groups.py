"""Groups of an attribute's values that follow from its declared domain alone: levels of a tree, parts of a range."""

from itertools import accumulate
from typing import Final

from sfumato.domains.domain import Domain, Grid

NARROW: Final = 200
"""Points of a grid up to which parts of equal width are enough."""


def levels(domain: Domain) -> list[tuple[int, ...]]:
    """The levels of a taxonomy from the coarsest to the leaves, each by where its groups start."""
    assert domain.taxonomy is not None, "only a tree has levels"
    found: list[tuple[int, ...]] = []
    level = [(0, domain.size)]
    while True:
        below = [child for each in level for child in (domain.children(*each) or (each,))]
        if below == level:
            break
        level = below
        found.append(tuple(start for start, _ in level))
    return found


def points_of(domain: Domain) -> int:
    """How many values there are, a missing one not counted."""
    return domain.size - (domain.missing is not None)


def missing_apart(domain: Domain) -> tuple[int, ...]:
    """The group of missing values, which stands apart from the numbers; nothing where there is none."""
    return () if domain.missing is None else (domain.missing,)


def zero_of(domain: Grid) -> int:
    """The point at 0, or the nearest one."""
    return min(max(int(-domain.lower // domain.step), 0), points_of(domain) - 1)


def equal_parts(points: int, parts: int) -> tuple[int, ...]:
    """So many parts of equal width.

    >>> equal_parts(10, 4)
    (0, 2, 5, 7)
    """
    if points <= parts:
        return tuple(range(points))
    return tuple(sorted({points * part // parts for part in range(parts)}))


def growing_parts(points: int, zero: int, base: int) -> tuple[int, ...]:
    """Parts whose widths grow by a factor with the distance from a point.

    >>> growing_parts(100, 0, 4)
    (0, 1, 4, 16, 64)
    """
    widths = list(accumulate(range(64), lambda width, _: width * base, initial=1))
    near = [width for width in widths if width < points]
    edges = {0, zero, *(zero + width for width in near), *(zero - width for width in near)}
    return tuple(sorted(edge for edge in edges if 0 <= edge < points))
