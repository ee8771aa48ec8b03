"""Large populations of a table: what a receiver might study in a release (Li & Li, KDD 2009, section 4.2).

A population is a conjunction of predicates on quasi-identifiers, at most one an attribute: a value, or a node of the
attribute's taxonomy, never the root. It is large if at least ``min_sup`` of the table's records are in it. Numbers and
days without a taxonomy have halves in place of nodes: the declared range cut in two, each half again, down to single
steps or to the width of ``at_least``. Bounds are public, so halves do not follow the data as quantiles would, and they
are the same for every table of the study. A missing value that is kept is a value like any other; all known numbers
together are then a node too. Of a set the predicate is that it contains a node: that the record has a code under it
("had a circulatory disease"), since that is what people ask of sets, and what queries of a release answer. So a record
may be in the populations of several nodes. Records without codes are a population, too.

With many attributes there are too many such conjunctions. Then only those with the fewest predicates are taken: with up
to one, two, three …, as many as keep the whole at `MOST` populations.

Populations do not depend on any release: they are mined once from the distinct quasi-identifiers of the table, and
kept. A mined set is plain arrays, see `Populations.arrays`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.sets.set_cut import Sets
from sfumato.errors import InfeasibleError
from sfumato.evaluate.evidence import Evidence, Places, distinct_rows, narrow
from sfumato.evaluate.measures.large_nodes import Range, edges_of, large_held, large_nodes
from sfumato.evaluate.measures.suffixes import Rows, Suffixes
from sfumato.progress import Progress, silent
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
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
    starts: tuple[Integers, ...]  # the nodes of each attribute, as ranges of codes; no code of a set: beyond the last
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
        evidence.kept[key] = mine(
            evidence.view.quasi, people.codes, people.counts, min_sup, sets=evidence.sets, progress=progress
        )
    found = evidence.kept[key]
    assert isinstance(found, Populations), "kept under our own name"
    return found


def mine(
    quasi: Sequence[Attribute],
    codes: Integers,
    counts: Integers,
    min_sup: float,
    *,
    sets: Mapping[str, Sets] | None = None,
    progress: Progress = silent,
) -> Populations:
    """The large populations among distinct ``codes`` (a column a quasi-identifier) with ``counts`` records each.

    Codes of sets are places in ``sets``.

    All of them, if they are at most `MOST`; else those with at most so many predicates that they are.
    """
    progress("finding large populations", 0, 1)
    least = min_sup * float(counts.sum()) - _SLACK
    held = sets or {}
    nodes = [
        large_held(a, held[a.name], codes[:, place], counts, least)
        if a.name in held
        else large_nodes(a, codes[:, place], counts, least)
        for place, a in enumerate(quasi)
    ]
    order = sorted((place for place, found in enumerate(nodes) if found), key=lambda place: len(nodes[place]))
    names = tuple(quasi[place].name for place in order)
    ranges = [np.array(nodes[place], np.int64).reshape(-1, 2) for place in order]
    columns = [
        _Held.of(held[name], codes[:, place], found) if name in held else _Inside.of(codes[:, place], found)
        for name, place, found in zip(names, order, ranges, strict=True)
    ]
    search = _Search.of(columns, counts, least)
    found, deepest = search.run(len(order)) if len(order) <= _WIDE else None, None
    if found is None:
        found, deepest = search.by_depth()
    if found is None:
        raise InfeasibleError(
            f"there are more than {MOST:,} populations of at least {min_sup:g} of the records",
            "use a larger `min_sup`, or a purpose with fewer quasi-identifiers",
            code="SF-INFEASIBLE-003",
        )
    starts, stops = (tuple(found[:, end] for found in ranges) for end in (0, 1))
    return Populations(names, starts, stops, *found, deepest)


@dataclass(frozen=True, eq=False)
class _Inside:
    """One attribute: codes as atoms, the places between the edges of nodes, and the nodes as ranges of atoms."""

    limits: Integers  # (nodes, 2): the atoms of a node are those after one and up to the other

    @classmethod
    def of(cls, codes: Integers, ranges: Integers) -> "tuple[_Inside, Places]":
        """The nodes, and each row's atom."""
        edges = edges_of(ranges)
        atoms = narrow(np.searchsorted(edges, codes, side="right"), len(edges) + 1)
        return cls(np.searchsorted(edges, ranges)), atoms

    def records(self, atoms: Places, sizes: Floats) -> Floats:
        """How many records of rows with these atoms and sizes are in each node."""
        below = np.zeros(int(self.limits.max()) + 2)
        np.cumsum(np.bincount(atoms, sizes, len(below))[: len(below) - 1], out=below[1:])
        found: Floats = below[self.limits[:, 1] + 1] - below[self.limits[:, 0] + 1]
        return found

    def within(self, atoms: Places, node: int) -> Floats:
        """1 for atoms that are in a node, 0 for others."""
        after, last = self.limits[node].tolist()
        found: Floats = ((atoms > after) & (atoms <= last)).astype(np.float64)
        return found


@dataclass(frozen=True, eq=False)
class _Held:
    """One attribute of sets: atoms are the patterns of nodes that sets contain."""

    nodes: csr_array  # (nodes, patterns), 1 where sets of a pattern contain the node

    @classmethod
    def of(cls, sets: Sets, codes: Integers, ranges: Integers) -> "tuple[_Held, Places]":
        """The nodes, and each row's atom."""
        contains = sets.contain(ranges[:, 0], ranges[:, 1])
        pattern, first = distinct_rows(list(np.packbits(contains, axis=0).astype(np.int64)), len(sets))
        return cls(csr_array(contains[:, first].astype(np.float64))), narrow(pattern, len(first))[codes]

    def records(self, atoms: Places, sizes: Floats) -> Floats:
        """How many records of rows with these atoms and sizes contain each node."""
        return np.asarray(self.nodes @ np.bincount(atoms, sizes, self.nodes.shape[1]))

    def within(self, atoms: Places, node: int) -> Floats:
        """1 for atoms whose sets contain a node, 0 for others."""
        patterns = np.zeros(self.nodes.shape[1])
        patterns[self.nodes.indices[self.nodes.indptr[node] : self.nodes.indptr[node + 1]]] = 1.0
        found: Floats = patterns[atoms]
        return found


@dataclass(frozen=True, eq=False)
class _Search:
    """Depth first: a population that is not large has no large one below it, and each looks at its own records alone.

    Codes are seen as atoms, which no node tells apart; records with the same atoms of all attributes that are still to
    come are one row.
    """

    columns: list[_Inside | _Held]
    suffixes: Suffixes
    rows: Rows
    least: float

    @classmethod
    def of(cls, columns: Sequence["tuple[_Inside | _Held, Places]"], counts: Integers, least: float) -> "_Search":
        atoms = [atoms for _, atoms in columns]
        suffixes, rows = Suffixes.of(atoms, np.zeros(len(counts), np.uint8), counts.astype(np.float64))
        return cls([column for column, _ in columns], suffixes, rows, least)

    def run(self, deepest: int) -> _Found | None:
        """Populations with at most ``deepest`` predicates, as `Populations` has them; None if they are too many."""
        node, support = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        parent: list[int] = []
        attribute: list[int] = []
        first = [0]
        todo = [(-1, -1, self.rows, 0, 0)]  # of the parent's rows those in a node
        while todo:
            above, last, rows, inside, depth = todo.pop()
            if above >= 0:
                share = self.columns[last].within(self.suffixes.kinds[last][rows.group], inside)
                rows = self.suffixes.merge(rows, last, share)
            for place in range(last + 1, len(self.columns)):
                if place > last + 1:
                    rows = self.suffixes.merge(rows, place - 1)
                records = self.columns[place].records(self.suffixes.kinds[place][rows.group], rows.amount)
                large = np.flatnonzero(records >= self.least)
                if not len(large):
                    continue
                parent.append(above)
                attribute.append(place)
                node.append(large)
                support.append(np.rint(records[large]).astype(np.int64))
                if depth + 1 < deepest and place + 1 < len(self.columns):
                    todo += [
                        (number, place, rows, one, depth + 1)
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
