"""YAML as it was typed: every scalar as its text, and the line of every key and item.

A study is exact about what people typed: ``0.1`` is one tenth, ``01`` is a code with a zero, ``no`` is a word. So the
YAML is only taken apart here, never converted; each field of the schema reads its own text.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sfumato.errors import StudyError
from sfumato.study.file.yaml_nodes import MOST_NODES, refuse_deep
from sfumato.study.file.yaml_tree import Path, read_entries, scalar_value
from sfumato.study.values import is_text, refuse_misunderstood


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything in a study was written, to name it in an error."""

    file: str
    lines: Mapping[Path, int] = field(default_factory=dict)

    def name(self, path: Path) -> str:
        """The file and line of what stands at ``path``, or else of the nearest thing around it.

        >>> Places("study.yaml", {(): 1, ("name",): 2}).name(("name", "first"))
        'study.yaml, line 2'
        """
        if not self.lines:
            return f"{self.file}, {'.'.join(str(part) for part in path)}" if path else self.file
        return f"{self.file}, line {self.lines[self.known(path)]}"

    def known(self, path: Path) -> Path:
        """The way to what stands at ``path``, without the parts that stand nowhere in the file."""
        known: Path = ()
        for part in path:
            if (*known, part) in self.lines:
                known = (*known, part)
        return known

    def error(self, path: Path, problem: str, fix: str, *, code: str = "") -> StudyError:
        """Make an error that names the place."""
        return StudyError(f"{self.name(path)}: {problem}", fix, code=code)

    def at(self, *path: str | int) -> "_Naming":
        """Add the place to any study error that is raised inside."""
        return _Naming(self, path)


class _Naming(AbstractContextManager[None]):
    """Several of these are entered for every attribute, and a generator takes ten times as long."""

    __slots__ = ("_path", "_places")

    def __init__(self, places: Places, path: Path) -> None:
        self._places, self._path = places, path

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StudyError):
            place = self._places.name(self._path)
            raise type(error)(f"{place}: {error.problem}", error.fix, code=error.code) from None


def parse(text: str, file: str, *, converted: frozenset[str] = frozenset()) -> tuple[object, Places]:
    """Take YAML apart into mappings, lists, texts and None (nothing written), and the line of each of them.

    Below the top-level keys in ``converted`` unquoted whole numbers, ``true`` and ``false`` are turned into values;
    other numbers stay text there too, so that none is rounded.

    >>> parse("codes: [01, no, 0.1]", "study.yaml")[0]
    {'codes': ['01', 'no', '0.1']}
    """
    with refuse_misunderstood(file):
        found = read_entries(text, converted, most=MOST_NODES)
        if found is not None:
            return found[0], Places(file, found[1])
        return _parsed(text, file, converted)


def _parsed(text: str, file: str, converted: frozenset[str]) -> tuple[object, Places]:
    reader = _Reader(file, converted)
    try:
        refuse_deep(text)
        root = YAML(typ="rt", pure=True).compose(text)
        return None if root is None else reader.read(root, ()), Places(file, reader.lines)
    except MarkedYAMLError as error:
        # What lacks its bracket is noticed far below: there the place where it began says more.
        mark = error.context_mark if "flow" in (error.context or "") else error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise StudyError(
            f"{file}{line}: this is not YAML: {error.problem or error.context}",
            "look at the indentation, brackets and quotes there",
            code="SF-STUDY-172",
        ) from None
    except YAMLError:
        raise StudyError(
            f"{file} holds characters that YAML does not allow",
            "save it as UTF-8 text without control characters",
            code="SF-STUDY-173",
        ) from None
    except RecursionError:
        raise StudyError(f"{file} is nested too deeply", "take some levels out", code="SF-STUDY-174") from None


class _Reader:
    """Walks the nodes of a YAML document and notes their lines."""

    def __init__(self, file: str, converted: frozenset[str]) -> None:
        self.file = file
        self.converted = converted
        self.lines: dict[Path, int] = {(): 1}
        self.open: set[int] = set()  # the nodes above the one being read

    def read(self, node: Node, path: Path) -> object:
        if len(self.lines) > MOST_NODES:
            raise StudyError(f"{self.file} stands for too many values", "write fewer aliases", code="SF-STUDY-175")
        if isinstance(node, ScalarNode):
            return self.scalar(node, path)
        if id(node) in self.open:
            raise self.error(
                node, "this contains itself (a cycle of aliases)", "write it out without the alias", code="SF-STUDY-176"
            )
        self.open.add(id(node))
        if isinstance(node, MappingNode):
            value: object = self.mapping(node, path)
        else:
            assert isinstance(node, SequenceNode), "YAML has scalars, mappings and sequences"
            value = self.sequence(node, path)
        self.open.discard(id(node))
        return value

    def mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self.error(
                    key, "a name is a list or a mapping", "write a plain text before the colon", code="SF-STUDY-177"
                )
            line = _line(key)
            name = str(key.value)
            if not is_text(name):
                raise self.error(key, "a name holds half a character", "write whole characters", code="SF-STUDY-178")
            if name in first:
                raise self.error(
                    key,
                    f"'{name}' is written twice, first in line {first[name]}",
                    "keep one of them, or rename one",
                    code="SF-STUDY-179",
                )
            first[name] = line
            self.lines[(*path, name)] = line
            found[name] = self.read(value, (*path, name))
        return found

    def sequence(self, node: SequenceNode, path: Path) -> list[object]:
        items: list[object] = []
        for number, item in enumerate(node.value):
            self.lines[(*path, number)] = _line(item)
            items.append(self.read(item, (*path, number)))
        return items

    def scalar(self, node: ScalarNode, path: Path) -> object:
        text = str(node.value)
        if not is_text(text):
            raise self.error(node, "this holds half a character", "write whole characters", code="SF-STUDY-180")
        return scalar_value(text, plain=node.style is None, path=path, converted=self.converted)

    def error(self, node: Node, problem: str, fix: str, *, code: str = "") -> StudyError:
        return StudyError(f"{self.file}, line {_line(node)}: {problem}", fix, code=code)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
