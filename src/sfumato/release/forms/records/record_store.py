"""Published records in pieces of whole equivalence classes, in the order of publication.

A table of few rows is one piece, and is held here. The rows of a larger one go into a file as they come, and are read
again piece by piece: writing, reading back and checking take memory for a piece and for the distinct ranges of each
column, however many rows there are. All pieces share these ranges, so a place means the same in each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Final

import numpy as np

from sfumato.domains.domain import Domain
from sfumato.privacy.groups.shares import Distribution, distribution_of_regions
from sfumato.privacy.groups.statistics import Statistics, ValueTotals
from sfumato.release.forms.records.code_spans import Integers, Places, Spans, is_sorted, run_starts, run_sums
from sfumato.release.forms.records.rows import Records
from sfumato.release.storage.spool import Spool

PIECE: Final = 1 << 18
"""Rows of a piece, rows alike counted once; then the class that is begun is still part of it."""

_LOOKED: Final = 1 << 12  # rows that are looked at together for the end of a class


@dataclass(frozen=True, eq=False)
class RecordStore:
    """All records of a release. Those in buckets, and the tallies of a second table, are one piece whatever their size.

    ``columns`` has the distinct ranges of each column, in order, and no rows.
    """

    columns: Mapping[str, Spans]
    quasi: tuple[str, ...]
    published: int
    suppressed: int
    whole: Records | None  # all rows, where they are held here
    spool: Spool | None = None
    ranks: tuple[Places | None, ...] = ()  # of the places in the spool, where those are not in order

    @classmethod
    def of(cls, records: Records) -> "RecordStore":
        """Records that are held here, folded."""
        columns = {name: replace_rows(column) for name, column in records.columns.items()}
        return cls(columns, records.quasi, len(records), records.suppressed, records)

    def __len__(self) -> int:
        return self.published

    def pieces(self) -> Iterator[Records]:
        """One piece at least; the last one has the suppressed records."""
        if self.whole is not None:
            yield from self._slices(self.whole)
            return
        assert self.spool is not None, "rows are here or there"
        for number in range(len(self.spool)):
            *places, times = self.spool.read(number)
            ranked = [place if rank is None else rank[place] for place, rank in zip(places, self.ranks, strict=True)]
            columns = {
                name: Spans(column.starts, column.stops, place.astype(np.int32, copy=False))
                for (name, column), place in zip(self.columns.items(), ranked, strict=True)
            }
            lost = self.suppressed if number == len(self.spool) - 1 else 0
            yield Records(columns, self.quasi, times.astype(np.int64, copy=False), lost)

    def _slices(self, records: Records) -> Iterator[Records]:
        rows = len(records.times)
        if records.group is not None or rows <= PIECE:
            yield records
            return
        quasi = [records.columns[name].places for name in self.quasi]
        start = 0
        while start < rows:
            stop = class_end(quasi, start + PIECE) or rows
            yield records.between(start, stop, suppressed=records.suppressed if stop == rows else 0)
            start = stop

    def join(self) -> Records:
        """All records at once, for whoever needs them so; this takes memory for all of them."""
        if self.whole is not None:
            return self.whole
        pieces = list(self.pieces())
        columns = {
            name: Spans(column.starts, column.stops, np.concatenate([piece.columns[name].places for piece in pieces]))
            for name, column in self.columns.items()
        }
        return Records(columns, self.quasi, np.concatenate([piece.times for piece in pieces]), self.suppressed)

    def same(self, other: "RecordStore") -> bool:
        """Whether two tables have the same records in the same order."""
        if (self.published, self.suppressed) != (other.published, other.suppressed):
            return False
        pairs = zip_longest(self.pieces(), other.pieces())
        return all(one is not None and two is not None and one.same(two) for one, two in pairs)

    def is_sorted(self) -> bool:
        """Whether the rows stand in the order of publication."""
        last: list[Integers] = []
        for piece in self.pieces():
            keys = piece.keys()
            if not is_sorted(keys):
                return False
            if len(piece.times):
                before = last or [key[:1] for key in keys]
                if not is_sorted([np.append(one, key[:1]) for one, key in zip(before, keys, strict=True)]):
                    return False
                last = [key[-1:] for key in keys]
        return True

    @cached_property
    def group_sizes(self) -> tuple[int, int]:
        """How many groups there are, and how many records the smallest has; 0 where there is none."""
        groups, smallest = 0, 0
        for piece in self.pieces():
            group, here = piece.groups()
            if here:
                least = int(np.bincount(group, weights=piece.times, minlength=here).min())
                smallest = min(smallest, least) if groups else least
                groups += here
        return groups, smallest

    def classes(self, domains: Mapping[str, Domain]) -> Iterator[Statistics]:
        """The groups of each piece as models see them, compared with the whole table; see `Records.statistics`."""
        if self.whole is not None and (self.whole.group is not None or len(self.whole.times) <= PIECE):
            yield self.whole.statistics(domains)
            return
        totals = self._totals({name: domain for name, domain in domains.items() if name not in self.quasi})
        shown = _Shown(self, domains)
        for piece in self.pieces():
            yield piece.statistics(domains, table=totals, shown=shown)

    def _totals(self, domains: Mapping[str, Domain]) -> dict[str, ValueTotals]:
        """How often the values of some exact columns are published."""
        counts = self.weights(domains)
        return {
            name: ValueTotals(self.columns[name].starts[counts[name] > 0], counts[name][counts[name] > 0], domain.size)
            for name, domain in domains.items()
        }

    def weights(self, names: Mapping[str, object]) -> dict[str, Integers]:
        """How many records have each range of some columns."""
        found = {name: np.zeros(len(self.columns[name].starts), np.int64) for name in names}
        for piece in self.pieces() if found else ():
            for name in names:
                places = piece.columns[name].places
                found[name] += np.bincount(places, weights=piece.times, minlength=len(found[name])).astype(np.int64)
        return found


@dataclass(eq=False)
class _Shown:
    """What the regions of all groups show together, found when a model first asks."""

    store: RecordStore
    domains: Mapping[str, Domain]
    found: dict[str, Distribution] = field(default_factory=dict)

    def __call__(self) -> Mapping[str, Distribution]:
        if not self.found:
            names = {name: self.domains[name] for name in self.store.quasi}
            for name, sizes in self.store.weights(names).items():
                column, domain = self.store.columns[name], names[name]
                self.found[name] = distribution_of_regions(
                    column.starts, column.stops, sizes, domain.size, free=domain.free
                )
        return self.found


class StoreBuilder:
    """Rows that follow each other, batch by batch; rows alike become one.

    What is handed over are places in whatever numbering of each column's ranges the caller has; see `finish`.
    """

    def __init__(self, names: Sequence[str], quasi: Sequence[str]) -> None:
        self._names = tuple(names)
        self._quasi = tuple(quasi)
        self._held: list[Places] = [np.empty(0, np.int32) for _ in names]
        self._times: Integers = np.empty(0, np.int64)
        self._looked = PIECE
        self._spool: Spool | None = None
        self._published = 0

    def add(self, columns: Sequence[Places], times: Integers) -> None:
        """The rows that follow: each column's places, and how many records each row stands for."""
        self._published += int(times.sum())
        held = [np.concatenate([before, column]) for before, column in zip(self._held, columns, strict=True)]
        counts = np.concatenate([self._times, times])
        first = run_starts(held)
        if len(first) < len(counts):
            held, counts = [column[first] for column in held], run_sums(counts, first)
        self._held, self._times = held, counts
        while len(self._times) > PIECE:
            end = class_end([self._held[self._names.index(name)] for name in self._quasi], self._looked)
            if end is None:  # the class goes on
                self._looked = max(len(self._times) - 1, PIECE)  # the last row may still become one with the next
                return
            self._put(end)

    def _put(self, end: int) -> None:
        """Write the first rows away."""
        self._spool = self._spool or Spool()
        self._spool.append([*(column[:end] for column in self._held), self._times[:end]])
        self._held, self._times = [column[end:].copy() for column in self._held], self._times[end:].copy()
        self._looked = PIECE

    def finish(self, ranges: Sequence[tuple[Integers, Integers]], suppressed: int = 0) -> RecordStore:
        """All rows; ``ranges`` has where each range of each column begins and ends, in the numbering of the places."""
        columns, ranks = {}, []
        for name, (starts, stops) in zip(self._names, ranges, strict=True):
            spans = Spans.of_ranges(starts, stops)
            assert len(spans.starts) == len(starts), "every range once"
            columns[name] = replace_rows(spans)
            ranks.append(None if bool((np.diff(spans.places) > 0).all()) else spans.places)
        if self._spool is not None:
            if len(self._times):
                self._put(len(self._times))
            return RecordStore(columns, self._quasi, self._published, suppressed, None, self._spool, tuple(ranks))
        places = [held if rank is None else rank[held] for held, rank in zip(self._held, ranks, strict=True)]
        rows = {
            name: Spans(column.starts, column.stops, place)
            for (name, column), place in zip(columns.items(), places, strict=True)
        }
        records = Records(rows, self._quasi, self._times, suppressed)
        return RecordStore(columns, self._quasi, self._published, suppressed, records)


def replace_rows(column: Spans) -> Spans:
    """The ranges of a column, of no row."""
    return Spans(column.starts, column.stops, np.empty(0, np.int32))


def class_end(quasi: Sequence[Places], least: int) -> int | None:
    """The first row from ``least`` on that begins another class than the row before; None if none does.

    >>> class_end([np.array([4, 4, 4, 7, 7], np.int32)], 2)
    3
    >>> class_end([np.array([4, 4, 4, 7, 7], np.int32)], 4) is None
    True
    """
    rows = len(quasi[0])
    for start in range(max(least, 1), rows, _LOOKED):
        stop = min(start + _LOOKED, rows)
        new = np.zeros(stop - start, dtype=bool)
        for column in quasi:
            new |= column[start:stop] != column[start - 1 : stop - 1]
        found = np.flatnonzero(new)
        if len(found):
            return start + int(found[0])
    return None
