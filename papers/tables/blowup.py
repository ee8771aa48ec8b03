"""A table blown up as in Mohammed et al. 2011, section 5: variations of each record with some values replaced."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa

REPLACED = 0.3  # the share of values that a variation replaces; the papers say "some"


def blown_up(table: pa.Table, rows: int, *, as_they_are: Collection[str] = (), seed: int = 1) -> pa.Table:
    """The table, then variations of its records with values drawn from the same column, ``rows`` in all.

    A column in ``as_they_are`` is never replaced.
    """
    rng = np.random.default_rng(seed)
    place = np.arange(rows) % table.num_rows
    varied = np.arange(rows) >= table.num_rows
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        chosen = place.copy()
        if name not in as_they_are:
            replace = varied & (rng.random(rows) < REPLACED)
            chosen[replace] = rng.integers(0, table.num_rows, int(replace.sum()))
        columns[name] = column.take(pa.array(chosen))
    return pa.table(columns)
