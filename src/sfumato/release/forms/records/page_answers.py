"""How the page of records answers: all distinct rows where they fit, else counts of single columns and of pairs.

Records have no noise, and a condition looks at some columns only. So the records with equal values there may be counted
together: sums over them are the same numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.forms.records.code_spans import Integers, Spans, number_rows, pack_columns
from sfumato.release.forms.records.declared_layout import sampled_share
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import Column, RecordLayout
from sfumato.release.forms.records.rows import Records
from sfumato.release.page.embedded_rows import MOST_NUMBERS, PageAnswers, asked_columns, count_numbers, range_column
from sfumato.release.storage.seal import Json

if TYPE_CHECKING:
    from sfumato.domains.domain import Domain

_MOST_COUNTED: Final = 5_000_000  # records that are counted by pairs of columns
_MOST_PAIRED: Final = 12  # columns that are counted by pairs, the first ones
_MOST_PAIRS: Final = 20_000  # combinations of the ranges of two columns


def page_answers(layout: RecordLayout, records: RecordStore, manifest: Mapping[str, Any]) -> PageAnswers:
    """The rows, folded or not, in any order: what is embedded is in an order of its own."""
    share = sampled_share(manifest)
    content: Json = {
        "tables": _tables(layout, records),
        "suppressed": records.suppressed,
        "sampled": None if "sampled" not in manifest else f"{share.numerator}/{share.denominator}",
        "sampled_text": manifest.get("sampled"),
        "rate": float(share),
    }
    return PageAnswers("records", content)


def column_counts(columns: Sequence[Column], records: RecordStore) -> dict[str, tuple[Spans, Integers]]:
    """The distinct ranges of each column, and how many records have each; of shuffled values, each value.

    Rows that are in a file are read once for all columns.
    """
    tallies = {} if records.whole is None else records.whole.tallies
    found: dict[str, tuple[Spans, Integers]] = {}
    for column in columns:
        if column.name in tallies:
            tally = tallies[column.name]
            spans = Spans.of_codes(tally.codes, column.domain.size)
            counts = np.bincount(spans.places, weights=tally.counts, minlength=len(spans.starts)).astype(np.int64)
            found[column.name] = spans, counts
    weights = records.weights({column.name: column for column in columns if column.name not in found})
    found |= {name: (records.columns[name], counts) for name, counts in weights.items()}
    return {name: (_one_row_each(spans), counts) for name, (spans, counts) in found.items()}


def _one_row_each(spans: Spans) -> Spans:
    return Spans(spans.starts, spans.stops, np.arange(len(spans.starts), dtype=np.int32))


def _tables(layout: RecordLayout, records: RecordStore) -> list[Json]:
    domains = {column.name: column.sets or column.domain for column in layout.columns}
    asked = asked_columns(domains)
    columns = [column for column in layout.columns if column.name in asked]
    pools = [column for column in columns if layout.form != "generalised" and column.role == "sensitive"]
    own = [column for column in columns if column not in pools]
    whole = _distinct(own, records) if own and not pools else None
    if own and pools:
        assert records.whole is not None, "buckets are one piece"
        whole = _bucketed(own, pools, records.whole)
    if whole is not None:
        return [whole]
    found: list[Json] = []
    alone = column_counts(columns, records)
    for column in columns:
        _put(found, _stated([(column, alone[column.name][0], alone[column.name][0].places)], alone[column.name][1]))
    for first, second in combinations(own[:_MOST_PAIRED], 2):
        _put(found, _pair(first, second, records))
    return found


def _distinct(own: Sequence[Column], records: RecordStore) -> Json | None:
    """Every distinct row, if they fit; pieces are looked through until it is known that they do not."""
    names = [column.name for column in own]
    rows, counts = np.empty((0, len(own)), np.int64), np.empty(0, np.int64)
    for piece in records.pieces():
        places = np.stack([piece.columns[name].places.astype(np.int64) for name in names], axis=1)
        rows, row = np.unique(np.concatenate([rows, places]), axis=0, return_inverse=True)
        both = np.concatenate([counts, piece.times])
        counts = np.bincount(row.ravel(), weights=both, minlength=len(rows)).astype(np.int64)
        if len(rows) * (len(own) + 1) > MOST_NUMBERS:
            return None
    columns = []
    for name, column in zip(names, rows.T, strict=True):
        used, place = np.unique(column, return_inverse=True)
        spans = records.columns[name]
        columns.append(range_column(name, spans.starts[used], spans.stops[used], place.ravel()))
    table: Json = {"known": names, "columns": columns, "counts": counts.tolist()}
    return table if _numbers(table) <= MOST_NUMBERS else None


def _bucketed(own: Sequence[Column], pools: Sequence[Column], records: Records) -> Json | None:
    """Every distinct row with its bucket, if they fit."""
    spans = [records.columns[column.name].compact() for column in own]
    keys = pack_columns([each.places for each in spans], [len(each.starts) for each in spans])
    assert records.group is not None, "shuffled values have buckets"
    bucket, _ = number_rows([records.group])
    row, rows = number_rows([bucket, *keys])
    if rows * (len(own) + 2) > MOST_NUMBERS:
        return None
    first = np.zeros(rows, dtype=np.int64)
    first[row[::-1]] = np.arange(len(row))[::-1]
    columns = [
        range_column(column.name, each.starts, each.stops, each.places[first])
        for column, each in zip(own, spans, strict=True)
    ]
    columns += [_pool(column, records, bucket[first]) for column in pools]
    counts = np.bincount(row, weights=records.times, minlength=rows).astype(np.int64)
    size = count_numbers(columns, rows) + sum(2 * len(p[0]) for c in columns for p in c.get("pools", ()))
    if size > MOST_NUMBERS:
        return None
    return {"known": [column["name"] for column in columns], "columns": columns, "counts": counts.tolist()}


def _pool(column: Column, records: Records, place: Integers) -> Json:
    """A shuffled column: for every bucket its values, and how often each occurs."""
    domains: dict[str, Domain] = {column.name: column.domain}
    if not records.tallies:
        counted = records.statistics(domains).sensitive[column.name]
        group, values, counts = counted.group, counted.values, counted.counts
    else:
        tally = records.tallies[column.name]
        group, values, counts = np.unique(tally.group, return_inverse=True)[1].ravel(), tally.codes, tally.counts
    pools: list[list[list[int]]] = [[[], []] for _ in range(int(place.max(initial=-1)) + 1)]
    for at, value, count in zip(group.tolist(), values.tolist(), counts.tolist(), strict=True):
        pools[at][0].append(value)
        pools[at][1].append(count)
    return {"name": column.name, "starts": [], "pools": pools, "place": place.tolist()}


def _put(found: list[Json], table: Json | None) -> None:
    """Keep a table if there is one, and room for it."""
    if table is not None and _numbers(table) + sum(_numbers(each) for each in found) <= MOST_NUMBERS:
        found.append(table)


def _numbers(table: Json) -> int:
    return count_numbers(table["columns"], len(table["counts"]))


def _pair(first: Column, second: Column, records: RecordStore) -> Json | None:
    """How many records have each combination of the ranges of two columns; None where there are too many."""
    one, two = records.columns[first.name], records.columns[second.name]
    cells = len(one.starts) * len(two.starts)
    if cells > _MOST_PAIRS or len(records) > _MOST_COUNTED:
        return None
    every = np.zeros(cells, dtype=np.int64)
    for piece in records.pieces():
        both = piece.columns[first.name].places.astype(np.int64) * len(two.starts) + piece.columns[second.name].places
        every += np.bincount(both, weights=piece.times, minlength=cells).astype(np.int64)
    there = np.flatnonzero(every)
    return _stated([(first, one, there // len(two.starts)), (second, two, there % len(two.starts))], every[there])


def _stated(columns: Sequence[tuple[Column, Spans, NDArray[Any]]], counts: Integers) -> Json | None:
    """Counts of the combinations of some columns' ranges; None where they do not fit."""
    if len(counts) > MOST_NUMBERS or any(isinstance(c.domain, SetDomain) for c, _, _ in columns):
        return None
    stated = [range_column(column.name, spans.starts, spans.stops, place) for column, spans, place in columns]
    return {"known": [column.name for column, _, _ in columns], "columns": stated, "counts": counts.tolist()}
