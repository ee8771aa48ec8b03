"""The text of a proposed study: YAML with the reasons beside what they are for."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from textwrap import wrap
from typing import Any

from sfumato.domains.number_format import NumberFormat
from sfumato.domains.taxonomy.by_rule import ROOT
from sfumato.study.attribute import Role
from sfumato.study.describe.column_kinds import POSTAL, is_near_unique, is_unique, named_like
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.columns_together import AT_MOST

WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")
_ESCAPES = {'"': '\\"', "\\": "\\\\"}
_PREFIXES = (1, 3)
_STEPS = 1000  # a number whose values are not listed gets about this many steps

_CONFIRM = "confirm it, so that it does not depend on records"
_OPEN = (
    "# A column without a role is commented out. To use it, fill in its role and remove the `# ` in front of its",
    "# lines; an identifier takes its role alone.",
)
_INDENT = " " * 6  # of lines that go on with an attribute

Placed = tuple[ColumnProfile, Role | None, str]


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of an attribute: its YAML in pieces that lines may break between, and a note for the owner."""

    pieces: tuple[str, ...]
    note: str = ""


def study_text(
    name: str, source: str, columns: Sequence[Placed], *, written: Mapping[str, Any], person: str | None = None
) -> str:
    """Write a study file; columns without a role are commented out, with all that was found but the role."""
    lines = [
        "# Proposed by `sfumato describe`. Bounds and values were read off the records, which discloses information",
        "# about people: replace them by public knowledge, then change `domain: observed` to `domain: declared`.",
        *(_OPEN if any(role is None for _, role, _ in columns) else ()),
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
        lines[-1] = "attributes: {}        # no role could be proposed: give at least one column a role"
    for column, role, reason in columns:
        lines += _open_entry(column, reason) if role is None else [*_comment(reason), *_entry(column, role)]
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
            note = f"texts in some columns that seem to mean a missing value: {_CONFIRM}"
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
    own = [scalar(column.name) for column in columns if is_unique(column)]
    near = [scalar(column.name) for column in columns if is_near_unique(column) and not is_unique(column)]
    if own:
        notes.append(f"# Unique in every record that has a value: {', '.join(own)}")
    if near:
        notes.append(f"# Unique in nearly every record that has a value: {', '.join(near)}")
    return notes


def _entry(column: ColumnProfile, role: Role) -> list[str]:
    name = scalar(column.name)
    if role is Role.IDENTIFIER:
        return [f"  {name}: {{role: identifier}}"]
    lines = [f"  {name}:", f"    role: {role.value}"]
    for field in _fields(column, role):
        *first, last = _wrapped("    ", field.pieces)
        lines += [*first, f"{last:<20}   # {field.note}" if field.note else last]
    return lines


def entry_text(column: ColumnProfile, role: Role) -> str:
    """What a proposed study says of a column with this role, as one line of YAML without notes."""
    fields = (
        [] if role is Role.IDENTIFIER or (column.kind == "text" and role is not Role.CLASS) else _fields(column, role)
    )
    pieces = [f"role: {role.value}", *(", ".join(field.pieces) for field in fields)]
    return f"{{{', '.join(pieces)}}}"


def _open_entry(column: ColumnProfile, reason: str) -> list[str]:
    """A column without a role, commented out: complete once the role is filled in and the `# ` removed.

    Free text gets no domain: a list of its values would publish what people wrote. The last field, `domain`, needs no
    note: the head of the file has it.
    """
    fields = [] if column.kind == "text" else _fields(column, None)
    notes = [f"`{field.pieces[0].partition(':')[0]}`: {field.note}" for field in fields[:-1] if field.note]
    pieces = ["role: ", *(piece for field in fields for piece in field.pieces)]
    whole = f"  {scalar(column.name)}: {{{', '.join(pieces)}}}"
    long = any(len(field.pieces) > 1 for field in fields)  # only a list of values takes several lines
    entry = _wrapped(f"  {scalar(column.name)}: {{", pieces, end="}") if long else [whole]
    return [*_comment("; ".join((reason, *notes))), *(f"  # {line.removeprefix('  ')}" for line in entry)]


def _fields(column: ColumnProfile, role: Role | None) -> list[_Field]:
    """What is proposed of an attribute besides its role."""
    if role is Role.TIME and column.kind == "date":
        return [_Field(("type: date",)), *_formats(column)]
    domain = _domain(column, role)
    if not domain:
        return []
    if column.missing:
        domain.append(_Field(("missing: keep",), f"{column.missing} of {column.rows} records have no value"))
    return [*domain, _Field(("domain: observed",), "confirm, then change to declared")]


def _domain(column: ColumnProfile, role: Role | None) -> list[_Field]:
    listed = column.kind in ("category", "boolean", "text") or role is Role.CLASS
    postal = named_like(column, POSTAL) is not None and bool(column.values)
    if (listed or postal) and column.values:
        return _listed(column.values, postal=postal)
    if column.kind not in ("integer", "number", "date") or column.lower is None or column.upper is None:
        return []
    bounds = f"bounds: [{column.lower}, {column.upper}]"
    fields = [_Field((f"type: {column.kind}",)), _Field((bounds,)), *_formats(column)]
    return [*fields, _Field((f"step: {_step(column)}",))] if column.kind == "number" else fields


def _formats(column: ColumnProfile) -> list[_Field]:
    """How dates or numbers are written, where that is not one of the usual ways."""
    if column.number_formats:
        forms, other = [_number_format(form) for form in column.number_formats], "the mark is a decimal one"
    else:
        forms, other = [scalar(form) for form in column.formats], "the month first"
    if not forms:
        return []
    several = f"[{', '.join(forms)}]" if len(forms) > 1 else forms[0]
    note = f"or {other} (the values do not decide it)" if column.ambiguous else "as the records suggest"
    return [_Field((f"format: {several}",), f"{note}: {_CONFIRM}")]


def _number_format(form: NumberFormat) -> str:
    fields = {name: "space" if value == " " else value for name, value in form.fields().items()}
    return f"{{{', '.join(f'{name}: {scalar(value)}' for name, value in fields.items())}}}"


def _listed(values: Sequence[str], *, postal: bool) -> list[_Field]:
    items = [scalar(value) for value in values]
    if ROOT in values:  # the root of a plain list has this name already
        root = next(ROOT + "!" * marks for marks in range(1, len(values) + 2) if ROOT + "!" * marks not in values)
        return [_Field(_enclose(f"taxonomy: {{{scalar(root)}: [", items, "]}"))]
    prefix = postal and min(len(value) for value in values) > max(_PREFIXES)
    listed = _Field(_enclose("values: [", items, "]"))
    return [listed, *([_Field((f"taxonomy: {{prefix: {list(_PREFIXES)}}}",))] if prefix else [])]


def _enclose(start: str, items: Sequence[str], end: str) -> tuple[str, ...]:
    """The items with the start before the first and the end behind the last."""
    *first, last = items
    first, last = ([start + first[0], *first[1:]], last) if first else ([], start + last)
    return (*first, last + end)


def _wrapped(lead: str, items: Iterable[str], *, end: str = "") -> list[str]:
    """Items with commas between them, over as many lines as they need."""
    *first, last = items
    lines: list[str] = []
    line = lead
    for number, piece in enumerate((*(f"{item}," for item in first), last + end)):
        if number and len(line) + len(piece) > WIDTH:
            lines.append(line.rstrip())
            line = _INDENT
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
