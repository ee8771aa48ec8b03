"""A learnt tree with the public domains it is over, as a value and as JSON that can be published."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from sfumato.domains.domain import Categories, Domain
from sfumato.domains.json_form import domain_from_json, domain_to_json
from sfumato.errors import InternalError, SfumatoError, VerifyError
from sfumato.interactive.decision_tree import Floats, Integers, Node, Tree

FORMAT: Final = "sfumato-tree"
VERSION: Final = 1
MOST_DEPTH: Final = 1_000
MOST_COUNT: Final = 2**62
"""Of records at a node, noise included."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """The tree, the domains of its predictors, the class, and what is told of how it was made.

    All of it may be published: the domains are declared and the tree is made of outputs of mechanisms.
    """

    tree: Tree
    domains: Mapping[str, Domain]
    target: str
    target_domain: Categories
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values, in code order."""
        return self.target_domain.taxonomy.leaves

    def shares(self, codes: Mapping[str, Integers]) -> Floats:
        """The share of each class where each record ends."""
        found: Floats = self.tree.shares[self.tree.leaf_of(codes)]
        return found

    def predict(self, codes: Mapping[str, Integers]) -> Integers:
        """The code of the class that each record is predicted to have."""
        found: Integers = self.shares(codes).argmax(axis=1).astype(np.int64)
        return found

    def to_text(self) -> str:
        """The tree for people, a line a branch."""
        return "\n".join(self.tree.lines(self.domains, self.classes))

    def to_json(self) -> dict[str, Any]:
        """Plain values; noisy counts and public domains alone."""
        return {
            "format": FORMAT,
            "version": VERSION,
            **self.facts,
            "class": {"name": self.target, "domain": domain_to_json(self.target_domain)},
            "attributes": [{"name": name, "domain": domain_to_json(d)} for name, d in self.domains.items()],
            "nodes": [_node_to_json(node) for node in self.tree.nodes],
        }

    def to_text_json(self) -> str:
        """The same as the text of a file."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, content: Any) -> "Model":
        """Read what `to_json` gave; refuses anything else."""
        if not isinstance(content, Mapping) or content.get("format") != FORMAT or content.get("version") != VERSION:
            raise VerifyError(
                f"this is not a {FORMAT} of version {VERSION}", "give a file that `learn` wrote", code="SF-VERIFY-031"
            )
        own = {"format", "version", "class", "attributes", "nodes"}
        try:
            target = domain_from_json(content["class"]["domain"])
            if not isinstance(target, Categories):
                raise _broken("the class has no list of values", code="SF-VERIFY-032")
            model = cls(
                tree=Tree(tuple(_node_from_json(node) for node in content["nodes"])),
                domains={str(one["name"]): domain_from_json(one["domain"]) for one in content["attributes"]},
                target=str(content["class"]["name"]),
                target_domain=target,
                facts={key: value for key, value in content.items() if key not in own},
            )
        except InternalError as error:
            raise _broken(error.problem, code="SF-VERIFY-033") from None
        except SfumatoError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise _broken("a part of it is missing or of the wrong kind", code="SF-VERIFY-034") from None
        model.refuse_unsound()
        return model

    def refuse_unsound(self) -> None:
        """The nodes count every class, and ask for attributes that are there, by ranges of their codes."""
        if self.tree.depth > MOST_DEPTH:
            raise _broken(f"the tree is deeper than {MOST_DEPTH:,} levels", code="SF-VERIFY-035")
        for node in self.tree.nodes:
            if any(abs(count) > MOST_COUNT for count in node.counts):
                raise _broken("a node has a count that no table has", code="SF-VERIFY-036")
            if len(node.counts) != len(self.classes):
                raise _broken("a node does not count every class", code="SF-VERIFY-037")
            if node.attribute is None:
                continue
            domain = self.domains.get(node.attribute)
            if domain is None:
                raise _broken("a node splits on an attribute that the model does not have", code="SF-VERIFY-038")
            edges = [node.ranges[0][0], *(stop for _, stop in node.ranges)]
            joined = list(pairwise(edges))
            if joined != list(node.ranges) or any(a >= b for a, b in joined) or edges[0] < 0 or edges[-1] > domain.size:
                raise _broken("a node's ranges are not those of a split", code="SF-VERIFY-039")


def _node_to_json(node: Node) -> dict[str, Any]:
    told: dict[str, Any] = {"counts": list(node.counts)}
    if node.attribute is not None:
        told |= {"attribute": node.attribute, "ranges": [list(r) for r in node.ranges], "children": list(node.children)}
    return told


def _node_from_json(told: Mapping[str, Any]) -> Node:
    counts = tuple(_whole(count) for count in told["counts"])
    if "attribute" not in told:
        return Node(counts)
    ranges = tuple((_whole(start), _whole(stop)) for start, stop in told["ranges"])
    return Node(counts, str(told["attribute"]), ranges, tuple(_whole(child) for child in told["children"]))


def _whole(value: object) -> int:
    if type(value) is not int:
        raise _broken("a number of the tree is not whole", code="SF-VERIFY-040")
    return value


def _broken(problem: str, *, code: str = "") -> VerifyError:
    return VerifyError(f"the model cannot be read: {problem}", "get it again from who published it", code=code)
