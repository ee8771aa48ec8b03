"""Hierarchies of other tools: what their labels mean, and a domain in whose order they are ranges of codes."""

from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import SourceError, StudyError
from sfumato.study.file.taxonomy_file import load_taxonomy


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The hierarchy of one column: each of its labels stands for the leaves below it."""

    column: str
    tree: Taxonomy

    @classmethod
    def load(cls, column: str, path: str | Path) -> "Hierarchy":
        """Open a file with a row a leaf, leaf first and root last, or nested names as YAML."""
        if not Path(path).is_file():
            raise SourceError(
                f"there is no file {path} for the hierarchy of '{column}'",
                "check the path; it starts at the working folder",
                code="SF-SOURCE-354",
            )
        return cls(column, load_taxonomy(path))

    def leaves(self) -> dict[str, tuple[str, ...]]:
        """The leaves below each label."""
        tree = self.tree
        return {label: tree.leaves[tree.starts[n] : tree.stops[n]] for n, label in enumerate(tree.labels)}

    def domain_of(self, declared: Categories) -> Categories:
        """The declared values in the order of this hierarchy, with its nodes; no value is added or lost.

        What the hierarchy does not have (a value for missing ones, say) stands below its root. Leaves of it that the
        study does not declare are left out: no record can have them.
        """
        wanted = set(declared.taxonomy.leaves)
        pruned = _only(self.tree.nodes(), wanted)
        known = set(self.tree.leaves) & wanted
        if pruned is None or not pruned.children:
            raise StudyError(
                f"the hierarchy of '{self.column}' has none of the values that the study declares for it",
                "give the hierarchy of this column, with the study's values as its leaves",
                code="SF-STUDY-351",
            )
        rest = tuple(Node(leaf) for leaf in declared.taxonomy.leaves if leaf not in known)
        tree = Taxonomy.of(replace(pruned, children=(*pruned.children, *rest)))
        place = {leaf: code for code, leaf in enumerate(tree.leaves)}

        def moved(code: int | None) -> int | None:
            return None if code is None else place[declared.taxonomy.leaves[code]]

        return replace(declared, taxonomy=tree, missing=moved(declared.missing), other=moved(declared.other))


def _only(node: Node, leaves: set[str]) -> Node | None:
    """The part of a tree with some leaves; None if there is none of them."""
    if not node.children:
        return node if node.label in leaves else None
    kept = tuple(child for child in (_only(below, leaves) for below in node.children) if child is not None)
    return replace(node, children=kept) if kept else None
