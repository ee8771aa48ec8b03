"""What the study file says of a column: from a proposal of `describe`, or from the form of the panel."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import FormData

from sfumato.domains.taxonomy.text import from_nested
from sfumato.errors import SfumatoError, UsageError
from sfumato.study.attribute import Role
from sfumato.study.describe.study_text import entry_fields
from sfumato.web.column_rows import Row
from sfumato.web.editing.study_document import StudyDocument

NUMBER_FORMAT: Final = ("decimal", "thousands", "prefix", "suffix", "negative")
_BARE: Final = ("role", "description")  # what is left of an entry without a domain
_NO_ATTRIBUTE: Final = "SF-STUDY-142"
_ATTRIBUTES: Final = "attributes"


def proposed_entry(row: Row, role: str) -> dict[str, Any]:
    """The entry that `describe` writes for a column with this role, its domain marked as observed."""
    found = (
        row.described["entry"] if row.described and row.proposed == role else entry_fields(row.profile(), Role(role))
    )
    return {name: _typed(name, value) for name, value in found.items()}


def with_role(row: Row, role: str) -> dict[str, Any]:
    """The entry with another role: what was declared stays, as far as the role has it."""
    if row.entry is None or not any(k in row.entry for k in ("bounds", "values", "taxonomy")):
        kept = {} if row.entry is None or role == "identifier" else _kept(row.entry, ("description",))
        return {**proposed_entry(row, role), **kept}
    if row.role == role:
        return declared_entry(row)
    if role == "identifier":
        return {"role": role}
    if role == "class" and "bounds" in row.entry and "classes" not in row.entry:
        return proposed_entry(row, role)
    return {**declared_entry(row), "role": role}


def declared_entry(row: Row) -> dict[str, Any]:
    """What the study file declares of a column, as it is written there: numbers without quotes."""
    return {name: _typed(name, value) for name, value in (row.entry or {}).items()}


def _kept(entry: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _typed(name, entry[name]) for name in names if name in entry}


def entry_of_form(row: Row, form: FormData) -> dict[str, Any] | None:
    """The entry that the panel describes; None if the column is left out."""
    role = _text(form, "role")
    if not role:
        return None
    if role not in set(Role):
        raise UsageError(f"there is no role '{role[:40]}'", "choose one of the list", code="SF-USAGE-431")
    old = dict(row.entry or {})
    entry: dict[str, Any] = {"role": role}
    if role == Role.IDENTIFIER:
        return {**entry, **_kept(old, ("description",))}
    kind = _text(form, "type")
    if kind == "set" or old.get("type") == "set":  # codes of sets are declared in the file
        entry = {name: _typed(name, value) for name, value in old.items()} | entry
    elif kind == "category":
        listed = [line.strip() for line in str(form.get("values") or "").splitlines() if line.strip()]
        if row.entry is None:
            entry |= _values_as_proposed(proposed_entry(row, role), listed)
        else:
            entry |= {"values": listed} if listed else {}
            entry |= _kept(old, ("taxonomy",))
    else:
        entry |= _number_fields(form, kind, old)
    entry |= {name: _typed(name, old[name]) for name in ("at_least", "classes", "description") if name in old}
    for name in ("missing", "outside"):
        policy = _text(form, name)
        entry |= {name: policy} if policy else {}
    if any(name in entry for name in ("bounds", "values", "taxonomy")) and _text(form, "from") != "declared":
        entry["domain"] = "observed"
    return entry


def listed_values(entry: Mapping[str, Any]) -> list[str]:
    """The values that the panel shows: those of an entry, or the leaves of a tree that it proposes in their place."""
    tree = entry.get("taxonomy")
    if not entry.get("values") and isinstance(tree, Mapping) and "type" not in entry:
        return list(from_nested(tree).leaves)
    return [str(value) for value in entry.get("values") or ()]


def _values_as_proposed(proposed: Mapping[str, Any], listed: list[str]) -> dict[str, Any]:
    """The values of a column that is new in the file, with the proposed taxonomy as long as it fits them.

    A tree has its own leaves, so it is kept only if they are the values that the panel showed and the owner left.
    """
    if not listed:
        return {}
    if proposed.get("values"):
        return {"values": listed, **_kept(proposed, ("taxonomy",))}  # a rule, which fits any values
    same = "taxonomy" in proposed and sorted(listed_values(proposed)) == sorted(listed)
    return _kept(proposed, ("taxonomy",)) if same else {"values": listed}


def _number_fields(form: FormData, kind: str, old: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": kind}
    lower, upper = _text(form, "lower"), _text(form, "upper")
    if bool(lower) != bool(upper):
        raise UsageError("one of the two bounds is missing", "fill in both", code="SF-USAGE-432")
    if lower:
        entry["bounds"] = [_number(lower), _number(upper)]
    if step := _text(form, "step"):
        entry["step"] = _number(step)
    entry |= _kept(old, ("taxonomy",))
    if kind == "date":
        forms = [line.strip() for line in str(form.get("format") or "").splitlines() if line.strip()]
        if forms:
            entry["format"] = forms if len(forms) > 1 else forms[0]
    elif isinstance(old.get("format"), list):
        entry["format"] = old["format"]
    else:
        marks = {name: str(form.get(name) or "").strip() for name in NUMBER_FORMAT}
        marks = {name: mark for name, mark in marks.items() if mark}
        entry |= {"format": marks} if marks else {}
    return entry


def _text(form: FormData, name: str) -> str:
    return str(form.get(name) or "").strip()


def _typed(name: str, value: Any) -> Any:
    """A field as it is written: numbers without quotes, where the field has numbers."""
    if name in ("bounds", "step", "at_least", "classes", "most", "level"):
        return [_number(v) for v in value] if isinstance(value, list) else _number(value)
    if name == "taxonomy" and isinstance(value, Mapping) and len(value) == 1:
        return {k: [_number(v) for v in inner] if k == "prefix" else inner for k, inner in value.items()}
    return value


def _number(text: Any) -> Any:
    """A number in the text of which nothing is lost; other text as it is."""
    for kind in (int, float):
        try:
            found = kind(text)
        except (TypeError, ValueError):
            continue
        if str(found) == str(text):
            return found
    return str(text)


def declare(document: StudyDocument, row: Row, entry: Mapping[str, Any] | None) -> StudyDocument:
    """The document with a new entry of a column; of one that is there only the fields that differ change."""
    return declare_all(document, [(row, entry)])


def declare_all(document: StudyDocument, entries: Sequence[tuple[Row, Mapping[str, Any] | None]]) -> StudyDocument:
    """The document with new entries of many columns, in few passes however many there are; None takes one out."""
    gone = {row.name for row, entry in entries if entry is None and row.entry is not None}
    new = {row.name: dict(entry) for row, entry in entries if entry is not None and not row.entry}
    old = {row.name: _fields(row, entry) for row, entry in entries if entry is not None and row.entry}
    if old:
        document = document.rewritten(_ATTRIBUTES, old)
    if new:
        if not document.names(_ATTRIBUTES):
            (name, value), *_ = new.items()
            document = document.set(_ATTRIBUTES, value={}).set(_ATTRIBUTES, name, value=value)
            del new[name]
        document = document.set_all({(_ATTRIBUTES, name): value for name, value in new.items()})
    return without(document, gone) if gone else document


def _fields(row: Row, entry: Mapping[str, Any]) -> Callable[[StudyDocument, tuple[str, ...]], StudyDocument]:
    """The edit that brings an entry that is there to another one."""
    old = declared_entry(row)

    def edit(document: StudyDocument, above: tuple[str, ...]) -> StudyDocument:
        changed = {(*above, row.name, name): value for name, value in entry.items() if old.get(name) != value}
        document = document.set_all(changed)
        for name in old:
            if name not in entry:
                document = document.remove(*above, row.name, name)
        return document

    return edit


def without(document: StudyDocument, names: Collection[str]) -> StudyDocument:
    """The document without columns; the mapping of all attributes stays, empty."""
    if set(document.names(_ATTRIBUTES)) <= set(names):
        return document.set(_ATTRIBUTES, value={})
    return document.remove_all(_ATTRIBUTES, names)


def save_checked(document: StudyDocument, before: StudyDocument) -> StudyDocument:
    """Save an edit; one that would break a study that was right is refused with the reason."""
    problem = _problem(document)
    if problem is not None and problem.code != _NO_ATTRIBUTE:
        earlier = _problem(before)
        if earlier is None or earlier.code == _NO_ATTRIBUTE:
            raise problem
    return document.save()


def _problem(document: StudyDocument) -> SfumatoError | None:
    try:
        document.study()
    except SfumatoError as error:
        return error
    return None


def draft_study(fields: Mapping[str, Any], row: Row, entry: Mapping[str, Any], *, base: Path, path: Path) -> Path:
    """A study file elsewhere with this one column, to check the table against a domain that is not saved yet."""
    source = fields.get("source")
    where = source.get("path") if isinstance(source, Mapping) else source
    absolute = str(where) if "://" in str(where) else str((base / str(where)).absolute())
    moved = {**source, "path": absolute} if isinstance(source, Mapping) else absolute
    entry = dict(entry)
    if isinstance(entry.get("taxonomy"), str):
        entry["taxonomy"] = str((base / entry["taxonomy"]).absolute())
    document = StudyDocument(path, "name: draft\n", stored=None)
    document = document.set("source", value=moved).set("attributes", value={row.name: entry})
    document.save()
    return path
