"""Study files: from YAML, or a mapping, to a `Study`; every error names the file, the line and the way out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sfumato.domains.query.condition import condition_text
from sfumato.domains.query.language import QueryError
from sfumato.domains.taxonomy.check import did_you_mean, did_you_mean_of
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError, UsageError
from sfumato.file_names import account_name, checked_file_name, has_control_characters
from sfumato.study.attribute import Attribute, Role
from sfumato.study.file.attribute_fields import attribute
from sfumato.study.file.schema import (
    ROLES,
    TAGS,
    AttributeFields,
    NumberFields,
    PersonFields,
    PrivacyFields,
    PurposeFields,
    SourceFields,
    StudyFields,
)
from sfumato.study.file.taxonomy_file import load_taxonomy
from sfumato.study.file.yaml_lines import Places, parse
from sfumato.study.selection import domains_of, parse_selection
from sfumato.study.source import Source
from sfumato.study.span import Span, day
from sfumato.study.study import Purpose, Study, clock
from sfumato.study.unit import PersonUnit, RecordUnit, Unit
from sfumato.study.values import refuse_misunderstood

_AS_VALUES = frozenset({"releases", "sweeps"})  # settings of methods: whole numbers and true/false are values there


def load_study(path: str | Path) -> Study:
    """Open a study file; paths in it are relative to its folder."""
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"the study '{path}' is not UTF-8 text", "save it as UTF-8", code="SF-STUDY-138") from None
    except (OSError, ValueError) as error:
        raise StudyError(
            f"the study '{path}' cannot be opened ({getattr(error, 'strerror', None) or 'no reason given'})",
            "check the path, or make a study with `sfumato init TABLE`",
            code="SF-STUDY-139",
        ) from None
    return study_from_text(text, base=file.resolve().parent, file=file.name)


def study_from_text(text: str, *, base: Path | None = None, file: str = "study.yaml") -> Study:
    r"""Read a study from the text of its file; ``file`` is its name in errors.

    >>> study_from_text("name: a\nsource: a.csv\nattributes: {sex: {role: quasi_identifier, values: [f, m]}}").name
    'a'
    """
    with refuse_misunderstood(file):
        tree, places = parse(text, file, converted=_AS_VALUES)
        return _study(tree, places, base or Path())


def study_from_mapping(fields: Mapping[str, object], base: Path | None = None) -> Study:
    """Make a study in Python from the same fields as in the file; ``source`` may be a table in memory.

    Floats stand for the decimals they are printed as. A taxonomy may also be a `Taxonomy`.

    >>> study_from_mapping({"name": "a", "source": "a.csv", "attributes": {"id": {"role": "identifer"}}})
    Traceback (most recent call last):
    sfumato.errors.StudyError: the study, attributes.id.role: there is no role 'identifer'. To fix: write ...
    """
    with refuse_misunderstood("the study"):
        return _study(fields, Places("the study"), base or Path())


def _study(tree: object, places: Places, base: Path) -> Study:
    if tree is None:
        raise places.error(
            (), "the study is empty", "write it, or make one with `sfumato describe TABLE`", code="SF-STUDY-140"
        )
    if not isinstance(tree, Mapping):
        raise places.error(
            (),
            "a study is a mapping of fields",
            "begin with `name: …`, `source: …`, `attributes: …`",
            code="SF-STUDY-141",
        )
    try:
        fields = StudyFields.model_validate(tree)
    except ValidationError as error:
        raise _first(error.errors(include_url=False), places) from None
    _refuse_unsafe_names(fields, places)
    source = _source(fields.source, places)
    if not fields.attributes:
        raise places.error(
            ("attributes",),
            "the study declares no attribute",
            "give each column that matters a role",
            code="SF-STUDY-142",
        )

    def load(name: str) -> Taxonomy:
        return load_taxonomy(base / name)

    written = tree.get("attributes")
    attributes = {
        name: _attribute(name, written, declared, places, load) for name, declared in fields.attributes.items()
    }
    study = Study(
        name=fields.name,
        source=source,
        base=base,
        attributes=attributes,
        unit=_unit(fields.privacy, places),
        budget=fields.privacy.budget,
        purposes={name: _purpose(name, purpose, fields, places) for name, purpose in fields.purposes.items()},
        releases={name: _release(name, settings, fields, places) for name, settings in fields.releases.items()},
        sweeps={name: _sweep(name, parts, places) for name, parts in fields.sweeps.items()},
        ledger=fields.ledger,
        most_invalid=fields.most_invalid,
        places={path: places.name(path) for path in places.lines if path[:1] == ("releases",)},
    )
    purposes = {name: _selected(p, fields.purposes[name], study, places) for name, p in study.purposes.items()}
    return replace(study, purposes=purposes)


_KNOWN: dict[tuple[str, str], Attribute] = {}
_MOST_KNOWN = 20_000


def _attribute(
    name: str, written: object, declared: AttributeFields, places: Places, load: Callable[[str], Taxonomy]
) -> Attribute:
    """Made once from the same text, unless a file has a part in it: a page changes one of 2,000 attributes."""
    if not places.lines or isinstance(declared.taxonomy, (str, Taxonomy)):
        return attribute(name, declared, places=places, load=load)
    key = (name, repr(written.get(name) if isinstance(written, Mapping) else None))
    found = _KNOWN.get(key)
    if found is None:
        found = attribute(name, declared, places=places, load=load)
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = found
    return found


def _refuse_unsafe_names(fields: StudyFields, places: Places) -> None:
    """A study has any name people can read; releases, purposes and sweeps become folders, so theirs are file names."""
    if has_control_characters(fields.name) or not account_name(fields.name):
        raise places.error(
            ("name",), "the name of the study holds line ends or control characters, or nothing that can be seen",
            "write it as one line of text", code="SF-STUDY-143",
        )  # fmt: skip
    for field, kind in (("releases", "a release"), ("purposes", "a purpose"), ("sweeps", "a sweep")):
        for name in getattr(fields, field):
            with places.at(field, name):
                checked_file_name(kind, name)


def _source(written: object, places: Places) -> object:
    """The source as declared: a `Source` where a mapping says how the file is written, else what was written."""
    path = written.path if isinstance(written, SourceFields) else written
    if path is None or (isinstance(path, str) and not path.strip()):
        raise places.error(
            ("source",), "the study has no source", "write a path or URL: `source: visits.parquet`", code="SF-STUDY-144"
        )
    if not isinstance(written, SourceFields):
        return written
    for name in ("encoding", "delimiter", "quote"):  # one by one: an error names the line of its field
        with places.at("source", name):
            Source(path=path, **{name: getattr(written, name)})
    with places.at("source"):
        return Source(
            path=path, encoding=written.encoding, delimiter=written.delimiter, quote=written.quote,
            missing=tuple(written.missing),
        )  # fmt: skip


def _unit(privacy: PrivacyFields, places: Places) -> Unit:
    if not isinstance(privacy.unit, PersonFields):
        return RecordUnit()
    with places.at("privacy", "unit"):
        return PersonUnit(column=privacy.unit.person, at_most=privacy.unit.at_most)


def _purpose(name: str, purpose: PurposeFields, study: StudyFields, places: Places) -> Purpose:
    here = ("purposes", name)
    for number, wanted in enumerate(purpose.attributes):
        place = (*here, "attributes", number)
        if wanted not in study.attributes:
            raise places.error(
                place, f"purpose '{name}' asks for '{wanted}', which is no attribute of the study",
                did_you_mean(wanted, list(study.attributes)), code="SF-STUDY-145",
            )  # fmt: skip
        if study.attributes[wanted].role is Role.IDENTIFIER:
            raise places.error(
                place, f"purpose '{name}' asks for '{wanted}', which identifies people",
                "take it out: identifiers are never released", code="SF-STUDY-146",
            )  # fmt: skip
        if wanted in purpose.attributes[:number]:
            raise places.error(
                place, f"purpose '{name}' asks for '{wanted}' twice", "write it once", code="SF-STUDY-147"
            )
    if not purpose.attributes:
        raise places.error(
            (*here, "attributes"), f"purpose '{name}' asks for no attribute", "list at least one", code="SF-STUDY-148"
        )
    return Purpose(name=name, attributes=tuple(purpose.attributes))


def _selected(purpose: Purpose, fields: PurposeFields, study: Study, places: Places) -> Purpose:
    """The purpose with its span and its filter, both checked against the whole study."""
    here = ("purposes", purpose.name)
    if fields.span is not None:
        with places.at(*here, "span"):
            start, stop = (day(text) for text in fields.span)
            purpose = replace(purpose, span=Span(clock(study.time), start, stop))
    if fields.where is not None:
        with places.at(*here, "where"):
            where = _where(fields.where)
        if isinstance(where, str):
            with places.at(*here, "where"):
                return replace(purpose, where=_read(where, study, by=None))
        for name, values in where.items():  # one by one, so that an error names the line and the attribute
            with places.at(*here, "where", name):
                _read(condition_text({name: values}, domains_of(study.attributes)), study, by=name)
        purpose = replace(purpose, where=condition_text(where, domains_of(study.attributes)))
    return purpose


def _where(said: object) -> str | dict[str, list[str]]:
    """A filter as it is written: a query, or values for each attribute."""
    if isinstance(said, str):
        return said.strip()
    if not isinstance(said, Mapping) or not said:
        raise StudyError(
            "a filter is a query, or attributes with values",
            "write `where: age >= 18`, or `where: {sex: [Male]}`",
            code="SF-STUDY-149",
        )
    wanted: dict[str, list[str]] = {}
    for name, value in said.items():
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if not values or any(one is None or isinstance(one, (Mapping, list)) for one in values):
            raise StudyError(
                f"the filter gives '{name}' no value", "write a value, or a list of them", code="SF-STUDY-150"
            )
        wanted[str(name)] = [repr(one) if isinstance(one, float) else str(one) for one in values]
    return wanted


def _read(where: str, study: Study, *, by: str | None) -> str:
    """A query that can be read; what is wrong with one that nobody wrote, ``by`` an attribute, is the filter's."""
    try:
        parse_selection(where, study.attributes)
    except QueryError as error:  # the query language speaks to the command line too
        problem = error.problem if by is None else f"the filter by '{by}': {error.bare}"
        raise StudyError(problem, error.fix, code=error.code) from None
    except UsageError as error:
        raise StudyError(error.problem, error.fix, code=error.code) from None
    return where


def _release(name: str, settings: dict[str, Any], study: StudyFields, places: Places) -> dict[str, Any]:
    here = ("releases", name)
    if settings.get("method") is None:
        raise places.error(
            here, f"release '{name}' names no method", "add one, such as `method: diffgen`", code="SF-STUDY-151"
        )
    purpose = settings.get("purpose")
    if purpose is not None and str(purpose) not in study.purposes:
        fix = did_you_mean(str(purpose), list(study.purposes)) if study.purposes else "declare it under `purposes`"
        raise places.error(
            (*here, "purpose"), f"release '{name}' is for '{purpose}', which is no purpose", fix, code="SF-STUDY-152"
        )
    return settings


def _sweep(name: str, parts: list[dict[str, Any]], places: Places) -> tuple[dict[str, Any], ...]:
    for number, part in enumerate(parts):
        # One mapping, or a list of them: a path that stands nowhere in the file is passed over.
        here = ("sweeps", name, number)
        if part.get("method") is None:
            raise places.error(
                here, f"sweep '{name}' names no method", "add one, such as `method: mondrian`", code="SF-STUDY-153"
            )
        if isinstance(part["method"], list):
            raise places.error(
                (*here, "method"),
                f"sweep '{name}' lists methods",
                "give each method its own part: [{method: …}, …]",
                code="SF-STUDY-154",
            )
        for field, fix in (
            ("purpose", "take it out, and name the purpose when you compare: --purpose"),
            ("chosen", "take it out: what a sweep chooses is always chosen on the raw table"),
        ):
            if field in part:
                raise places.error((*here, field), f"sweep '{name}' has a `{field}`", fix, code="SF-STUDY-155")
        empty = [parameter for parameter, values in part.items() if isinstance(values, list) and not values]
        if empty:
            raise places.error(
                (*here, empty[0]),
                f"sweep '{name}' tries no value of '{empty[0]}'",
                "list at least one",
                code="SF-STUDY-156",
            )
    return tuple(parts)


def _first(errors: list[ErrorDetails], places: Places) -> StudyError:
    """The problem that stands first in the file, in our words."""

    def place(error: ErrorDetails) -> tuple[int, bool]:
        # A field that is missing may only be misspelt, so the unknown one goes first.
        return places.lines[places.known(error["loc"])] if places.lines else 0, error["type"] == "missing"

    error = min(errors, key=place)
    found = _error_of(error)
    return places.error(error["loc"], found.problem, found.fix, code=found.code)


def _error_of(error: ErrorDetails) -> StudyError:
    """What is wrong with one field, without the place."""
    path, kind = error["loc"], error["type"]
    name = str(path[-1])
    if kind == "study":
        return cast("StudyError", error["ctx"]["error"])
    if kind == "missing" and name == "role":
        return StudyError(
            f"'{path[-2]}' has no role",
            f"give it one of: {', '.join(ROLES)}; or take '{path[-2]}' out",
            code="SF-STUDY-157",
        )
    if kind == "missing":
        return StudyError(f"the field '{name}' is missing{_inside(path)}", f"add `{name}: …`", code="SF-STUDY-158")
    if kind == "extra_forbidden":
        fields = list(_model_at(path).model_fields)
        return StudyError(
            f"there is no field '{name}'{_inside(path)}",
            did_you_mean_of(name, fields),
            code="SF-STUDY-159",
        )
    return StudyError(
        f"'{name}' is invalid here ({error['msg']})", "see the documentation of the study file", code="SF-STUDY-160"
    )


def _inside(path: Sequence[str | int]) -> str:
    around = [part for part in path[:-1] if isinstance(part, str)]  # a place in a list is no name
    if around and around[-1] in TAGS:
        around.pop()
    return f" in '{around[-1]}'" if around else ""


def _model_at(path: tuple[str | int, ...]) -> type[BaseModel]:
    """The fields that are allowed where an unknown one was found."""
    if path[0] == "attributes":
        return NumberFields if "of numbers" in path else AttributeFields
    if path[0] == "purposes":
        return PurposeFields
    if path[0] == "source":
        return SourceFields
    if path[0] == "privacy":
        return PersonFields if "unit" in path[:-1] else PrivacyFields
    return StudyFields
