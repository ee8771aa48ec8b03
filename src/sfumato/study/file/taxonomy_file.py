"""Taxonomy files: CSV with a row per leaf, or nested YAML (JSON is YAML too)."""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from sfumato.domains.taxonomy.text import from_csv, from_nested, lines_of_labels, to_nested
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import TaxonomyError
from sfumato.study.file.yaml_lines import Places, parse
from sfumato.study.values import refuse_misunderstood

NESTED = (".yaml", ".yml", ".json")
_SHOWN = 3  # lines that an error names
_SIMPLE = re.compile(r"\w(?:[\w .-]*\w)?")


def load_taxonomy(path: str | Path) -> Taxonomy:
    """Open a taxonomy file: nested if its name ends as YAML or JSON do, else CSV."""
    file = Path(path)
    try:
        raw = file.read_bytes()
    except (OSError, ValueError) as error:  # no path has half a character or a zero byte in it
        raise TaxonomyError(
            f"the taxonomy '{path}' cannot be opened ({getattr(error, 'strerror', None) or 'no reason given'})",
            "check the name: it is relative to the study file",
            code="SF-TAXONOMY-049",
        ) from None
    return parse_taxonomy(_decoded(raw), file.name)


def parse_taxonomy(text: str, name: str) -> Taxonomy:
    """Read the text of a taxonomy file; its name says which form it has, and stands in errors.

    >>> parse_taxonomy("Any: {North: [Canada], South: }", "region.yaml").leaves
    ('Canada', 'South')
    """
    with refuse_misunderstood(name):
        return _parsed(text, name)


def _parsed(text: str, name: str) -> Taxonomy:
    if not name.lower().endswith(NESTED):
        try:
            return from_csv(text)
        except TaxonomyError as error:
            raise _placed(error, name, lines_of_labels(text, error.labels)) from None
    tree, places = parse(text, name)
    try:
        return from_nested(tree)
    except TaxonomyError as error:
        raise _placed(error, name, _nested_lines(tree, places, error.labels) or [1]) from None


def _placed(error: TaxonomyError, name: str, lines: Sequence[int]) -> TaxonomyError:
    """The same error with the file and the lines where what is wrong stands, the first few of them."""
    shown = [str(line) for line in lines[:_SHOWN]]
    where = f", line{'s' * (len(shown) > 1)} {' and '.join(shown)}" if shown else ""
    return TaxonomyError(f"{name}{where}: {error.problem}", error.fix, code=error.code)


def _nested_lines(tree: object, places: Places, labels: Sequence[str]) -> list[int]:
    """The lines in which labels stand as names or in lists."""
    found: list[int] = []
    todo: list[tuple[object, tuple[str | int, ...]]] = [(tree, ())]
    while todo:
        part, path = todo.pop()
        if isinstance(part, Mapping):
            below = [(name, value, (*path, name)) for name, value in part.items()]
        elif isinstance(part, list):
            below = [(value, value, (*path, number)) for number, value in enumerate(part)]
        else:
            continue
        found += [places.lines[way] for name, _, way in below if name in labels]
        todo += [(value, way) for _, value, way in below]
    return sorted(set(found))


def taxonomy_to_yaml(taxonomy: Taxonomy) -> str:
    r"""Write a taxonomy as nested YAML.

    >>> taxonomy_to_yaml(from_nested({"Any": {"North": ["Canada"], "South": None}}))
    'Any:\n  North: [Canada]\n  South:\n'
    """
    out = StringIO()
    writer().dump(in_flow_lists(to_nested(taxonomy)), out)
    return out.getvalue()


def writer() -> YAML:
    """Give the one YAML writer, which keeps comments and quotes of what it has read."""
    yaml = YAML(typ="rt", pure=True)
    yaml.width = 120
    yaml.preserve_quotes = True
    return yaml


def in_flow_lists(value: object) -> object:
    """Copy nested values so that lists are written in brackets, mappings in blocks, and odd texts in quotes."""
    yaml = YAML(typ="rt", pure=True)
    if isinstance(value, Mapping):
        block = yaml.map()
        for key, below in value.items():
            block[in_flow_lists(key)] = in_flow_lists(below)
        return block
    if isinstance(value, list | tuple):
        brackets = yaml.seq([in_flow_lists(item) for item in value])
        brackets.fa.set_flow_style()
        return brackets
    if isinstance(value, str) and not _SIMPLE.fullmatch(value):
        return DoubleQuotedScalarString(value)  # the writer leaves `?0` bare, and bare it is no text
    return value


def _decoded(raw: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark, UTF-16 with one, or else Latin-1 (which fits any bytes)."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
