"""Adult blown up as in Mohammed et al. 2011, section 5, as a file."""

from pathlib import Path

import pyarrow.parquet as pq

from papers.tables.blowup import blown_up


def blow_up(packaged: Path, rows: int, target: Path, seed: int = 1) -> None:
    """Write ``rows`` records: Adult, then variations of its records; the last column stays as it is."""
    table = pq.read_table(packaged)
    varied = blown_up(table, rows, as_they_are=table.column_names[-1:], seed=seed)
    pq.write_table(varied, target, compression="snappy")
