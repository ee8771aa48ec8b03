"""A decision tree over codes, with noisy class counts at every node: a value, all of it published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.domains.domain import DROP, Domain
from sfumato.errors import InternalError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its noisy class counts, and, unless it is a leaf, the attribute it asks for and where each answer leads.

    ``ranges`` are ranges of the attribute's codes, next to each other and in order; ``children`` the numbers of the
    nodes they lead to. Counts may be negative: they are noisy, and those of an inner node are the sum of its leaves'.
    """

    counts: tuple[int, ...]
    attribute: str | None = None
    ranges: tuple[Range, ...] = ()
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tree:
    """Nodes by number, the root first and parents before their children.

    >>> tree = Tree((Node((5, 4), "age", ((0, 40), (40, 121)), (1, 2)), Node((5, -1)), Node((0, 5))))
    >>> tree.leaf_of({"age": np.array([39, 40, DROP])}).tolist()
    [1, 2, 0]
    >>> tree.shares.round(2).tolist()
    [[0.56, 0.44], [1.0, 0.0], [0.0, 1.0]]
    """

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Every node but the root is the child of one node that stands before it."""
        below = sorted(child for node in self.nodes for child in node.children)
        sound = below == list(range(1, len(self.nodes))) and all(
            child > number for number, node in enumerate(self.nodes) for child in node.children
        )
        if not sound or len({len(node.counts) for node in self.nodes}) != 1:
            raise InternalError("the nodes do not make a tree")
        if any(len(n.ranges) != len(n.children) or (n.attribute is None) != (not n.children) for n in self.nodes):
            raise InternalError("a node of a tree does not lead where its ranges say")

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return sum(not node.children for node in self.nodes)

    @property
    def depth(self) -> int:
        """How many questions are asked at most."""
        depths = [0] * len(self.nodes)
        for number, node in enumerate(self.nodes):
            for child in node.children:
                depths[child] = depths[number] + 1
        return max(depths)

    @cached_property
    def shares(self) -> Floats:
        """The share of each class at each node, negative counts as 0; where nothing is left, the parent's shares."""
        counts = np.array([node.counts for node in self.nodes], dtype=np.float64).clip(min=0)
        shares = np.full(counts.shape, 1 / counts.shape[1])
        parents = {child: number for number, node in enumerate(self.nodes) for child in node.children}
        for number, row in enumerate(counts):
            if row.sum() > 0:
                shares[number] = row / row.sum()
            elif number in parents:
                shares[number] = shares[parents[number]]
        return shares

    def leaf_of(self, codes: Mapping[str, Integers]) -> Integers:
        """Where each record ends: at a leaf, or at the node whose question it has no answer to (a `DROP`)."""
        size = len(next(iter(codes.values())))
        found = np.zeros(size, dtype=np.int64)
        todo = [(0, np.arange(size))]
        while todo:
            number, rows = todo.pop()
            node = self.nodes[number]
            found[rows] = number
            if node.attribute is None or not len(rows):
                continue
            values = codes[node.attribute][rows]
            starts = np.array([start for start, _ in node.ranges])
            way = np.where(values == DROP, DROP, np.searchsorted(starts, values, side="right") - 1)
            todo += [(child, rows[way == place]) for place, child in enumerate(node.children)]
        return found

    def lines(self, domains: Mapping[str, Domain], classes: Sequence[str]) -> Iterator[str]:
        """The tree for people: a line a branch, with the class it predicts and its noisy counts."""
        yield f"everybody: {self._answer(0, classes)}"
        todo = [(0, place, 1) for place in reversed(range(len(self.nodes[0].children)))]
        while todo:
            parent, place, depth = todo.pop()
            above, number = self.nodes[parent], self.nodes[parent].children[place]
            assert above.attribute is not None, "a parent asks for something"
            words = domains[above.attribute].label(*above.ranges[place])
            yield f"{'│  ' * (depth - 1)}├─ {above.attribute}: {words}: {self._answer(number, classes)}"
            todo += [(number, below, depth + 1) for below in reversed(range(len(self.nodes[number].children)))]

    def _answer(self, number: int, classes: Sequence[str]) -> str:
        counts = ", ".join(str(count) for count in self.nodes[number].counts)
        return f"{classes[int(self.shares[number].argmax())]} ({counts})"
