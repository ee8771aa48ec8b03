"""Rows of whole numbers, sorted by the built-in engine: in memory where they fit, else in its private folder."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.domains.counts import narrowest
from sfumato.tables.duckdb.session import DuckSession
from sfumato.tables.engine import Limits

Integers = NDArray[np.int64]

MEMORY: Final = "512MB"
"""What the engine may take for it."""

_ROWS: Final = 1 << 17  # that come back at a time
_DOING: Final = "sorting the published rows"


class RowSorter:
    """Rows with a column for each of ``sizes``, whose numbers are below it, and how often each row stands there.

    >>> with_ten = RowSorter([10, 10])
    >>> with_ten.add([np.array([3, 1]), np.array([0, 2])], np.array([7, 8]))
    >>> with_ten.add([np.array([1]), np.array([1])], np.array([9]))
    >>> [[column.tolist() for column in columns] for columns in with_ten.rows()]
    [[[1, 1, 3], [1, 2, 0], [9, 8, 7]]]
    >>> [column.tolist() for column in with_ten.distinct([0])]
    [[1, 3]]
    >>> with_ten.close()
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._added = 0
        self._kinds = [np.dtype(narrowest(size)) for size in sizes]
        self._session = DuckSession(limits=Limits(memory=MEMORY))
        self._session.seal([])
        declared = ", ".join(f"v{place} {_TYPES[kind.itemsize]}" for place, kind in enumerate(self._kinds))
        self._session.run(f"CREATE TEMP TABLE sorted_rows ({declared}, times BIGINT)", doing=_DOING)

    def add(self, columns: Sequence[Integers], times: Integers) -> None:
        """Some rows, a column each."""
        arrays = [pa.array(column.astype(kind)) for column, kind in zip(columns, self._kinds, strict=True)]
        names = [*(f"v{place}" for place in range(len(arrays))), "times"]
        self._added += len(times)
        self._session.append("sorted_rows", pa.table([*arrays, pa.array(times)], names=names))

    def distinct(self, places: Sequence[int]) -> list[Integers]:
        """The distinct combinations of some columns, in order."""
        names = ", ".join(f"v{place}" for place in places)
        found = self._session.fetch(f"SELECT DISTINCT {names} FROM sorted_rows ORDER BY {names}", doing=_DOING)  # noqa: S608
        return [column.to_numpy().astype(np.int64) for column in found.columns]

    def rows(self) -> Iterator[list[Integers]]:
        """All rows in order, some at a time: the columns, and how often each stands there."""
        names = ", ".join(f"v{place}" for place in range(len(self._kinds)))
        sql = f"SELECT * FROM sorted_rows ORDER BY {names}"  # noqa: S608 - names of our own
        for table in self._session.fetch_pieces(sql, rows=_ROWS, most=self._added, doing=_DOING):
            yield [column.to_numpy().astype(np.int64) for column in table.columns]

    def close(self) -> None:
        """Let go of the rows."""
        self._session.close()


_TYPES: Final = {1: "TINYINT", 2: "SMALLINT", 4: "INTEGER", 8: "BIGINT"}
