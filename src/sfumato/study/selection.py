"""Selections: which records a purpose is about, by a span of time and a condition.

Stability. Whether a record is selected depends on that record and on public things alone (the span, the condition, the
declared domains), never on another record. So where two tables differ by one record, what is selected of them differs
by that record or not at all: selecting has stability 1, and a mechanism that is ε-differentially private on the
selected records is so on the whole table (McSherry 2009, on `Where`). For persons the same holds for all the records of
one person, and which of them are used is decided among the selected ones. Selecting never fails on a record: a time
that is missing or cannot be read is in no span, a value that has no code satisfies no comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.domains.domain import Domain
from sfumato.domains.query.condition import Condition, attributes_of, exclude_each_other, read_condition
from sfumato.errors import SfumatoError
from sfumato.study.attribute import Attribute
from sfumato.study.span import Span


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The records with a day in ``span`` (by the attribute ``time``) that satisfy ``condition``; None takes any.

    ``where`` is the condition as it is written, and ``attributes`` those that it looks at.
    """

    span: Span | None = None
    time: Attribute | None = None
    condition: Condition | None = None
    where: str = ""
    attributes: tuple[Attribute, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether every record is selected."""
        return self.span is None and self.condition is None

    def sentences(self) -> list[str]:
        """Which records take part, in words that may be published; nothing if all do."""
        found = []
        if self.span is not None and self.time is not None:
            last = self.span.stop.isoformat()
            found.append(
                f"only records with '{self.time.name}' from {self.span.start.isoformat()} up to, and not including, "
                f"{last} take part; one without a readable '{self.time.name}' does not"
            )
        if self.condition is not None:
            found.append(f"only records that satisfy this take part: {self.where}")
        return found

    def as_json(self) -> dict[str, str | list[str] | None] | None:
        """The selection as plain values, for the manifest; None if every record is selected."""
        if self.everything:
            return None
        span = None if self.span is None else [self.span.start.isoformat(), self.span.stop.isoformat()]
        return {"time": None if self.time is None else self.time.name, "span": span, "where": self.where or None}


EVERYTHING = Selection()


def parse_selection(where: str, attributes: Mapping[str, Attribute]) -> Selection:
    """The selection that a condition makes, over these attributes."""
    if not where:
        return EVERYTHING
    condition = read_condition(where, domains_of(attributes))
    used = tuple(attributes[name] for name in attributes_of(condition))
    return Selection(condition=condition, where=where, attributes=used)


def domains_of(attributes: Mapping[str, Attribute]) -> dict[str, Domain]:
    """The attributes that have one, with their domains."""
    return {name: attribute.domain for name, attribute in attributes.items() if attribute.domain is not None}


def may_overlap(
    first: tuple[Span | None, str], second: tuple[Span | None, str], attributes: Mapping[str, Attribute]
) -> bool:
    """Whether one record may be in two selections, each a span and a condition as written; True where in doubt."""
    spans = (first[0], second[0])
    if spans[0] is not None and spans[1] is not None and not spans[0].overlaps(spans[1]):
        return False
    if not first[1] or not second[1]:
        return True
    domains = domains_of(attributes)
    try:
        return not exclude_each_other(read_condition(first[1], domains), read_condition(second[1], domains))
    except SfumatoError:  # the study has changed since: nothing is known
        return True
