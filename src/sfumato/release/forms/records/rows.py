"""Published records as numbers: made from a partition, or read back, and seen by models as groups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.domains.boxes import Boxes
from sfumato.domains.domain import Domain
from sfumato.privacy.dp.sampling import RandomSource, random_order
from sfumato.privacy.groups.shares import Distribution
from sfumato.privacy.groups.statistics import Statistics, ValueCounts, ValueTotals
from sfumato.release.draft import Draft
from sfumato.release.forms.records.code_spans import (
    Integers,
    Spans,
    number_rows,
    order_of,
    pack_columns,
    run_starts,
    run_sums,
)
from sfumato.release.partition import SUPPRESSED, Partition


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each value of a sensitive attribute occurs in each bucket; in order of bucket and value."""

    group: Integers
    codes: Integers
    counts: Integers

    def sort(self) -> "Tally":
        """The same in order of bucket and value."""
        order = order_of([self.group, self.codes])
        return Tally(self.group[order], self.codes[order], self.counts[order])

    def same(self, other: "Tally") -> bool:
        """Whether two tallies are equal."""
        pairs = ((self.group, other.group), (self.codes, other.codes), (self.counts, other.counts))
        return all(np.array_equal(one, two) for one, two in pairs)


@dataclass(frozen=True, eq=False)
class Records:
    """Published records in the order of publication; suppressed records are counted, no more.

    Records alike that follow each other may stand in one row, which has in ``times`` how many they are: a table in
    order has far fewer rows than records. ``columns`` has the attributes that stand in the rows. ``group`` has the
    bucket of each row where buckets are published. In the two-table form sensitive attributes stand in ``tallies``,
    not in the rows.
    """

    columns: Mapping[str, Spans]
    quasi: tuple[str, ...]
    times: Integers
    suppressed: int = 0
    group: Integers | None = None
    tallies: Mapping[str, Tally] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.times.sum())

    def sort(self) -> "Records":
        """The same records in the order of publication."""
        order = order_of(self.keys())
        tallies = {name: tally.sort() for name, tally in self.tallies.items()}
        return replace(self._taken(order), times=self.times[order], tallies=tallies)

    def fold(self) -> "Records":
        """The same records with one row for all alike that follow each other."""
        first = run_starts(self.keys())
        return replace(self._taken(first), times=run_sums(self.times, first))

    def unfold(self) -> "Records":
        """The same records with a row each."""
        rows = np.repeat(np.arange(len(self.times)), self.times)
        return replace(self._taken(rows), times=np.ones(len(rows), np.int64))

    def between(self, start: int, stop: int, *, suppressed: int) -> "Records":
        """Some rows that follow each other; of records without buckets."""
        columns = {
            name: Spans(column.starts, column.stops, column.places[start:stop]) for name, column in self.columns.items()
        }
        return Records(columns, self.quasi, self.times[start:stop], suppressed)

    def same(self, other: "Records") -> bool:
        """Whether two sets of records are equal, row by row; both folded, or both not."""
        return (
            self.suppressed == other.suppressed
            and np.array_equal(self.times, other.times)
            and list(self.columns) == list(other.columns)
            and list(self.tallies) == list(other.tallies)
            and all(column.same(other.columns[name]) for name, column in self.columns.items())
            and all(tally.same(other.tallies[name]) for name, tally in self.tallies.items())
            and (self.group is None) == (other.group is None)
            and (self.group is None or other.group is None or np.array_equal(self.group, other.group))
        )

    def keys(self) -> list[Integers]:
        """What the order of the rows goes by: the bucket if there is one, then the columns in their order."""
        first = [] if self.group is None else [self.group]
        room = [] if self.group is None else [int(self.group.max(initial=0)) + 1]
        return pack_columns(
            [*first, *(column.places for column in self.columns.values())],
            [*room, *(len(column.starts) for column in self.columns.values())],
        )

    def groups(self) -> tuple[Integers, int]:
        """The group of each row as anybody sees it: its bucket, or records alike in all quasi-identifiers."""
        if self.group is not None:
            return number_rows([self.group])
        columns = [self.columns[name] for name in self.quasi]
        return number_rows(pack_columns([c.places for c in columns], [len(c.starts) for c in columns]))

    def statistics(
        self,
        domains: Mapping[str, Domain],
        *,
        table: Mapping[str, ValueTotals] | None = None,
        shown: Callable[[], Mapping[str, Distribution]] | None = None,
    ) -> Statistics:
        """The groups as models see them; ``domains`` are those of the sensitive attributes.

        Groups have their regions where the domains of all quasi-identifiers are given, too; buckets have none.
        Where these records are a part of a table, ``table`` has the totals of all of it, and ``shown`` what the regions
        of all groups show.
        """
        group, groups = self.groups()
        if not self.tallies:
            hidden = [name for name in domains if name not in self.quasi]
            codes = {name: self.columns[name].starts[self.columns[name].places] for name in hidden}
            regional = self.group is None and all(name in domains for name in self.quasi)
            boxes = self._boxes(group, groups) if regional else None
            return Statistics.of(
                group, self.times, codes, domains, groups=groups, boxes=boxes, table=table, shown=shown
            )
        assert self.group is not None, "tallies are by bucket"
        ids = np.unique(self.group)
        counted = {
            name: ValueCounts.of(
                np.searchsorted(ids, tally.group), tally.codes, tally.counts, groups=groups, size=domains[name].size
            )
            for name, tally in self.tallies.items()
        }
        sizes = np.bincount(group, weights=self.times, minlength=groups).astype(np.int64)
        return Statistics(sizes, counted, domains, {name: found.total() for name, found in counted.items()})

    def _boxes(self, group: Integers, groups: int) -> Boxes:
        """The region of each group: that of any of its rows."""
        some = np.empty(groups, dtype=np.int64)
        some[group] = np.arange(len(group))
        columns = [self.columns[name] for name in self.quasi]
        starts = np.stack([c.starts[c.places[some]] for c in columns], axis=1)
        stops = np.stack([c.stops[c.places[some]] for c in columns], axis=1)
        return Boxes(self.quasi, starts, stops)

    def _taken(self, rows: Integers) -> "Records":
        """Some of the rows; ``times`` is still to be set."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, group=None if self.group is None else self.group[rows])


def records_of(draft: Draft, source: RandomSource) -> Records:
    """The records that a draft publishes, in an order that says nothing but what they say.

    ``source`` gives buckets their numbers and puts sensitive values into a random order within each: an order that
    could be undone would tell whose value is whose.
    """
    kept = np.flatnonzero(draft.partition.group != SUPPRESSED)
    return _generalised(draft, kept) if draft.form == "generalised" else _bucketized(draft, kept, source)


def _generalised(draft: Draft, kept: Integers) -> Records:
    """Regions in place of quasi-identifiers. Cells are sorted, not records: records alike are one row."""
    view, partition = draft.view, draft.partition
    boxes, cells = partition.boxes, partition.cells
    quasi = tuple(a.name for a in view.quasi)
    place = [boxes.attributes.index(name) for name in quasi]
    regions = {n: Spans.of_ranges(boxes.starts[:, p], boxes.stops[:, p]) for n, p in zip(quasi, place, strict=True)}
    keys = pack_columns([c.places for c in regions.values()], [len(c.starts) for c in regions.values()])
    rank, ranks = number_rows(keys)  # in the order of the regions; groups with the same regions are one
    others = [a.name for a in (*view.sensitive, *view.others)]
    group = partition.group[kept]
    codes = [partition.column(name)[kept] for name in others]
    keys = pack_columns([rank[group], *codes], [ranks, *(view.domain(n).size for n in others)])
    order = order_of(keys)
    first = run_starts([key[order] for key in keys])
    rows = order[first]
    columns = {name: column.take(group[rows]).compact() for name, column in regions.items()}
    for name, column in zip(others, codes, strict=True):
        columns[name] = Spans.of_codes(column[rows], view.domain(name).size)
    return Records(columns, quasi, run_sums(cells.counts[kept][order], first), partition.suppressed)


def _bucketized(draft: Draft, kept: Integers, source: RandomSource) -> Records:
    """Exact quasi-identifiers with a bucket each; sensitive values apart from them."""
    view, partition = draft.view, draft.partition
    quasi = tuple(a.name for a in view.quasi)
    visible = [*quasi, *(a.name for a in view.others)]
    hidden = [a.name for a in view.sensitive]
    rows = np.repeat(kept, partition.cells.counts[kept])
    once = np.ones(len(rows), np.int64)
    bucket = _random_numbers(partition, source)[partition.group[rows]]
    sides = {name: partition.column(name)[rows] for name in (*visible, *hidden)}
    sizes = {name: view.domain(name).size for name in sides}
    room = int(bucket.max(initial=0)) + 1
    if draft.form == "anatomy":
        order = order_of(pack_columns([bucket, *(sides[n] for n in visible)], [room, *(sizes[n] for n in visible)]))
        columns = {name: Spans.of_codes(sides[name][order], sizes[name]) for name in visible}
        tallies = {name: _tally(bucket, sides[name], sizes[name]) for name in hidden}
        return Records(columns, quasi, once, partition.suppressed, bucket[order], tallies).fold()
    at_home = np.argsort(bucket, kind="stable")
    for name in hidden:  # each on its own: values of several attributes of one person do not stay together either
        drawn = np.lexsort((source.uint64(len(bucket)), bucket))
        mixed = np.empty_like(sides[name])
        mixed[at_home] = sides[name][drawn]
        sides[name] = mixed
    names = [*visible, *hidden]
    order = order_of(pack_columns([bucket, *(sides[n] for n in names)], [room, *(sizes[n] for n in names)]))
    columns = {name: Spans.of_codes(sides[name][order], sizes[name]) for name in names}
    return Records(columns, quasi, once, partition.suppressed, bucket[order]).fold()


def _random_numbers(partition: Partition, source: RandomSource) -> Integers:
    """A number from 1 on for each bucket that has records, in random order."""
    used = np.unique(partition.group[partition.group != SUPPRESSED])
    numbers = np.zeros(len(partition.boxes), dtype=np.int64)
    numbers[used[random_order(len(used), source)]] = np.arange(1, len(used) + 1)
    return numbers


def _tally(group: Integers, codes: Integers, size: int) -> Tally:
    found = ValueCounts.of(
        group, codes, np.ones(len(group), np.int64), groups=int(group.max(initial=-1)) + 1, size=size
    )
    return Tally(found.group, found.values, found.counts)
