"""The text of a proposed study: YAML with the reasons beside what they are for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from sfumato.domains.number_format import NumberFormat
from sfumato.domains.taxonomy.by_rule import ROOT
from sfumato.domains.taxonomy.text import Nested
from sfumato.study.attribute import Role
from sfumato.study.describe.code_systems import code_system, prefix_lengths
from sfumato.study.describe.column_kinds import is_near_unique, is_unique
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.columns_together import AT_MOST
from sfumato.study.describe.hierarchies import commented_taxonomy, confirming, notes_of
from sfumato.study.describe.rounding import round_bounds, step_of
from sfumato.study.describe.set_guess import code_tree
from sfumato.study.describe.value_notes import spellings
from sfumato.study.file.yaml_lines import parse
from sfumato.study.recipe import first_method

WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*")
_ESCAPES = {'"': '\\"', "\\": "\\\\"}

_CONFIRM = "confirm it, so that it does not depend on records"
_OPEN = (
    "# Columns with `role: undecided` are yours to decide: until then `sfumato check` works, and nothing is released.",
)
_INDENT = " " * 6  # of lines that go on with an attribute

Placed = tuple[ColumnProfile, Role, str]


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of an attribute: its YAML in pieces that lines may break between, and a note for the owner."""

    pieces: tuple[str, ...]
    note: str = ""


def study_text(
    name: str, source: str, columns: Sequence[Placed], *, written: Mapping[str, Any], person: str | None = None
) -> str:
    """Write a study file; every column has an entry, those without a role that can be told as undecided."""
    method = first_method(predicts=any(role is Role.CLASS for _, role, _ in columns))
    lines = [
        "# Proposed by `sfumato describe`. Bounds and values were read off the records, which discloses information",
        "# about people: replace them by public knowledge, then change `domain: observed` to `domain: declared`.",
        *(_OPEN if any(role is Role.UNDECIDED for _, role, _ in columns) else ()),
        *_notes([column for column, _, _ in columns]),
        f"name: {scalar(name)}",
        *_source(source, written),
        "privacy:",
        *_unit(person),
        "  # budget: 1         # the total ε of all releases together, ever: yours to choose",
        f"# releases: {{dp: {{method: {method}, epsilon: 1}}}}   # what to publish and its cost; see `sfumato plan`",
        "attributes:",
    ]
    for column, role, reason in columns:
        lines += [*_comment("; ".join((reason, *notes_of(column)))), *_entry(column, role)]
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
    fields = _fields(column, role)
    if not fields:
        return [f"  {name}: {{role: {role.value}}}"]
    lines = [f"  {name}:", f"    role: {role.value}"]
    for field in fields:
        *first, last = _wrapped("    ", field.pieces)
        lines += [*first, f"{last:<20}   # {field.note}" if field.note else last]
    return lines


def entry_text(column: ColumnProfile, role: Role) -> str:
    """What a proposed study says of a column with this role, as one line of YAML without notes."""
    fields = [field for field in _fields(column, role) if not field.pieces[0].startswith("#")]
    pieces = [f"role: {role.value}", *(", ".join(field.pieces) for field in fields)]
    return f"{{{', '.join(pieces)}}}"


def entry_fields(column: ColumnProfile, role: Role) -> dict[str, object]:
    """The same as it is read: mappings and lists, their scalars as texts."""
    tree, _ = parse(f"entry: {entry_text(column, role)}\n", "the proposal")
    assert isinstance(tree, dict) and isinstance(tree["entry"], dict), "it is a mapping"
    return tree["entry"]


def domain_fields(column: ColumnProfile, role: Role) -> list[str]:
    """The fields of the domain that is proposed for a column with this role; none if it cannot be told."""
    return [field.pieces[0].partition(":")[0] for field in _fields(column, role)]


def _fields(column: ColumnProfile, role: Role) -> list[_Field]:
    """What is proposed of an attribute besides its role.

    Free text gets no domain: a list of its values would publish what people wrote.
    """
    if role is Role.IDENTIFIER or (column.kind == "text" and role is not Role.CLASS):
        return []
    if role is Role.TIME and column.kind == "date":
        return [_Field(("type: date",)), *_formats(column)]
    domain = _domain(column, role)
    if not domain:
        return []
    if column.missing and column.kind != "set":
        domain.append(_Field(("missing: keep",), f"{column.missing} of {column.rows} records have no value"))
    public = _Field(("domain: observed",), f"confirm by {confirming(column)}, then change to declared")
    if (proposed := commented_taxonomy(column)) and role is not Role.CLASS:
        return [*domain, public, _Field((f"# taxonomy: {proposed}",), "for methods that follow a fixed hierarchy")]
    return [*domain, public]


def _domain(column: ColumnProfile, role: Role) -> list[_Field]:
    if column.kind == "set":
        return _set(column)
    listed = column.kind in ("category", "boolean", "text") or role is Role.CLASS
    if (listed or code_system(column)) and column.values:
        return _listed(column)
    bounds = round_bounds(column)
    if column.kind not in ("integer", "number", "date") or bounds is None:
        return []
    fields = [
        _Field((f"type: {column.kind}",)),
        _Field((f"bounds: [{bounds.lower}, {bounds.upper}]",), bounds.why),
        *_formats(column),
    ]
    step = None if column.kind == "date" else step_of(column, bounds)
    return [*fields, *([] if step is None else [_Field((f"step: {step}",))])]


def _set(column: ColumnProfile) -> list[_Field]:
    """The codes of a set below ranges of them; none where they cannot be listed."""
    tree = code_tree(column.codes)
    if tree is None:
        return []
    pieces = _nested(tree)
    return [
        _Field(("type: set",)),
        _Field((f"separator: {scalar(column.separator)}",)),
        _Field(
            _enclose("taxonomy: {", pieces, "}"), "ranges of the codes in their order: replace them by public groups"
        ),
    ]


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


def _listed(column: ColumnProfile) -> list[_Field]:
    """The values, below their first characters if they are codes, and the spellings of one value together."""
    values = column.values
    same = spellings(values)
    if same:
        return [
            _Field(_enclose("taxonomy: {", _nested(_by_spelling(values, same)), "}"), "spellings of one value together")
        ]
    items = [scalar(value) for value in values]
    if ROOT in values:  # the root of a plain list has this name already
        return [_Field(_enclose(f"taxonomy: {{{scalar(_unlike(ROOT, values))}: [", items, "]}"))]
    listed = _Field(_enclose("values: [", items, "]"))
    system = code_system(column)
    lengths = [] if system is None else prefix_lengths(values, system.prefixes)
    if system is None or not lengths:
        return [listed]
    return [listed, _Field((f"taxonomy: {{prefix: {lengths}}}",), f"levels of {system.title}")]


def _by_spelling(values: Sequence[str], same: Sequence[Sequence[str]]) -> Nested:
    """A tree in which the spellings of a value stand below one name."""
    together = {value: spelt for spelt in same for value in spelt}
    taken = {*values, ROOT}
    tree: Nested = {}
    for value in values:
        spelt = together.get(value)
        if spelt is None:
            tree[value] = None
        elif value == spelt[0]:
            name = _unlike(" ".join(value.split()).lower() + " (all spellings)", [*taken, *tree])
            tree[name] = list(spelt)
    return {_unlike(ROOT, [*values, *tree]): tree}


def _unlike(label: str, others: Sequence[str]) -> str:
    """The label with as many marks as it needs to be none of the others."""
    return next(name for marks in range(len(others) + 1) if (name := label + "!" * marks) not in others)


def _nested(tree: Nested) -> list[str]:
    """A tree as YAML in pieces that lines may break between."""
    pieces: list[str] = []
    for label, below in tree.items():
        name = scalar(label)
        if below is None:
            pieces.append(f"{name}: ")
        elif isinstance(below, list):
            pieces += _enclose(f"{name}: [", [scalar(leaf) for leaf in below], "]")
        else:
            pieces += _enclose(f"{name}: {{", _nested(below), "}")
    return pieces


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
