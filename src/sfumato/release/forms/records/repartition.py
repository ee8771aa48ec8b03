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
    records = records.fold()
    group, groups = records.groups()
    regions = _regions(records, group, view, groups)
    names = [a.name for a in view.attributes]
    found = {name: spans.starts[spans.places] for name, spans in records.columns.items()}
    counts = records.times
    if records.tallies:
        found, group, counts = _dealt_out(records, found, group)
    codes = np.stack([found[name] for name in names], axis=1) if len(group) else np.zeros((0, len(names)), np.int64)
    if records.suppressed:
        codes = np.vstack([codes, np.zeros((1, len(names)), np.int64)])
        counts, group = np.append(counts, records.suppressed), np.append(group, SUPPRESSED)
    return Partition(Cells(tuple(names), codes, counts), group, regions)


def _dealt_out(
    records: Records, codes: "dict[str, Integers]", group: "Integers"
) -> "tuple[dict[str, Integers], Integers, Integers]":
    """The rows with the values of the tallies beside them, in the order of buckets, with the group of each row.

    Rows and values of a bucket follow each other in some order, each as often as it is counted. A row is divided where
    a value ends, so no record stands for itself.
    """
    order = np.argsort(group, kind="stable")
    row_ends = np.cumsum(records.times[order])
    value_ends = {name: np.cumsum(tally.counts) for name, tally in records.tallies.items()}  # in the order of buckets
    ends = np.unique(np.concatenate([row_ends, *value_ends.values()]))
    row = order[np.searchsorted(row_ends, ends)]
    found = {name: column[row] for name, column in codes.items()}
    for name, tally in records.tallies.items():
        found[name] = tally.codes[np.searchsorted(value_ends[name], ends)]
    return found, group[row], np.diff(ends, prepend=0)


def _regions(records: Records, group: "Integers", view: View, groups: int) -> Boxes:
    """What the quasi-identifiers of each group's records cover."""
    names = tuple(a.name for a in view.quasi)
    starts, stops = np.zeros((groups, len(names)), np.int64), np.zeros((groups, len(names)), np.int64)
    for place, name in enumerate(names):
        spans = records.columns[name]
        starts[:, place] = np.iinfo(np.int64).max
        np.minimum.at(starts[:, place], group, spans.starts[spans.places])
        np.maximum.at(stops[:, place], group, spans.stops[spans.places])
    return Boxes(names, starts, stops)
