"""Taxonomies: the tree of an attribute's values, with every node a range of codes.

The nodes stand in depth-first order, so the leaves below any node are neighbours and a node is a half-open range
``[start, stop)`` of codes. Numbers use the same idea: an interval of the grid is a range of codes too. Everything
above this file (cuts, regions, counts) therefore speaks of ranges of codes and never of strings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sfumato.errors import TaxonomyError


@dataclass(frozen=True, slots=True)
class Node:
    """A node as people write it: a label and what is below it. A node with nothing below it is a leaf."""

    label: str
    children: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Taxonomy:
    """A tree over the codes ``0 … size-1``; node 0 is the root, parents stand before their children.

    ``widths`` says how many codes each leaf covers: 1 for categories, more for intervals over a numeric grid.

    >>> job = Taxonomy.of(Node("Any", (Node("Professional", (Node("Engineer"), Node("Lawyer"))), Node("Artist"))))
    >>> job.size, job.range_of(job.find("Professional"))
    (3, (0, 2))
    >>> job.label(0, 2)
    'Professional'
    >>> job.children(0, 3)
    ((0, 2), (2, 3))
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    widths: tuple[int, ...]
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    stops: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _kids: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    _lowest: dict[tuple[int, int], int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kids: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if node == 0:
                if parent != -1:
                    raise TaxonomyError(
                        "the first node of a taxonomy must be its root", "put the root first", code="SF-TAXONOMY-029"
                    )
            elif not 0 <= parent < node:
                raise TaxonomyError(
                    f"'{self.labels[node]}' stands above itself (a cycle) or before its parent",
                    "write each node once, below one parent",
                    code="SF-TAXONOMY-030",
                )
            else:
                kids[parent].append(node)
        widths = iter(self.widths)
        starts, stops = [0] * len(self.labels), [0] * len(self.labels)
        position = 0
        for node in range(len(self.labels)):
            starts[node] = position
            if not kids[node]:
                position += next(widths)
            stops[node] = position
        for node in range(len(self.labels) - 1, -1, -1):
            if kids[node]:
                starts[node], stops[node] = starts[kids[node][0]], stops[kids[node][-1]]
        object.__setattr__(self, "starts", tuple(starts))
        object.__setattr__(self, "stops", tuple(stops))
        object.__setattr__(self, "_kids", tuple(tuple(k) for k in kids))
        # Of a chain of only children the last one wins: it covers the same values and says more.
        object.__setattr__(self, "_lowest", {(starts[n], stops[n]): n for n in range(len(self.labels))})

    @classmethod
    def of(cls, root: Node, widths: Sequence[int] | None = None) -> "Taxonomy":
        """Build from nested nodes; refuses a label that stands at two places."""
        labels: list[str] = []
        parents: list[int] = []
        leaves: list[int] = []
        todo: list[tuple[Node, int]] = [(root, -1)]
        while todo:
            node, parent = todo.pop()
            number = len(labels)
            labels.append(node.label)
            parents.append(parent)
            if not node.children:
                leaves.append(number)
            todo.extend((child, number) for child in reversed(node.children))
        _refuse_twins(labels, parents)
        if widths is not None and len(widths) != len(leaves):
            raise TaxonomyError(
                f"{len(leaves)} leaves but {len(widths)} widths", "give one width a leaf", code="SF-TAXONOMY-031"
            )
        return cls(tuple(labels), tuple(parents), tuple(widths) if widths is not None else (1,) * len(leaves))

    @property
    def size(self) -> int:
        """How many codes the root covers."""
        return self.stops[0]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves, in code order."""
        return tuple(label for label, kids in zip(self.labels, self._kids, strict=True) if not kids)

    @property
    def depth(self) -> int:
        """The number of edges from the root to the deepest leaf."""
        depths = self.depths()
        return max(depths)

    def depths(self) -> list[int]:
        """Edges from the root, a number a node."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return depths

    def kids(self, node: int) -> tuple[int, ...]:
        """The node numbers right below ``node``."""
        return self._kids[node]

    def range_of(self, node: int) -> tuple[int, int]:
        """The codes below a node."""
        return self.starts[node], self.stops[node]

    def find(self, label: str) -> int:
        """The highest node with this label."""
        try:
            return self.labels.index(label)
        except ValueError:
            raise TaxonomyError(
                f"the taxonomy has no node '{label}'", "name one of its nodes", code="SF-TAXONOMY-032"
            ) from None

    def node_at(self, start: int, stop: int) -> int:
        """The lowest node that covers exactly ``[start, stop)``."""
        try:
            return self._lowest[(start, stop)]
        except KeyError:
            raise TaxonomyError(
                f"no node of the taxonomy covers the codes {start} to {stop}",
                "use ranges of whole nodes",
                code="SF-TAXONOMY-033",
            ) from None

    def label(self, start: int, stop: int) -> str:
        """The label of the lowest node that covers exactly ``[start, stop)``."""
        return self.labels[self.node_at(start, stop)]

    def children(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """What ``[start, stop)`` specializes to: the ranges right below it, or nothing for a leaf.

        Chains of only children are passed over: a specialization that changes no group is not one.
        """
        return tuple(self.range_of(kid) for kid in self._kids[self.node_at(start, stop)])

    def lowest_common(self, codes: Iterable[int]) -> tuple[int, int]:
        """The range of the lowest node that covers all the given codes."""
        wanted = list(codes)
        low, high = min(wanted), max(wanted) + 1
        node = 0
        while True:
            below = [k for k in self._kids[node] if self.starts[k] <= low and high <= self.stops[k]]
            if not below:
                return self.range_of(node)
            node = below[0]

    def with_leaf(self, label: str) -> "Taxonomy":
        """The same tree with one more leaf, last below the root."""
        if label in self.labels:
            raise TaxonomyError(
                f"the taxonomy has a node '{label}' already",
                "give the added value another name",
                code="SF-TAXONOMY-034",
            )
        return Taxonomy((*self.labels, label), (*self.parents, 0), (*self.widths, 1))

    def nodes(self, node: int = 0) -> Node:
        """Back to nested nodes, losing nothing but the widths."""
        built: dict[int, Node] = {}
        for number in range(len(self.labels) - 1, -1, -1):
            built[number] = Node(self.labels[number], tuple(built[kid] for kid in self._kids[number]))
        return built[node]


def _refuse_twins(labels: Sequence[str], parents: Sequence[int]) -> None:
    """One label, one place; a chain of only children may repeat its label (``Canada`` below ``Canada``)."""
    count: dict[int, int] = {}
    for parent in parents:
        count[parent] = count.get(parent, 0) + 1
    seen: dict[str, int] = {}
    for node, label in enumerate(labels):
        if label in seen:
            up = node
            while up != seen[label] and up > 0 and count[parents[up]] == 1 and labels[parents[up]] == label:
                up = parents[up]
            if up != seen[label]:
                above = [labels[parents[n]] if parents[n] >= 0 else "the top" for n in (seen[label], node)]
                raise TaxonomyError(
                    f"'{label}' stands at two places: below '{above[0]}' and below '{above[1]}'",
                    "keep one of them, or rename one",
                    labels=(label,),
                    code="SF-TAXONOMY-035",
                )
        else:
            seen[label] = node
