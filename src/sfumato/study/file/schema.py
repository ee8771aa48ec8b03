"""The study file's fields: what may be written where, each with its description.

Numbers and labels stay the text that was typed; `study.file.attribute_fields` gives them their meaning, because what
``bounds`` means depends on ``type``. The JSON schema for editors comes from here too.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from sfumato.domains.number_format import NEGATIVES
from sfumato.domains.taxonomy.check import did_you_mean_of
from sfumato.errors import StudyError
from sfumato.study.attribute import Role
from sfumato.study.budget import parse_epsilon
from sfumato.study.file.exact_numbers import point
from sfumato.study.left_out import MOST

_BILLION = 10**9
UNCHECKED = "unchecked"

ROLES = tuple(role.value for role in Role)
TAGS = frozenset(
    {"a person", "a record", "a file", "a table", "of dates", "of numbers"}
)  # steps of a path that nobody wrote


class Type(StrEnum):
    """How the values of an attribute are read."""

    INTEGER = "integer"
    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"
    SET = "set"


def _wrong(problem: str, fix: str, *, code: str = "") -> PydanticCustomError:
    return _carried(StudyError(problem, fix, code=code))


def _carried(error: StudyError) -> PydanticCustomError:
    """An error of ours that goes through Pydantic whole, as context: what people typed is never read as a template."""
    return PydanticCustomError("study", "an error of the study", {"error": error})


def _text(value: object) -> str:
    """Take a scalar as the text it is typed or printed as."""
    if type(value) is str and value:
        return value
    if value is None or value == "":
        raise _wrong("this field is empty", "write a value, or take the field out", code="SF-STUDY-161")
    if isinstance(value, Mapping | Sequence | set) and not isinstance(value, str):
        raise _wrong("a single value is expected here", "write one text or number", code="SF-STUDY-162")
    return repr(value) if isinstance(value, float) else str(value)


def _choice(kind: str, options: Sequence[str], later: Mapping[str, str] | None = None) -> Callable[[object], str]:
    def check(value: object) -> str:
        text = _text(value)
        if later and text in later:
            raise _wrong(f"the {kind} '{text}' is not supported yet", later[text], code="SF-STUDY-163")
        if text not in options:
            raise _wrong(
                f"there is no {kind} '{text}'",
                did_you_mean_of(text, options),
                code="SF-STUDY-164",
            )
        return text

    return check


def _list(value: object) -> object:
    if isinstance(value, Mapping | str) or not isinstance(value, Sequence):
        raise _wrong("a list is expected here", "write it in brackets: [a, b]", code="SF-STUDY-165")
    return list(value)


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else _list(value)


def _formats(value: object) -> object:
    return [value] if isinstance(value, Mapping) else _texts(value)


def _span(value: object) -> object:
    days = _list(value)
    if not isinstance(days, list) or len(days) != 2:  # noqa: PLR2004 - where it starts and where it stops
        raise _wrong(
            "a span is two days",
            "write the first day, and the day after the last: [2004-01-01, 2010-01-01]",
            code="SF-STUDY-166",
        )
    return days


def _budget(value: object) -> Fraction:
    try:
        return parse_epsilon(value if isinstance(value, Fraction) else _text(value))
    except StudyError as error:
        raise _carried(error) from None


def _most_invalid(value: object) -> Fraction | None:
    text = _text(value)
    if text == UNCHECKED:
        return None
    try:
        share = point(text, "number")
    except StudyError:
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise _wrong(
            f"`most_invalid` is '{text[:40]}', and it is a share of the records",
            f"write a number from 0 to 1, such as 0.1, or `{UNCHECKED}`",
            code="SF-STUDY-167",
        )
    return share


def _whole(value: object) -> int:
    text = _text(value)
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:10]) < _BILLION:
        raise _wrong(f"'{text}' is not a whole number above 0", "write a number such as 1 or 3", code="SF-STUDY-168")
    return int(text)


def _mapping(value: object) -> object:
    """Nothing written is an empty mapping: then what is missing in it gets named."""
    if value is None:
        return {}
    if not isinstance(value, Mapping | BaseModel):
        raise _wrong("a mapping is expected here", "write fields below it, such as `name: value`", code="SF-STUDY-169")
    return value


def _releases(value: object) -> object:
    for name, settings in value.items() if isinstance(value, Mapping) else ():
        if not isinstance(settings, Mapping):
            raise _wrong(
                f"release '{name}' has no settings",
                "write at least its method: {method: diffgen, epsilon: 1}",
                code="SF-STUDY-170",
            )
    return value


def _sweeps(value: object) -> object:
    found = {}
    for name, given in value.items() if isinstance(value, Mapping) else ():
        parts = given if isinstance(given, list | tuple) else [given]
        if not parts or not all(isinstance(part, Mapping) for part in parts):
            raise _wrong(
                f"sweep '{name}' has no settings",
                "write a method with values to try: {method: mondrian, k: [5, 10]}",
                code="SF-STUDY-171",
            )
        found[name] = parts
    return found


_SCALAR_SCHEMA = {"type": ["string", "number", "integer"]}

Text = Annotated[str, BeforeValidator(_text)]
Scalar = Annotated[str, BeforeValidator(_text), WithJsonSchema(_SCALAR_SCHEMA)]
Scalars = Annotated[list[Scalar], BeforeValidator(_list)]
Budget = Annotated[Fraction, BeforeValidator(_budget), WithJsonSchema(_SCALAR_SCHEMA)]
Whole = Annotated[int, BeforeValidator(_whole)]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PersonFields(_Fields):
    """A person as the privacy unit."""

    person: Text = Field(description="The column that says whose record it is.")
    at_most: Whole = Field(description="How many records of one person are used, at most.", ge=1)


def _unit_tag(value: object) -> str:
    return "a person" if isinstance(value, Mapping | BaseModel) else "a record"


UnitField = Annotated[
    Annotated[Literal["record"], BeforeValidator(_choice("privacy unit", ["record"])), Tag("a record")]
    | Annotated[PersonFields, Tag("a person")],
    Discriminator(_unit_tag),
]


class PrivacyFields(_Fields):
    """The privacy unit, and how much ε may ever be spent."""

    unit: UnitField = Field(
        default="record",
        description="The privacy unit: `record`, or `{person: column, at_most: n}` where a person has several records.",
    )
    budget: Budget | None = Field(
        default=None, description="The total ε of all differentially private releases together, ever."
    )


class NumberFields(_Fields):
    """How numbers are written in text."""

    decimal: Text | None = Field(
        default=None, description="The decimal mark: `.` by default, `,` where `.` stands between thousands."
    )
    thousands: Text | None = Field(
        default=None, description="What may stand between groups of three digits, such as `,`, or `space`."
    )
    prefix: Text | None = Field(default=None, description="What stands before every number, such as `$`.")
    suffix: Text | None = Field(default=None, description="What stands behind every number, such as `€` or `%`.")
    negative: Annotated[str, BeforeValidator(_choice("way to write negative numbers", NEGATIVES))] | None = Field(
        default=None, description="How else negative numbers are written: `parentheses` for (5), `trailing` for 5-."
    )


def _format_tag(value: object) -> str:
    return "of numbers" if isinstance(value, Mapping | BaseModel) else "of dates"


FormatField = Annotated[
    Annotated[NumberFields, Tag("of numbers")] | Annotated[Text, Tag("of dates")], Discriminator(_format_tag)
]


class AttributeFields(_Fields):
    """One column: its role, and the public domain of its values."""

    role: Annotated[Role, BeforeValidator(_choice("role", ROLES))] = Field(
        description="The role of the column in a release; `undecided` until it is known. There is no default."
    )
    type: (
        Annotated[
            Type,
            BeforeValidator(_choice("type", [t.value for t in Type])),
        ]
        | None
    ) = Field(default=None, description="How values are read. Without it: `category`.")
    bounds: Scalars | None = Field(
        default=None, description="The least and the greatest value of a number or date, from public knowledge."
    )
    step: Scalar | None = Field(
        default=None, description="The public resolution of a number, or days for a date. Whole types: 1 by default."
    )
    classes: Scalars | None = Field(
        default=None,
        description="Where each class of a number or date begins; the first begins at the lower bound.",
    )
    at_least: Scalar | None = Field(
        default=None, description="The narrowest interval to publish, for methods that can keep to one."
    )
    values: Scalars | None = Field(default=None, description="All values a category may take.")
    taxonomy: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]})] = (
        Field(
            default=None,
            description="The tree of the values: nested names, a file, or `flat`, `prefix`, `intervals`, `dates`.",
        )
    )
    missing: Scalar | None = Field(
        default=None,
        description="What to do without a value: `error`, `suppress`, `keep`, or a label to keep it under.",
    )
    outside: Scalar | None = Field(
        default=None,
        description="The same for a value outside the domain. Numbers: `keep` moves it to the nearer bound.",
    )
    domain: Annotated[
        Literal["declared", "observed"], BeforeValidator(_choice("kind of domain", ["declared", "observed"]))
    ] = Field(
        default="declared",
        description="`observed` if bounds or values were read off the records and nobody has confirmed them yet.",
    )
    format: Annotated[list[FormatField], BeforeValidator(_formats)] | None = Field(
        default=None,
        description="How dates are written, such as `%d/%m/%Y`, or numbers, such as `{decimal: ',', suffix: €}`; or a "
        "list of formats: the first that fits wins.",
    )
    separator: Text | None = Field(
        default=None, description="What stands between the codes of a set. Without it, and without `columns`: `;`."
    )
    columns: Scalars | None = Field(
        default=None, description="The columns that a set is joined from, where it is not one column of its own name."
    )
    most: Whole | None = Field(
        default=None,
        description="How many codes a record may have at most, from public knowledge; further codes are ignored.",
    )
    level: Whole | None = Field(
        default=None,
        description="The depth of a set's taxonomy below which nothing is published; methods on groups need it.",
    )
    description: Text | None = Field(default=None, description="A sentence for those who receive a release.")


class PurposeFields(_Fields):
    """What one recipient gets."""

    attributes: Scalars = Field(description="The attributes the recipient gets. Identifiers cannot be among them.")
    span: Annotated[list[Scalar], BeforeValidator(_span)] | None = Field(
        default=None,
        description="Only records from the first day up to the second, which is not in it, by the role `time`.",
    )
    where: Annotated[Any, WithJsonSchema({"type": ["string", "object"]})] = Field(
        default=None,
        description="Only records that satisfy a query, or that have these values, nodes or intervals.",
    )


def _source_tag(value: object) -> str:
    return "a file" if isinstance(value, Mapping | BaseModel) else "a table"


class SourceFields(_Fields):
    """A table with how it is written."""

    path: Annotated[Any, WithJsonSchema({"type": "string"})] = Field(
        description="The table: a path or glob relative to the study, or a URL."
    )
    encoding: Text | None = Field(
        default=None, description="Of CSV: how text is encoded, such as `utf-8`, `latin-1` or `windows-1252`."
    )
    delimiter: Text | None = Field(
        default=None, description="Of CSV: the mark between fields, such as `;`, or `tab` or `space`."
    )
    quote: Text | None = Field(
        default=None, description="Of CSV: the mark around fields, or `none` where fields are never quoted."
    )
    missing: Annotated[list[Scalar], BeforeValidator(_texts)] = Field(
        default_factory=list, description="Texts that stand for no value, in every column, such as `?` or `NA`."
    )


SourceField = Annotated[
    Annotated[SourceFields, Tag("a file")] | Annotated[Any, WithJsonSchema({"type": "string"}), Tag("a table")],
    Discriminator(_source_tag),
]
Declared = Annotated[AttributeFields, BeforeValidator(_mapping)]


class StudyFields(_Fields):
    """A study: what the owner declares about one table."""

    name: Text = Field(description="The name of the study; the ledger records its spending under it.")
    source: SourceField = Field(
        description="The table: a path or glob relative to the study, a URL such as `duckdb:///f.db?table=t` or "
        "`postgresql://host/d?table=t`, or a "
        "mapping with a `path` and how the file is written."
    )
    privacy: Annotated[PrivacyFields, BeforeValidator(_mapping)] = Field(
        default_factory=PrivacyFields, description="The privacy unit and the total budget."
    )
    attributes: Annotated[dict[str, Declared], BeforeValidator(_mapping)] = Field(
        description="The columns that releases may use. A column not named here is never released."
    )
    purposes: Annotated[dict[str, Annotated[PurposeFields, BeforeValidator(_mapping)]], BeforeValidator(_mapping)] = (
        Field(default_factory=dict, description="Who gets which attributes.")
    )
    releases: Annotated[dict[str, dict[str, Any]], BeforeValidator(_releases), BeforeValidator(_mapping)] = Field(
        default_factory=dict, description="Releases to make, by name: a `method`, its parameters, and a `purpose`."
    )
    sweeps: Annotated[
        dict[str, list[dict[str, Any]]],
        BeforeValidator(_sweeps),
        BeforeValidator(_mapping),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": ["object", "array"]}}),
    ] = Field(
        default_factory=dict,
        description="Releases to compare, by name: a `method` and lists of values to try, or several of these.",
    )
    ledger: Text | None = Field(
        default=None, description="Where the ledger is kept: a file relative to the study, or a database URL."
    )

    most_invalid: Annotated[Fraction | None, BeforeValidator(_most_invalid), WithJsonSchema(_SCALAR_SCHEMA)] = Field(
        default=MOST,
        description="The share of records that may be left out for a missing or invalid value, 0.1 by default: above "
        "it nothing is released or spent without `--anyway`. `unchecked`: the table is not looked at for it.",
    )


def study_schema() -> dict[str, Any]:
    """Give the JSON schema of study files, for editors that complete and check YAML by one.

    >>> sorted(study_schema()["required"])
    ['attributes', 'name', 'source']
    """
    return StudyFields.model_json_schema()
