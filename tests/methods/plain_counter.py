"""Parts of a table counted record by record, as an engine must count them."""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from sfumato.domains.counts import Cells, ClassSizes, TableParts
from sfumato.errors import InfeasibleError
from sfumato.memory_limit import refuse_many_cells
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.repartition import partition_of


@dataclass
class PlainCounter:
    """Records as tuples of codes; what was brought is noted, as (attributes, rows).

    With ``room`` no more rows are given where the caller has not counted them.
    """

    names: list
    records: list
    brought: list = field(default_factory=list)
    room: int | None = None

    def rows(self, attributes, within):
        """The codes of some attributes, of the records of a part."""
        places = [self.names.index(name) for name in attributes]
        limits = [(self.names.index(name), *ends) for name, ends in within.items()]
        kept = [r for r in self.records if all(start <= r[at] < stop for at, start, stop in limits)]
        return [tuple(r[at] for at in places) for r in kept]

    def distinct_within(self, attributes, within):
        return len(set(self.rows(attributes, within)))

    def extremes_within(self, attributes, within):
        rows = np.array(self.rows(attributes, within), np.int64)
        return rows.min(axis=0), rows.max(axis=0)

    def cells_within(self, attributes, within, *, limited=False):
        return self._bring(attributes, Counter(self.rows(attributes, within)), limited=limited)

    def binned_within(self, attribute, within, width):
        bins = {}
        for (code,) in sorted(self.rows([attribute], within)):
            bins.setdefault(code // width, []).append(code)
        return self._bring([attribute], Counter({(max(codes),): len(codes) for codes in bins.values()}))

    def map_parts(self, attributes, parts, tree, work, *, width):
        """By the tree, as workers find the part of a record, in no order; the boxes must say the same."""
        cells = [Counter() for _ in parts]
        for record in self.records:
            found = tree
            while found.attribute is not None:
                code = record[self.names.index(found.attribute)]
                found = next((one for stop, one in found.branches if code < stop), found.branches[-1][1])
            if found.number >= 0:
                cells[found.number][record] += 1
        for number, (within, part) in enumerate(zip(parts, cells, strict=True)):
            assert sorted(part.elements()) == sorted(self.rows(attributes, within))
            self.brought.append((len(attributes), len(part)))
            codes = np.array(list(part), np.int64).reshape(len(part), len(attributes))[::-1]
            rows = work(number, Cells(tuple(attributes), codes, np.array([*part.values()][::-1], np.int64)))
            assert rows.shape[1] == width
            yield rows

    def regions_within(self, cuts, within, *, limited=False):
        return self._bring([cut.attribute for cut in cuts], self._classes(cuts, within), limited=limited)

    def distinct_regions_within(self, cuts, within, *, by=None):
        classes = self._classes(cuts, within)
        if by is None:
            return Cells((), np.empty((1, 0), np.int64), np.array([len(classes)]))
        place = list(cuts).index(by)
        found = sorted(Counter(regions[place] for regions in classes).items())
        codes = np.array([region for region, _ in found], np.int64)[:, None]
        return Cells((by.attribute,), codes, np.array([n for _, n in found], np.int64))

    def class_sizes_within(self, cuts, within):
        classes = self._classes(cuts, within)
        sizes = sorted(set(classes.values()))
        spans = [
            [sum(_span(cut, regions[place]) for regions, n in classes.items() if n == size) for size in sizes]
            for place, cut in enumerate(cuts)
        ]
        often = [sum(n == size for n in classes.values()) for size in sizes]
        return ClassSizes(np.array(sizes, np.int64), np.array(often, np.int64), np.array(spans, np.float64))

    def _classes(self, cuts, within):
        counted = Counter()
        for row in self.rows([cut.attribute for cut in cuts], within):
            counted[tuple(bisect_right(cut.starts, code) - 1 for cut, code in zip(cuts, row, strict=True))] += 1
        return counted

    def _bring(self, names, counted, *, limited=False):
        found = sorted(counted.items())
        if limited and self.room is not None:
            refuse_many_cells(len(found), self.room, attributes=len(names), where="the table")
        self.brought.append((len(names), len(found)))
        codes = np.array([codes for codes, _ in found], np.int64).reshape(len(found), len(names))
        return Cells(tuple(names), codes, np.array([n for _, n in found], np.int64))


def _span(cut, region):
    start, stop = cut.range_at(region)
    return stop - start - 1


def parts_of(view, records, most):
    """A table that is brought in parts of at most so many cells, and who counts it."""
    counter = PlainCounter([a.name for a in view.attributes], [tuple(map(int, record)) for record in records])
    return TableParts(counter, len(records), most, len(set(counter.records))), counter


def partition_of_draft(draft):
    """The groups of a draft; those that came in parts are on the way to being published."""
    if isinstance(draft.content, RecordStore):
        return partition_of(draft.content.join(), draft.view)
    return draft.partition


def published(draft):
    """Regions with what is beside them, and how often; a group's own name is not looked at."""
    partition, quasi = partition_of_draft(draft), len(draft.view.quasi)
    found = Counter()
    rows = zip(
        partition.group.tolist(),
        partition.cells.codes[:, quasi:].tolist(),
        partition.cells.counts.tolist(),
        strict=True,
    )
    for group, beside, count in rows:
        if group < 0:
            found["suppressed"] += count
            continue
        box = (*partition.boxes.starts[group].tolist(), *partition.boxes.stops[group].tolist())
        found[box, tuple(beside)] += count
    return found


def draft_or_words(method, view, counts):
    """The draft, or why there is none."""
    try:
        return method.draft(view, counts)
    except InfeasibleError as error:
        return str(error)
