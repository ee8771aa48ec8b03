"""The axes Mondrian cuts along: how wide groups are on each, and where a taxonomy divides them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.grouping.code_ranges import Tree, tree_of
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """How far each group (a column) reaches on each axis (a row)."""

    low: Integers  # the least code that occurs
    high: Integers  # the greatest
    widths: NDArray[np.float64]  # of the range or the lowest common ancestor, 1 = the domain; −1: nothing to cut
    below: Integers  # where in `Axes.children` the children of the group's node begin; 0 on an axis without a taxonomy

    def widest_first(self) -> Integers:
        """The axes in the order in which a group tries them; of equal widths the first axis first."""
        return np.argsort(-self.widths, axis=0, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """All axes of a view; the tables of their taxonomies stand one behind the other, so that one look-up serves all."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    trees: tuple[Tree | None, ...]  # None: cut anywhere
    shift: Integers  # (axes,): where the table of each tree begins in `children`
    children: Integers  # all trees' `above`, with nodes numbered through
    starts: Integers  # (nodes of all trees,)
    stops: Integers

    @classmethod
    def of(cls, attributes: Sequence[Attribute], ordered: Collection[str] = ()) -> "Axes":
        """The axes of some attributes; the ``ordered`` ones are cut anywhere, whatever their taxonomy says."""
        sizes, trees, shift, tables, nodes = [], [], [0], [], 0
        for attribute in attributes:
            assert attribute.domain is not None, "a quasi-identifier has a domain"
            tree = None if attribute.name in ordered else tree_of(attribute.domain)
            sizes.append(attribute.domain.size)
            trees.append(tree)
            if tree is not None:
                tables.append(tree.above.ravel() + nodes)
                nodes += len(tree.starts)
            shift.append(shift[-1] + (0 if tree is None else tree.above.size))
        grown = [tree for tree in trees if tree is not None]
        return cls(
            tuple(attribute.name for attribute in attributes),
            tuple(sizes),
            tuple(trees),
            np.array(shift[:-1]),
            np.concatenate(tables) if tables else np.empty(0, np.int64),
            np.concatenate([tree.starts for tree in grown]) if grown else np.empty(0, np.int64),
            np.concatenate([tree.stops for tree in grown]) if grown else np.empty(0, np.int64),
        )

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which axes may be cut anywhere."""
        return np.array([tree is None for tree in self.trees])

    def spans(self, columns: NDArray[np.signedinteger], first: Integers) -> Spans:
        """How far groups reach whose rows stand one group behind the other, each from its ``first`` row on."""
        shape = (len(self.sizes), len(first))
        low, high, below = np.empty(shape, np.int64), np.empty(shape, np.int64), np.zeros(shape, np.int64)
        widths = np.empty(shape)
        for axis, tree in enumerate(self.trees):
            low[axis] = np.minimum.reduceat(columns[axis], first)
            high[axis] = np.maximum.reduceat(columns[axis], first)
            widths[axis] = self.width(axis, low[axis], high[axis])
            if tree is None:
                widths[axis][high[axis] == low[axis]] = -1
            else:
                node, depth = tree.lowest(low[axis], high[axis])
                widths[axis][~tree.inner[node]] = -1
                below[axis] = self.shift[axis] + (depth + 1) * tree.above.shape[1]
        return Spans(low, high, widths, below)

    def child(self, axis: Integers, below: Integers, codes: NDArray[np.signedinteger]) -> Integers:
        """The child of a group's node that each code is in, by the axis and ``below`` of its group; trees alone."""
        leaves = codes
        for place, tree in enumerate(self.trees):
            if tree is not None and tree.edges is not None:
                leaves = np.where(axis == place, tree.leaves(codes), leaves)
        return self.children[below + leaves]

    def width(self, axis: int, low: Integers, high: Integers) -> NDArray[np.float64]:
        """How wide the tight range over two codes is, as a share of the domain; for every pair of codes."""
        tree, most = self.trees[axis], max(1, self.sizes[axis] - 1)
        if tree is None:
            return (high - low) / most
        node, _ = tree.lowest(low, high)
        return (tree.stops[node] - tree.starts[node] - 1) / most
