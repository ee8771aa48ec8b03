"""The groupings of an attribute that stages choose among: from its declared domain alone."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.release.measured import MOST_GROUPS
from sfumato.study.view import View

_NARROW: Final = 200  # points of a grid up to which parts of equal width are enough
_PARTS: Final = (4, 8, 16)
_WIDE_PARTS: Final = (8,)
_BASES: Final = (2, 4, 16)


@dataclass(frozen=True, eq=False)
class Groupings:
    """The cuts of one attribute, and the atoms: the parts that none of the cuts divides."""

    cuts: tuple[Cut, ...]
    atoms: Cut

    def to_groups(self, cut: Cut) -> NDArray[np.int64]:
        """The group of a cut that each atom is in."""
        return cut.regions(np.asarray(self.atoms.starts, dtype=np.int64))


def groupings_of(view: View) -> dict[str, Groupings]:
    """The groupings of every predictor that can be grouped in more than one group."""
    found = {}
    for attribute in view.predictors:
        assert attribute.domain is not None, "a predictor has a domain"
        made = groupings(attribute.name, attribute.domain)
        if made is not None:
            found[attribute.name] = made
    return found


def groupings(name: str, domain: Domain) -> Groupings | None:
    """The groupings of one attribute; None where it has one value, or more than `MOST_GROUPS` and no level."""
    lists = _levels(domain) if domain.taxonomy is not None else _ranges(domain)
    distinct = {starts: Cut(name, starts, domain.size) for starts in lists if 1 < len(starts) <= MOST_GROUPS}
    if not distinct:
        return None
    edges = sorted({start for starts in distinct for start in starts})
    return Groupings(tuple(distinct.values()), Cut(name, tuple(edges), domain.size))


def _levels(domain: Domain) -> list[tuple[int, ...]]:
    """The levels of a taxonomy from the coarsest to the leaves."""
    tree = domain.taxonomy
    assert tree is not None, "as asked"
    found: list[tuple[int, ...]] = []
    level = [(0, domain.size)]
    while True:
        below = [child for each in level for child in (domain.children(*each) or (each,))]
        if below == level:
            break
        level = below
        found.append(tuple(start for start, _ in level))
    return found


def _ranges(domain: Domain) -> list[tuple[int, ...]]:
    """Parts of equal width; of a wide grid also parts that grow with the distance from 0. Missing values are apart."""
    points = domain.size - (domain.missing is not None)
    apart = () if domain.missing is None else (domain.missing,)
    wide = points > _NARROW
    lists = [_equal(points, parts) for parts in (_WIDE_PARTS if wide else _PARTS)]
    if wide and isinstance(domain, Grid):
        zero = min(max(int(-domain.lower // domain.step), 0), points - 1)
        lists += [_growing(points, zero, base) for base in _BASES]
    return [(*starts, *apart) for starts in lists]


def _equal(points: int, parts: int) -> tuple[int, ...]:
    """So many parts of equal width."""
    if points <= parts:
        return tuple(range(points))
    return tuple(sorted({points * part // parts for part in range(parts)}))


def _growing(points: int, zero: int, base: int) -> tuple[int, ...]:
    """Parts whose widths grow by a factor with the distance from a point.

    >>> _growing(100, 0, 4)
    (0, 1, 4, 16, 64)
    """
    widths = list(accumulate(range(64), lambda width, _: width * base, initial=1))
    near = [width for width in widths if width < points]
    edges = {0, zero, *(zero + width for width in near), *(zero - width for width in near)}
    return tuple(sorted(edge for edge in edges if 0 <= edge < points))
