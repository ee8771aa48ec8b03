r"""Entries of a study as people and pages write them nearly always, read fifty times faster than any YAML.

A study of 2,000 columns takes seconds to the full reader. This one knows block mappings, lists and mappings in
brackets, comments, texts in quotes without escapes, and plain texts of letters, digits and a few marks. It never
guesses: what it does not know it leaves to the full reader, and tests hold its answers to those of the full reader.

>>> compose_plain("age: {role: class, values: [a, 'b c']}  # years\n").pairs[0][1].pairs[1][1].items[1].text
'b c'
"""

import re
from typing import Final

from sfumato.study.file.yaml_nodes import Listed, Mapped, Node, NotPlainError, Scalar

_FIRST: Final = r"[\w<+./(=]"
_INNER: Final = r"[\w<>=+/.()%$;!&*|@'^~-]"
_PLAIN: Final = re.compile(rf"(?:{_FIRST}|-(?=[\w.])){_INNER}*(?: +{_INNER}+)*")
_QUOTED: Final = re.compile(r'"([^"\\\n]*)"|' + r"'([^'\n]*)'(?!')")
_SKIP: Final = re.compile(r"(?:[ \n]|(?<=[ \n])#[^\n]*)*")
_REST: Final = re.compile(r"(?: *| +#[^\n]*)(?=\n|\Z)")  # of a line: blanks, and maybe a comment
_INDENT: Final = re.compile(r"(?:(?: *| *#[^\n]*)(?:\n|\Z))*?( *)(?=[^ \n#])")  # past empty lines, to the next one
_MARKS: Final = frozenset(",]}")
_BLANKS: Final = frozenset({" ", "\n", "#", ""})
_LONGEST_NAME: Final = 1_000  # characters; YAML takes no longer name without a question mark
_DEEPEST: Final = 50


def compose_plain(text: str) -> Mapped:
    """The parts of a text that is a block mapping; raises `NotPlainError` where it may be anything else."""
    reader = _Reader(text)
    found = reader.block(0, 0)
    if found is None or reader.after(found[1]) is not None:
        raise NotPlainError
    return found[0]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self._counted = 0
        self._lines = 0
        self._end = text.find("\n") % (len(text) + 1)  # of the first line

    def line(self, at: int) -> int:
        """The number of a line; places are asked for in their order."""
        if at <= self._end:
            return 0
        if at >= self._counted:
            self._lines += self.text.count("\n", self._counted, at)
        else:
            self._lines -= self.text.count("\n", at, self._counted)
        self._counted = at
        return self._lines

    def after(self, at: int) -> tuple[int, int] | None:
        """Where the next line with something on it begins, and its indentation; ``at`` is the start of a line."""
        found = _INDENT.match(self.text, at)
        return None if found is None else (found.start(1), len(found[1]))

    def block(self, at: int, depth: int) -> tuple[Mapped, int] | None:
        """The block mapping whose first entry is on the next line, and the start of the line after it."""
        first = self.after(at)
        if first is None or depth > _DEEPEST:
            return None
        indent = first[1]
        pairs: list[tuple[Scalar, Node]] = []
        here: tuple[int, int] | None = first
        while here is not None and here[1] == indent:
            key, value, at = self.entry(here[0] + indent, indent, depth)
            pairs.append((key, value))
            here = self.after(at)
        if here is not None and here[1] > indent:
            raise NotPlainError  # a text of several lines, or something wrong
        start = pairs[0][0].start
        return Mapped(tuple(pairs), flow=False, start=start, end=pairs[-1][1].end, line=pairs[0][0].line), at

    def entry(self, at: int, indent: int, depth: int) -> tuple[Scalar, Node, int]:
        key = self.scalar(at, indent)
        if self.text[key.end : key.end + 1] != ":" or len(key.text) > _LONGEST_NAME:
            raise NotPlainError
        rest = _REST.match(self.text, key.end + 1)
        if rest is not None:  # its value is below
            below = self.after(rest.end() + 1)
            if below is None or below[1] <= indent:
                raise NotPlainError
            found = self.block(rest.end() + 1, depth + 1)
            if found is None:
                raise NotPlainError
            return key, found[0], found[1]
        if self.text[key.end + 1 : key.end + 2] != " ":
            raise NotPlainError
        start = key.end + 1
        while self.text[start] == " ":
            start += 1
        value = self.flow(start, depth + 1) if self.text[start] in "[{" else self.scalar(start, -1)
        rest = _REST.match(self.text, value.end)
        if rest is None:
            raise NotPlainError
        return key, value, rest.end() + 1

    def scalar(self, at: int, column: int) -> Scalar:
        line = 0 if at <= self._end else self.line(at)
        plain = _PLAIN.match(self.text, at)
        if plain is not None:
            return Scalar(plain[0], plain=True, start=at, end=plain.end(), line=line, column=column)
        quoted = _QUOTED.match(self.text, at)
        if quoted is None:
            raise NotPlainError
        return Scalar(quoted[quoted.lastindex or 1], plain=False, start=at, end=quoted.end(), line=line, column=column)

    def flow(self, at: int, depth: int) -> Node:
        """What begins with a bracket."""
        if depth > _DEEPEST:
            raise NotPlainError
        text, listed, line = self.text, self.text[at] == "[", self.line(at)
        close = "]" if listed else "}"
        items: list[Node] = []
        pairs: list[tuple[Scalar, Node]] = []
        place = self.skip(at + 1)
        while text[place : place + 1] != close:
            value = self.value(place, depth)
            if not listed:
                if not isinstance(value, Scalar) or text[value.end : value.end + 2] not in (": ", ":\n"):
                    raise NotPlainError
                if len(value.text) > _LONGEST_NAME:
                    raise NotPlainError
                key, value = value, self.value(self.skip(value.end + 1), depth)
                pairs.append((key, value))
            else:
                items.append(value)
            place = value.end if text[value.end : value.end + 1] in _MARKS else self.skip(value.end)
            if text[place : place + 1] == ",":
                place = self.skip(place + 1)
                if text[place : place + 1] == close:
                    raise NotPlainError
            elif text[place : place + 1] != close:
                raise NotPlainError
        if listed:
            return Listed(tuple(items), flow=True, start=at, end=place + 1, line=line)
        return Mapped(tuple(pairs), flow=True, start=at, end=place + 1, line=line)

    def value(self, at: int, depth: int) -> Node:
        if self.text[at : at + 1] in ("[", "{"):
            return self.flow(at, depth + 1)
        plain = _PLAIN.match(self.text, at) if at <= self._end else None
        if plain is not None:  # as nearly always
            return Scalar(plain[0], plain=True, start=at, end=plain.end(), line=0, column=-1)
        return self.scalar(at, -1)

    def skip(self, at: int) -> int:
        """Past blanks, line ends and comments."""
        if self.text[at : at + 1] == " " and self.text[at + 1 : at + 2] not in _BLANKS:  # as nearly always
            return at + 1
        found = _SKIP.match(self.text, at)
        assert found is not None, "it may be nothing"
        return found.end()
