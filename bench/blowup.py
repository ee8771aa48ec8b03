"""Adult blown up as in Mohammed et al. 2011, section 5: variations of each record with some values replaced."""

import datetime as dt
import os
import platform
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_REPLACED = 0.3  # the share of values that a variation replaces; the paper says "some"


def blow_up(packaged: Path, rows: int, target: Path, seed: int = 1) -> None:
    """Write ``rows`` records: Adult, then variations of its records with values drawn from the same column."""
    table = pq.read_table(packaged)
    rng = np.random.default_rng(seed)
    place = np.arange(rows) % table.num_rows
    varied = np.arange(rows) >= table.num_rows
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        chosen = place.copy()
        if name != table.column_names[-1]:
            replace = varied & (rng.random(rows) < _REPLACED)
            chosen[replace] = rng.integers(0, table.num_rows, int(replace.sum()))
        columns[name] = column.take(pa.array(chosen))
    pq.write_table(pa.table(columns), target, compression="snappy")


def machine() -> str:
    """The day and the machine, for the head of a table."""
    today = dt.datetime.now(dt.UTC).date()
    return f"{today}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
