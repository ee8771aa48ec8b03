"""Published records as a partition again, for whoever measures or reports on a release."""

from typing import TYPE_CHECKING

import numpy as np

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells
from sfumato.release.forms.records.rows import Records
from sfumato.release.partition import SUPPRESSED, Partition
from sfumato.study.view import View

if TYPE_CHECKING:
    from sfumato.release.forms.records.code_spans import Integers


def partition_of(records: Records, view: View) -> Partition:
    """The equivalence classes of published records as a partition, by what is published and nothing else.

    A cell is a published combination: of generalised records the quasi-identifiers' codes are where their regions
    begin. Which of a bucket's values belongs to which of its records nobody can tell from two tables, so any does.
    """
    records = records if records.tallies else records.fold()
    group, groups = records.groups()
    names = [a.name for a in view.attributes]
    columns: list[Integers] = []
    for name in names:
        if name in records.tallies:
            tally = records.tallies[name]
            order = np.argsort(group, kind="stable")
            codes = np.empty(len(group), np.int64)
            codes[order] = np.repeat(tally.codes, tally.counts)  # both in the order of buckets
            columns.append(codes)
        else:
            spans = records.columns[name]
            columns.append(spans.starts[spans.places])
    codes = np.stack(columns, axis=1) if len(group) else np.zeros((0, len(names)), np.int64)
    counts = records.times
    if records.suppressed:
        codes = np.vstack([codes, np.zeros((1, len(names)), np.int64)])
        counts, group = np.append(counts, records.suppressed), np.append(group, SUPPRESSED)
    return Partition(Cells(tuple(names), codes, counts), group, _regions(records, view, groups))


def _regions(records: Records, view: View, groups: int) -> Boxes:
    """What the quasi-identifiers of each group's records cover."""
    group, _ = records.groups()
    names = tuple(a.name for a in view.quasi)
    starts, stops = np.zeros((groups, len(names)), np.int64), np.zeros((groups, len(names)), np.int64)
    for place, name in enumerate(names):
        spans = records.columns[name]
        starts[:, place] = np.iinfo(np.int64).max
        np.minimum.at(starts[:, place], group, spans.starts[spans.places])
        np.maximum.at(stops[:, place], group, spans.stops[spans.places])
    return Boxes(names, starts, stops)
