"""A study file as a page edits it: an edit changes the lines of one entry, and every other byte stays as it is."""

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from sfumato.errors import StudyError, unwritable
from sfumato.study.file import study_from_text
from sfumato.study.study import Study

_PLAIN: Final = (int, float, bool, type(None))


class StudyDocument:
    """The text of a study file. Edits give a new document; `save` writes it if nobody changed the file meanwhile."""

    def __init__(self, path: Path, text: str, *, stored: str | None) -> None:
        self.path = path
        self.text = text
        self._stored = stored  # the hash of the file as it was read; None where there is no file yet

    @classmethod
    def read(cls, path: Path) -> "StudyDocument":
        """The document of a file."""
        try:
            raw = path.read_bytes()
            return cls(path, raw.decode("utf-8-sig"), stored=_hash(raw))
        except UnicodeDecodeError:
            raise StudyError(
                f"the study '{path.name}' is not UTF-8 text", "save it as UTF-8", code="SF-STUDY-138"
            ) from None
        except OSError as error:
            raise StudyError(
                f"the study '{path.name}' cannot be opened ({error.strerror})", "check the path", code="SF-STUDY-230"
            ) from None

    @property
    def version(self) -> str:
        """A name of this state of the text: a page that shows an older one must be loaded again."""
        return _hash(self.text.encode())[:16]

    def study(self) -> Study:
        """The study that the text declares; an error that names line and fix if it declares none."""
        return study_from_text(self.text, base=self.path.resolve().parent, file=self.path.name)

    def get(self, *keys: str) -> Any:
        """The plain value at a place, such as ``"attributes", "age"``; None where there is nothing."""
        found: Any = YAML(typ="safe", pure=True).load(self.text)
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def set(self, *keys: str, value: Any) -> "StudyDocument":
        """The document with another value at a place; the mapping above it must be there, or is made at the top."""
        if len(keys) > 1 and self.get(*keys[:-1]) is None:
            return self.set(*keys[:-1], value={keys[-1]: value})
        entry = _rendered(keys[-1], value)
        pair = self._find(keys)
        if pair is not None:
            key, old = pair
            return self._spliced(key.start_mark.index, _end(self.text, old), entry)
        above = self._node(keys[:-1])
        if above is None or (len(keys) == 1 and not above.value):
            return self._spliced(len(self.text), len(self.text), f"{_line_end(self.text)}{entry}\n")
        if not above.value:  # `{}` becomes a block below its key
            parent = self._find(keys[:-1])
            assert parent is not None, "it has a value"
            indent = " " * (parent[0].start_mark.column + 2)
            start = len(self.text[: above.start_mark.index].rstrip(" "))
            return self._spliced(start, above.end_mark.index, f"\n{_indented(entry, indent)}")
        last = above.value[-1]
        if above.flow_style:
            place = _end(self.text, last[1])
            return self._spliced(place, place, f", {entry}")
        indent = " " * last[0].start_mark.column
        place = _end(self.text, last[1])
        stop = self.text.find("\n", place)
        place = len(self.text) if stop < 0 else stop
        return self._spliced(place, place, f"\n{_indented(entry, indent)}")

    def set_all(self, values: Mapping[tuple[str, ...], Any]) -> "StudyDocument":
        """The document with other values at many places of mappings that are there; the text is read once."""
        root = self._node(())
        changes: dict[tuple[int, int], list[str]] = {}
        for keys, value in values.items():
            above: Node | None = root
            for key in keys[:-1]:
                found = None if above is None else _pair(above, key)
                above = None if found is None else found[1]
            if not isinstance(above, MappingNode) or not above.value:  # there is nothing to add it to: one by one
                document = self
                for where, one in values.items():
                    document = document.set(*where, value=one)
                return document
            entry, pair = _rendered(keys[-1], value), _pair(above, keys[-1])
            if pair is not None:
                changes[pair[0].start_mark.index, _end(self.text, pair[1])] = [entry]
                continue
            place = _end(self.text, above.value[-1][1])
            if above.flow_style:
                changes.setdefault((place, place), []).append(f", {entry}")
            else:
                stop = self.text.find("\n", place)
                place = len(self.text) if stop < 0 else stop
                indent = " " * above.value[-1][0].start_mark.column
                changes.setdefault((place, place), []).append(f"\n{_indented(entry, indent)}")
        text = self.text
        for (start, stop), entries in sorted(changes.items(), reverse=True):
            text = text[:start] + "".join(entries) + text[stop:]
        return StudyDocument(self.path, text, stored=self._stored)

    def remove(self, *keys: str) -> "StudyDocument":
        """The document without an entry, with its lines; nothing changes where there is none."""
        pair = self._find(keys)
        if pair is None:
            return self
        above = self._node(keys[:-1])
        assert above is not None, "it has the entry"
        key, value = pair
        start, stop = key.start_mark.index, _end(self.text, value)
        if len(above.value) == 1:
            return self.remove(*keys[:-1]) if len(keys) > 1 else self
        if above.flow_style:
            after = self.text.find(",", stop) if above.value[-1][0] is not key else -1
            if after >= 0:
                return self._spliced(start, len(self.text[: after + 1]) + _blanks(self.text, after + 1), "")
            before = self.text.rfind(",", 0, start)
            return self._spliced(before, stop, "")
        start = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", stop)
        return self._spliced(start, len(self.text) if end < 0 else end + 1, "")

    def save(self) -> "StudyDocument":
        """Write the file as a whole; refused if somebody else changed it since it was read."""
        try:
            now = _hash(self.path.read_bytes()) if self.path.exists() else None
            if now != self._stored:
                raise StudyError(
                    f"the study '{self.path.name}' was changed by another page or program",
                    "reload this page, and make the change again",
                    code="SF-STUDY-231",
                )
            partial = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            raw = self.text.encode()
            partial.write_bytes(raw)
            partial.replace(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from None
        return StudyDocument(self.path, self.text, stored=_hash(raw))

    def _spliced(self, start: int, stop: int, text: str) -> "StudyDocument":
        return StudyDocument(self.path, self.text[:start] + text + self.text[stop:], stored=self._stored)

    def _node(self, keys: Sequence[str]) -> MappingNode | None:
        try:
            found: Node | None = YAML(typ="rt", pure=True).compose(io.StringIO(self.text))
        except YAMLError as error:
            raise StudyError(
                f"the study '{self.path.name}' is not YAML", "correct it in an editor", code="SF-STUDY-232"
            ) from error
        for key in keys:
            pair = None if found is None else _pair(found, key)
            found = None if pair is None else pair[1]
        return found if isinstance(found, MappingNode) else None

    def _find(self, keys: Sequence[str]) -> tuple[Node, Node] | None:
        above = self._node(keys[:-1])
        return None if above is None else _pair(above, keys[-1])


def _pair(node: Node, key: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return next(((k, v) for k, v in node.value if isinstance(k, ScalarNode) and k.value == key), None)


def _end(text: str, node: Node) -> int:
    """Where a value ends: a block's mark stands before the next entry, after comments that are not its own."""
    if not isinstance(node, CollectionNode) or node.flow_style:
        return int(node.end_mark.index)
    last = node.value[-1] if node.value else None
    if last is None:
        return int(node.end_mark.index)
    return _end(text, last[1] if isinstance(last, tuple) else last)


def _rendered(key: str, value: Any) -> str:
    """One entry in YAML, its value on the same line."""
    out = io.StringIO()
    yaml = YAML(typ="rt", pure=True)
    yaml.width = 1 << 30
    yaml.allow_unicode = True
    yaml.dump(CommentedMap({_text(key): _flow(value)}), out)
    return out.getvalue().removesuffix("\n")


def _flow(value: Any) -> Any:
    if isinstance(value, Mapping):
        found = CommentedMap({_text(str(key)): _flow(inner) for key, inner in value.items()})
        found.fa.set_flow_style()
        return found
    if isinstance(value, (list, tuple)):
        listed = CommentedSeq([_flow(inner) for inner in value])
        listed.fa.set_flow_style()
        return listed
    return value if isinstance(value, _PLAIN) and not isinstance(value, str) else _text(value)


def _text(value: Any) -> Any:
    """Text that YAML would read as something else, or that breaks a line, stands in quotes."""
    text = str(value)
    if type(value) is not str:
        return text
    try:
        same = YAML(typ="safe", pure=True).load(text) == text
    except YAMLError:
        same = False
    plain = same and not any(mark in text for mark in ",[]{}#:\n\r") and text == text.strip() and text
    return text if plain else DoubleQuotedScalarString(text)


def _indented(entry: str, indent: str) -> str:
    return "\n".join(f"{indent}{line}" for line in entry.split("\n"))


def _blanks(text: str, start: int) -> int:
    return len(text) - start - len(text[start:].lstrip(" "))


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
