"""Propose a study: a role for each column that can be placed, with the reason, and its domain marked `observed`.

There is no default role. A column that nothing speaks for is left out, and said to be; free text never gets a role
that is published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.display import Display, Displayed
from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.errors import UsageError
from sfumato.study.attribute import Role
from sfumato.study.describe.column_kinds import (
    BIRTH,
    DEMOGRAPHIC,
    IDENTIFYING,
    KEYS,
    SENSITIVE,
    TARGETS,
    count_present,
    is_constant,
    is_near_unique,
    is_unique,
    named_like,
    reads_as_amount,
    words,
)
from sfumato.study.describe.column_profile import ColumnProfile, Profile
from sfumato.study.describe.columns_together import as_codes, codes_reason, person_of, time_of
from sfumato.study.describe.study_text import study_text

MOST_CLASSES = 20
_FEW = 20  # a column named like an identifier with no more values than this is a code for something else
_TELLTALE = {
    "email": "mail addresses",
    "url": "web addresses",
    "uuid": "keys",
    "ip": "network addresses",
    "phone": "telephone numbers",
}

Verdict = tuple[Role | None, str]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A column, the role proposed for it (None: leave it out), and why."""

    column: ColumnProfile
    role: Role | None
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Proposal(Displayed):
    """A proposed study; for the owner alone, since bounds and values were read off the records."""

    name: str
    source: str
    columns: tuple[Proposed, ...]
    written: Mapping[str, Any] = field(
        default_factory=dict
    )  # how the source is written: fields of the study's `source`
    person: str | None = None  # the column that says whose record it is

    @property
    def unique(self) -> tuple[str, ...]:
        """The columns in which every record that has a value has one of its own."""
        return tuple(p.column.name for p in self.columns if is_unique(p.column))

    @property
    def near_unique(self) -> tuple[str, ...]:
        """The columns in which nearly every record that has a value has one of its own."""
        return tuple(p.column.name for p in self.columns if is_near_unique(p.column) and not is_unique(p.column))

    @property
    def missing(self) -> dict[str, int]:
        """How many records lack a value, for the columns where some do."""
        return {p.column.name: p.column.missing for p in self.columns if p.column.missing}

    def role(self, name: str) -> Role | None:
        """The role proposed for a column."""
        return next(p.role for p in self.columns if p.column.name == name)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody could tell a role for: the owner decides."""
        return tuple(p.column.name for p in self.columns if p.role is None)

    def display(self) -> Display:
        """Every column with its type and proposed role, and no reason: notebooks get shared, and it may name values."""
        open_ones = self.undecided
        return Display(
            title=f"Proposal of a study '{self.name}'",
            facts=(("columns", f"{len(self.columns)}, of which {len(open_ones)} have no role yet"),),
            columns=("column", "type", "role"),
            rows=tuple(
                (p.column.name, p.column.kind, "to decide" if p.role is None else p.role.value.replace("_", "-"))
                for p in self.columns
            ),
            sentences=("confirm every role, and replace what was read off the records by public knowledge",),
            owner_only=True,
        )

    def as_json(self) -> dict[str, Any]:
        """The proposal as plain values, with the text of the study file."""
        return {
            "name": self.name,
            "source": self.source,
            "written": dict(self.written),
            "person": self.person,
            "rows": self.columns[0].column.rows if self.columns else 0,
            "columns": [
                {
                    "name": p.column.name,
                    "kind": p.column.kind,
                    "role": None if p.role is None else p.role.value,
                    "reason": p.reason,
                    "distinct": p.column.distinct,
                    "missing": p.column.missing,
                    "lower": p.column.lower,
                    "upper": p.column.upper,
                    "values": list(p.column.values),
                    "formats": [*p.column.formats, *(form.fields() for form in p.column.number_formats)],
                    "ambiguous": p.column.ambiguous,
                    "distribution": None if p.column.distribution is None else p.column.distribution.as_json(),
                }
                for p in self.columns
            ],
            "unique": list(self.unique),
            "near_unique": list(self.near_unique),
            "study": self.to_yaml(),
        }

    def to_yaml(self) -> str:
        """Write the study file, with the reasons as comments and what is left out commented out."""
        placed = [(p.column, p.role, p.reason) for p in self.columns]
        return study_text(self.name, self.source, placed, written=self.written, person=self.person)


def propose(
    profile: Profile, *, name: str, source: str, target: str | None = None, written: Mapping[str, Any] | None = None
) -> Proposal:
    """Propose a role for every column; ``target`` names the class, or else it is guessed by its name.

    ``written`` says how the source is written, where that had to be guessed, and which texts in it mean nothing.

    >>> column = ColumnProfile(name="sex", kind="category", rows=9, distinct=2, missing=0, values=("f", "m"))
    >>> propose(Profile(rows=9, columns=(column,)), name="a", source="a.csv").columns[0].role.value
    'quasi_identifier'
    """
    known: dict[str, Verdict] = {}
    if time := time_of(profile.columns):
        known[time[0]] = (Role.TIME, time[1])
    person = person_of(profile.columns)
    if person is not None:
        known[person[0]] = (Role.IDENTIFIER, f"{person[1]}: it defines the privacy unit")
    if chosen := _target(profile.columns, target):
        known[chosen[0]] = (Role.CLASS, chosen[1])
    return Proposal(
        name=name,
        source=source,
        columns=tuple(_propose_role(column, known.get(column.name)) for column in profile.columns),
        written=dict(written or {}),
        person=None if person is None or person[0] == (chosen or [None])[0] else person[0],
    )


def _target(columns: Sequence[ColumnProfile], asked: str | None) -> tuple[str, str] | None:
    """The class and the reason for it."""
    if asked is not None:
        found = [column for column in columns if column.name == asked]
        if not found:
            raise UsageError(
                f"the table has no column '{asked}'",
                did_you_mean(asked, [c.name for c in columns]),
                code="SF-USAGE-070",
            )
        if len(found[0].values) <= 1:
            raise UsageError(
                f"'{asked}' cannot be the class: it has {found[0].distinct} values",
                "choose a column with two values or more and not more than a thousand",
                code="SF-USAGE-071",
            )
        return asked, "asked for as the class"
    for word in TARGETS:
        for column in columns:
            if 1 < column.distinct <= MOST_CLASSES and column.values and word in words(column.name):
                return column.name, f"its name says '{word}' and it has {column.distinct} values"
    return None


def _propose_role(column: ColumnProfile, known: Verdict | None) -> Proposed:
    role, reason = known or _role(column)
    if role is Role.CLASS:
        return Proposed(column, role, reason)
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, None) and (codes := as_codes(column)):
        return Proposed(codes, role, f"{reason}; {codes_reason(column)}")
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) and not _has_domain(column):
        return Proposed(
            column,
            None,
            f"{reason}, but it has {column.distinct} values, too many to list: give it a taxonomy and a role",
        )
    return Proposed(column, role, reason)


def _role(column: ColumnProfile) -> Verdict:
    """The first rule that has an opinion."""
    for rule in _RULES:
        verdict = rule(column)
        if verdict is not None:
            return verdict
    return None, "neither its name nor its values say what it is: give it a role, or leave it out"


def _says_nothing(column: ColumnProfile) -> Verdict | None:
    if count_present(column) == 0:
        return None, "it is empty"
    return (None, "all records have the same value, so it carries no information") if is_constant(column) else None


def _looks_identifying(column: ColumnProfile) -> Verdict | None:
    look = next((look for look in _TELLTALE if look in column.looks_like), None)
    return (Role.IDENTIFIER, f"its values have the form of {_TELLTALE[look]}") if look else None


def _named_identifying(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, IDENTIFYING)
    if word is None or column.kind == "date" or not (column.distinct > _FEW or is_near_unique(column)):
        return None
    if as_codes(column) and not is_near_unique(column):  # `disposition_id` with its 26 values
        return None
    last = words(column.name)[-1]
    key = last in KEYS  # `citizen_id` is an id, `country_name` is a country
    if reads_as_amount(column) and last not in IDENTIFYING and not key:  # `account_balance`, unlike `patient_id`
        return None
    if key or is_near_unique(column) or not named_like(column, (*DEMOGRAPHIC, *SENSITIVE)):
        return Role.IDENTIFIER, f"its name says '{word}' and it has {column.distinct} different values"
    return None


def _free_text(column: ColumnProfile) -> Verdict | None:
    if column.kind != "text":
        return None
    if is_near_unique(column):
        return Role.IDENTIFIER, f"{_own(column)} a unique text"
    return None, "it is free text, which can name people: it is published only if you list its values by hand"


def _date(column: ColumnProfile) -> Verdict | None:
    if column.kind != "date":
        return None
    if named_like(column, BIRTH):
        return Role.QUASI_IDENTIFIER, "a date of birth is known to others and singles people out"
    return Role.QUASI_IDENTIFIER, "it is a date that others may know of a person, and not the time"


def _named_sensitive(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, SENSITIVE)
    return (Role.SENSITIVE, f"its name says '{word}', which people usually keep confidential") if word else None


def _named_demographic(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, DEMOGRAPHIC)
    return (Role.QUASI_IDENTIFIER, f"its name says '{word}', which others may know of a person") if word else None


def _one_each(column: ColumnProfile) -> Verdict | None:
    if column.kind in ("integer", "category") and is_near_unique(column) and not reads_as_amount(column):
        return Role.IDENTIFIER, f"{_own(column)} a unique value"
    return None


def _own(column: ColumnProfile) -> str:
    every = "every record" if is_unique(column) else "nearly every record"
    return f"{every} that has a value has" if column.missing else f"{every} has"


_RULES = (
    _says_nothing,
    _looks_identifying,
    _named_identifying,
    _free_text,
    _date,
    _named_sensitive,
    _named_demographic,
    _one_each,
)


def _has_domain(column: ColumnProfile) -> bool:
    bounded = column.kind in ("integer", "number", "date") and column.lower is not None and column.upper is not None
    return bounded or bool(column.values)
