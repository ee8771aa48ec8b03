"""Junction trees: sets of attributes whose joint tables a graphical model is made of.

Attributes are numbers 0 … d − 1. Those of one measured table are neighbours. Eliminating the attributes one after the
other, and joining what is left of each one's neighbourhood, gives the cliques of a chordal graph (Koller & Friedman
2009, chapters 9 and 10); a spanning tree with the largest intersections has the running intersection property. Each
step eliminates the attribute whose clique has the fewest cells.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

Clique = tuple[int, ...]  # attributes in rising order

_LARGE: Final = 10**12


@dataclass(frozen=True)
class JunctionTree:
    """The cliques, each after its parent, and where the parent of each stands: -1 for the first."""

    sizes: tuple[int, ...]  # how many values each attribute has
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], tables: Iterable[Sequence[int]]) -> "JunctionTree":
        """A tree in which the attributes of each table are in one clique.

        >>> JunctionTree.of([2, 3, 4, 5], [(0, 1), (1, 2), (3,)])
        JunctionTree(sizes=(2, 3, 4, 5), cliques=((0, 1), (1, 2), (3,)), parents=(-1, 0, 0))
        """
        cliques = sorted(_members(mask) for mask in _cliques(sizes, tables))
        order, parents = [cliques[0]], [-1]
        near = {clique: (len({*clique} & {*cliques[0]}), 0) for clique in cliques[1:]}  # what is shared, and with whom
        while near:
            clique = max(near, key=lambda each: near[each][0])
            parents.append(near.pop(clique)[1])
            order.append(clique)
            for other, (shared, _) in near.items():
                common = len({*other} & {*clique})
                if common > shared:
                    near[other] = common, len(order) - 1
        return cls(tuple(sizes), tuple(order), tuple(parents))

    @property
    def cells(self) -> int:
        """How many cells the tables of all cliques have."""
        return sum(prod(self.shape(clique)) for clique in self.cliques)

    def shape(self, attributes: Iterable[int]) -> tuple[int, ...]:
        """The shape of a table of these attributes."""
        return tuple(self.sizes[attribute] for attribute in attributes)

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """What each clique has in common with its parent; nothing, of the first."""
        return tuple(
            () if parent < 0 else tuple(a for a in clique if a in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    def home(self, attributes: Iterable[int]) -> int | None:
        """The smallest clique that has all of these attributes."""
        wanted = {*attributes}
        able = [place for place, clique in enumerate(self.cliques) if wanted <= {*clique}]
        return min(able, key=lambda place: prod(self.shape(self.cliques[place])), default=None)

    def home_of(self, table: Iterable[int]) -> int:
        """The smallest clique that has all attributes of a table that the tree was made of."""
        found = self.home(table)
        assert found is not None, "the tree was made of it"
        return found


def model_cells(sizes: Sequence[int], tables: Iterable[Sequence[int]], *, most: int | None = None) -> int:
    """How many cells the model of these tables has; from ``most`` on it does not matter how many more.

    >>> model_cells([2, 3, 4], [(0, 1), (1, 2), (0, 2)])
    24
    """
    return sum(prod(sizes[a] for a in _members(mask)) for mask in _cliques(sizes, tables, most))


def _cliques(sizes: Sequence[int], tables: Iterable[Sequence[int]], most: int | None = None) -> list[int]:
    """The maximal cliques, as masks: bit a for attribute a; no more of them after one with more than ``most`` cells."""
    near = [1 << a for a in range(len(sizes))]  # each attribute with its neighbours
    for table in tables:
        mask = sum(1 << a for a in table)
        for a in table:
            near[a] |= mask
    costs = {a: _cost(sizes, near[a]) for a in range(len(sizes))}
    found: list[int] = []
    while costs:
        out = min(costs, key=costs.__getitem__)
        if most is not None and costs[out] > most:
            return [*found, near[out]]
        del costs[out]
        clique = near[out]
        if not any(clique | other == other for other in found):
            found = [other for other in found if other | clique != clique]
            found.append(clique)
        rest = clique & ~(1 << out)
        for a in _members(rest):
            before = near[a]
            near[a] = (before | rest) & ~(1 << out)
            if near[a] != before:
                costs[a] = _cost(sizes, near[a])
    return found


def _cost(sizes: Sequence[int], mask: int) -> int:
    """The cells of a clique; from `_LARGE` on it does not matter how many."""
    found = 1
    for a in _members(mask):
        found *= sizes[a]
        if found > _LARGE:
            break
    return found


def _members(mask: int) -> Clique:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
