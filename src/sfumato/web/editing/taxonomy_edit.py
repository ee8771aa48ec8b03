"""A tree of labels as an editable value: each edit gives a new tree, so that undoing is going back to an older one.

Nodes have numbers that they keep from edit to edit, and a label may stand at two places while the owner is at work.
`EditableTree.taxonomy` is what a study takes: it is checked by the code that reads a taxonomy from a study file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

from sfumato.domains.taxonomy.text import from_nested
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import TaxonomyError

ROOT: Final = 0
"""The number of the root."""

MOST_EDITS: Final = 200
MOST_NODES: Final = 200_000
"""Edits that can be undone, and the nodes of their trees together: some 50 MB."""

_SHOWN: Final = 3  # names that a finding lists
_DIGITS: Final = re.compile(r"(\d+)")

Kind = Literal["problem", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is the matter with a tree: a problem refuses saving, a note does not. ``fix`` names an edit that helps."""

    kind: Kind
    text: str
    fix: str = ""
    names: tuple[str, ...] = ()
    owner: bool = False  # whether it was found in records


@dataclass(frozen=True)
class EditableTree:
    """Labels by number, and the numbers below each node that has any.

    >>> job = EditableTree.flat(["Engineer", "Lawyer", "Dancer"])
    >>> job = job.group([1, 2], "Professional")
    >>> job.nested()
    {'Any': [{'Professional': ['Engineer', 'Lawyer']}, 'Dancer']}
    >>> job.delete(job.find("Professional")).nested()
    {'Any': ['Engineer', 'Lawyer', 'Dancer']}
    """

    labels: Mapping[int, str]
    below: Mapping[int, tuple[int, ...]]
    unused: int  # the next free number

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> "EditableTree":
        """The tree of a taxonomy, numbered as it numbers its nodes."""
        labels = dict(enumerate(taxonomy.labels))
        return cls(labels, {n: taxonomy.kids(n) for n in labels if taxonomy.kids(n)}, len(labels))

    @classmethod
    def flat(cls, values: Sequence[str], root: str = "Any") -> "EditableTree":
        """All values right below the root."""
        labels = dict(enumerate([root, *dict.fromkeys(values)]))
        return cls(labels, {ROOT: tuple(range(1, len(labels)))} if len(labels) > 1 else {}, len(labels))

    @cached_property
    def parents(self) -> Mapping[int, int]:
        """The node above each node but the root."""
        return {kid: node for node, kids in self.below.items() for kid in kids}

    @cached_property
    def leaf_counts(self) -> Mapping[int, int]:
        """How many leaves each node has below it; 1 for a leaf."""
        counts: dict[int, int] = {}
        for node in reversed(list(self.walk())):
            counts[node] = sum(counts[kid] for kid in self.kids(node)) or 1
        return counts

    @cached_property
    def depths(self) -> Mapping[int, int]:
        """Edges from the root."""
        depths = {ROOT: 0}
        for node in self.walk():
            for kid in self.kids(node):
                depths[kid] = depths[node] + 1
        return depths

    @property
    def depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        return max(self.depths.values())

    @property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves, in order; a root alone is none."""
        return tuple(self.labels[node] for node in self.walk() if node not in self.below and node != ROOT)

    def kids(self, node: int) -> tuple[int, ...]:
        """The nodes right below a node."""
        return self.below.get(node, ())

    def walk(self, start: int = ROOT) -> Iterator[int]:
        """The nodes from a node down, depth first."""
        todo = [start]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(self.kids(node)))

    def find(self, label: str) -> int:
        """The one node with a label; of a chain of only children that repeats it, the lowest that is no leaf."""
        found = [node for node in self.walk() if self.labels[node] == label]
        if not found:
            raise TaxonomyError(
                f"the tree has no node '{label}'", "write the name of one of its nodes", code="SF-TAXONOMY-430"
            )
        if len(found) > 1 and not _is_chain(self, found):
            raise TaxonomyError(
                f"'{label}' stands at {len(found)} places",
                "rename or delete all but one of them",
                code="SF-TAXONOMY-431",
            )
        return ([node for node in found if node in self.below] or found)[-1]

    def rename(self, node: int, label: str) -> "EditableTree":
        """Another label at the same place."""
        return replace(self, labels={**self.labels, self._known(node): _name(label)})

    def add(self, parent: int, labels: Iterable[str]) -> "EditableTree":
        """New nodes, last below a node."""
        names = [_name(label) for label in labels]
        numbers = range(self.unused, self.unused + len(names))
        kids = (*self.kids(self._known(parent)), *numbers)
        return EditableTree(
            {**self.labels, **dict(zip(numbers, names, strict=True))},
            {**self.below, parent: kids} if kids else self.below,
            self.unused + len(names),
        )

    def move(self, nodes: Iterable[int], parent: int, *, before: int | None = None) -> "EditableTree":
        """Nodes below another node: before one of its children, or last."""
        moved = self._tops(nodes)
        self._known(parent)
        above = {parent, *self._above(parent)}
        if any(node in above for node in moved):
            raise TaxonomyError(
                f"'{self.labels[parent]}' is the node itself or stands below it",
                "choose a node outside of what is moved",
                code="SF-TAXONOMY-432",
            )
        below = self._without(moved)
        kids = list(below.get(parent, ()))
        place = kids.index(before) if before in kids else len(kids)
        below[parent] = (*kids[:place], *moved, *kids[place:])
        return replace(self, below=below)

    def group(self, nodes: Iterable[int], label: str) -> "EditableTree":
        """A new node in the place of the first of some nodes, with all of them below it."""
        moved = self._tops(nodes)
        parent = self.parents[moved[0]]
        below = self._without(moved)
        old = self.kids(parent)
        kids = list(below.get(parent, ()))
        place = sum(kid in kids for kid in old[: old.index(moved[0])])
        below[parent] = (*kids[:place], self.unused, *kids[place:])
        below[self.unused] = tuple(moved)
        return EditableTree({**self.labels, self.unused: _name(label)}, below, self.unused + 1)

    def split(self, nodes: Iterable[int], label: str) -> "EditableTree":
        """Divide a node: some of its children go below a new node right behind it."""
        moved = self._tops(nodes)
        parent = self.parents[moved[0]]
        if any(self.parents[node] != parent for node in moved):
            raise TaxonomyError(
                "the selected nodes are not below one node",
                "select children of the node to divide",
                code="SF-TAXONOMY-433",
            )
        if parent == ROOT or len(moved) == len(self.kids(parent)):
            raise TaxonomyError(
                "the root cannot be divided" if parent == ROOT else "all children of the node are selected",
                "group the selected nodes" if parent == ROOT else "leave at least one child to it",
                code="SF-TAXONOMY-434",
            )
        above = self.parents[parent]
        below = self._without(moved)
        kids = list(below[above])
        place = kids.index(parent) + 1
        below[above] = (*kids[:place], self.unused, *kids[place:])
        below[self.unused] = tuple(moved)
        return EditableTree({**self.labels, self.unused: _name(label)}, below, self.unused + 1)

    def merge(self, nodes: Iterable[int]) -> "EditableTree":
        """Several nodes as one: the first inner one gets the children of the others, and the leaves among them."""
        merged = self._tops(nodes)
        inner = [node for node in merged if node in self.below]
        if not inner or len(merged) == 1:
            raise TaxonomyError(
                "a leaf is a value of its own" if not inner else "one node is selected",
                "group the leaves below a new node" if not inner else "select two nodes or more",
                code="SF-TAXONOMY-435",
            )
        first, others = inner[0], [node for node in merged if node != inner[0]]
        gained = [kid for node in others for kid in (self.kids(node) or (node,))]
        below = self._without(others)
        below[first] = (*below[first], *gained)
        gone = {node for node in others if node in self.below}
        return replace(
            self,
            labels={node: label for node, label in self.labels.items() if node not in gone},
            below={node: kids for node, kids in below.items() if node not in gone},
        )

    def delete(self, node: int) -> "EditableTree":
        """The tree without a node; its children take its place."""
        if self._known(node) == ROOT:
            raise TaxonomyError("the root cannot be deleted", "rename it", code="SF-TAXONOMY-436")
        parent = self.parents[node]
        kids = self.kids(parent)
        place = kids.index(node)
        below = {above: below for above, below in self.below.items() if above != node}
        below[parent] = (*kids[:place], *self.kids(node), *kids[place + 1 :])
        if not below[parent]:
            del below[parent]
        return replace(self, labels={n: label for n, label in self.labels.items() if n != node}, below=below)

    def sort(self, node: int) -> "EditableTree":
        """The children of a node by name; numbers in names by their value."""
        kids = sorted(self.kids(self._known(node)), key=lambda kid: _natural(self.labels[kid]))
        return replace(self, below={**self.below, node: tuple(kids)}) if kids else self

    def nested(self) -> dict[str, object]:
        """Nested names as a study file has them, in lists where a mapping could not hold them."""
        built: dict[int, object] = {}
        for node in reversed(list(self.walk())):
            kids = self.kids(node)
            names = {self.labels[kid] for kid in kids}
            if kids and len(names) == len(kids) and all(kid in self.below for kid in kids):
                built[node] = {self.labels[kid]: built[kid] for kid in kids}
            else:
                built[node] = [
                    {self.labels[kid]: built[kid]} if kid in self.below else self.labels[kid] for kid in kids
                ]
        return {self.labels[ROOT]: built[ROOT]}

    def taxonomy(self) -> Taxonomy:
        """The taxonomy that a study would read; an error says why there is none."""
        return from_nested(self.nested())

    def _known(self, node: int) -> int:
        if node not in self.labels:
            raise TaxonomyError("the node is no longer there", "reload the page", code="SF-TAXONOMY-437")
        return node

    def _above(self, node: int) -> Iterator[int]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def _tops(self, nodes: Iterable[int]) -> list[int]:
        """The nodes in their order, without those below another of them; the root is never among them."""
        wanted = {self._known(node) for node in nodes} - {ROOT}
        if not wanted:
            raise TaxonomyError(
                "no node below the root is selected", "select nodes of the tree", code="SF-TAXONOMY-438"
            )
        return [n for n in self.walk() if n in wanted and not any(up in wanted for up in self._above(n))]

    def _without(self, nodes: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """What is below each node once some are taken out; a node that loses its last child becomes a leaf."""
        below, gone = dict(self.below), set(nodes)
        for parent in {self.parents[node] for node in gone}:
            below[parent] = tuple(kid for kid in below[parent] if kid not in gone)
            if not below[parent]:
                del below[parent]
        return below


@dataclass(frozen=True)
class History:
    """A tree with those before it and those that were undone: the newest, as far as memory for them is given."""

    tree: EditableTree
    past: tuple[EditableTree, ...] = ()
    future: tuple[EditableTree, ...] = ()

    def then(self, tree: EditableTree) -> "History":
        """After another edit."""
        return History(tree, _newest((*self.past, _bare(self.tree))))

    def undo(self) -> "History":
        """Before the last edit; the same where there is none."""
        return History(self.past[-1], self.past[:-1], (_bare(self.tree), *self.future)) if self.past else self

    def redo(self) -> "History":
        """After the edit that was undone last."""
        return History(self.future[0], (*self.past, _bare(self.tree)), self.future[1:]) if self.future else self


def _bare(tree: EditableTree) -> EditableTree:
    """The tree without what was computed of it, which is more than the tree: it is computed again if it comes back."""
    return replace(tree)


def _newest(trees: tuple[EditableTree, ...]) -> tuple[EditableTree, ...]:
    """The last trees that together have no more nodes than are kept; the very last however large it is."""
    kept, nodes = 0, 0
    for tree in reversed(trees[-MOST_EDITS:]):
        nodes += len(tree.labels)
        if kept and nodes > MOST_NODES:
            break
        kept += 1
    return trees[len(trees) - kept :]


def findings(
    tree: EditableTree, *, values: Sequence[str] | None = None, observed: Sequence[str] = (), widest: int | None = None
) -> list[Finding]:
    """What is the matter with a tree.

    ``values`` are those that the study declares, ``observed`` those that the table holds (for the owner's eyes), and
    ``widest`` is the number of children that a node may have.
    """
    return [*_broken(tree), *_gaps(tree, values), *_unseen(tree, observed), *_wide(tree, widest), *_uneven(tree)]


def _broken(tree: EditableTree) -> Iterator[Finding]:
    places: dict[str, list[int]] = {}
    for node in tree.walk():
        places.setdefault(tree.labels[node], []).append(node)
    for label, nodes in places.items():
        if len(nodes) > 1 and not _is_chain(tree, nodes):
            what = "leaf" if all(node not in tree.below for node in nodes) else "node"
            yield Finding(
                "problem", f"The {what} stands at {len(nodes)} places: rename or delete all but one", names=(label,)
            )
    if ROOT not in tree.below:
        yield Finding("problem", "The tree has no values below its root: add them")


def _is_chain(tree: EditableTree, nodes: Sequence[int]) -> bool:
    """Whether each stands alone below the one before, which a taxonomy may repeat a label for."""
    return all(tree.kids(upper) == (lower,) for upper, lower in pairwise(nodes))


def _gaps(tree: EditableTree, values: Sequence[str] | None) -> Iterator[Finding]:
    if values is None:
        return
    leaves = set(tree.leaves)
    missing = tuple(value for value in dict.fromkeys(values) if value not in leaves)
    if missing:
        yield Finding("problem", f"{_count(missing)} of the study {_are(missing)} not among the leaves", "add", missing)
    extra = tuple(leaf for leaf in dict.fromkeys(tree.leaves) if leaf not in set(values))
    if extra:
        few = len(extra) == 1
        text = f"{len(extra):,} {'leaf is' if few else 'leaves are'} not among the declared values of the study"
        yield Finding("problem", text, "declare", extra)


def _unseen(tree: EditableTree, observed: Sequence[str]) -> Iterator[Finding]:
    if ROOT not in tree.below or not observed:
        return
    leaves = set(tree.leaves)
    missing = tuple(value for value in dict.fromkeys(observed) if value not in leaves)
    if missing:
        yield Finding(
            "note",
            f"{_count(missing)} of the table {_are(missing)} not among the leaves",
            "add-observed",
            missing,
            owner=True,
        )


def _wide(tree: EditableTree, widest: int | None) -> Iterator[Finding]:
    wide = tuple(tree.labels[n] for n, kids in tree.below.items() if widest is not None and len(kids) > widest)
    if wide:
        yield Finding("problem", f"A node of a set may have {widest} children at most: group those of", names=wide)


def _uneven(tree: EditableTree) -> Iterator[Finding]:
    depths = {tree.depths[node] for node in tree.walk() if node not in tree.below}
    if len(depths) > 1:
        yield Finding(
            "note",
            f"Leaves stand at depths {min(depths)} to {max(depths)}. That is allowed: a leaf stands for itself until "
            "the level reaches its depth",
        )


def _count(values: Sequence[str]) -> str:
    return f"{len(values):,} {'value' if len(values) == 1 else 'values'}"


def _are(values: Sequence[str]) -> str:
    return "is" if len(values) == 1 else "are"


def shown_names(names: Sequence[str], most: int = _SHOWN) -> tuple[tuple[str, ...], int]:
    """The first names and how many more there are."""
    return tuple(names[:most]), max(len(names) - most, 0)


def _name(label: str) -> str:
    if not label.strip():
        raise TaxonomyError(
            "the name of a node is empty",
            "write a name; for records without a value use `missing`",
            code="SF-TAXONOMY-439",
        )
    return label


def _natural(label: str) -> list[tuple[int, int, str]]:
    parts = _DIGITS.split(label.casefold())
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part]
