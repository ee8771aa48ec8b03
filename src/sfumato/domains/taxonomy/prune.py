"""Trees read off a table, cut down to what a release shows: a node stays if it is published or above one that is.

Which sets of codes occur in a table can tell who is in it. So no name of a set that was generalised away, suppressed
or not drawn may leave with the domain of the release.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.domains.sets.set_cut import OTHER_SETS
from sfumato.domains.taxonomy.tree import Node, Taxonomy

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ShownTree:
    """A smaller tree, and where the codes and the published ranges of the larger one are in it.

    >>> tree = Taxonomy.of(Node("Any", (Node("1*", (Node("15"), Node("16"))), Node("3*", (Node("31"), Node("32"))))))
    >>> found = ShownTree.of_regions(tree, [(0, 4), (0, 1)])
    >>> found.taxonomy.labels
    ('Any', '1*', '15', '(other sets in Any)')
    >>> found.ranges, found.codes.tolist()
    ({(0, 4): (0, 2), (0, 1): (0, 1)}, [0, 0, 1, 1])
    >>> ShownTree.of_values(tree, [1]).taxonomy.labels
    ('Any', '1*', '16')
    """

    taxonomy: Taxonomy
    codes: Integers  # the new code of each old one; of one that is not published any
    ranges: dict[Range, Range]  # the new range of each published one

    @classmethod
    def of_values(cls, tree: Taxonomy, codes: Collection[int]) -> "ShownTree":
        """What is published are values: leaves by their codes."""
        return cls.of_regions(tree, [(code, code + 1) for code in codes])

    @classmethod
    def of_regions(cls, tree: Taxonomy, ranges: Collection[Range]) -> "ShownTree":
        """What is published are nodes, by their ranges.

        A node that is published beside nodes below it gets a leaf for all else below it, whether there is anything or
        not: it tells nothing, and what the node covers stays more than what is published below it.
        """
        shown = {tree.node_at(*found): found for found in ranges}
        kept = _with_ancestors(tree, shown)
        taken = set(tree.labels)
        built: dict[int, Node] = {}
        rest: dict[int, str] = {}
        for node in sorted(kept, reverse=True):
            below = tuple(built[kid] for kid in tree.kids(node) if kid in kept)
            if below and node in shown:
                rest[node] = _free(f"{OTHER_SETS}{tree.labels[node]})", taken)
                below = (*below, Node(rest[node]))
            built[node] = Node(tree.labels[node], below)
        smaller = Taxonomy.of(built[0])
        # Nodes stand in depth-first order in both: those that were kept, with the added leaves between them.
        added = set(rest.values())
        there = dict(
            zip(sorted(kept), (n for n, label in enumerate(smaller.labels) if label not in added), strict=True)
        )
        codes = np.zeros(tree.size, dtype=np.int64)
        for node in sorted(kept):  # a node below overwrites the one above
            start, stop = smaller.range_of(there[node])
            codes[slice(*tree.range_of(node))] = stop - 1 if node in rest else start
        return cls(smaller, codes, {found: smaller.range_of(there[node]) for node, found in shown.items()})

    def boxed(self, starts: Integers, stops: Integers, *, regions: bool) -> tuple[Integers, Integers]:
        """Ranges of the larger tree in the smaller one: published regions exactly, others as near as can be."""
        if regions:
            whole = (0, self.taxonomy.size)
            pairs = [self.ranges.get(pair, whole) for pair in zip(starts.tolist(), stops.tolist(), strict=True)]
            found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            return found[:, 0], found[:, 1]
        kept = np.array(sorted(self.ranges), dtype=np.int64).reshape(-1, 2)[:, 0]
        begins = np.minimum(np.searchsorted(kept, starts), self.taxonomy.size - 1)
        return begins, np.maximum(np.searchsorted(kept, stops), begins + 1)


def _with_ancestors(tree: Taxonomy, nodes: Collection[int]) -> set[int]:
    """The nodes and all above them; the root in any case."""
    kept = {0}
    for node in nodes:
        up = node
        while up not in kept:
            kept.add(up)
            up = tree.parents[up]
    return kept


def _free(label: str, taken: set[str]) -> str:
    while label in taken:
        label += "'"
    taken.add(label)
    return label
