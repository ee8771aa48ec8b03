"""Published rows that come in any order, put into the order of publication, on the disk where they are many.

The order of publication is that of the codes where the ranges of the columns begin and end, column by column: whole
numbers, which the built-in engine sorts within a limit of memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import numpy as np

from sfumato.release.forms.records.code_spans import Integers, Places
from sfumato.release.forms.records.record_store import RecordStore, StoreBuilder


class UnsortedRows:
    """Rows over these columns, by the sizes of their domains; ranges in ``regions``, single codes in the others."""

    def __init__(self, sizes: Mapping[str, int], regions: Sequence[str], quasi: Sequence[str]) -> None:
        self._names = tuple(sizes)
        self._quasi = tuple(quasi)
        self._ranged = [name in set(regions) for name in sizes]
        widths = []
        for size, ranged in zip(sizes.values(), self._ranged, strict=True):
            widths += [size, size + 1] if ranged else [size]
        from sfumato.tables.duckdb.row_sorter import RowSorter  # noqa: PLC0415 - loads the engine

        self._sorter = RowSorter(widths)

    def add(self, ends: Sequence[tuple[Integers, Integers]], times: Integers) -> None:
        """Some rows: where the range of each column begins and ends, and how many records each row stands for."""
        columns: list[Integers] = []
        for (starts, stops), ranged in zip(ends, self._ranged, strict=True):
            columns += [starts, stops] if ranged else [starts]
        self._sorter.add(columns, times)

    def sort(self, suppressed: int = 0) -> RecordStore:
        """All of them as a release has them."""
        ranges = list(self._ranges())
        builder = StoreBuilder(self._names, self._quasi)
        for *columns, times in self._sorter.rows():
            rest = iter(columns)
            places = [
                _places(next(rest), next(rest) if ranged else None, *known)
                for ranged, known in zip(self._ranged, ranges, strict=True)
            ]
            builder.add(places, times)
        return builder.finish(ranges, suppressed)

    def _ranges(self) -> Iterator[tuple[Integers, Integers]]:
        """The distinct ranges of each column, in order."""
        place = 0
        for ranged in self._ranged:
            if ranged:
                starts, stops = self._sorter.distinct([place, place + 1])
                yield starts, stops
            else:
                [codes] = self._sorter.distinct([place])
                yield codes, codes + 1
            place += 1 + ranged

    def close(self) -> None:
        """Let go of the rows."""
        self._sorter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _places(starts: Integers, stops: Integers | None, known_starts: Integers, known_stops: Integers) -> Places:
    """Which of the known ranges each one is."""
    if stops is None:
        return np.searchsorted(known_starts, starts).astype(np.int32)
    first = np.searchsorted(known_starts, starts)
    after = np.searchsorted(known_starts, starts, side="right")
    several = np.flatnonzero(after - first > 1)
    if len(several):  # ranges that begin alike: by where they end, found by halving
        low, high, wanted = first[several], after[several] - 1, stops[several]
        while bool((low < high).any()):
            middle = (low + high) // 2
            above = known_stops[middle] < wanted
            low, high = np.where(above, middle + 1, low), np.where(above, high, middle)
        first[several] = low
    return first.astype(np.int32)
