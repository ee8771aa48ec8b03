"""Answers from measured tables: how many records satisfy a condition, with an interval, from published counts alone.

A condition on attributes of one table is answered by that table: its noisy counts are unbiased, so is their sum, and
the noise on it is known. A condition that joins attributes of several tables is answered by the synthetic records,
which take it from the model how such attributes go together. The interval does not: if a condition is "A and B" with A
in one table and B in another, at least a + b − n records satisfy it and at most the fewer of a and b, for the numbers
a, b and n that satisfy A, B, or nothing at all. What mixes tables in another way has the interval from 0 to n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, log, sqrt

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.domains.query.condition import Condition, Join, attributes_of, read_condition
from sfumato.release.answer.columns import QueryColumn, Regions
from sfumato.release.answer.estimate import Estimate, Question
from sfumato.release.answer.interval import CONFIDENCE, DEVIATIONS
from sfumato.release.answer.spread import independent
from sfumato.release.draft import Tables
from sfumato.release.forms.tables.layout import TableLayout, TablesLayout, counts_of
from sfumato.release.model.fit import laplace_variance


def query(layout: TablesLayout, content: Tables, text: str) -> Estimate:
    """Estimate how many records satisfy a query; `sfumato.domains.query.language` has the language."""
    answering = _Answering(layout, content)
    condition = read_condition(text, answering.domains, whose="the release")
    table = answering.table_of(attributes_of(condition))
    if table is not None:
        return answering.by_table(table, text)
    return answering.by_model(condition, text)


class _Answering:
    """A release and its tables, as questions see them."""

    def __init__(self, layout: TablesLayout, content: Tables) -> None:
        self._layout, self._content = layout, content
        self.domains = dict(layout.records.attributes)
        self._counts = dict(zip((table.name for table in layout.tables), counts_of(content.measured), strict=True))

    def table_of(self, names: Sequence[str]) -> TableLayout | None:
        """The table that has all of these attributes; of several the one with the least noise in all."""
        able = [table for table in self._layout.tables if set(names) <= _known(table)]
        return min(able, key=lambda table: table.rows * laplace_variance(table.scale), default=None)

    def by_table(self, table: TableLayout, text: str) -> Estimate:
        """The answer of one table."""
        question, merged = self._question(table, text)
        low, high = _between(question, merged, table.scale, DEVIATIONS)
        return question.estimate(float(max(low, 0)), float(max(high, low, 0)), confidence=CONFIDENCE)

    def by_model(self, condition: Condition, text: str) -> Estimate:
        """The answer of the synthetic records, in an interval that does not believe them."""
        records = self._content.records
        numbers = [*records.regions.T, records.classes]
        columns: dict[str, QueryColumn] = {
            name: Regions(labels.domain, labels.cut, numbers[place].astype(np.int64))
            for place, (name, labels) in enumerate(
                zip(self._layout.records.columns[:-1], self._layout.records.labels, strict=True)
            )
        }
        question = Question(columns, records.counts, text)
        low, high = self._apart(condition)
        found = question.estimate(low, high, confidence=CONFIDENCE)
        return replace(found, modelled=tuple(dict.fromkeys(attributes_of(condition))))

    def _apart(self, condition: Condition) -> tuple[float, float]:
        """From what the parts of a condition that one table knows each say, without believing how they go together."""
        parts: tuple[Condition, ...] = (condition,)
        if isinstance(condition, Join) and condition.every:
            parts = condition.parts
        by_table: dict[str, list[Condition]] = {}
        for some in independent(parts):
            table = self.table_of([name for part in some for name in attributes_of(part)])
            if table is not None:
                by_table.setdefault(table.name, []).extend(some)
        sums = len(by_table) + 1
        # Each side of each sum has its part of the risk. A Laplace variable has the longest tails of such sums.
        deviations = max(DEVIATIONS, log(sums / (1 - CONFIDENCE)) / sqrt(2) + 0.1)
        total = self._total(deviations)
        lows, highs = [], [total]
        covered = sum(len(some) for some in by_table.values()) == len(parts)
        for table in self._layout.tables:
            if table.name not in by_table:
                continue
            question, merged = self._question(table, Join(every=True, parts=tuple(by_table[table.name])))
            low, high = _between(question, merged, table.scale, deviations)
            lows.append(float(max(low, 0)))
            highs.append(float(max(high, 0)))
        least = max(0.0, sum(lows) - (len(lows) - 1) * total) if covered and lows else 0.0
        most = min(highs)
        return min(least, most), most

    def _total(self, deviations: float) -> float:
        """The most records that there can be, by the table with the least noise on its sum."""
        table = min(self._layout.tables, key=lambda one: one.rows * laplace_variance(one.scale))
        spread = deviations * sqrt(table.rows * laplace_variance(table.scale))
        return float(max(ceil(float(self._counts[table.name].sum()) + spread), 0))

    def _question(self, table: TableLayout, asked: "str | Condition") -> tuple[Question, int]:
        """A question about the attributes of a table, and how many noisy counts each of its rows adds up."""
        counts = self._counts[table.name].reshape(table.sizes)
        merged = 1
        if table.first is not None:
            counts, merged = counts.sum(axis=0), len(table.first)
        cells = np.unravel_index(np.arange(counts.size), counts.shape)
        cuts = [*table.cuts]
        if table.classes is not None:
            cuts.append(Cut.finest(table.class_column, len(table.classes)))
        columns: Mapping[str, QueryColumn] = {
            cut.attribute: Regions(self.domains[cut.attribute], cut, cells[place].astype(np.int64))
            for place, cut in enumerate(cuts)
        }
        return Question(columns, counts.ravel(), asked), merged


def _known(table: TableLayout) -> set[str]:
    """The attributes that a table counts."""
    return {*(cut.attribute for cut in table.cuts), *([] if table.classes is None else [table.class_column])}


def _between(question: Question, merged: int, scale: float, deviations: float) -> tuple[int, int]:
    """From the sum of the rows that certainly satisfy a condition to that of those that possibly do, with noise."""
    variance = merged * laplace_variance(scale)
    certain, possible = question.found.certain, question.found.possible
    low = float(question.counts @ certain) - deviations * sqrt(int(certain.sum()) * variance)
    high = float(question.counts @ possible) + deviations * sqrt(int(possible.sum()) * variance)
    return floor(low), ceil(high)
