"""How the page of records answers: all distinct rows where they fit, else counts of single columns and of pairs.

Records have no noise, and a condition looks at some columns only. So the records with equal values there may be counted
together: sums over them are the same numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.forms.records.code_spans import Integers, Spans, number_rows, pack_columns
from sfumato.release.forms.records.declared_layout import sampled_share
from sfumato.release.forms.records.record_table import Column, RecordLayout
from sfumato.release.forms.records.rows import Records
from sfumato.release.page.embedded_rows import MOST_NUMBERS, PageAnswers, asked_columns, count_numbers, range_column
from sfumato.release.storage.seal import Json

if TYPE_CHECKING:
    from sfumato.domains.domain import Domain

_MOST_ROWS: Final = 200_000  # that are looked through for distinct ones
_MOST_COUNTED: Final = 5_000_000  # rows that are counted by pairs of columns
_MOST_PAIRS: Final = 20_000  # combinations of the ranges of two columns


def page_answers(layout: RecordLayout, records: Records, manifest: Mapping[str, Any]) -> PageAnswers:
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


def exact_counts(column: Column, records: Records) -> tuple[Spans, Integers]:
    """The distinct ranges of one column, and how many records have each; of shuffled values, each value."""
    tally = records.tallies.get(column.name)
    if tally is not None:
        found = Spans.of_codes(tally.codes, column.domain.size)
        counts = np.bincount(found.places, weights=tally.counts, minlength=len(found.starts))
    else:
        found = records.columns[column.name]
        counts = np.bincount(found.places, weights=records.times, minlength=len(found.starts))
    return Spans(found.starts, found.stops, np.arange(len(found.starts), dtype=np.int32)), counts.astype(np.int64)


def _tables(layout: RecordLayout, records: Records) -> list[Json]:
    domains = {column.name: column.sets or column.domain for column in layout.columns}
    asked = asked_columns(domains)
    columns = [column for column in layout.columns if column.name in asked]
    pools = [column for column in columns if layout.form != "generalised" and column.role == "sensitive"]
    own = [column for column in columns if column not in pools]
    whole = _whole(own, pools, records)
    if whole is not None:
        return [whole]
    found: list[Json] = []
    left = MOST_NUMBERS
    for some in (*((column,) for column in columns), *combinations(own, 2)):
        table = _counted(some, records, left)
        if table is not None:
            found.append(table)
            left -= count_numbers(table["columns"], len(table["counts"]))
    return found


def _whole(own: Sequence[Column], pools: Sequence[Column], records: Records) -> Json | None:
    """Every distinct row with its bucket, if they fit."""
    if len(records.times) > _MOST_ROWS or not own:
        return None
    spans = [records.columns[column.name].compact() for column in own]
    keys = pack_columns([each.places for each in spans], [len(each.starts) for each in spans])
    bucket: Integers | None = None
    if pools:
        assert records.group is not None, "shuffled values have buckets"
        bucket, _ = number_rows([records.group])
        keys = [bucket, *keys]
    row, rows = number_rows(keys)
    if rows * (len(own) + 1 + bool(pools)) > MOST_NUMBERS:
        return None
    first = np.zeros(rows, dtype=np.int64)
    first[row[::-1]] = np.arange(len(row))[::-1]
    columns = [
        range_column(column.name, each.starts, each.stops, each.places[first])
        for column, each in zip(own, spans, strict=True)
    ]
    columns += [_pool(column, records, bucket[first]) for column in pools if bucket is not None]
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


def _counted(columns: tuple[Column, ...], records: Records, left: int) -> Json | None:
    """How many records have each combination of ranges; None where there are too many, or columns of sets."""
    if any(isinstance(column.domain, SetDomain) for column in columns):
        return None
    if len(columns) == 1:
        spans, counts = exact_counts(columns[0], records)
        place = [spans.places]
        parts = [spans]
    else:
        parts = [records.columns[column.name] for column in columns]
        sizes = [len(each.starts) for each in parts]
        if sizes[0] * sizes[1] > _MOST_PAIRS or len(records.times) > _MOST_COUNTED:
            return None
        both = parts[0].places.astype(np.int64) * sizes[1] + parts[1].places
        every = np.bincount(both, weights=records.times, minlength=sizes[0] * sizes[1]).astype(np.int64)
        there = np.flatnonzero(every)
        place = [(there // sizes[1]).astype(np.int32), (there % sizes[1]).astype(np.int32)]
        counts = every[there]
    if len(counts) * (len(columns) + 1) > left:
        return None
    stated = [
        range_column(column.name, each.starts, each.stops, at)
        for column, each, at in zip(columns, parts, place, strict=True)
    ]
    if count_numbers(stated, len(counts)) > left:
        return None
    return {"known": [column.name for column in columns], "columns": stated, "counts": counts.tolist()}
