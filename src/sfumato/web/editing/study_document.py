"""A study file as a page edits it: an edit changes the lines of one entry, and every other byte stays as it is."""

import hashlib
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sfumato.errors import SfumatoError, StudyError, unwritable
from sfumato.study.file import study_from_text
from sfumato.study.file.yaml_entries import Block, compose
from sfumato.study.file.yaml_nodes import NotPlainError, refuse_too_much
from sfumato.study.study import Study
from sfumato.web.editing.study_places import Held, Pairs, find, pairs_of, pairs_of_entry
from sfumato.web.editing.whole_files import locked, replace_file
from sfumato.web.editing.yaml_text import entry_line


class StudyDocument:
    """The text of a study file. Edits give a new document; `save` writes it if nobody changed the file meanwhile."""

    def __init__(self, path: Path, text: str, *, stored: str | None) -> None:
        self.path = path
        self.text = text
        self._stored = stored  # the hash of the file as it was read; None where there is no file yet
        self._held: Pairs | None = None  # the entries of the text, where they are known already

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
        base, file = self.path.resolve().parent, self.path.name
        if self.text.count("taxonomy") != self.text.count("taxonomy: {"):  # a file may have changed without the text
            return study_from_text(self.text, base=base, file=file)
        found = _declared(self.text, base, file)
        if isinstance(found, SfumatoError):
            raise found
        return found

    def get(self, *keys: str) -> Any:
        """The plain value at a place, such as ``"attributes", "age"``; None where there is nothing."""
        try:
            found: Any = _loaded(self._part(keys))
        except (YAMLError, NotPlainError, RecursionError):
            raise self._unreadable() from None
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def around(self, *keys: str) -> tuple[str, str, str]:
        """The text before an entry, the entry, and the text after it; all before, where there is no such entry."""
        try:
            held = find(self._root(), keys) if keys else None
        except StudyError:  # it is no YAML
            held = None
        if held is None:
            return self.text, "", ""
        return self.text[: held.start], self.text[held.start : held.end], self.text[held.end :]

    def names(self, *keys: str) -> list[str]:
        """The names in the mapping at a place."""
        held = find(self._root(), keys)
        below = None if held is None else held.below
        return [] if below is None else [one.key.text for one in below.held]

    def set(self, *keys: str, value: Any) -> "StudyDocument":
        """The document with another value at a place; the mapping above it must be there, or is made at the top."""
        return self.set_all({keys: value})

    def set_all(self, values: Mapping[tuple[str, ...], Any]) -> "StudyDocument":
        """The document with other values at many places; the text is read once where the mappings are there."""
        root = self._root()
        changes: dict[tuple[int, int], list[str]] = {}
        known: dict[tuple[str, ...], tuple[Pairs | None, dict[str, Held]]] = {}
        for keys, value in values.items():
            if keys[:-1] not in known:
                held = find(root, keys[:-1]) if len(keys) > 1 else None
                above = root if len(keys) == 1 else None if held is None else held.below
                known[keys[:-1]] = above, {} if above is None else above.named()
            above, named = known[keys[:-1]]
            if above is None or not above.held:  # there is nothing to add it to: one by one
                document = self
                for where, one in values.items():
                    document = document._set_alone(where, one)
                return document
            place, text = self._change(above, named.get(keys[-1]), entry_line(keys[-1], value))
            changes.setdefault(place, []).append(text)
        return self._spliced({place: "".join(texts) for place, texts in changes.items()})

    def _change(self, above: Pairs, old: Held | None, entry: str) -> tuple[tuple[int, int], str]:
        """Where a text is to be replaced, and by what, so that a mapping has an entry."""
        if old is not None:
            return (old.start, old.end), entry
        last = above.held[-1]
        if above.flow:
            return (last.end, last.end), f", {entry}"
        stop = self.text.find("\n", last.end)
        place = len(self.text) if stop < 0 else stop
        return (place, place), f"\n{' ' * last.key.column}{entry}"

    def _set_alone(self, keys: tuple[str, ...], value: Any) -> "StudyDocument":
        root = self._root()
        parent = find(root, keys[:-1]) if len(keys) > 1 else None
        if len(keys) > 1 and (parent is None or parent.nothing):
            return self._set_alone(keys[:-1], {keys[-1]: value})
        above = root if len(keys) == 1 else None if parent is None else parent.below
        entry = entry_line(keys[-1], value)
        if above is not None and above.held:
            place, text = self._change(above, above.get(keys[-1]), entry)
            return self._spliced({place: text})
        if above is None or parent is None:
            end = len(self.text)
            return self._spliced({(end, end): f"{_line_end(self.text)}{entry}\n"})
        indent = " " * (parent.key.column + 2)  # `{}` becomes a block below its key
        start = len(self.text[: above.start].rstrip(" "))
        return self._spliced({(start, above.end): f"\n{indent}{entry}"})

    def remove(self, *keys: str) -> "StudyDocument":
        """The document without an entry, with its lines; nothing changes where there is none."""
        root = self._root()
        parent = find(root, keys[:-1]) if len(keys) > 1 else None
        above = root if len(keys) == 1 else None if parent is None else parent.below
        held = None if above is None else above.get(keys[-1])
        if above is None or held is None:
            return self
        if len(above.held) == 1:
            return self.remove(*keys[:-1]) if len(keys) > 1 else self
        start, stop = held.start, held.end
        if above.flow:
            after = self.text.find(",", stop) if above.held[-1].start != start else -1
            if after >= 0:
                return self._spliced({(start, after + 1 + _blanks(self.text, after + 1)): ""})
            return self._spliced({(self.text.rfind(",", 0, start), stop): ""})
        start = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", stop)
        return self._spliced({(start, len(self.text) if end < 0 else end + 1): ""})

    def remove_all(self, block: str, names: Collection[str]) -> "StudyDocument":
        """The document without many entries of a mapping that keeps others."""
        held = find(self._root(), (block,))
        inside = None if held is None else held.below
        if held is None or inside is None or not isinstance(held.value, Block):
            document = self
            for name in names:
                document = document.remove(block, name)
            return document
        changes = {}
        for one in inside.held:
            if one.key.text in names:
                end = self.text.find("\n", one.end)
                changes[self.text.rfind("\n", 0, one.start) + 1, len(self.text) if end < 0 else end + 1] = ""
        return self._spliced(changes)

    def rewritten(
        self, block: str, edits: Mapping[str, Callable[["StudyDocument", tuple[str, ...]], "StudyDocument"]]
    ) -> "StudyDocument":
        """The document with edits of many entries of a block, in one pass where each entry is a text of its own.

        An edit gets a document and the keys that lead to the block in it, and changes nothing but its entry.
        """
        found = compose(self.text)
        blocks = () if found is None else found.parts
        inside = next((part for part in blocks if isinstance(part, Block) and part.name == block), None)
        if inside is None or not set(edits) <= {entry.key.text for entry in inside.entries}:
            document = self
            for edit in edits.values():
                document = edit(document, (block,))
            return document
        changes = {}
        for entry in inside.entries:
            if entry.key.text in edits:
                alone = StudyDocument(self.path, entry.text, stored=None)
                alone._held = pairs_of_entry(entry.key, entry.value)
                text = edits[entry.key.text](alone, ()).text
                changes[entry.start, entry.start + len(entry.text)] = text
        return self._spliced(changes)

    def save(self) -> "StudyDocument":
        """Write the file as a whole; refused if somebody else changed it since it was read.

        The folder is locked for the moment between looking and writing, so that of two pages, or two workbenches, that
        save at once the second is refused. An editor that knows nothing of the lock can still write in that moment.
        """
        raw = self.text.encode()
        try:
            with locked(self.path.parent):
                now = _hash(self.path.read_bytes()) if self.path.exists() else None
                if now != self._stored:
                    raise StudyError(
                        f"the study '{self.path.name}' was changed by another page or program",
                        "reload this page, and make the change again",
                        code="SF-STUDY-231",
                    )
                replace_file(self.path, raw)
        except OSError as error:
            raise unwritable(self.path, error) from None
        return StudyDocument(self.path, self.text, stored=_hash(raw))

    def _part(self, keys: Sequence[str]) -> str:
        """The smallest text that holds a place."""
        found = compose(self.text) if keys else None
        for part in () if found is None else found.parts:
            if not isinstance(part, Block):
                if part.key.text == keys[0]:
                    return part.text
            elif part.name == keys[0]:
                if len(keys) == 1:
                    return part.text
                one = next((entry for entry in part.entries if entry.key.text == keys[1]), None)
                return f"{part.head}{one.text}" if one is not None else part.head
        return "" if found is not None else self.text

    def _spliced(self, changes: Mapping[tuple[int, int], str]) -> "StudyDocument":
        pieces, at = [], 0
        for (start, stop), text in sorted(changes.items()):
            pieces += [self.text[at:start], text]
            at = stop
        return StudyDocument(self.path, "".join([*pieces, self.text[at:]]), stored=self._stored)

    def _root(self) -> Pairs | None:
        if self._held is not None:
            return self._held
        try:
            return pairs_of(self.text)
        except (YAMLError, NotPlainError, RecursionError):
            raise self._unreadable() from None

    def _unreadable(self) -> StudyError:
        """The text is no YAML, or one that stands for more than anybody means."""
        return StudyError(f"the study '{self.path.name}' is not YAML", "correct it in an editor", code="SF-STUDY-232")


@lru_cache(maxsize=8)
def _declared(text: str, base: Path, file: str) -> Study | SfumatoError:
    try:
        return study_from_text(text, base=base, file=file)
    except SfumatoError as error:
        return error.with_traceback(None)


@lru_cache(maxsize=64)
def _loaded(text: str) -> Any:
    refuse_too_much(text)
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


def _blanks(text: str, start: int) -> int:
    return len(text) - start - len(text[start:].lstrip(" "))


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def entry_hash(document: StudyDocument, *keys: str) -> str:
    """A name of what the file says at a place, to notice that it was changed elsewhere meanwhile."""
    return hashlib.sha256(repr(document.get(*keys) if keys[-1] else None).encode()).hexdigest()[:16]
