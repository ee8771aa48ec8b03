"""The strategy `hierarchical`: counts of the nodes of a tree over ordered cells, made consistent.

Hay, Rastogi, Miklau & Suciu, "Boosting the accuracy of differentially private histograms through consistency", VLDB
2010. The leaves are the cells, every other node counts the records of its children, and all leaves have the same depth.
A record is in one node of each level, so Δ is the number of levels that are measured. A range is the sum of a few
nodes, so its noise grows with the height of the tree and not with the cells.

Least squares on a tree. Let M = AᵀA. Of a node with children c, M is the children's blocks and a matrix of ones if the
node is measured itself. So, by Sherman and Morrison, with S, P and Q the sums over the children of s = 1ᵀM⁻¹1, p =
1ᵀM⁻¹w and q = wᵀM⁻¹w, the node has s = S/(1 + S), p = P/(1 + S), q = Q − P²/(1 + S), and a node that is not measured
has S, P and Q. A leaf has 1, w and w². The variance of the estimate of w·x is q of the root. The estimate itself takes
two passes: up, the best estimate z of a node from below is the mean of its own measurement and of its children's sum,
weighted with the precisions 1 and 1/S; down, what a node's estimate differs from its children's sum goes to the
children in proportion to their variances s. For full trees these are the formulas of Hay et al., theorem 3.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import InternalError
from sfumato.privacy.dp.strategies.strategy import Floats, Integers


@dataclass(frozen=True)
class Hierarchical:
    """A tree over ``size`` cells in which a node has at most ``fan_out`` children; ``root``: whether that is measured.

    Levels are made from the leaves up: m nodes get ⌈m / fan-out⌉ parents, whose numbers of children differ by 1 at
    most.

    >>> tree = Hierarchical(size=4, fan_out=2, root=True)
    >>> tree.measure(np.array([[2, 0, 10, 2]])).tolist(), tree.sensitivity
    ([[14, 2, 12, 2, 0, 10, 2]], 3)
    """

    name: ClassVar[str] = "hierarchical"
    size: int
    fan_out: int
    root: bool = False

    def __post_init__(self) -> None:
        if self.size < 1 or self.fan_out < 2:  # noqa: PLR2004 - a tree branches
            raise InternalError("a tree has leaves, and nodes with two children")

    @cached_property
    def first_children(self) -> tuple[Integers, ...]:
        """For the nodes of each level from the root down, the place of the first child in the level below."""
        found: list[Integers] = []
        below = self.size
        while True:
            nodes = -(-below // self.fan_out)
            found.append(np.arange(nodes, dtype=np.int64) * below // nodes)
            if nodes == 1:
                return tuple(reversed(found))
            below = nodes

    @property
    def height(self) -> int:
        """Levels below the root."""
        return len(self.first_children)

    @cached_property
    def _widths(self) -> tuple[int, ...]:
        """How many nodes each level has, from the root down."""
        return (*(len(level) for level in self.first_children), self.size)

    @cached_property
    def nodes(self) -> tuple[tuple[int, int, int], ...]:
        """The level and the range of cells of every measured node, in the order of the measurements."""
        starts = [np.arange(self.size, dtype=np.int64)]
        for first in reversed(self.first_children):
            starts.append(starts[-1][first])
        levels = [[*level.tolist(), self.size] for level in reversed(starts)]
        return tuple(
            (depth, level[place], level[place + 1])
            for depth, level in enumerate(levels)
            if depth or self.root
            for place in range(len(level) - 1)
        )

    @property
    def measurements(self) -> int:
        """One a measured node."""
        return sum(self._widths[0 if self.root else 1 :])

    @property
    def sensitivity(self) -> int:
        """A record is in one node of each level."""
        return self.height + self.root

    def measure(self, counts: Integers) -> Integers:
        """The counts of the nodes, level by level from above."""
        levels = [np.asarray(counts, dtype=np.int64)]
        for first in reversed(self.first_children):
            levels.append(np.add.reduceat(levels[-1], first, axis=-1))
        levels.reverse()
        return np.concatenate(levels if self.root else levels[1:], axis=-1)

    def estimate(self, noisy: Floats) -> Floats:
        """Two passes; see the module."""
        levels = self._levels(np.asarray(noisy, dtype=np.float64))
        shares, sums = self._spreads
        below = np.asarray(levels[-1])
        up, totals = [below], []
        for depth in range(self.height - 1, -1, -1):
            total = np.add.reduceat(below, self.first_children[depth], axis=-1)
            own = levels[depth]
            below = total if own is None else (sums[depth] * own + total) / (sums[depth] + 1)
            up.append(below)
            totals.append(total)
        up.reverse()
        totals.reverse()
        estimate = up[0]
        for depth in range(self.height):
            difference = (estimate - totals[depth]) / sums[depth]
            estimate = up[depth + 1] + shares[depth + 1] * self._to_children(difference, depth)
        return estimate

    def variance(self, weights: Floats) -> Floats:
        """The quadratic form wᵀM⁻¹w, from the leaves up."""
        p, q = np.asarray(weights, dtype=np.float64), np.asarray(weights, dtype=np.float64) ** 2
        _, sums = self._spreads
        for depth in range(self.height - 1, -1, -1):
            p = np.add.reduceat(p, self.first_children[depth], axis=-1)
            q = np.add.reduceat(q, self.first_children[depth], axis=-1)
            if depth or self.root:
                p, q = p / (1 + sums[depth]), q - p**2 / (1 + sums[depth])
        return q[..., 0]

    def range_variance(self) -> float:
        """By the sums F of the first t cells.

        Over all pairs a < b of the n + 1 bounds of ranges, Σ V(F_b − F_a) = (n + 1) Σ V(F_t) − V(Σ F_t), and Σ F_t is
        the sum of (n − i) xᵢ.
        """
        n = self.size
        slope = self.variance(np.arange(n, 0, -1, dtype=np.float64)[None])[0]
        return float(((n + 1) * self._path_variances(before=True).sum() - slope) / (n * (n + 1) / 2))

    def cell_variances(self) -> Floats:
        """Q of a vector with one leaf, for every leaf."""
        return self._path_variances(before=False)

    def facts(self) -> dict[str, Any]:
        """The tree."""
        return {"name": self.name, "size": self.size, "fan_out": self.fan_out, "root": self.root}

    def _path_variances(self, *, before: bool) -> Floats:
        """Q of the root for a sum that ends with each leaf: of all leaves before it too, or of that leaf alone."""
        shares, sums = self._spreads
        p = q = np.ones(self.size)
        node = np.arange(self.size)
        for depth in range(self.height - 1, -1, -1):
            first = self.first_children[depth]
            parent = np.searchsorted(first, node, side="right") - 1
            if before:  # earlier siblings are whole, and a whole node has p = q = s
                until = np.concatenate([[0.0], np.cumsum(shares[depth + 1])])
                earlier = until[node] - until[first[parent]]
                p, q = p + earlier, q + earlier
            if depth or self.root:
                p, q = p / (1 + sums[depth][parent]), q - p**2 / (1 + sums[depth][parent])
            node = parent
        return q

    @cached_property
    def _spreads(self) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """S of every node, level by level from the root, and S, its sum over the children; leaves have none."""
        found, sums = [np.ones(self.size)], []
        for depth in range(self.height - 1, -1, -1):
            total = np.add.reduceat(found[-1], self.first_children[depth])
            sums.append(total)
            found.append(total / (1 + total) if depth or self.root else total)
        return tuple(reversed(found)), tuple(reversed(sums))

    def _levels(self, noisy: Floats) -> "list[Floats | None]":
        """The measurements of each level from the root down; None for a root that is not measured."""
        widths = self._widths[0 if self.root else 1 :]
        parts: list[Floats | None] = list(np.split(noisy, np.cumsum(widths)[:-1], axis=-1))
        return parts if self.root else [None, *parts]

    def _to_children(self, values: Floats, depth: int) -> Floats:
        """A value for each node of a level, given to all its children."""
        edges = [*self.first_children[depth].tolist(), self._widths[depth + 1]]
        return np.repeat(values, np.diff(edges), axis=-1)
