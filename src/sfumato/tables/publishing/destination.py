"""Where published tables go if not into the bundle: a table of PostgreSQL, or a table or Parquet files of Spark.

Whoever publishes hands over distinct rows and how often each stands in the table. The engine repeats them, writes the
table, and is asked for it again. Nothing of the source is read here, so there is nothing private in it but what is
published anyway.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.tables.engine import SourceTable

_MOST_AGAIN: Final = 100_000  # rows that one handed-over row may become: some engines hold them at once


@dataclass(frozen=True, kw_only=True)
class PartFile:
    """One file of a table: how long it is, and its SHA-256."""

    size: int
    sha256: str


DistinctRows = tuple[pa.Table, NDArray[np.int64]]
"""Rows, and how often each stands in a table."""


class PublishedTables(Protocol):
    """The tables of one release where they lie. ``suffix`` tells several of them apart; a single one has none."""

    def open(self, suffix: str) -> SourceTable:
        """A table as the engine reads it."""
        ...

    def parts(self, suffix: str) -> Mapping[str, PartFile]:
        """The files of a table with their hashes; nothing where there are no files to see."""
        ...


class Destination(PublishedTables, Protocol):
    """A place for the tables of one release. What was not committed is gone when it is closed."""

    kind: str  # the engine, for the manifest

    def public_name(self, suffix: str) -> str:
        """What the manifest calls a table: its name, and no host."""
        ...

    def refuse_unwritable(self, suffixes: Sequence[str]) -> None:
        """Whether these tables can be written, as far as can be known before: none of them may be there."""
        ...

    def write(self, suffix: str, pieces: Iterable[DistinctRows]) -> None:
        """Write a new table of rows that each stand there so many times; the pieces follow each other, one at least."""
        ...

    def commit(self) -> None:
        """Let others see the tables."""
        ...

    def withdraw(self) -> None:
        """Remove committed tables: what was to happen next has failed. What cannot be removed is an error."""
        ...

    def close(self) -> None:
        """Let go; closing twice is fine."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def suffixed_path(path: str, suffix: str) -> str:
    """The path of one of the tables of a release, for whoever writes it and for whoever looks for it.

    >>> suffixed_path("hdfs://lake/visits/", "_st"), suffixed_path("hdfs://lake/visits", "")
    ('hdfs://lake/visits_st', 'hdfs://lake/visits')
    """
    return path.rstrip("/") + suffix


def spark_path(path: str, suffix: str, *, local: bool) -> str:
    """The same as Spark takes it; of Spark on this machine paths start at the working folder."""
    place = suffixed_path(path, suffix)
    return f"file:{Path(place).expanduser().absolute()}" if local else place


def suffixed_table(table: str, suffix: str) -> str:
    """The name of one of the tables of a release in Spark's catalog: the suffix belongs inside of backticks.

    >>> suffixed_table("clinic.visits", "_st"), suffixed_table("clinic.`visits-2024`", "_st")
    ('clinic.visits_st', 'clinic.`visits-2024_st`')
    """
    return f"{table[:-1]}{suffix}`" if table.endswith("`") else table + suffix


def bounded_runs(times: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which row each handed-over row is, and how often it stands there: a row that stands very often is split.

    >>> rows, times = bounded_runs(np.array([2, 250_000]))
    >>> rows.tolist(), times.tolist()
    ([0, 1, 1, 1], [2, 100000, 100000, 50000])
    """
    pieces = -(-times // _MOST_AGAIN)
    rows = np.repeat(np.arange(len(times)), pieces)
    last = np.cumsum(pieces) - 1
    split = np.full(len(rows), _MOST_AGAIN, np.int64)
    split[last] = times - (pieces - 1) * _MOST_AGAIN
    return rows, split


def handed_over(rows: pa.Table, times: NDArray[np.int64], *, first: int = 0) -> pa.Table:
    """Rows as an engine takes them: columns ``c0``, ``c1``, … of plain values, their ``place``, and ``again``.

    The first row has the place ``first``.
    """
    which, again = bounded_runs(times)
    columns = {f"c{number}": _plain(column) for number, column in enumerate(rows.columns)}
    table = pa.table(columns).take(pa.array(which))
    return table.append_column("place", pa.array(which + first)).append_column("again", pa.array(again))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
