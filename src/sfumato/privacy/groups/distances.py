"""How far the values of a group are from those of the table: earth mover's distances and a divergence.

p is the distribution of a group, q that of the table. All are computed from the values that occur in a group alone:
what the others add depends on q and is worked out once, so a million small groups over a large domain cost what
their pairs cost. The table must have every value of the groups.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError
from sfumato.privacy.groups.sensitive import Floats, Values
from sfumato.privacy.groups.statistics import Integers, ValueTotals


@dataclass(frozen=True, slots=True)
class Distance:
    """A way to compare two distributions, in words and as a function of all groups at once."""

    words: str
    between: Callable[[Values], Floats]


def equal(values: Values) -> Floats:
    """EMD where any two values are 1 apart: ½ Σ |p − q| (Li et al. 2007).

    Both add up to 1, so this is the sum of p − q over the values with p > q, and those occur in the group.
    """
    return values.sums(np.maximum(values.shares - _table_shares(values), 0))


def ordered(values: Values) -> Floats:
    """EMD where the i-th and the j-th value are |i − j|/(m − 1) apart: Σ |P − Q|/(m − 1), P and Q cumulative.

    Li et al. 2007. The m values are those that occur in the table, in the order of the domain: a domain
    declared far too wide would otherwise make every distance small. A missing value that is kept comes last.

    Between two values of a group P stays the same while Q grows, so |P − Q| is summed by its two sides, with sums
    over Q prepared once and the place where Q passes P found by bisection.
    """
    occurring, m = values.table.values, len(values.table)
    if m <= 1:
        return np.zeros(values.found.groups)
    q = np.cumsum(values.table.counts) / values.total
    sums = np.concatenate([[0.0], np.cumsum(q)])  # of the first i cumulative shares
    group = values.found.group
    start = np.searchsorted(occurring, values.found.values)
    last = np.append(group[1:] != group[:-1], True)[: len(group)]
    stop = np.where(last, m, np.append(start[1:], m)[: len(group)])
    # Whole numbers added up within each group, so that the last P of a group is exactly 1.
    so_far = np.cumsum(values.counts)
    before = (so_far - values.counts)[values.found.first[:-1][group]] if len(group) else so_far
    p = (so_far - before) / values.of
    turn = np.clip(np.searchsorted(q, p), start, stop)
    pieces = p * (2 * turn - start - stop) + sums[start] + sums[stop] - 2 * sums[turn]
    first = start[values.found.first[:-1][values.distinct > 0]]
    total = values.sums(pieces)
    total[values.distinct > 0] += sums[first]  # before the first value of a group P is 0
    return total / (m - 1)


def hierarchical(values: Values) -> Floats:
    """EMD where two values are as far apart as their lowest common ancestor is high, over the height of the root.

    Li et al. 2007. The height of a node is the number of edges on the longest way down from it, so a leaf
    has 0 at whatever depth it stands, in trees with leaves at several depths too; values below one leaf (of a taxonomy
    of intervals) are 0 apart. Distances of this kind never fall on the way up, so the mass is best moved as low as
    possible: at a node, the surplus of some children fills the lack of others, at height/H for each unit, and the rest
    goes up. With extra = p − q summed below a node, that costs min(Σ extra⁺, Σ extra⁻) of its children.

    A node without a value of the group lacks all of its q, so only nodes above the group's values need a look.
    """
    tree = values.domain.taxonomy
    if tree is None:
        raise StudyError(
            f"'{values.name}' has no taxonomy, and the hierarchical distance is measured in one",
            "declare a taxonomy for it, or choose `distance: ordered`",
            code="SF-STUDY-072",
        )
    levels = _Levels.of(tree, values.domain.size)
    q = levels.below(values.table)
    cost = np.zeros(values.found.groups)
    nodes = levels.leaves_of(values.found.values)
    waiting_keys = values.found.group * levels.count + nodes
    waiting_mass = values.shares
    for depth in range(levels.deepest, 0, -1):
        at = levels.depth[waiting_keys % levels.count] == depth
        keys, place = np.unique(waiting_keys[at], return_inverse=True)
        mass = np.bincount(place, weights=waiting_mass[at], minlength=len(keys))
        node, group = keys % levels.count, keys // levels.count
        extra = mass - q[node]
        ups, place = np.unique(group * levels.count + levels.parent[node], return_inverse=True)
        surplus = np.bincount(place, weights=np.maximum(extra, 0), minlength=len(ups))
        # The lack of all children: q of the parent, where those with a value of the group lack less than all of it.
        met = np.bincount(place, weights=q[node] - np.maximum(-extra, 0), minlength=len(ups))
        parent = ups % levels.count
        moved = np.minimum(surplus, np.maximum(q[parent] - met, 0)) * levels.height[parent]
        cost += np.bincount(ups // levels.count, weights=moved, minlength=len(cost))
        lifted = np.bincount(place, weights=mass, minlength=len(ups))
        waiting_keys = np.concatenate([waiting_keys[~at], ups])
        waiting_mass = np.concatenate([waiting_mass[~at], lifted])
    return np.asarray(cost / max(int(levels.height[0]), 1))


def jensen_shannon(values: Values) -> Floats:
    """½ Σ p ln(p/m) + ½ Σ q ln(q/m) with m = (p + q)/2; natural logarithms (Lin 1991).

    A value that the group does not have adds ½ q ln 2, and so does every value before those that occur are corrected.
    """
    p, q = values.shares, _table_shares(values)
    middle = (p + q) / 2
    pairs = p * np.log(p / middle) + q * np.log(q / middle) - q * np.log(2.0)
    return np.asarray(np.maximum(values.sums(pairs) + np.log(2.0), 0) / 2)


DISTANCES: Final[Mapping[str, Distance]] = MappingProxyType(
    {
        "equal": Distance("earth mover's distance with all values equally far apart", equal),
        "ordered": Distance("earth mover's distance along the order of the values", ordered),
        "hierarchical": Distance("earth mover's distance in the taxonomy of the values", hierarchical),
        "js": Distance("Jensen-Shannon divergence in natural units", jensen_shannon),
    }
)


def _table_shares(values: Values) -> Floats:
    """q: the share of the pair's value in the table, one a pair; no 0, so that logarithms are finite."""
    return np.asarray(np.where(values.overall > 0, values.overall, 1) / max(values.total, 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """A taxonomy as arrays over its nodes; a code behind its last one is a leaf below the root (a missing value)."""

    count: int
    parent: Integers
    depth: Integers
    height: Integers
    start: Integers
    stop: Integers
    leaf: Integers  # the leaves, in the order of their codes

    @classmethod
    def of(cls, tree: Taxonomy, size: int) -> "_Levels":
        parent, depth = list(tree.parents), tree.depths()
        start, stop = list(tree.starts), list(tree.stops)
        if size > tree.size:
            parent.append(0)
            depth.append(1)
            start.append(tree.size)
            stop.append(size)
            stop[0] = size
        height = [0] * len(parent)
        for node in range(len(parent) - 1, 0, -1):
            height[parent[node]] = max(height[parent[node]], height[node] + 1)
        leaf = sorted((node for node, tall in enumerate(height) if tall == 0), key=start.__getitem__)
        return cls(
            len(parent),
            np.array(parent, dtype=np.int64),
            np.array(depth, dtype=np.int64),
            np.array(height, dtype=np.int64),
            np.array(start, dtype=np.int64),
            np.array(stop, dtype=np.int64),
            np.array(leaf, dtype=np.int64),
        )

    @property
    def deepest(self) -> int:
        return int(self.depth.max())

    def leaves_of(self, codes: Integers) -> Integers:
        """The leaf of each code: leaves stand side by side and hold all codes."""
        return self.leaf[np.searchsorted(self.start[self.leaf], codes, side="right") - 1]

    def below(self, table: ValueTotals) -> Floats:
        """The share of the table that all codes below each node have."""
        sums = np.concatenate([[0.0], np.cumsum(table.counts / max(table.records, 1))])
        first, last = np.searchsorted(table.values, self.start), np.searchsorted(table.values, self.stop)
        return np.asarray(sums[last] - sums[first])
