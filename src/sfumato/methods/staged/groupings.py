"""The groupings of an attribute that stages choose among: from its declared domain alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
    lists = levels(domain) if domain.taxonomy is not None else _ranges(domain)
    distinct = {starts: Cut(name, starts, domain.size) for starts in lists if 1 < len(starts) <= MOST_GROUPS}
    if not distinct:
        return None
    edges = sorted({start for starts in distinct for start in starts})
    return Groupings(tuple(distinct.values()), Cut(name, tuple(edges), domain.size))


def _ranges(domain: Domain) -> list[tuple[int, ...]]:
    """Parts of equal width; of a wide grid also parts that grow with the distance from 0. Missing values are apart."""
    points = points_of(domain)
    wide = points > NARROW
    lists = [equal_parts(points, parts) for parts in (_WIDE_PARTS if wide else _PARTS)]
    if wide and isinstance(domain, Grid):
        lists += [growing_parts(points, zero_of(domain), base) for base in _BASES]
    return [(*starts, *missing_apart(domain)) for starts in lists]
