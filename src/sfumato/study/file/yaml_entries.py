r"""A study text taken apart into its entries, each read on its own and once: a page changes one of thousands.

An entry is a name at the left with what belongs to it, or, where that is a block mapping such as ``attributes``, a name
in that block. Entries of YAML in block style are separate texts, unless something reaches over them: a bracket or a
quote that is closed further below (then the first of them is no YAML by itself), an anchor, a tag, a directive. A text
in which anything like that may be is not taken apart at all, and is read as a whole. Tests hold both to each other.

>>> [part.name for part in compose("attributes:\n  age: {role: time}\n").parts]
['attributes']
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ruamel.yaml.error import YAMLError

from sfumato.study.file.yaml_nodes import Mapped, Node, NotPlainError, Scalar, compose_fully
from sfumato.study.file.yaml_plain import compose_plain

# Characters that end lines, or that YAML does not allow; and what may reach over entries.
_ODD: Final = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_REACHES: Final = re.compile(r"(?:^|[\s\[{,:])[&*!][^\s,\]}]|^(?:---|\.\.\.|%)", re.MULTILINE)
_TOP: Final = re.compile(r"^(?=[^\s#])", re.MULTILINE)
_NAME: Final = re.compile(r"""["'\w<(+./=-]""")
_BARE: Final = re.compile(r"""(?:"[^"\\\n]*"|[^\s"'#:\[\]{}?,&*!|>%@`-][^:#\n]*):[ ]*(?:[ ]#[^\n]*)?\n""")
_FIRST: Final = re.compile(r"(?:[ ]*(?:#[^\n]*)?\n)*([ ]+)(?=[^\s#])")
_KEPT: Final = 50_000  # entries that are remembered


@dataclass(frozen=True, slots=True)
class Entry:
    """A name and its value; places in ``key`` and ``value`` count from ``start`` and ``line``, those of its text."""

    path: tuple[str, ...]
    text: str
    start: int
    line: int
    key: Scalar = field(repr=False)
    value: Node = field(repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A block mapping whose entries were read one by one; ``text`` begins with its name."""

    name: str
    text: str
    start: int
    line: int
    key: Scalar = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)

    @property
    def head(self) -> str:
        """Its name, without its entries."""
        return self.text[: self.entries[0].start - self.start]


@dataclass(frozen=True, slots=True)
class Composed:
    """All entries of a text, in their order."""

    parts: tuple[Entry | Block, ...]


@lru_cache(maxsize=4)
def compose(text: str) -> Composed | None:
    """The entries of a text; None if it cannot be taken apart."""
    if _ODD.search(text) or _REACHES.search(text):
        return None
    starts = [found.start() for found in _TOP.finditer(text)]
    if not starts or not all(_NAME.match(text, start) for start in starts):
        return None
    if _FIRST.match(text):
        return None
    parts: list[Entry | Block] = []
    line, before = 0, 0
    try:
        for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
            line += text.count("\n", before, start)
            before = start
            part = text[start:stop]
            parts.append(_block(part, start, line) or _entry(part, start, line, ()))
    except (NotPlainError, YAMLError, RecursionError):
        return None
    names = [part.name if isinstance(part, Block) else part.key.text for part in parts]
    return Composed(tuple(parts)) if len(set(names)) == len(names) else None


def _block(text: str, start: int, line: int) -> Block | None:
    head = _BARE.match(text)
    first = None if head is None else _FIRST.match(text, head.end())
    if head is None or first is None:
        return None
    indent = first[1]
    if (
        re.compile(rf"^ {{1,{len(indent) - 1}}}[^\s#]", re.MULTILINE).search(text, head.end())
        if len(indent) > 1
        else None
    ):
        return None
    places = [found.start() for found in re.compile(rf"^{indent}(?=[^\s#])", re.MULTILINE).finditer(text, head.end())]
    if not all(_NAME.match(text, place + len(indent)) for place in places):
        return None
    key = _name(head[0])
    entries: list[Entry] = []
    counted, before = line, 0
    for place, stop in zip(places, [*places[1:], len(text)], strict=True):
        counted += text.count("\n", before, place)
        before = place
        try:
            entries.append(_entry(text[place:stop], start + place, counted, (key.text,)))
        except (NotPlainError, YAMLError, RecursionError):
            return None  # perhaps it is YAML as a whole
    names = {entry.key.text for entry in entries}
    if len(names) < len(entries) or any(entry.key.column != len(indent) for entry in entries):
        return None
    return Block(key.text, text, start, line, key, tuple(entries))


@lru_cache(maxsize=64)
def _name(head: str) -> Scalar:
    node = compose_fully(f"{head.rstrip()}\n")
    if not isinstance(node, Mapped) or len(node.pairs) != 1:
        raise NotPlainError
    return node.pairs[0][0]


def _entry(text: str, start: int, line: int, above: Sequence[str]) -> Entry:
    key, value = compose_entry(text)
    return Entry((*above, key.text), text, start, line, key, value)


@lru_cache(maxsize=_KEPT)
def compose_entry(text: str) -> tuple[Scalar, Node]:
    """The name and the value of one entry; raises what the readers raise, and `NotPlainError` where it is not one."""
    try:
        found: Node | None = compose_plain(text)
    except NotPlainError:
        found = compose_fully(text)
    if not isinstance(found, Mapped) or len(found.pairs) != 1 or found.flow:
        raise NotPlainError
    return found.pairs[0]
