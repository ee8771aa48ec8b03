"""Parts of a YAML text with their places, as light as reading and editing a study needs them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as FullNode

MOST_NODES: Final = 500_000
"""Values that a text may stand for: a few lines of aliases can stand for more than fit into memory."""
# Brackets that open one after another: the library looks at all of them again at each of them.
_DEEP: Final = re.compile(r"(?:[\[{]\s*(?:[&!][^\s\[\]{},]*\s+)*){100}")


class Scalar(NamedTuple):
    """A text; ``plain`` if it stands without quotes. Places count from the start of the text that was composed."""

    text: str
    plain: bool
    start: int
    end: int
    line: int  # the first is 0
    column: int


class Listed(NamedTuple):
    """A sequence."""

    items: tuple["Node", ...]
    flow: bool
    start: int
    end: int
    line: int


class Mapped(NamedTuple):
    """A mapping; names that are no texts are left to the reader of the whole file to refuse."""

    pairs: tuple[tuple[Scalar, "Node"], ...]
    flow: bool
    start: int
    end: int
    line: int


Node = Scalar | Listed | Mapped


class NotPlainError(Exception):
    """What only the full reader of YAML understands, or what is no YAML."""


def compose_fully(text: str) -> Node | None:
    """The parts of any YAML; None where nothing is written. Errors are those of the library."""
    root = compose_bounded(text)
    return None if root is None else _light(root, set())


def refuse_too_much(text: str) -> None:
    """Raise `NotPlainError` or `RecursionError` where loading a text could take memory or time without end."""
    if "*" in text:
        compose_bounded(text)
    else:
        refuse_deep(text)


def compose_bounded(text: str) -> FullNode | None:
    """The nodes of a YAML text, unless it stands for too many values; a `RecursionError` where it is nested deeply."""
    refuse_deep(text)
    root: FullNode | None = YAML(typ="rt", pure=True).compose(text)
    if root is not None and "*" in text and _size(root, {}) > MOST_NODES:
        raise NotPlainError
    return root


def refuse_deep(text: str) -> None:
    """Raise what the library raises in the end, before it has spent seconds on it."""
    if _DEEP.search(text):
        raise RecursionError


def _size(node: FullNode, known: dict[int, int | None]) -> int:
    """How many values a node stands for, counted once for all aliases of it."""
    if isinstance(node, ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = None
        below = [part for pair in node.value for part in pair] if isinstance(node, MappingNode) else node.value
        known[id(node)] = 1 + sum(_size(part, known) for part in below)
    found = known[id(node)]
    if found is None:  # it contains itself
        raise NotPlainError
    return found


def _light(node: FullNode, opened: set[int]) -> Node:
    start, line = int(node.start_mark.index), int(node.start_mark.line)
    if isinstance(node, ScalarNode):
        end, column = int(node.end_mark.index), int(node.start_mark.column)
        return Scalar(str(node.value), node.style is None, start, end, line, column)
    if id(node) in opened:
        raise NotPlainError
    opened.add(id(node))
    found: Node
    assert isinstance(node, CollectionNode), "YAML has scalars, mappings and sequences"
    flow = bool(node.flow_style)
    if isinstance(node, MappingNode):
        pairs = tuple(_pairs(node, opened))
        found = Mapped(pairs, flow, start, _end(node, pairs[-1][1] if pairs else None), line)
    else:
        assert isinstance(node, SequenceNode), "of collections only these two"
        items = tuple(_light(item, opened) for item in node.value)
        found = Listed(items, flow, start, _end(node, items[-1] if items else None), line)
    opened.discard(id(node))
    return found


def _pairs(node: MappingNode, opened: set[int]) -> Iterator[tuple[Scalar, Node]]:
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise NotPlainError
        name = _light(key, opened)
        assert isinstance(name, Scalar), "of a scalar"
        yield name, _light(value, opened)


def _end(node: CollectionNode, last: Node | None) -> int:
    """Where a collection ends: a block's mark stands before the next entry, after comments that are not its own."""
    return int(node.end_mark.index) if node.flow_style or last is None else last.end
