"""Large populations of a table: what somebody might study in a release (Li & Li, KDD 2009, section 4.2).

A population is a conjunction of predicates on quasi-identifiers, at most one an attribute: a value, or a node of the
attribute's taxonomy, never the root. It is large if at least ``min_sup`` of the table's records are in it. Numbers and
days without a taxonomy have halves in place of nodes: the declared range cut in two, each half again, down to single
steps or to the width of ``at_least``. Bounds are public, so halves do not follow the data as quantiles would, and they
are the same for every table of the study. A missing value that is kept is a value like any other; all known numbers
together are then a node too.

With many attributes there are too many such conjunctions. Then only those with the fewest predicates are taken: with up
to one, two, three …, as many as keep the whole at `MOST` populations.

Populations do not depend on any release: they are mined once from the distinct quasi-identifiers of the table, and
kept. A mined set is plain arrays, see `Populations.arrays`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.attribute import Attribute
from sfumato.core.domain import Grid
from sfumato.core.progress import Progress, silent
from sfumato.errors import InfeasibleError
from sfumato.measure.evidence import Evidence, alike

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Range = tuple[int, int]
_Found = tuple[Integers, Integers, Integers, Integers, Integers]

MOST = 100_000
"""How many populations there may be. Fourteen attributes have millions, and a mean over them says no more."""

_WIDE = 20  # attributes beyond which populations of any depth are sure to be too many, and none is looked for
_SLACK = 1e-6  # of a record: 0.05 of 20 records is 1, whatever floats say


@dataclass(frozen=True, eq=False)
class Populations:
    """Large populations as a trie: each is its parent with one predicate more, on a later attribute.

    Populations with the same parent and the same attribute are a family and stand next to each other, so that they
    can be counted together. Attributes with few nodes come first.
    """

    attributes: tuple[str, ...]  # in the order of the trie
    starts: tuple[Integers, ...]  # the nodes of each attribute, as ranges of codes
    stops: tuple[Integers, ...]
    node: Integers  # (populations,) which node of the family's attribute
    parent: Integers  # (families,) the population that the family specializes, -1 for all records
    attribute: Integers  # (families,)
    first: Integers  # (families + 1,) where each family begins among the populations
    support: Integers  # (populations,) records
    deepest: int | None = None  # the most predicates of a population, if there were too many; None if all are here

    def __len__(self) -> int:
        return len(self.node)

    def families(self) -> list[list[int]]:
        """The families below each population; below all records at the end."""
        found: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for family, parent in enumerate(self.parent.tolist()):
            found[parent].append(family)
        return found

    def predicates(self) -> Iterator[dict[str, Range]]:
        """Each population as the range of codes it asks of each of its attributes."""
        known: list[dict[str, Range]] = []
        for family, parent in enumerate(self.parent.tolist()):
            place = int(self.attribute[family])
            starts, stops = self.starts[place], self.stops[place]
            above = {} if parent < 0 else known[parent]
            for one in self.node[self.first[family] : self.first[family + 1]]:
                known.append({**above, self.attributes[place]: (int(starts[one]), int(stops[one]))})
                yield known[-1]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays by name, for a file."""
        found: dict[str, NDArray[Any]] = {
            "attributes": np.array(self.attributes),
            "node": self.node,
            "parent": self.parent,
            "attribute": self.attribute,
            "first": self.first,
            "support": self.support,
            "deepest": np.array(-1 if self.deepest is None else self.deepest),
        }
        for place in range(len(self.attributes)):
            found[f"starts_{place}"], found[f"stops_{place}"] = self.starts[place], self.stops[place]
        return found

    @classmethod
    def of_arrays(cls, found: Mapping[str, NDArray[Any]]) -> "Populations":
        """Back from `arrays`."""
        names = tuple(str(name) for name in found["attributes"])
        return cls(
            names,
            tuple(found[f"starts_{place}"] for place in range(len(names))),
            tuple(found[f"stops_{place}"] for place in range(len(names))),
            found["node"],
            found["parent"],
            found["attribute"],
            found["first"],
            found["support"],
            None if int(found["deepest"]) < 0 else int(found["deepest"]),
        )


def large_populations(evidence: Evidence, min_sup: float = 0.05, *, progress: Progress = silent) -> Populations:
    """The large populations of the table; mined once and kept with the evidence."""
    key = f"populations {min_sup!r}"
    if key not in evidence.kept:
        _, people = evidence.people
        evidence.kept[key] = mine(evidence.view.quasi, people.codes, people.counts, min_sup, progress=progress)
    found = evidence.kept[key]
    assert isinstance(found, Populations), "kept under our own name"
    return found


def mine(
    quasi: Sequence[Attribute], codes: Integers, counts: Integers, min_sup: float, *, progress: Progress = silent
) -> Populations:
    """The large populations among distinct ``codes`` (a column a quasi-identifier) with ``counts`` records each.

    All of them, if they are at most `MOST`; else those with at most so many predicates that they are.
    """
    progress("finding large populations", 0, 1)
    least = min_sup * float(counts.sum()) - _SLACK
    nodes = [large_nodes(a, codes[:, place], counts, least) for place, a in enumerate(quasi)]
    order = sorted((place for place, found in enumerate(nodes) if found), key=lambda place: len(nodes[place]))
    names = tuple(quasi[place].name for place in order)
    ranges = [np.array(nodes[place], np.int64).reshape(-1, 2) for place in order]
    search = _Search.of([codes[:, place] for place in order], ranges, counts, least)
    found, deepest = search.run(len(order)) if len(order) <= _WIDE else None, None
    if found is None:
        found, deepest = search.by_depth()
    if found is None:
        raise InfeasibleError(
            f"there are more than {MOST:,} populations of at least {min_sup:g} of the records",
            "use a larger `min_sup`, or a purpose with fewer quasi-identifiers",
        )
    starts, stops = (tuple(found[:, end] for found in ranges) for end in (0, 1))
    return Populations(names, starts, stops, *found, deepest)


@dataclass(frozen=True, eq=False)
class _Search:
    """Depth first: a population that is not large has no large one below it, and each looks at its own records alone.

    Codes are seen as atoms, the places between the edges of nodes; records with the same atoms are one row.
    """

    atoms: list[Integers]  # of each attribute, (rows,)
    limits: list[Integers]  # of each attribute, (nodes, 2): the atoms of a node are those after one and up to the other
    sizes: Floats  # (rows,) records
    least: float

    @classmethod
    def of(cls, columns: Sequence[Integers], ranges: Sequence[Integers], counts: Integers, least: float) -> "_Search":
        edges = [edges_of(found) for found in ranges]
        atoms = [np.searchsorted(edge, column, side="right") for column, edge in zip(columns, edges, strict=True)]
        place, first = alike(atoms, len(counts))  # far fewer than distinct codes
        sizes = np.bincount(place, weights=counts, minlength=len(first)).astype(np.float64)
        limits = [np.searchsorted(edge, found) for edge, found in zip(edges, ranges, strict=True)]
        return cls([column[first] for column in atoms], limits, sizes, least)

    def run(self, deepest: int) -> _Found | None:
        """Populations with at most ``deepest`` predicates, as `Populations` has them; None if they are too many."""
        node, support = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        parent: list[int] = []
        attribute: list[int] = []
        first = [0]
        todo = [(-1, -1, np.arange(len(self.sizes)), slice(0), 0)]  # of the parent's rows those in the slice of atoms
        while todo:
            above, last, rows, inside, depth = todo.pop()
            if above >= 0:
                column = self.atoms[last][rows]
                rows = rows[(column > inside.start) & (column <= inside.stop)]
            for place in range(last + 1, len(self.atoms)):
                limit = self.limits[place]
                records = self._records(place, rows)
                large = np.flatnonzero(records >= self.least)
                if not len(large):
                    continue
                parent.append(above)
                attribute.append(place)
                node.append(large)
                support.append(records[large].astype(np.int64))
                if depth + 1 < deepest and place + 1 < len(self.atoms):
                    todo += [
                        (number, place, rows, slice(*limit[one].tolist()), depth + 1)
                        for number, one in enumerate(large.tolist(), start=first[-1])
                    ]
                first.append(first[-1] + len(large))
            if first[-1] > MOST:
                return None
        families = np.array([parent, attribute], np.int64).reshape(2, -1)
        return np.concatenate(node), families[0], families[1], np.array(first, np.int64), np.concatenate(support)

    def by_depth(self) -> tuple[_Found | None, int | None]:
        """The same with as many predicates as do not make them too many, and how many; None if that is all of them."""
        found, deepest = self.run(1), 1
        while found is not None and (more := self.run(deepest + 1)) is not None:
            if len(more[0]) == len(found[0]):
                return found, None
            found, deepest = more, deepest + 1
        return found, deepest

    def _records(self, place: int, rows: Integers) -> Floats:
        """How many records of the rows are in each node of an attribute."""
        limit = self.limits[place]
        below = np.zeros(int(limit.max()) + 2)
        np.cumsum(np.bincount(self.atoms[place][rows], self.sizes[rows], len(below))[: len(below) - 1], out=below[1:])
        found: Floats = below[limit[:, 1] + 1] - below[limit[:, 0] + 1]
        return found


def large_nodes(attribute: Attribute, codes: Integers, counts: Integers, least: float) -> list[Range]:
    """The nodes of an attribute, without the root, that ``least`` records are in; the others are in no population.

    >>> from fractions import Fraction
    >>> from sfumato.core.attribute import Role
    >>> grid = Grid(lower=Fraction(0), upper=Fraction(7), step=Fraction(1), unit="integer")
    >>> number = Attribute(name="n", role=Role.QUASI_IDENTIFIER, domain=grid)
    >>> large_nodes(number, np.array([1, 2, 5]), np.array([1, 1, 9]), least=2)
    [(0, 4), (4, 8), (4, 6), (5, 6)]
    """
    domain = attribute.domain
    assert domain is not None, "quasi-identifiers have domains"
    order = np.argsort(codes, kind="stable")
    there, below = codes[order], np.concatenate([[0], np.cumsum(counts[order])])

    def large(node: Range) -> bool:
        begin, end = np.searchsorted(there, node)
        return bool(below[end] - below[begin] >= least)

    if domain.taxonomy is not None:
        found = dict.fromkeys(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
    else:
        assert isinstance(domain, Grid), "categories have a taxonomy"
        width = 1 if attribute.at_least is None else max(1, ceil(attribute.at_least / domain.step))
        found = dict.fromkeys(_halves((0, domain.points), width, large))
    if domain.missing is not None:
        found[(domain.missing, domain.missing + 1)] = None
    found.pop((0, domain.size), None)
    return [node for node in found if large(node)]


def edges_of(ranges: Integers) -> Integers:
    """Where some node begins or ends, in order: between two edges all codes are in the same nodes."""
    return np.unique(ranges)


def _halves(whole: Range, width: int, large: Callable[[Range], bool]) -> list[Range]:
    """The range, its halves, theirs and so on, as long as they are large and a half is no narrower than ``width``."""
    level, found = [whole], [whole]
    while level:
        split = [node for node in level if large(node) and (node[1] - node[0]) // 2 >= width]
        level = [half for a, b in split for half in ((a, (a + b) // 2), ((a + b) // 2, b))]
        found += level
    return found
