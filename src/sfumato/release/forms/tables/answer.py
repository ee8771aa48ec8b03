"""Answers from measured tables: how many records satisfy a condition, with an interval, from published counts alone.

A condition on attributes of one table is answered by that table: its noisy counts are unbiased, so is their sum, and
the noise on it is known. A condition that joins attributes of several tables is answered by the synthetic records,
which take it from the model how such attributes go together. The interval does not: if a condition is "A and B" with A
in one table and B in another, at least a + b − n records satisfy it and at most the fewer of a and b, for the numbers
a, b and n that satisfy A, B, or nothing at all. What mixes tables in another way has the interval from 0 to n. Which
tables are looked at depends on the condition and on the noise alone, never on counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, log, sqrt

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.domains.query.condition import Condition, Join, attributes_of, read_condition
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.answer.columns import QueryColumn, Regions
from sfumato.release.answer.estimate import Estimate, Question
from sfumato.release.answer.interval import CONFIDENCE, DEVIATIONS
from sfumato.release.answer.spread import independent
from sfumato.release.draft import Tables
from sfumato.release.forms.tables.table_layout import FilesLayout, TableLayout


def query(layout: FilesLayout, content: Tables, text: str) -> Estimate:
    """Estimate how many records satisfy a query; `sfumato.domains.query.language` has the language."""
    answering = _Answering(layout, content)
    condition = read_condition(text, answering.domains, whose="the release")
    table = answering.table_of(attributes_of(condition))
    if table is not None:
        return answering.by_table(table, text)
    return answering.by_model(condition, text)


class _Answering:
    """A release and its tables, as questions see them."""

    def __init__(self, layout: FilesLayout, content: Tables) -> None:
        self._layout, self._content = layout, content
        self.domains = dict(layout.records.attributes)
        self._counts = dict(zip((table.name for table in layout.tables), content.measured.counts, strict=True))

    def table_of(self, names: Sequence[str]) -> TableLayout | None:
        """The table that has all of these attributes; of several the one with the least noise in all."""
        able = [table for table in self._layout.tables if set(names) <= table.known]
        return min(able, key=_noise, default=None)

    def by_table(self, table: TableLayout, text: str) -> Estimate:
        """The answer of one table."""
        question, merged = self._question(table, text)
        low, high = _between(question, merged, table.scale, DEVIATIONS)
        return question.estimate(float(max(low, 0)), float(max(high, low, 0)), confidence=CONFIDENCE)

    def by_model(self, condition: Condition, text: str) -> Estimate:
        """The answer of the synthetic records, in an interval that does not believe them."""
        records, layout = self._content.records, self._layout.records
        numbers = [*records.regions.T, records.classes]
        columns: dict[str, QueryColumn] = {
            name: Regions(labels.domain, labels.cut, numbers[place].astype(np.int64))
            for place, (name, labels) in enumerate(zip(layout.columns[:-1], layout.labels, strict=True))
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
        by_table, covered = self._cover(independent(parts))
        sums = len(by_table) + 1
        # Each side of each sum has its part of the risk. A Laplace variable has the longest tails of such sums.
        deviations = max(DEVIATIONS, log(sums / (1 - CONFIDENCE)) / sqrt(2) + 0.1)
        total = self._total(deviations)
        lows, highs = [], [total]
        for table, some in by_table:
            question, merged = self._question(table, Join(every=True, parts=some))
            low, high = _between(question, merged, table.scale, deviations)
            lows.append(float(max(low, 0)))
            highs.append(float(max(high, 0)))
        least = max(0.0, sum(lows) - (len(lows) - 1) * total) if covered and lows else 0.0
        most = min(highs)
        return min(least, most), most

    def _cover(
        self, parts: Sequence[tuple[Condition, ...]]
    ) -> tuple[list[tuple[TableLayout, tuple[Condition, ...]]], bool]:
        """Tables that know the parts of a condition, each part once, and whether every part is known.

        The table that knows most of what is left comes first; of several the one with the least noise in all.
        """
        left = [(some, {name for part in some for name in attributes_of(part)}) for some in parts]
        found: list[tuple[TableLayout, tuple[Condition, ...]]] = []
        while left:
            able = [(sum(names <= table.known for _, names in left), table) for table in self._layout.tables]
            most = max(many for many, _ in able)
            if not most:
                break
            table = min((table for many, table in able if many == most), key=_noise)
            found.append((table, tuple(part for some, names in left if names <= table.known for part in some)))
            left = [(some, names) for some, names in left if not names <= table.known]
        return found, not left

    def _total(self, deviations: float) -> float:
        """The most records that there can be, by the table with the least noise on its sum."""
        table = min(self._layout.tables, key=_noise)
        spread = deviations * sqrt(_noise(table))
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


def _noise(table: TableLayout) -> float:
    """The variance of the noise on the sum of a table."""
    return table.rows * laplace_variance(table.scale)


def _between(question: Question, merged: int, scale: float, deviations: float) -> tuple[int, int]:
    """From the sum of the rows that certainly satisfy a condition to that of those that possibly do, with noise."""
    variance = merged * laplace_variance(scale)
    certain, possible = question.found.certain, question.found.possible
    low = float(question.counts @ certain) - deviations * sqrt(int(certain.sum()) * variance)
    high = float(question.counts @ possible) + deviations * sqrt(int(possible.sum()) * variance)
    return floor(low), ceil(high)
