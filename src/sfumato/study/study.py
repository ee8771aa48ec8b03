"""The study: what the owner declares about one table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.domains.domain import Grid
from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.left_out import MOST
from sfumato.study.span import Span
from sfumato.study.unit import RecordUnit, Unit


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """Which attributes a recipient gets, and of which records (a view of the study).

    ``span`` is on the study's time attribute; ``where`` is a query. Both look at one record at a time, see
    `study.selection`.
    """

    name: str
    attributes: tuple[str, ...]
    span: Span | None = None
    where: str = ""


@dataclass(frozen=True, kw_only=True)
class Study:
    """What the owner declares about one table: where it is, its attributes, the privacy unit, the total budget.

    ``source`` is a path, a glob, a URL, a table in memory, or a `Source` with how it is written; paths are relative to
    ``base``, the folder of the study file, or the empty path where there is none. ``releases`` holds the settings of
    the declared releases as written, by name; the recipe layer reads them. ``sweeps`` holds those of the declared
    sweeps: a method with lists of values each, one or more under a name. ``places`` says in which file and line each
    part of ``releases`` stands, where there is a file: errors name it. ``most_invalid`` is the share of records that
    may be left out for a missing or invalid value before a release is refused; None if the table is not looked at for
    it.
    """

    name: str
    source: Any
    attributes: Mapping[str, Attribute]
    base: Path = field(default_factory=Path)
    unit: Unit = field(default_factory=RecordUnit)
    budget: Fraction | None = None
    purposes: Mapping[str, Purpose] = field(default_factory=dict)
    releases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sweeps: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    ledger: str | None = None
    most_invalid: Fraction | None = MOST
    places: Mapping[tuple[str | int, ...], str] = field(default_factory=dict, compare=False, repr=False)

    def attribute(self, name: str) -> Attribute:
        """One attribute by name."""
        try:
            return self.attributes[name]
        except KeyError:
            raise StudyError(
                f"the study '{self.name}' has no attribute '{name}'",
                f"choose one of: {', '.join(self.attributes)}",
                code="SF-STUDY-198",
            ) from None

    def with_role(self, *roles: Role) -> tuple[Attribute, ...]:
        """The attributes that play one of these parts, in the study's order."""
        return tuple(a for a in self.attributes.values() if a.role in roles)

    @property
    def time(self) -> Attribute:
        """The attribute that spans go by; an error where there is none, more than one, or it has no dates."""
        found = self.with_role(Role.TIME)
        if len(found) != 1:
            many = f"{len(found)} attributes" if found else "no attribute"
            raise StudyError(
                f"the study '{self.name}' declares {many} with the role `time`, and a span needs exactly one",
                f"keep the role on one of: {', '.join(a.name for a in found)}"
                if found
                else "give one attribute `role: time, type: date`",
                code="SF-STUDY-199",
            )
        if not isinstance(found[0].domain, Grid) or found[0].domain.unit != "day":
            raise StudyError(
                f"the time '{found[0].name}' has no dates, so spans cannot be defined by it",
                f"give '{found[0].name}' `type: date`",
                code="SF-STUDY-200",
            )
        return found[0]

    def span(self, text: str) -> Span:
        """A span by the study's time attribute, from text such as ``[2004-01-01, 2010-01-01)``."""
        return Span.read(clock(self.time), text)

    @property
    def target(self) -> Attribute:
        """The class attribute; an error where there is none or more than one."""
        found = self.with_role(Role.CLASS)
        if len(found) != 1:
            raise StudyError(
                f"the study '{self.name}' declares {len(found)} class attributes, and this method needs exactly one",
                "give one attribute the role `class` with its `values`",
                code="SF-STUDY-201",
            )
        return found[0]


def clock(time: Attribute) -> str:
    """A time attribute and how its text is read, in a word: spans by the same clock can be compared."""
    formats = time.domain.formats if isinstance(time.domain, Grid) else ()
    return f"{time.name} as {' or '.join(formats)}" if formats else time.name
