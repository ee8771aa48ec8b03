"""The text of a proposed study: YAML with the reasons beside what they are for."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Any

from sfumato.core.attribute import Role
from sfumato.core.number_format import NumberFormat
from sfumato.core.profile import ColumnProfile
from sfumato.core.taxonomy_build import ROOT
from sfumato.describe.profile import POSTAL, named_like, near_unique, unique
from sfumato.describe.whole import AT_MOST

WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")
_ESCAPES = {'"': '\\"', "\\": "\\\\"}
_PREFIXES = (1, 3)
_STEPS = 1000  # a number whose values are not listed gets about this many steps

_CONFIRM = "confirm, so that no record decides it"

Placed = tuple[ColumnProfile, Role | None, str]


def study_text(
    name: str, source: str, columns: Sequence[Placed], *, written: Mapping[str, Any], person: str | None = None
) -> str:
    """Write a study file; columns without a role are commented out."""
    lines = [
        "# Proposed by `sfumato describe`. Bounds and values were read off the records, which tells about people:",
        "# put public knowledge in their place, then change `domain: observed` to `domain: declared`.",
        *_notes([column for column, _, _ in columns]),
        f"name: {scalar(name)}",
        *_source(source, written),
        "privacy:",
        *_unit(person),
        "  # budget: 1         # the total ε of all releases together, ever: yours to choose",
        "# releases: {dp: {method: diffgen, epsilon: 1}}   # what to publish, and what it costs; see `sfumato plan`",
        "attributes:",
    ]
    if all(role is None for _, role, _ in columns):
        lines[-1] = "attributes: {}        # nothing could be placed: give at least one column a role"
    for column, role, reason in columns:
        entry = [*_comment(reason), *_entry(column, role)]
        lines += entry if role is not None else [f"  # {line.removeprefix('  ').removeprefix('# ')}" for line in entry]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return [f"  # {line}" for line in wrap(_printable(text), WIDTH - 4, break_long_words=False, break_on_hyphens=False)]


def _source(source: str, written: Mapping[str, Any]) -> list[str]:
    """The source, with how it is written where records had to tell, and the texts that stand for nothing in it."""
    if not written:
        return [f"source: {scalar(source)}"]
    lines = ["source:", f"  path: {scalar(source)}"]
    for field, value in written.items():
        if field == "missing":
            marks = ", ".join(scalar(mark) for mark in value)
            note = f"texts that stand alone in some columns and seem to mean no value: {_CONFIRM}"
            lines.append(f"  missing: [{marks}]   # {note}")
        else:
            shown = "tab" if value == "\t" else scalar(value)
            lines.append(f"  {field}: {shown}   # as the records suggest: {_CONFIRM}")
    return lines


def _unit(person: str | None) -> list[str]:
    if person is None:
        return ["  unit: record        # or {person: column, at_most: 3} where one person has several records"]
    return [
        *_comment(
            f"Several records share a value of {scalar(person)}, so they seem to be one person's, whose presence is "
            "then hidden. How many records of each are used is yours to choose, from what you know and not from the "
            "records; methods on groups need `at_most: 1`. If they are not people, write `unit: record`."
        ),
        f"  unit: {{person: {scalar(person)}, at_most: {AT_MOST}}}",
    ]


def _notes(columns: Sequence[ColumnProfile]) -> list[str]:
    """What the owner should know of the table as a whole."""
    notes: list[str] = []
    own = [scalar(column.name) for column in columns if unique(column)]
    near = [scalar(column.name) for column in columns if near_unique(column) and not unique(column)]
    if own:
        notes.append(f"# A value of its own in every record: {', '.join(own)}")
    if near:
        notes.append(f"# A value of its own in nearly every record: {', '.join(near)}")
    return notes


def _entry(column: ColumnProfile, role: Role | None) -> list[str]:
    name = scalar(column.name)
    if role is None:
        return [f"  {name}: {{role: }}"]
    if role is Role.IDENTIFIER:
        return [f"  {name}: {{role: identifier}}"]
    lines = [f"  {name}:", f"    role: {role.value}"]
    if role is Role.TIME and column.kind == "date":
        return [*lines, "    type: date", *_formats(column)]
    domain = _domain(column, role)
    lines += domain
    if domain and column.missing:
        lines.append(f"    missing: keep      # {column.missing} of {column.rows} records have no value")
    if domain:
        lines.append("    domain: observed   # confirm, then change to declared")
    return lines


def _domain(column: ColumnProfile, role: Role) -> list[str]:
    listed = column.kind in ("category", "boolean", "text") or role is Role.CLASS
    postal = named_like(column, POSTAL) is not None and bool(column.values)
    if (listed or postal) and column.values:
        return _listed(column.values, postal=postal)
    if column.kind not in ("integer", "number", "date") or column.lower is None or column.upper is None:
        return []
    lines = [f"    type: {column.kind}", f"    bounds: [{column.lower}, {column.upper}]", *_formats(column)]
    return [*lines, f"    step: {_step(column)}"] if column.kind == "number" else lines


def _formats(column: ColumnProfile) -> list[str]:
    """How dates or numbers are written, where that is not one of the usual ways."""
    if column.number_formats:
        forms = [_number_format(form) for form in column.number_formats]
        several = f"[{', '.join(forms)}]" if len(forms) > 1 else forms[0]
        note = "or the mark is a decimal one, which no value tells" if column.ambiguous else "as the records suggest"
        return [f"    format: {several}   # {note}: {_CONFIRM}"]
    if not column.formats:
        return []
    shown = ", ".join(scalar(form) for form in column.formats)
    several = f"[{shown}]" if len(column.formats) > 1 else shown
    note = "or the month first, which no value tells" if column.ambiguous else "as the records suggest"
    return [f"    format: {several}   # {note}: {_CONFIRM}"]


def _number_format(form: NumberFormat) -> str:
    fields = {name: "space" if value == " " else value for name, value in form.fields().items()}
    return f"{{{', '.join(f'{name}: {scalar(value)}' for name, value in fields.items())}}}"


def _listed(values: Sequence[str], *, postal: bool) -> list[str]:
    items = [scalar(value) for value in values]
    if ROOT in values:  # the root of a plain list has this name already
        root = next(ROOT + "!" * marks for marks in range(1, len(values) + 2) if ROOT + "!" * marks not in values)
        return ["    taxonomy:", *_wrapped(f"      {scalar(root)}: ", items)]
    prefix = postal and min(len(value) for value in values) > max(_PREFIXES)
    return [*_wrapped("    values: ", items), *([f"    taxonomy: {{prefix: {list(_PREFIXES)}}}"] if prefix else [])]


def _wrapped(lead: str, items: Sequence[str]) -> list[str]:
    """A list in brackets, over as many lines as it needs."""
    lines: list[str] = []
    line = lead + "["
    for number, item in enumerate(items):
        piece = item + ("]" if number == len(items) - 1 else ",")
        if len(line) + len(piece) > WIDTH and not line.endswith("["):
            lines.append(line.rstrip())
            line = " " * (len(lead) + 1)
        line += piece + " "
    return [*lines, line.rstrip()]


def _step(column: ColumnProfile) -> str:
    """The finest decimal place among the values, or a power of ten that gives some hundreds of steps."""
    places = [max(0, -int(exponent)) for v in column.values if isinstance(exponent := _exponent(column.plain(v)), int)]
    if places:
        return f"{Decimal(1).scaleb(-max(places)):f}"
    span = float(column.upper or 0) - float(column.lower or 0)
    return f"{Decimal(1).scaleb(math.floor(math.log10(span / _STEPS))):f}" if 0 < span < math.inf else "1"


def _exponent(value: str) -> int | str:
    try:
        return Decimal(value).normalize().as_tuple().exponent
    except ArithmeticError:
        return "not a number"


def scalar(text: str) -> str:
    r"""Write a text so that YAML reads it as that text.

    >>> print(scalar("native-country"), scalar("<=50K"), scalar("no: 1"), scalar("a\tb"))
    native-country "<=50K" "no: 1" "a\x09b"
    """
    if _PLAIN.fullmatch(text) and text.lower() != "null":
        return text
    return f'"{_printable("".join(_ESCAPES.get(letter, letter) for letter in text))}"'


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else _escape(ord(letter)) for letter in text)


def _escape(code: int) -> str:
    if code <= 0xFF:  # noqa: PLR2004 - two digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits
