"""Counting the records that take no part because a value is missing or invalid; for the owner alone."""

from collections.abc import Mapping

import ibis.expr.types as ir

from sfumato.core.left_out import LeftOut
from sfumato.core.unit import PersonUnit
from sfumato.engines.records import Records

_TOGETHER = 200  # counts of one query


def count_left_out(records: Records, marked: ir.Table | None = None) -> LeftOut:
    """How many of the selected records take no part, and which attributes leave them out.

    ``marked`` is what `Records.marked` gives, where that is kept already. A record without a person is left out by the
    column of the person; records beyond the most of a person are not counted here, since nothing is wrong with them.
    """
    table = records.marked() if marked is None else marked
    fits = table["fits"]
    lost: dict[str, ir.BooleanColumn] = {a.name: table[f"c{place}"] < 0 for place, a in enumerate(records.attributes)}
    if isinstance(records.unit, PersonUnit):
        nobody = table["p"].isnull()
        lost[records.unit.column] = nobody | lost.get(records.unit.column, nobody)
        fits = fits & ~nobody
    counts = {"n": table.count(), "fits": fits.sum()} | {f"a{place}": c.sum() for place, c in enumerate(lost.values())}
    found = _counted(records, table, counts)
    rows = found["n"]
    return LeftOut(
        records=rows,
        left_out=rows - found["fits"],
        attributes={name: found[f"a{place}"] / rows for place, name in enumerate(lost) if found[f"a{place}"]},
    )


def _counted(records: Records, table: ir.Table, counts: Mapping[str, ir.Scalar]) -> dict[str, int]:
    found: dict[str, int] = {}
    names = list(counts)
    for start in range(0, len(names), _TOGETHER):
        asked = {name: counts[name] for name in names[start : start + _TOGETHER]}
        answers = records.source.fetch(table.aggregate(**asked)).to_pylist()[0]
        found |= {name: int(count or 0) for name, count in answers.items()}
    return found
