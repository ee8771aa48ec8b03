"""The groups that each attribute is counted by: public cuts, from the declared domain and a limit alone."""

from typing import Final

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.methods.declared_groups import (
    NARROW,
    equal_parts,
    growing_parts,
    levels,
    missing_apart,
    points_of,
    zero_of,
)
from sfumato.release.measured import MOST_GROUPS
from sfumato.study.view import View

_BASES: Final = (2, 4, 16, 256)


def cuts_of(view: View, most: int) -> tuple[Cut, ...]:
    """The cut of every attribute, the target last: its values, each by itself."""
    predictors = tuple(group_cut(a.name, view.domain(a.name), most) for a in view.predictors)
    return (*predictors, *view.class_cuts)


def group_cut(name: str, domain: Domain, most: int) -> Cut:
    """At most so many groups; where no level of a taxonomy has so few, its coarsest; if that is too large, one group.

    >>> from fractions import Fraction
    >>> gain = Grid(lower=Fraction(0), upper=Fraction(99_999), step=Fraction(1), unit="integer")
    >>> group_cut("gain", gain, 12).starts
    (0, 1, 16, 256, 4096, 14285, 28571, 42857, 57142, 65536, 71428, 85714)
    """
    if domain.taxonomy is not None:
        able = [starts for starts in levels(domain) if 1 < len(starts) <= MOST_GROUPS]
        fitting = [starts for starts in able if len(starts) <= most]
        starts = fitting[-1] if fitting else able[0] if able else (0,)
    else:
        apart = missing_apart(domain)
        starts = (*_range_starts(domain, most - len(apart)), *apart)
    return Cut(name, starts, domain.size)


def _range_starts(domain: Domain, most: int) -> tuple[int, ...]:
    """Equal parts; of a wide grid half of the edges grow with the distance from 0, where such values usually lie."""
    points = points_of(domain)
    if points <= NARROW or not isinstance(domain, Grid):
        return equal_parts(points, most)
    growing = [growing_parts(points, zero_of(domain), base) for base in _BASES]
    near = next((starts for starts in growing if len(starts) <= most // 2), (0,))
    return tuple(sorted({*near, *equal_parts(points, max(most - len(near) + 1, 1))}))
