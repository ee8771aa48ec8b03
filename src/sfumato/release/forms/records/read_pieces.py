"""Rows that were read, piece by piece, as published records: those of an engine are put in order."""

from collections.abc import Iterable, Sequence

import numpy as np

from sfumato.release.forms.records.code_spans import Integers, Places, Spans
from sfumato.release.forms.records.record_store import RecordStore, StoreBuilder
from sfumato.release.forms.records.record_table import RecordLayout
from sfumato.release.forms.records.runs import Runs
from sfumato.release.forms.records.sorted_rows import UnsortedRows


def store_of(layout: RecordLayout, pieces: Iterable[Runs]) -> RecordStore:
    """The records of pieces that follow each other; what does not fit the columns is a `VerifyError`."""
    names = [column.name for column in layout.in_rows]
    builder, found = StoreBuilder(names, layout.quasi), [_FoundRanges() for _ in names]
    lost = 0
    for runs in pieces:
        rows = layout.piece(runs)
        if lost and len(rows.times):
            raise layout.mixed_rows()
        lost += rows.suppressed
        places = [ranges.places(rows.columns[name]) for name, ranges in zip(names, found, strict=True)]
        builder.add(places, rows.times)
    return builder.finish([(ranges.starts, ranges.stops) for ranges in found], lost)


def sorted_store_of(layout: RecordLayout, pieces: Iterable[Runs]) -> RecordStore:
    """The records of pieces in any order, in the order of publication; suppressed ones may stand anywhere."""
    sizes = {column.name: column.domain.size for column in layout.in_rows}
    lost = 0
    with UnsortedRows(sizes, [column.name for column in layout.in_rows if column.regions], layout.quasi) as unsorted:
        for runs in pieces:
            rows = layout.piece(layout.suppressed_last(runs))
            lost += rows.suppressed
            unsorted.add(_ends(rows.columns.values()), rows.times)
        return unsorted.sort(lost)


def _ends(columns: Iterable[Spans]) -> Sequence[tuple[Integers, Integers]]:
    """Where the range of each row begins and ends, a column each."""
    return [(column.starts[column.places], column.stops[column.places]) for column in columns]


class _FoundRanges:
    """The distinct ranges of a column in the order in which pieces have them."""

    def __init__(self) -> None:
        self.starts: Integers = np.empty(0, np.int64)
        self.stops: Integers = np.empty(0, np.int64)

    def places(self, column: Spans) -> Places:
        """The number of each row's range."""
        known = len(self.starts)
        both = Spans.of_ranges(np.concatenate([self.starts, column.starts]), np.concatenate([self.stops, column.stops]))
        number = np.full(len(both.starts), -1, np.int32)
        number[both.places[:known]] = np.arange(known, dtype=np.int32)
        new = np.flatnonzero(number < 0)
        number[new] = np.arange(known, known + len(new), dtype=np.int32)
        self.starts = np.concatenate([self.starts, both.starts[new]])
        self.stops = np.concatenate([self.stops, both.stops[new]])
        found: Places = number[both.places[known:]][column.places]
        return found
