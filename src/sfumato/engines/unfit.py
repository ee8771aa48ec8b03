"""What does not fit: how many values are missing or outside the declared domain, and some of them.

For the owner's eyes only. The values never go into an error, a log or a release.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis.expr.types as ir

from sfumato.core.domain import Grid
from sfumato.engines.coding import NO, Coding, is_missing
from sfumato.engines.records import Records
from sfumato.engines.sets import outside_codes

SHOWN = 20  # distinct values a report holds at most
_TOGETHER = 200  # attributes counted by one query


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfitReport:
    """One attribute: how many values are missing, how many outside the declared domain (of sets, how many codes).

    Text that should be a number or a date and is not counts as missing. ``values`` are up to 20 distinct values that
    are outside, or such text.
    """

    attribute: str
    missing: int
    outside: int
    values: tuple[str, ...] = ()

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
            "values": list(self.values),
        }


def count_unfit(records: Records) -> list[UnfitReport]:
    """A report an attribute, in their order, over all records of the source."""
    table, codings = records.codings()
    found: list[UnfitReport] = []
    for start in range(0, len(codings), _TOGETHER):
        found += _count(records, table, codings, range(start, min(start + _TOGETHER, len(codings))))
    return found


def _count(records: Records, table: ir.Table, codings: Sequence[Coding], places: range) -> list[UnfitReport]:
    sums: dict[str, ir.Scalar] = {}
    for place in places:
        odd = codings[place].outside | _unreadable(records, table, codings, place)
        sums[f"m{place}"] = codings[place].missing.sum()
        sums[f"o{place}"] = (outside_codes(table, place) if place in records.sets else codings[place].outside).sum()
        sums[f"u{place}"] = odd.sum()
    counted = records.source.fetch(table.aggregate(**sums)).to_pylist()[0]
    return [
        UnfitReport(
            attribute=records.attributes[place].name,
            missing=int(counted[f"m{place}"] or 0),
            outside=int(counted[f"o{place}"] or 0),
            values=_values(records, table, codings, place) if counted[f"u{place}"] else (),
        )
        for place in places
    ]


def _unreadable(records: Records, table: ir.Table, codings: Sequence[Coding], place: int) -> ir.BooleanColumn:
    """Text in a column of numbers or dates that is neither blank nor one."""
    column = table[f"r{place}"]
    if not isinstance(records.attributes[place].domain, Grid) or not column.type().is_string():
        return NO
    return codings[place].missing & ~is_missing(column)


def _values(records: Records, table: ir.Table, codings: Sequence[Coding], place: int) -> tuple[str, ...]:
    if place in records.sets:
        return records.sets[place].read.strangers
    odd = codings[place].outside | _unreadable(records, table, codings, place)
    texts = table.filter(odd).select(value=table[f"r{place}"].cast("string")).distinct()
    shown = records.source.fetch(texts.order_by("value").limit(SHOWN))
    return tuple(str(value) for value in shown["value"].to_pylist())
