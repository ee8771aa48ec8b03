"""Entries of a study as plain mappings, lists and texts, with the line of each of them; see `yaml_entries`."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from sfumato.study.file.yaml_entries import Block, Entry, compose, compose_entry
from sfumato.study.file.yaml_nodes import Listed, Node, NotPlainError, Scalar
from sfumato.study.values import is_text

Path = tuple[str | int, ...]

_NOTHING: Final = {"", "~", "null"}
_MOST_DIGITS: Final = 40  # of what is taken for a whole number
_INTEGER: Final = re.compile(r"[+-]?(?:0|[1-9]\d*)")
_KEPT: Final = 50_000  # entries that are remembered


def scalar_value(text: str, *, plain: bool, path: Path, converted: frozenset[str]) -> object:
    """What a scalar says: its text, or nothing; below converted keys also a whole number, true or false."""
    listed = bool(path) and isinstance(path[-1], int)
    if plain and (text == "" or (text.lower() in _NOTHING and not listed)):
        return None
    if plain and path and path[0] in converted:
        if _INTEGER.fullmatch(text) and len(text) <= _MOST_DIGITS:
            return int(text)
        if text in ("true", "false"):
            return text == "true"
    return text


class Lines(Mapping[Path, int]):
    """The line of everything in a text: the lines inside an entry are kept with it, and shifted when asked for."""

    def __init__(self, own: Mapping[Path, int], entries: Mapping[Path, tuple[Mapping[Path, int], int]]) -> None:
        self._own = own  # of the text and of blocks
        self._entries = entries  # by the path of an entry: the lines in it, and the line above it
        self._size = len(own) + sum(len(lines) for lines, _ in entries.values())

    def __getitem__(self, path: Path) -> int:
        for size in (1, 2):
            found = self._entries.get(path[:size])
            if found is not None and path in found[0]:
                return found[0][path] + found[1]
        return self._own[path]

    def __iter__(self) -> Iterator[Path]:
        yield from self._own
        for lines, _ in self._entries.values():
            yield from lines

    def __len__(self) -> int:
        return self._size


def read_entries(text: str, converted: frozenset[str], *, most: int) -> tuple[object, Lines] | None:
    """The tree and the lines of a text that can be taken apart; None if it cannot, or if anything is wrong with it.

    What is remembered is not what is given: that may be changed.
    """
    composed = compose(text)
    if composed is None:
        return None
    tree: dict[str, object] = {}
    own: dict[Path, int] = {(): 1}
    entries: dict[Path, tuple[Mapping[Path, int], int]] = {}
    try:
        for part in composed.parts:
            if isinstance(part, Block):
                inner: dict[str, object] = {}
                for entry in part.entries:
                    inner[entry.key.text], entries[entry.path] = _read(entry, converted)
                tree[part.name] = inner
                own[part.name,] = part.line + 1
            else:
                tree[part.key.text], entries[part.path] = _read(part, converted)
    except NotPlainError:
        return None
    lines = Lines(own, entries)
    return (tree, lines) if len(lines) <= most else None


def _read(entry: Entry, converted: frozenset[str]) -> tuple[object, tuple[Mapping[Path, int], int]]:
    value, lines = _tree(entry.text, entry.path[:-1], converted if entry.path[0] in converted else frozenset())
    return _copied(value), (lines, entry.line)


@lru_cache(maxsize=_KEPT)
def _tree(text: str, above: Path, converted: frozenset[str]) -> tuple[object, Mapping[Path, int]]:
    key, value = compose_entry(text)
    lines: dict[Path, int] = {}
    _checked(key.text)
    path = (*above, key.text)
    lines[path] = key.line + 1
    return _value(value, path, lines, converted), lines


def _value(node: Node, path: Path, lines: dict[Path, int], converted: frozenset[str]) -> object:
    if isinstance(node, Scalar):
        return scalar_value(_checked(node.text), plain=node.plain, path=path, converted=converted)
    if isinstance(node, Listed):
        items: list[object] = []
        for number, item in enumerate(node.items):
            below: Path = (*path, number)
            lines[below] = item.line + 1
            items.append(_value(item, below, lines, converted))
        return items
    found: dict[str, object] = {}
    for key, value in node.pairs:
        if _checked(key.text) in found:
            raise NotPlainError
        below = (*path, key.text)
        lines[below] = key.line + 1
        found[key.text] = _value(value, below, lines, converted)
    return found


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _checked(text: str) -> str:
    if not (text.isascii() or is_text(text)):
        raise NotPlainError
    return text
