"""Combinations of values as a table has them, not coded: of one that was published, or is to be judged as it stands."""

from collections.abc import Sequence

import pyarrow as pa

from sfumato.memory_limit import most_cells, refuse_many_cells
from sfumato.tables.engine import SourceTable


def count_values(source: SourceTable, columns: Sequence[str]) -> pa.Table:
    """The combinations in some columns as ``c0``, ``c1``, …, and how often each occurs, ``n``; in any order.

    There can be as many as records, and whoever asks decides whether they may be seen here. Those of a table that is
    elsewhere are counted before they are fetched, and refused if more than fit.
    """
    named = source.table.select(**{f"c{place}": source.table[name] for place, name in enumerate(columns)})
    session = source.session
    if session.remote and session.memory is not None:
        distinct = named.distinct()
        found = int(source.fetch(distinct.aggregate(n=distinct.count()))["n"][0].as_py())
        refuse_many_cells(found, most_cells(session.memory, len(columns)), attributes=len(columns), where=source.name)
    return source.fetch(named.group_by(list(named.columns)).aggregate(n=named.count()))
