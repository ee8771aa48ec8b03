"""What somebody sees of a published tree, as yes/no events for an audit."""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping

from sfumato.interactive.decision_tree import Integers, Tree

_STEPS = (-8, -4, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12)


def events_of_tree(tree: Tree, around: Mapping[str, Integers], levels: Iterable[int], unit: int = 1) -> set[Hashable]:
    """How the root asks, where some given records part, and the noisy counts where they end, by steps.

    ``around`` are codes of records that the neighbouring tables differ or agree in; ``levels`` are counts to expect
    there, and ``unit`` is how far apart to look at them. All of it is a function of the tree and of what is given, so
    it shows no more than the tree does. Counts are looked at alone and together with what the root asks: where a tree
    is grown far, its whole shape hardly ever comes twice.
    """
    root = tree.nodes[0]
    asks = (root.attribute, root.ranges)
    ends = tree.leaf_of(around)
    parted = tuple((ends[:, None] == ends[None, :]).ravel().tolist())
    seen: set[Hashable] = {
        ("root asks for", root.attribute), ("root asks", asks), ("leaves", tree.leaves), ("parted", asks, parted),
    }  # fmt: skip
    bars = sorted({level + step * unit for level in levels for step in _STEPS})
    for place, end in enumerate(ends.tolist()):
        for number, count in enumerate(tree.nodes[end].counts):
            for bar in bars[: bisect_right(bars, count)]:
                seen.add(("count", place, number, "at least", bar))
                seen.add(("root asks, count", asks, place, number, "at least", bar))
    return seen
