"""Runs: rows of a table that are alike and follow each other, kept once with how often. A table in order has few."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.release.forms.records.code_spans import Integers, run_sums


@dataclass(frozen=True, eq=False)
class Runs:
    """A table with one row for each run, and how many rows the run has.

    >>> runs = Runs.of(pa.table({"x": [1, 1, 2, 1]}))
    >>> runs.table["x"].to_pylist(), runs.times.tolist(), runs.whole()["x"].to_pylist()
    ([1, 2, 1], [2, 1, 1], [1, 1, 2, 1])
    """

    table: pa.Table
    times: Integers

    @classmethod
    def of(cls, table: pa.Table, times: Integers | None = None) -> "Runs":
        """The runs of a table whose rows stand ``times`` times each, else once."""
        times = np.ones(len(table), np.int64) if times is None else times
        new = np.zeros(len(table), dtype=bool)
        new[:1] = True
        table = table.unify_dictionaries()
        for column in table.columns:
            new[1:] |= _changes(column)
        first = np.flatnonzero(new)
        if len(first) == len(table):
            return cls(table, times)
        return cls(table.take(pa.array(first)), run_sums(times, first))

    @classmethod
    def join(cls, pieces: Iterable["Runs"]) -> "Runs":
        """Runs that follow each other, one at least, as one table."""
        every = list(pieces)
        times = np.concatenate([runs.times for runs in every])
        return cls.of(pa.concat_tables([runs.table for runs in every]), times)

    def whole(self) -> pa.Table:
        """All rows."""
        if bool((self.times == 1).all()):
            return self.table
        return self.table.take(pa.array(np.repeat(np.arange(len(self.table)), self.times)))

    @cached_property
    def ends(self) -> Integers:
        """How many rows there are up to the end of each run."""
        return np.cumsum(self.times)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def rows(self, start: int, stop: int) -> pa.Table:
        """Some of all rows."""
        return self.table.take(pa.array(np.searchsorted(self.ends, np.arange(start, stop), side="right")))


def in_groups(pieces: Iterable[Runs], rows: int) -> Iterator[pa.Table]:
    """All rows of runs that follow each other, in tables of so many rows, the last one of fewer; one table at least.

    >>> pieces = [Runs(pa.table({"x": [1, 2]}), np.array([2, 1])), Runs(pa.table({"x": [3]}), np.array([2]))]
    >>> [table["x"].to_pylist() for table in in_groups(pieces, 2)]
    [[1, 1], [2, 3], [3]]
    """
    held: list[pa.Table] = []
    room, done = rows, False
    for runs in pieces:
        start = 0
        while start < len(runs) or not (held or done):
            stop = min(start + room, len(runs))
            held.append(runs.rows(start, stop))
            room -= stop - start
            start = stop
            if not room:
                yield _joined(held)
                held, room, done = [], rows, True
    if held:
        yield _joined(held)


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()


def _changes(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Whether each row but the first differs from the one before; no value is like no value, and like nothing else."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no rows: nothing to combine
        return np.zeros(0, dtype=bool)
    values = whole.indices if isinstance(whole, pa.DictionaryArray) else whole
    lost = whole.is_null() if whole.null_count else None
    differ = pc.fill_null(pc.not_equal(values[1:], values[:-1]), fill_value=False)
    found: NDArray[np.bool_] = differ.to_numpy(zero_copy_only=False)
    if lost is not None:
        found = found | pc.xor(lost[1:], lost[:-1]).to_numpy(zero_copy_only=False)
    return found
