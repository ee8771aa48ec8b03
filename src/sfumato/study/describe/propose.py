"""Propose a study: a type, a domain marked `observed` and a role for every column, with the reason or the question.

Proposals are computed from raw values, for the owner alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sfumato.display import Display, Displayed
from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.errors import UsageError
from sfumato.study.attribute import Role
from sfumato.study.describe.column_kinds import is_near_unique, is_unique
from sfumato.study.describe.column_profile import ColumnProfile, Profile
from sfumato.study.describe.columns_together import (
    as_codes,
    codes_reason,
    like_neighbours,
    person_of,
    target_of,
    time_of,
)
from sfumato.study.describe.roles import Verdict, role_of
from sfumato.study.describe.study_text import domain_fields, entry_fields, study_text
from sfumato.study.describe.survey_names import survey_columns

_KEYS: Final = 20  # values: of a small table every record may have a class of its own
_SURVEYED: Final = "it is a column of the public files of the American Community Survey or IPUMS, by its name"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A column, the role proposed for it (undecided where none can be told), and why, or the open question."""

    column: ColumnProfile
    role: Role
    reason: str

    @property
    def entry(self) -> dict[str, object]:
        """What the study file says of the column, its scalars as the texts that stand there."""
        return entry_fields(self.column, self.role)


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
    def undecided(self) -> tuple[str, ...]:
        """The columns whose role the owner has to decide."""
        return tuple(p.column.name for p in self.columns if p.role is Role.UNDECIDED)

    @property
    def missing(self) -> dict[str, int]:
        """How many records lack a value, for the columns where some do."""
        return {p.column.name: p.column.missing for p in self.columns if p.column.missing}

    def role(self, name: str) -> Role:
        """The role proposed for a column."""
        return next(p.role for p in self.columns if p.column.name == name)

    def display(self) -> Display:
        """Every column with its type and proposed role, and no reason: notebooks get shared, and it may name values."""
        open_ones = self.undecided
        return Display(
            title=f"Proposal of a study '{self.name}'",
            facts=(("columns", f"{len(self.columns)}, of which {len(open_ones)} have no role yet"),),
            columns=("column", "type", "role"),
            rows=tuple(
                (p.column.name, p.column.kind, "to decide" if p.column.name in open_ones else p.role.replace("_", "-"))
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
                    "role": p.role.value,
                    "reason": p.reason,
                    "entry": p.entry,
                    "distinct": p.column.distinct,
                    "missing": p.column.missing,
                    "lower": p.column.lower,
                    "upper": p.column.upper,
                    "values": list(p.column.values),
                    "formats": [*p.column.formats, *(form.fields() for form in p.column.number_formats)],
                    "ambiguous": p.column.ambiguous,
                    "separator": p.column.separator,
                    "codes": list(p.column.codes),
                    "distribution": None if p.column.distribution is None else p.column.distribution.as_json(),
                }
                for p in self.columns
            ],
            "unique": list(self.unique),
            "near_unique": list(self.near_unique),
            "undecided": list(self.undecided),
            "study": self.to_yaml(),
        }

    def to_yaml(self) -> str:
        """Write the study file, with the reasons and the open questions as comments."""
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
    surveyed = survey_columns([column.name for column in profile.columns])
    known: dict[str, Verdict] = {name: (role, _SURVEYED) for name, (role, _) in surveyed.items()}
    if time := time_of(profile.columns):
        known[time[0]] = (Role.TIME, time[1])
    person = person_of(profile.columns)
    if person is not None:
        known[person[0]] = (Role.IDENTIFIER, f"{person[1]}: it defines the privacy unit")
    if chosen := _asked_or_guessed(profile.columns, target):
        known[chosen[0]] = (Role.CLASS, chosen[1])
    found = []
    for column in profile.columns:
        role, reason = known.get(column.name) or role_of(column)
        coded = surveyed[column.name][1] if column.name in surveyed else None
        found.append(_with_codes(column, role, reason, coded=coded))
    alike = like_neighbours([p.column for p in found], [p.role for p in found])
    found = [replace(p, role=alike[n][0], reason=alike[n][1]) if (n := p.column.name) in alike else p for p in found]
    return Proposal(
        name=name,
        source=source,
        columns=tuple(map(_with_domain, found)),
        written=dict(written or {}),
        person=None if person is None or person[0] == (chosen or [None])[0] else person[0],
    )


def _asked_or_guessed(columns: Sequence[ColumnProfile], asked: str | None) -> tuple[str, str] | None:
    """The class and the reason for it."""
    if asked is None:
        return target_of(columns)
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
    if is_near_unique(found[0]) and found[0].distinct > _KEYS:
        raise UsageError(
            f"'{asked}' cannot be the class: nearly every record has a value of its own, so it identifies records",
            "choose a column with few values, which many records share",
            code="SF-USAGE-982",
        )
    return asked, "asked for as the class"


def _with_codes(column: ColumnProfile, role: Role, reason: str, *, coded: bool | None) -> Proposed:
    """The column as categories where its whole numbers are known to be codes, or seem to be."""
    if coded and column.kind == "integer" and column.values:
        return Proposed(replace(column, kind="category"), role, reason)
    decided = coded is not None or role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.UNDECIDED)
    if not decided and (codes := as_codes(column)):
        return Proposed(codes, role, f"{reason}; {codes_reason(column)}")
    return Proposed(column, role, reason)


def _with_domain(proposed: Proposed) -> Proposed:
    """The proposal as it is, or undecided where a role would need a domain that cannot be told."""
    column, role = proposed.column, proposed.role
    if role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) or domain_fields(column, role):
        return proposed
    reason = f"{proposed.reason}, but it has {column.distinct} values, too many to list: give it a taxonomy and a role"
    return Proposed(column, Role.UNDECIDED, reason)
