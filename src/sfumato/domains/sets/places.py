"""Where sets lie among the regions that a release tells them by.

Regions of sets are no ranges of codes, and the codes of sets are places in a dictionary that only its owner has. So
each release has an order of its own, its *places*, in which every region that it publishes is a range. A set has one
place there, whoever asks: the owner about the table, an attacker about somebody she knows, a receiver about a new
record. A set that lies in no published region has the place -1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_cut import OTHER_SETS, Numbers, SetCut, Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import VerifyError

Integers = NDArray[np.int64]

NOWHERE = -1


class Places(Protocol):
    """The order of one release's regions of one attribute."""

    def of(self, sets: Sets) -> Integers:
        """The place of each set."""
        ...


@dataclass(frozen=True, eq=False)
class CutPlaces:
    """Regions of a cut, in the order of their numbers; each is a place of its own."""

    cut: SetCut
    numbers: Numbers  # those that are published, in order, each once

    def of(self, sets: Sets) -> Integers:
        """By the region that each set is in."""
        asked = self.cut.numbers(sets)
        if not len(self.numbers):
            return np.full(len(sets), NOWHERE, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.numbers, asked), len(self.numbers) - 1)
        return np.where(self.numbers[place] == asked, place, NOWHERE).astype(np.int64)


@dataclass(frozen=True, eq=False)
class EachPlaces:
    """Every set of a dictionary is a place of its own."""

    sets: Sets

    def of(self, sets: Sets) -> Integers:
        """By the sets themselves."""
        if sets is self.sets:
            return np.arange(len(sets))
        known = {row: place for place, row in enumerate(self.sets.rows())}
        return np.array([known.get(row, NOWHERE) for row in sets.rows()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TreePlaces:
    """Sets as categories: places are the codes of a published tree (`set_levels`, `shown_tree`).

    A set goes down the tree from the root by the sets of nodes that it falls under, level by level, as far as the tree
    goes. Where that is a leaf, it is the set's place. Else its place is the leaf for all other sets in the lowest
    published node on its way; without one, it is nowhere: nodes that are there for what is below them alone hold no
    other set.

    >>> from sfumato.domains.taxonomy.tree import Node
    >>> codes = Taxonomy.of(Node("Any", (Node("1*", (Node("15"), Node("16"))), Node("3*", (Node("31"), Node("32"))))))
    >>> tree = Taxonomy.of(Node("Any", (Node("1*", (Node("15"), Node("(other sets in 1*)"))), Node("1*, 3*"))))
    >>> places = TreePlaces(SetDomain(taxonomy=codes), tree)
    >>> places.of(Sets.of([(), (0,), (0, 1), (1, 2), (2,)], 4)).tolist()
    [-1, 0, 1, 2, -1]
    """

    domain: SetDomain
    tree: Taxonomy

    def of(self, sets: Sets) -> Integers:
        """By the names of the nodes that each set falls under."""
        node = np.zeros(len(sets), dtype=np.int64)
        going = np.ones(len(sets), dtype=np.bool_)
        for depth in range(1, self.tree.depth + 1):
            numbers, which = np.unique(self._cut(depth).numbers(sets), return_inverse=True)
            labels = self._cut(depth).labels(self.domain.taxonomy, numbers)
            pairs, place = np.unique(node * len(labels) + which.ravel(), return_inverse=True)
            below = [self._kid(pair // len(labels), labels[pair % len(labels)]) for pair in pairs.tolist()]
            found = np.array(below, dtype=np.int64)[place.ravel()]
            going &= found >= 0
            node = np.where(going, found, node)
        return self._codes[node]

    def regions(self) -> tuple[Integers, SetRegions]:
        """The ranges of all nodes of the tree, in order, and what each tells; refuses a tree of other codes."""
        tree = self.tree
        nodes = {(tree.starts[n], tree.stops[n]): n for n in range(len(tree.labels))}  # the lowest with a range
        ranges = sorted(nodes)
        rows, starts, stops = [], [], []
        depths = np.array([self._depths[nodes[found]] for found in ranges])
        labels = [tree.labels[nodes[found]] for found in ranges]
        for depth in np.unique(depths).tolist():
            here = np.flatnonzero(depths == depth)
            if depth == 0:
                continue
            rest = [self._rest(labels[place]) for place in here]
            cut = self._cut(depth)
            told = cut.read(self.domain.taxonomy, [labels[place] for place in here])
            if any(number < 0 and not other for number, other in zip(told.tolist(), rest, strict=True)):
                raise VerifyError(
                    "a set is published by a name that is none of its codes'",
                    "get the bundle again",
                    code="SF-VERIFY-027",
                )
            edges = np.array([*cut.starts, cut.size], dtype=np.int64)
            row, member = cut.members(told)
            rows.append(here[row])
            starts.append(edges[member])
            stops.append(edges[member + 1])
        none = np.empty(0, np.int64)
        row = np.concatenate([none, *rows])
        order = np.argsort(row, kind="stable")
        # What is not published by its name ("other sets") is told by nothing, and nothing is published with it alone.
        whole = np.array([depth == 0 or self._rest(label) for depth, label in zip(depths, labels, strict=True)])
        found = SetRegions.of(
            row[order],
            np.concatenate([none, *starts])[order],
            np.concatenate([none, *stops])[order],
            whole,
            self.domain.size,
        )
        return np.array(ranges, dtype=np.int64).reshape(-1, 2), found

    def _cut(self, depth: int) -> SetCut:
        return SetCut("sets", self.domain.starts_at(depth), self.domain.size, self.domain.most)

    def _kid(self, node: int, label: str) -> int:
        return self._kids.get((node, label), NOWHERE)

    @staticmethod
    def _rest(label: str) -> bool:
        return label.startswith(OTHER_SETS)

    @cached_property
    def _depths(self) -> list[int]:
        return self.tree.depths()

    @cached_property
    def _kids(self) -> dict[tuple[int, str], int]:
        labels, parents = self.tree.labels, self.tree.parents
        return {(parents[n], labels[n]): n for n in range(1, len(labels)) if not self._rest(labels[n])}

    @cached_property
    def _codes(self) -> Integers:
        """The place of a set that goes down to each node and no further."""
        tree = self.tree
        found = np.full(len(tree.labels), NOWHERE, dtype=np.int64)
        for node in range(len(tree.labels)):
            kids = tree.kids(node)
            if not kids:
                found[node] = tree.starts[node]
            elif self._rest(tree.labels[kids[-1]]):
                found[node] = tree.starts[kids[-1]]
            elif node:
                found[node] = found[tree.parents[node]]  # parents stand first
        return found


@dataclass(frozen=True, eq=False)
class PublishedSets:
    """How a release tells sets of one attribute: the order of its regions, their ranges in it, what each tells."""

    domain: SetDomain
    places: Places
    ranges: Integers  # (regions, 2), in order
    regions: SetRegions

    @classmethod
    def by_cut(cls, domain: SetDomain, cut: SetCut, numbers: Numbers) -> "PublishedSets":
        """Regions of a cut: those with these numbers, in order, each once."""
        places = np.arange(len(numbers))
        return cls(
            domain,
            CutPlaces(cut, numbers),
            np.stack([places, places + 1], axis=1),
            SetRegions.of_cut(cut, numbers),
        )

    @classmethod
    def by_tree(cls, domain: SetDomain, tree: Taxonomy) -> "PublishedSets":
        """Nodes of a tree of sets; refuses one of other codes, or of a deeper level."""
        if domain.level is not None and tree.depth > domain.level:
            raise VerifyError(
                "sets are published below their declared level", "get the bundle again", code="SF-VERIFY-028"
            )
        places = TreePlaces(domain, tree)
        return cls(domain, places, *places.regions())

    @classmethod
    def one_by_one(cls, domain: SetDomain, sets: Sets) -> "PublishedSets":
        """Each set of a dictionary as it is."""
        places = np.arange(len(sets))
        ranges = np.stack([places, places + 1], axis=1)
        return cls(domain, EachPlaces(sets), ranges, SetRegions.of_sets(sets, domain))

    @property
    def size(self) -> int:
        """How many places there are."""
        return int(self.ranges[:, 1].max(initial=0))

    def at(self, starts: Integers, stops: Integers) -> SetRegions:
        """What published ranges of places tell."""
        base = self.size + 1
        keys = self.ranges[:, 0] * base + self.ranges[:, 1]
        order = np.argsort(keys)
        place = np.searchsorted(keys, starts * base + stops, sorter=order)
        return self.regions.take(order[place])

    def spread(self, sets: Sets) -> csr_array:
        """What a record with each place would have, (places, sets and one more): one code under each of its nodes.

        The last column is for all sets that are not in the dictionary. Each place is a region by itself here.
        """
        domain, place = self.domain, self.places.of(sets)
        told = np.flatnonzero(place >= 0)
        regions = self.at(np.arange(self.size), np.arange(self.size) + 1)
        room = np.add.reduceat(np.log(regions.stops - regions.starts), regions.first[:-1]) if len(regions) else None
        edges = np.array([*domain.starts_at(domain.level), domain.size], dtype=np.int64)
        width = np.log(edges[np.searchsorted(edges, sets.leaves, side="right")] - sets.leaves)
        held = np.bincount(sets.owner, weights=width, minlength=len(sets))
        fits = np.maximum(sets.lengths, 1)[told] == regions.lengths[place[told]]
        fits &= (sets.lengths[told] > 0) | regions.none[place[told]]  # of one that tells nothing, a code is taken to be
        told = told[fits]
        assert room is not None or not len(told), "a place has a region"
        chance = np.exp(held[told] - room[place[told]]) if room is not None else np.empty(0)
        inside = np.bincount(place[told], weights=chance, minlength=self.size)
        rows = np.concatenate([place[told], np.arange(self.size)])
        columns = np.concatenate([told, np.full(self.size, len(sets))])
        data = np.concatenate([chance, np.where(inside > 1.0 - 1e-12, 0.0, 1.0 - inside)])
        found = csr_array((data, (rows, columns)), shape=(self.size, len(sets) + 1))
        found.eliminate_zeros()
        return found
