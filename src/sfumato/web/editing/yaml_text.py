"""Values as the text of one YAML entry, the value on the line of its name; texts in quotes where they need them."""

import io
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

_WORDS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")
_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}")  # YAML reads no text in these
_PRINTED: Final = re.compile(r"[ -!#-\[\]-~]*")  # characters that stand for themselves between double quotes
_OTHERS: Final = frozenset({"null", "true", "false"})  # words that are no texts


def entry_line(name: str, value: Any) -> str:
    """An entry of a block or flow mapping.

    >>> entry_line("a b", {"values": ["x", "01", 1, None]}), entry_line("no: 1", True)
    ('a b: {values: [x, "01", 1, null]}', '"no: 1": true')
    """
    return f"{_text(name)}: {_flow(value)}"


def _flow(value: Any) -> str:
    if type(value) is str:
        return _text(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(str(name))}: {_flow(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_item, value))}]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ".nan" if math.isnan(value) else f"{'-' * (value < 0)}.inf"
    return str(value)


def _item(value: Any) -> str:
    """An item of a list: a mapping of one name needs no braces there."""
    one = isinstance(value, Mapping) and len(value) == 1
    return _flow(value)[1:-1] if one else _flow(value)


@lru_cache(maxsize=100_000)
def _text(text: str) -> str:
    """Text that YAML would read as something else, or that breaks a line, stands in quotes."""
    if _WORDS.fullmatch(text) and text.lower() not in _OTHERS:
        return text
    if _NUMBERS.fullmatch(text) or not text or text != text.strip() or any(mark in text for mark in ",[]{}#:\n\r"):
        return _quoted(text)
    try:
        same = YAML(typ="safe", pure=True).load(text) == text
    except (YAMLError, RecursionError):
        same = False
    return text if same else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes, as the library escapes it."""
    if _PRINTED.fullmatch(text):
        return f'"{text}"'
    out = io.StringIO()
    yaml = YAML(typ="rt", pure=True)
    yaml.width = 1 << 30
    yaml.allow_unicode = True
    yaml.dump(CommentedMap({"a": DoubleQuotedScalarString(text)}), out)
    return out.getvalue().removesuffix("\n").removeprefix("a: ")
