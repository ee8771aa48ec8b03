"""Ranges of codes for many groups at once: the lowest common ancestor in a taxonomy, and tight regions."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.release.partition import SUPPRESSED, Boxes
from sfumato.study.view import View

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A taxonomy as tables: the node above each leaf at each depth, and the range of codes of each node.

    A leaf that ends above the deepest one stands at every depth below its own, too. Tables are as wide as there are
    leaves: a leaf of an interval taxonomy may hold a billion codes.
    """

    above: Integers  # (depth + 1, leaves): node numbers, the root first
    starts: Integers  # (nodes,)
    stops: Integers  # (nodes,)
    inner: NDArray[np.bool_]  # (nodes,): whether there is something below
    edges: Integers | None  # (leaves,): where the codes of each leaf begin; None where leaves are codes

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> "Tree":
        """The tables of one taxonomy."""
        starts, stops = np.array(taxonomy.starts), np.array(taxonomy.stops)
        depths = np.array(taxonomy.depths())
        inner = np.zeros(len(starts), dtype=bool)
        inner[[parent for parent in taxonomy.parents if parent >= 0]] = True
        edges = starts[~inner]  # in code order, as nodes stand depth first
        first, last = np.searchsorted(edges, starts), np.searchsorted(edges, stops)  # the leaves of each node
        above = np.zeros((int(depths.max()) + 1, len(edges)), dtype=np.int64)
        for depth in range(1, len(above)):
            above[depth] = above[depth - 1]
            here = np.flatnonzero(depths == depth)  # in code order, since nodes stand depth first
            widths = last[here] - first[here]
            offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
            above[depth, np.repeat(first[here], widths) + offsets] = np.repeat(here, widths)
        return cls(above, starts, stops, inner, None if len(edges) == taxonomy.size else edges)

    def leaves(self, codes: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
        """The number of each code's leaf, in the order of the codes."""
        return codes if self.edges is None else np.searchsorted(self.edges, codes, side="right") - 1

    def lowest(self, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        """The lowest node above both ``low`` and ``high`` (codes, both included), and its depth; one a pair.

        >>> from sfumato.domains.taxonomy.tree import Node
        >>> job = Tree.of(Taxonomy.of(Node("Any", (Node("Pro", (Node("Engineer"), Node("Lawyer"))), Node("Artist")))))
        >>> node, depth = job.lowest(np.array([0, 0, 2]), np.array([1, 2, 2]))
        >>> job.starts[node].tolist(), job.stops[node].tolist()
        ([0, 0, 2], [2, 3, 3])
        """
        depth = np.zeros(len(low), dtype=np.int64)
        begin, end = self.leaves(low), self.leaves(high)
        for level in self.above[1:]:
            depth += level[begin] == level[end]  # once apart, apart for good
        return self.above[depth, begin], depth


def tree_of(domain: Domain) -> Tree | None:
    """The tables of a domain's taxonomy, if it has one."""
    return None if domain.taxonomy is None else Tree.of(domain.taxonomy)


def tight_boxes(view: View, cells: Cells, group: Integers, groups: int, *, ordered: Collection[str] = ()) -> Boxes:
    """The smallest region of each group: from the least to the greatest code, or the lowest common ancestor.

    An attribute with a taxonomy gets a node of it, unless it is one of the ``ordered`` ones.
    """
    kept = np.flatnonzero(group != SUPPRESSED)
    order = kept[np.argsort(group[kept], kind="stable")]
    first = np.searchsorted(group[order], np.arange(groups))
    names = tuple(attribute.name for attribute in view.quasi)
    starts, stops = np.empty((groups, len(names)), np.int64), np.empty((groups, len(names)), np.int64)
    for place, name in enumerate(names):
        codes = cells.codes[order, cells.attributes.index(name)]
        low = np.minimum.reduceat(codes, first) if groups else codes[:0]
        high = np.maximum.reduceat(codes, first) if groups else codes[:0]
        tree = None if name in ordered else tree_of(view.domain(name))
        if tree is None:
            starts[:, place], stops[:, place] = low, high + 1
        else:
            node, _ = tree.lowest(low, high)
            starts[:, place], stops[:, place] = tree.starts[node], tree.stops[node]
    return Boxes(names, starts, stops)
