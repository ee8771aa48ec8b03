"""Counting the records that take no part, or with another value, because one is missing or invalid; for the owner."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.number_classes import NumberClasses
from sfumato.study.attribute import Attribute, InvalidValuePolicy, Role
from sfumato.study.left_out import LeftOut, ReplacedValues
from sfumato.study.unit import PersonUnit
from sfumato.tables.coded_records import Records
from sfumato.tables.invalid_values import unreadable

_TOGETHER = 200  # attributes whose codes are counted by one query
_BESIDE = 32  # attributes whose values are looked at by one query; the time to plan it grows faster than they do


def count_left_out(records: Records, kept: ir.Table | None = None) -> LeftOut:
    """How many of the selected records take no part, and which attributes leave them out.

    ``kept`` is what `Records.marked` gives of records by themselves, kept in the engine; without it that is kept here,
    so that it is coded once. An engine keeps it on a disk, where no person may be named: of the person it has no more
    than whether there is one. A record without a person is left out by the column of the person; records beyond the
    most of a person are not counted, since nothing is wrong with them. So are the values that are replaced, see
    `count_replaced`.
    """
    if kept is None:
        marked = _without_persons(records.marked())
        name = records.source.session.keep(records.source.compile(marked), doing=f"coding {records.source.name}")
        kept = ibis.table(marked.schema(), name=name)
    person = records.unit.column if isinstance(records.unit, PersonUnit) else None
    names = [a.name for a in records.attributes]
    lost, suspects = [0] * len(names), [0] * len(names)
    for start in range(0, len(names), _TOGETHER):
        places = range(start, min(start + _TOGETHER, len(names)))
        table = _narrow(kept, [f"c{place}" for place in places])
        sums = {f"c{p}": (table[f"c{p}"] < 0).sum() for p in places}
        instead = {p: replacement_codes(records.attributes[p]) for p in places}
        sums |= {f"s{p}": table[f"c{p}"].isin(codes).sum() for p, codes in instead.items() if codes}
        counted = records.source.fetch(table.aggregate(**sums)).to_pylist()[0]
        lost[start : places.stop] = [int(counted[f"c{place}"] or 0) for place in places]
        suspects[start : places.stop] = [int(counted.get(f"s{place}") or 0) for place in places]
    table = _narrow(kept, ["fits", *(["nobody"] if person is not None else [])])
    nobody = table["nobody"] if person is not None else table["fits"].isnull()
    counts = {"n": table.count(), "fits": (table["fits"] & ~nobody).sum(), "nobody": nobody.sum()}
    [answers] = records.source.fetch(table.aggregate(**counts)).to_pylist()
    found = {name: int(count or 0) for name, count in answers.items()}
    shares = {name: count / found["n"] for name, count in zip(names, lost, strict=True) if count}
    if person is not None and found["nobody"]:
        shares[person] = max(shares.get(person, 0.0), found["nobody"] / found["n"])
    again = [a for a, count in zip(records.attributes, suspects, strict=True) if count]
    return LeftOut(
        records=found["n"],
        left_out=found["n"] - found["fits"],
        attributes=shares,
        replaced=count_replaced(records, again),
    )


def count_replaced(records: Records, attributes: Sequence[Attribute]) -> dict[str, ReplacedValues]:
    """How many values of the selected records the policy `keep` replaces, where it does; some attributes of theirs.

    Those are values moved to a bound, values counted as the one for all others, and texts that are no number or date
    and are kept as missing. What really is missing is kept as what it is, and not counted. Neither are sets, of which
    a code outside is one of several, nor a time, of which the day itself is compared with a span.
    """
    able = tuple(a for a in attributes if replacement_codes(a))
    if not able:
        return {}
    counts: dict[str, ReplacedValues] = {}
    for start in range(0, len(able), _BESIDE):
        counts |= _replaced(records.of_some(able[start : start + _BESIDE]))
    return counts


def _replaced(records: Records) -> dict[str, ReplacedValues]:
    table, codings = records.codings()
    sums: dict[str, ir.Scalar] = {"n": table.count()}
    for place, attribute in enumerate(records.attributes):
        if attribute.outside is InvalidValuePolicy.KEEP:
            sums[f"o{place}"] = codings[place].outside.sum()
        if attribute.missing is InvalidValuePolicy.KEEP:
            sums[f"u{place}"] = unreadable(records, table, codings, place).sum()
    counted = records.source.fetch(table.aggregate(**sums)).to_pylist()[0]
    counts: dict[str, ReplacedValues] = {}
    for place, attribute in enumerate(records.attributes):
        outside, unread = int(counted.get(f"o{place}") or 0), int(counted.get(f"u{place}") or 0)
        if outside or unread:
            moved = outside if isinstance(attribute.domain, Grid | NumberClasses) else 0
            counts[attribute.name] = ReplacedValues(
                of=int(counted["n"]), nearer_bound=moved, other=outside - moved, unreadable=unread
            )
    return counts


def replacement_codes(attribute: Attribute) -> list[int]:
    """The codes that a replaced value may have; who has none of them is not looked at again."""
    domain = attribute.domain
    if isinstance(domain, NumberClasses):
        ends = [0, len(domain.starts) - 1] if attribute.outside is InvalidValuePolicy.KEEP else []
        return ends if domain.missing is None else [*ends, domain.missing]
    if isinstance(domain, Categories):
        return [] if domain.other is None else [domain.other]
    if not isinstance(domain, Grid) or attribute.role is Role.TIME:
        return []
    ends = [0, domain.points - 1] if attribute.outside is InvalidValuePolicy.KEEP else []
    return ends if domain.missing is None else [*ends, domain.missing]


def _without_persons(marked: ir.Table) -> ir.Table:
    """The same with ``nobody``, whether a record is of no person, in place of the person."""
    if "p" not in marked.columns:
        return marked
    return marked.select(*(name for name in marked.columns if name != "p"), nobody=marked["p"].isnull())


def _narrow(kept: ir.Table, columns: Sequence[str]) -> ir.Table:
    """The table declared with these columns alone: expressions over one of 2,000 are slow to build."""
    kinds = kept.schema()
    return ibis.table({column: kinds[column] for column in columns}, name=kept.get_name())
