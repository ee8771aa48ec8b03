"""Published records as numbers that a learner can use, and new raw records as the same numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.domain import Domain, Grid
from sfumato.domains.range_text import RangeTexts
from sfumato.release.forms.records.code_spans import Integers, Spans
from sfumato.release.forms.records.record_table import Column

Floats = NDArray[np.float64]

_AT_ONCE: Final = 1 << 22  # distances worked out at a time


@dataclass(frozen=True, eq=False)
class RecordFeatures:
    """How the ranges of some columns become numbers: the middle of an interval, an indicator a published label.

    A numerical column with a declared missing value has a column more that says so. A column in which all records are
    alike says nothing and is left out.
    """

    columns: tuple[Column, ...]
    spans: Mapping[str, Spans]

    @cached_property
    def informative(self) -> tuple[Column, ...]:
        """The columns that are not the same for all records."""
        return tuple(column for column in self.columns if len(self.spans[column.name].starts) > 1)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(name for column in self.informative for name in _block(column, self.spans[column.name])[0])

    def matrix(self, places: Mapping[str, NDArray[Any]]) -> Floats:
        """Rows of places (which of the column's ranges; -1 for none) to rows of features."""
        blocks = [_block(c, self.spans[c.name])[1][places[c.name]] for c in self.informative]
        rows = len(next(iter(places.values())))
        return np.hstack(blocks) if blocks else np.zeros((rows, 0))


def _block(column: Column, spans: Spans) -> tuple[tuple[str, ...], Floats]:
    """The names of a column's features, and a row of values a range, the last one for a record outside all of them."""
    domain = column.domain
    if isinstance(domain, Grid):
        return _numbers(column.name, domain, spans)
    texts = RangeTexts(column.name, domain).texts(spans.starts, spans.stops).to_pylist()
    return tuple(f"{column.name}={text}" for text in texts), np.vstack([np.eye(len(texts)), np.zeros(len(texts))])


def _numbers(name: str, grid: Grid, spans: Spans) -> tuple[tuple[str, ...], Floats]:
    starts = np.append(spans.starts, 0)
    stops = np.append(spans.stops, grid.points)
    tops = np.minimum(stops, grid.points)
    single = (stops - starts == 1) & (grid.unit != "number" or grid.step == 1)
    low = float(grid.lower) + starts * float(grid.step)
    high = np.minimum(float(grid.lower) + tops * float(grid.step), float(grid.upper))
    middle = np.where(single, low, (low + high) / 2)
    if grid.missing is None:
        return (name,), middle[:, None]
    middle[starts >= grid.points] = (float(grid.lower) + float(grid.upper)) / 2
    lost = (stops > grid.points).astype(np.float64)
    lost[-1] = 0.0
    return (name, f"{name} missing"), np.stack([middle, lost], axis=1)


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of the groups, to find where a new record belongs.

    Where every column's ranges lie apart (a global recoding) each value has its own range. Else a record goes to the
    nearest region: the distance is the sum over the columns of how far the value is from the range, as a share of the
    domain for numbers, 0 or 1 for categories; a record inside a region has distance 0, and of regions as near the
    smallest is taken.
    """

    domains: tuple[Domain, ...]
    columns: tuple[Spans, ...]  # a row a group

    @cached_property
    def apart(self) -> bool:
        """Whether the ranges of every column lie apart."""
        return all(bool(np.all(c.stops[:-1] <= c.starts[1:])) for c in self.columns)

    def places(self, codes: Sequence[Integers]) -> list[Integers]:
        """The place of each record's range in every column; -1 where a value has no code."""
        if self.apart:
            return [
                _nearest_range(c, d, column) for c, d, column in zip(self.columns, self.domains, codes, strict=True)
            ]
        group = self._nearest(codes)
        return [
            np.where(column < 0, -1, c.places[group]).astype(np.int64)
            for c, column in zip(self.columns, codes, strict=True)
        ]

    def _nearest(self, codes: Sequence[Integers]) -> Integers:
        records, groups = len(codes[0]), len(self.columns[0])
        # Smaller regions first: `argmin` takes the first of equals.
        wide = sum(
            (c.stops[c.places] - c.starts[c.places]) / domain.size
            for c, domain in zip(self.columns, self.domains, strict=True)
        )
        order = np.argsort(wide, kind="stable")
        found = np.empty(records, dtype=np.int64)
        step = max(_AT_ONCE // max(groups, 1), 1)
        for start in range(0, records, step):
            here = slice(start, min(start + step, records))
            distance = np.zeros((here.stop - start, groups), dtype=np.float32)
            for column, domain, values in zip(self.columns, self.domains, codes, strict=True):
                places = column.places[order]
                table = _distances(column, domain, values[here])
                distance += table[:, places]
            found[here] = order[np.argmin(distance, axis=1)]
        return found


def _distances(column: Spans, domain: Domain, codes: Integers) -> NDArray[np.float32]:
    """How far each value is from each distinct range of a column."""
    below = np.maximum(column.starts[None, :] - codes[:, None], 0)
    above = np.maximum(codes[:, None] - column.stops[None, :] + 1, 0)
    away = below + above
    away[codes < 0] = 0  # a value without a code says nothing about where the record belongs
    share = away / max(domain.size - 1, 1) if isinstance(domain, Grid) else away > 0
    found: NDArray[np.float32] = share.astype(np.float32)
    return found


def _nearest_range(column: Spans, domain: Domain, codes: Integers) -> Integers:
    """The range that holds each value; for numbers between two ranges the nearer one, for other values none."""
    place = np.clip(np.searchsorted(column.starts, codes, side="right") - 1, 0, None)
    inside = (column.starts[place] <= codes) & (codes < column.stops[place])
    if isinstance(domain, Grid):
        after = np.minimum(place + 1, len(column.starts) - 1)
        nearer = np.abs(column.starts[after] - codes) < np.abs(codes - column.stops[place] + 1)
        found = np.where(inside | ~nearer, place, after)
        return np.where(codes < 0, -1, found).astype(np.int64)
    return np.where(inside, place, -1).astype(np.int64)
