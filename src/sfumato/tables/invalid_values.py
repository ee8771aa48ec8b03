"""What does not fit: how many values are missing or outside the declared domain, and some of them.

For the owner's eyes only. The values never go into an error, a log or a release.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis.expr.types as ir

from sfumato.domains.domain import Grid
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.study.attribute import Attribute, InvalidValuePolicy
from sfumato.study.left_out import percent
from sfumato.tables.coded_records import Records
from sfumato.tables.coding import NO, Coding, is_missing
from sfumato.tables.set_columns import outside_codes

SHOWN = 20  # distinct values a report holds at most
_TOGETHER = 32  # attributes counted by one query; the time to plan it grows faster than they do


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainViolations:
    """One attribute: how many values are missing, how many outside the declared domain (of sets, how many codes).

    Text that should be a number or a date and is not counts as missing, and as ``unreadable``. ``values`` are up to 20
    distinct values that are outside, or such text. ``records`` is how many records were looked at.
    """

    attribute: str
    missing: int
    outside: int
    values: tuple[str, ...] = ()
    unreadable: int = 0
    records: int = 0

    @property
    def fits(self) -> bool:
        """Whether nothing is missing or outside."""
        return not self.missing and not self.outside

    def sentences(self) -> list[str]:
        """What does not fit, in words; nothing where all fits."""
        found: list[str] = []
        if self.missing:
            found.append(f"'{self.attribute}': {self.missing} values are missing, or cannot be read")
        if self.outside:
            found.append(f"'{self.attribute}': {self.outside} values are outside the declared domain")
        if self.values:
            found.append(f"'{self.attribute}': such as {', '.join(map(repr, self.values))}")
        return found

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "attribute": self.attribute,
            "missing": self.missing,
            "outside": self.outside,
            "unreadable": self.unreadable,
            "records": self.records,
            "values": list(self.values),
        }


def consequences(report: DomainViolations, attribute: Attribute) -> list[str]:
    """What a release does with the values of a report, by the attribute's policies, in words."""
    domain, said = attribute.domain, []
    if report.outside and attribute.outside is InvalidValuePolicy.KEEP and not isinstance(domain, SetDomain):
        instead = (
            "moved to the nearer bound"
            if isinstance(domain, Grid | NumberClasses)
            else "counted as the value for all others"
        )
        said.append((report.outside, f"values ({_share(report.outside, report)}) are {instead}"))
    if report.missing and attribute.missing is InvalidValuePolicy.KEEP and not isinstance(domain, SetDomain):
        blank = report.missing - report.unreadable
        read = f"values ({_share(report.unreadable, report)}) cannot be read and are kept as missing"
        said += [(report.unreadable, read), (blank, f"values ({_share(blank, report)}) are missing and kept as such")]
    for count, policy in ((report.missing, attribute.missing), (report.outside, attribute.outside)):
        if policy is InvalidValuePolicy.SUPPRESS:
            said.append((count, f"values ({_share(count, report)}) exclude their records"))
    return [f"'{report.attribute}': {count} {words}" for count, words in said if count]


def _share(count: int, report: DomainViolations) -> str:
    return percent(count / report.records if report.records else 0.0)


def count_violations(records: Records) -> list[DomainViolations]:
    """A report an attribute, in their order, over all records of the source."""
    found: list[DomainViolations] = []
    for start in range(0, len(records.attributes), _TOGETHER):
        found += _count(records.of_some(records.attributes[start : start + _TOGETHER]))
    return found


def _count(records: Records) -> list[DomainViolations]:
    table, codings = records.codings()
    marks: dict[str, ir.Column] = {}
    for place, coding in enumerate(codings):
        marks |= {
            f"m{place}": coding.missing,
            f"o{place}": coding.outside,
            f"t{place}": _written(records, table, place),
        }
        marks |= {f"n{place}": outside_codes(table, place)} if place in records.sets else {}
    # No limit is a fence: without it each mark would be written, and planned, for every sum that needs it.
    marked = table.select(**marks).limit(None)
    sums: dict[str, ir.Scalar] = {"n": marked.count()}
    for place in range(len(codings)):
        missing, outside = marked[f"m{place}"], marked[f"o{place}"]
        unread = missing & marked[f"t{place}"]
        sums[f"m{place}"] = missing.sum()
        sums[f"o{place}"] = (marked[f"n{place}"] if place in records.sets else outside).sum()
        sums[f"u{place}"] = (outside | unread).sum()
        sums[f"t{place}"] = unread.sum()
    counted = records.source.fetch(marked.aggregate(**sums)).to_pylist()[0]
    return [
        DomainViolations(
            attribute=attribute.name,
            missing=int(counted[f"m{place}"] or 0),
            outside=int(counted[f"o{place}"] or 0),
            values=_values(records, table, codings, place) if counted[f"u{place}"] else (),
            unreadable=int(counted[f"t{place}"] or 0),
            records=int(counted["n"] or 0),
        )
        for place, attribute in enumerate(records.attributes)
    ]


def unreadable(records: Records, table: ir.Table, codings: Sequence[Coding], place: int) -> ir.BooleanColumn:
    """Text in a column of numbers or dates that is neither blank nor one."""
    return codings[place].missing & _written(records, table, place)


def _written(records: Records, table: ir.Table, place: int) -> ir.BooleanColumn:
    """Text that is not blank, in a column of numbers or dates."""
    column = table[f"r{place}"]
    if not isinstance(records.attributes[place].domain, Grid | NumberClasses) or not column.type().is_string():
        return NO
    return ~is_missing(column)


def _values(records: Records, table: ir.Table, codings: Sequence[Coding], place: int) -> tuple[str, ...]:
    if place in records.sets:
        return records.sets[place].read.strangers
    odd = codings[place].outside | unreadable(records, table, codings, place)
    texts = table.filter(odd).select(value=table[f"r{place}"].cast("string")).distinct()
    shown = records.source.fetch(texts.order_by("value").limit(SHOWN))
    return tuple(str(value) for value in shown["value"].to_pylist())
