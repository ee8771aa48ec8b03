"""Taxonomy files: CSV with a row per leaf, or nested YAML (JSON is YAML too)."""

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from sfumato.core.taxonomy import Taxonomy
from sfumato.core.taxonomy_text import from_csv, from_nested, to_nested
from sfumato.errors import TaxonomyError
from sfumato.read.yaml_lines import Places, parse

NESTED = (".yaml", ".yml", ".json")
_SIMPLE = re.compile(r"\w(?:[\w .-]*\w)?")


def load_taxonomy(path: str | Path) -> Taxonomy:
    """Open a taxonomy file: nested if its name ends as YAML or JSON do, else CSV."""
    file = Path(path)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise TaxonomyError(
            f"the taxonomy '{path}' cannot be opened ({error.strerror or 'no reason given'})",
            "check the name: it is relative to the study file",
        ) from None
    return parse_taxonomy(_decoded(raw), file.name)


def parse_taxonomy(text: str, name: str) -> Taxonomy:
    """Read the text of a taxonomy file; its name says which form it has, and stands in errors.

    >>> parse_taxonomy("Any: {North: [Canada], South: }", "region.yaml").leaves
    ('Canada', 'South')
    """
    if not name.lower().endswith(NESTED):
        with Places(name).at():
            return from_csv(text)
    tree, places = parse(text, name)
    with places.at():
        return from_nested(tree)


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
