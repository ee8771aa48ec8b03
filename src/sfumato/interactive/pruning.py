"""Pruning a grown tree by its own noisy counts, as C4.5 does by exact ones (Quinlan 1993, section 4.2).

It sees nothing but published numbers, so it is post-processing and costs no ε.
"""

from typing import Final

import numpy as np

from sfumato.interactive.decision_tree import Node, Tree

CONFIDENCE: Final = 0.25
"""C4.5's CF: a leaf's errors are taken at the upper end of an interval that is too low once in four times."""

_SLACK: Final = 0.1  # C4.5's own: a leaf may be so many errors worse than its subtree


def prune(tree: Tree) -> Tree:
    """Make a leaf of every node that would predict as well without what is below it.

    From the bottom up: a leaf of N records of which E are not of its class is said to make N·U(E, N) errors, with U
    the upper end of the binomial interval at `CONFIDENCE`; a subtree makes its leaves' errors. A node becomes a leaf if
    that makes no more errors, up to a tenth of one. N and E are noisy here, negative counts are 0: branches that hold
    noise alone make errors by it and go first.

    >>> alike = Tree((Node((30, 9), "age", ((0, 40), (40, 121)), (1, 2)), Node((15, 5)), Node((15, 4))))
    >>> prune(alike).leaves
    1
    >>> prune(Tree((Node((30, 30), "age", ((0, 40), (40, 121)), (1, 2)), Node((30, 1)), Node((0, 29))))).leaves
    2
    """
    errors = np.zeros(len(tree.nodes))
    cut: set[int] = set()
    for number in range(len(tree.nodes) - 1, -1, -1):  # children stand after their parents
        node = tree.nodes[number]
        alone = _errors(node)
        together = float(errors[list(node.children)].sum())
        if node.children and alone <= together + _SLACK:
            cut.add(number)
        errors[number] = together if node.children and number not in cut else alone
    return _without(tree, cut)


def _errors(node: Node) -> float:
    from scipy.special import betaincinv  # noqa: PLC0415 - a slow import, needed here alone

    counts = [max(count, 0) for count in node.counts]
    size, wrong = sum(counts), sum(counts) - max(counts)
    return float(size) if wrong == size else size * float(betaincinv(wrong + 1, size - wrong, 1 - CONFIDENCE))


def _without(tree: Tree, cut: set[int]) -> Tree:
    """The tree without what is below some nodes, numbered anew."""
    kept, todo = [], [0]
    while todo:
        number = todo.pop(0)
        kept.append(number)
        todo += tree.nodes[number].children if number not in cut else ()
    place = {number: new for new, number in enumerate(kept)}
    nodes = []
    for number in kept:
        node = tree.nodes[number]
        if number in cut or not node.children:
            nodes.append(Node(node.counts))
        else:
            nodes.append(Node(node.counts, node.attribute, node.ranges, tuple(place[c] for c in node.children)))
    return Tree(tuple(nodes))
