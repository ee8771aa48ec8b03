"""Counting the records that take no part because a value is missing or invalid; for the owner alone."""

from collections.abc import Sequence

import ibis
import ibis.expr.types as ir

from sfumato.core.left_out import LeftOut
from sfumato.core.unit import PersonUnit
from sfumato.engines.records import Records

_TOGETHER = 200  # attributes counted by one query


def count_left_out(records: Records, kept: ir.Table | None = None) -> LeftOut:
    """How many of the selected records take no part, and which attributes leave them out.

    ``kept`` is what `Records.marked` gives, kept in the engine; without it that is kept here, so that it is coded once.
    A record without a person is left out by the column of the person; records beyond the most of a person are not
    counted, since nothing is wrong with them.
    """
    if kept is None:
        marked = records.marked()
        name = records.source.session.keep(records.source.compile(marked), doing=f"coding {records.source.name}")
        kept = ibis.table(marked.schema(), name=name)
    person = records.unit.column if isinstance(records.unit, PersonUnit) else None
    names = [a.name for a in records.attributes]
    lost = [0] * len(names)
    for start in range(0, len(names), _TOGETHER):
        places = range(start, min(start + _TOGETHER, len(names)))
        table = _narrow(kept, [f"c{place}" for place in places])
        counted = records.source.fetch(table.aggregate(**{f"c{p}": (table[f"c{p}"] < 0).sum() for p in places}))
        lost[start : places.stop] = [int(counted[f"c{place}"][0].as_py() or 0) for place in places]
    table = _narrow(kept, ["fits", *(["p"] if person is not None else [])])
    nobody = table["p"].isnull() if person is not None else table["fits"].isnull()
    counts = {"n": table.count(), "fits": (table["fits"] & ~nobody).sum(), "nobody": nobody.sum()}
    [answers] = records.source.fetch(table.aggregate(**counts)).to_pylist()
    found = {name: int(count or 0) for name, count in answers.items()}
    shares = {name: count / found["n"] for name, count in zip(names, lost, strict=True) if count}
    if person is not None and found["nobody"]:
        shares[person] = max(shares.get(person, 0.0), found["nobody"] / found["n"])
    return LeftOut(records=found["n"], left_out=found["n"] - found["fits"], attributes=shares)


def _narrow(kept: ir.Table, columns: Sequence[str]) -> ir.Table:
    """The table declared with these columns alone: expressions over one of 2,000 are slow to build."""
    kinds = kept.schema()
    return ibis.table({column: kinds[column] for column in columns}, name=kept.get_name())
