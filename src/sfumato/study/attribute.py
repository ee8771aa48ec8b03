"""Attributes: the columns of a table and the part each plays in a release."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError


class Role(StrEnum):
    """What a column is to the people in the table."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    CLASS = "class"
    TIME = "time"
    INSENSITIVE = "insensitive"
    UNDECIDED = "undecided"  # the owner has not decided yet: the study loads, and nothing is released by it


class InvalidValuePolicy(StrEnum):
    """What happens to a record whose value is missing, or outside the declared domain."""

    ERROR = "error"  # stop and tell the owner; a DP method leaves the record out instead, see `Attribute.drops`
    SUPPRESS = "suppress"  # leave the record out
    KEEP = "keep"  # give it a declared value of its own (for numbers outside the bounds: the nearer bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One column of the table and the part it plays in a release.

    An identifier, and a column that takes no part, has no domain. ``missing`` and ``outside`` only say what was
    asked for: the codes that carry it out are in the domain. ``at_least`` is the width of the narrowest interval the
    owner wants published, for methods that can keep to one.
    """

    name: str
    role: Role
    domain: Domain | None = None
    missing: InvalidValuePolicy = InvalidValuePolicy.ERROR
    outside: InvalidValuePolicy = InvalidValuePolicy.ERROR
    at_least: Fraction | None = None
    description: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise StudyError("an attribute has no name", "name the column", code="SF-STUDY-112")
        if self.role is Role.CLASS and not isinstance(self.domain, Categories):
            raise StudyError(
                f"the class '{self.name}' has no list of values",
                "declare `values: [...]` or a taxonomy for it; for a number, `bounds` and `classes: [...]`",
                code="SF-STUDY-113",
            )

    @property
    def coded(self) -> bool:
        """Whether the attribute has a domain, so that methods can use it."""
        return self.domain is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that it is read from: one of its name, but for a set that lies in several."""
        return (self.domain.columns if isinstance(self.domain, SetDomain) else ()) or (self.name,)

    @property
    def numerical(self) -> bool:
        """Whether split points have to be found for it."""
        return isinstance(self.domain, Grid) and self.domain.free


def observed(attributes: Iterable[Attribute]) -> list[str]:
    """The names of the attributes whose domain was read off the data and not yet declared by the owner."""
    return [a.name for a in attributes if a.domain is not None and not a.domain.declared]
