"""Where the entries of a study text stand, for edits; entries may have been read one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ruamel.yaml.error import YAMLError

from sfumato.study.file.yaml_entries import Block, compose, compose_entry
from sfumato.study.file.yaml_nodes import Mapped, Node, NotPlainError, Scalar, compose_fully

_NOTHING: Final = frozenset({"", "~", "null"})


@dataclass(frozen=True, slots=True)
class Held:
    """A name with its value."""

    key: Scalar
    value: Node | Block
    offset: int  # of the places in key and value

    @property
    def start(self) -> int:
        """Where the name begins."""
        return self.offset + self.key.start

    @property
    def end(self) -> int:
        """Where the value ends, before blanks and comments."""
        if isinstance(self.value, Block):
            last = self.value.entries[-1]
            return last.start + last.value.end
        return self.offset + self.value.end

    @property
    def nothing(self) -> bool:
        """Whether there is a name without a value."""
        return isinstance(self.value, Scalar) and self.value.plain and self.value.text.lower() in _NOTHING

    @property
    def below(self) -> "Pairs | None":
        """Its value, if that is a mapping."""
        value = self.value
        if isinstance(value, Block):
            inner = tuple(Held(e.key, e.value, e.start) for e in value.entries)
            return Pairs(inner, flow=False, start=inner[0].start, end=self.end)
        if not isinstance(value, Mapped):
            return None
        return _pairs(value, self.offset)


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping."""

    held: tuple[Held, ...]
    flow: bool
    start: int
    end: int

    def get(self, name: str) -> Held | None:
        """The entry with a name; the first, where there are more."""
        return next((one for one in self.held if one.key.text == name), None)

    def named(self) -> dict[str, Held]:
        """The entries by their names."""
        return {one.key.text: one for one in reversed(self.held)}


def pairs_of(text: str) -> Pairs | None:
    """The mapping that a text is; None if it is none. Errors of the library pass."""
    composed = compose(text)
    if composed is not None:
        parts = tuple(
            Held(part.key, part, part.start) if isinstance(part, Block) else Held(part.key, part.value, part.start)
            for part in composed.parts
        )
        return Pairs(parts, flow=False, start=parts[0].start, end=parts[-1].end)
    try:
        key, value = compose_entry(text)
    except (NotPlainError, YAMLError):
        root = compose_fully(text)
        return _pairs(root, 0) if isinstance(root, Mapped) else None
    return pairs_of_entry(key, value)


def pairs_of_entry(key: Scalar, value: Node) -> Pairs:
    """The mapping that the text of one entry is."""
    held = (Held(key, value, 0),)
    return Pairs(held, flow=False, start=held[0].start, end=held[0].end)


def find(root: Pairs | None, keys: Sequence[str]) -> Held | None:
    """The entry at a place."""
    above = root
    for key in keys[:-1]:
        held = None if above is None else above.get(key)
        above = None if held is None else held.below
    return None if above is None else above.get(keys[-1])


def _pairs(node: Mapped, offset: int) -> Pairs:
    return Pairs(tuple(Held(k, v, offset) for k, v in node.pairs), node.flow, offset + node.start, offset + node.end)
