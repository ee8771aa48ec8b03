"""Queries on a release: how many records satisfy a condition, with an interval, from the published table alone.

Within a group nothing is known but the regions. For one number values are taken to be uniform over the codes of a
region and independent between attributes; under that assumption the number is exact: conditions on several attributes
joined by or and not are worked out, not approximated. Of a set a group tells the nodes: a record is taken to have one
code under each that it lists, any of them equally likely, and what is asked of one set is taken as independent. The
interval makes no such assumption: of a region that a condition covers in part it takes none to all. All this looks at
published numbers alone, so it spends no privacy budget.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import plain_numbers
from sfumato.domains.query.codes import Codes, nodes_of
from sfumato.domains.query.condition import Condition, Join, attributes_of, read_condition
from sfumato.domains.query.language import Comparison
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError
from sfumato.release.answer.columns import MembershipColumn, PooledColumn, QueryColumn, Regions, SetsColumn, sets_column
from sfumato.release.answer.interval import CONFIDENCE, Listed, Noise, interval
from sfumato.release.answer.spread import Spread, Spreads, given_case, independent
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.count_table import Layout

_OF_SETS = "\0"  # stands in the name of a column for what is asked of a set; no attribute is called so


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How many records satisfy a condition: ``count``, between ``low`` and ``high`` with ``confidence``.

    All numbers are about the records that took part in the release, by its rules: at most so many of each person, and
    none with a missing or invalid value that leaves it out.

    The interval covers all that is known to be uncertain: the noise on counts, groups that are not listed, and where
    inside a region the records lie, from none to all of a region that the condition covers in part. A release without
    noise that is not a sample has the confidence 1. ``count`` assumes that values are spread evenly inside the regions
    of the attributes in ``assumes``, and takes from the release's model how the attributes in ``modelled``, which no
    published table has together, are related. It is None, and so is ``share``, where the release tells nothing of one
    of them (those in ``undecided``): the number would be the assumption and nothing else.

    ``total`` is the number of records in the release, ``share`` the count as a part of it. Of a release of a random
    sample, ``sampled`` is the share of the table's records that was drawn, as exact text, and the numbers are about the
    table.
    """

    count: float | None
    low: float
    high: float
    confidence: float
    share: float | None
    total: int
    assumes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    sampled: str | None = None
    modelled: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The estimate in words: with its interval, and with what the single number assumes."""
        from sfumato.release.answer.words import estimate_words  # noqa: PLC0415 - the words know what an estimate is

        return estimate_words(self)

    def as_json(self) -> dict[str, Any]:
        """The estimate as plain values."""
        return {
            "count": self.count,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "assumes": list(self.assumes),
            "undecided": list(self.undecided),
            "share": self.share,
            "total": self.total,
            "sampled": self.sampled,
            "modelled": list(self.modelled),
        }


def query(layout: Layout, groups: Groups, text: str, *, noise: Noise | None = None) -> Estimate:
    """Estimate how many records satisfy a query; `sfumato.domains.query.language` has the language."""
    numbers = [*groups.regions.T, groups.classes]
    columns: dict[str, QueryColumn] = {
        name: sets_column(labels.domain, labels.cut, column)
        if isinstance(labels.domain, SetDomain) and isinstance(labels.cut, SetCut)
        else Regions(labels.domain, labels.cut, plain_numbers(labels.cut, column))
        for name, labels, column in zip(layout.columns, layout.labels, numbers, strict=False)
    }
    listed = None if noise is None else Listed.of(noise, groups.counts, groups.classes)
    return _answer(layout, Question(columns, groups.counts, text), noise, listed)


def query_about(
    layout: Layout, groups: Groups, attribute: str, *, noise: Noise | None = None
) -> Callable[[str], Estimate]:
    """`query` for conditions on one attribute, which holds no sets: groups alike there are counted together."""
    place = [name for name, _ in layout.attributes].index(attribute)
    labels = layout.labels[place]
    column = groups.classes if place == len(layout.names) else plain_numbers(labels.cut, groups.regions[:, place])
    keys = column.astype(np.int64) * layout.class_domain.size + groups.classes
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    row = row.ravel()
    counts = np.bincount(row, weights=groups.counts, minlength=len(first)).astype(np.int64)
    columns: dict[str, QueryColumn] = {attribute: Regions(labels.domain, labels.cut, column.astype(np.int64)[first])}
    listed = None if noise is None else Listed.of(noise, groups.counts, groups.classes).together(row, first)
    return lambda text: _answer(layout, Question(columns, counts, text), noise, listed)


def _answer(layout: Layout, question: "Question", noise: Noise | None, listed: Listed | None) -> Estimate:
    """The answer with its interval; without noise it goes from what must be so to what may be so."""
    if noise is None or listed is None:
        return question.estimate(*question.between(), confidence=1.0)
    classes = layout.class_domain.size
    reaches = [
        question.spreads.reach(given_case(question.condition, layout.class_name, Codes.of([(code, code + 1)])))
        for code in range(classes)
    ]
    found = question.found
    low, high = interval(listed, found.certain, found.possible, reaches, noise)
    return question.estimate(low, high, confidence=CONFIDENCE)


class Question:
    """A query over the rows of a release, each with how many records it stands for."""

    def __init__(self, columns: Mapping[str, QueryColumn], counts: NDArray[Any], text: str | Condition) -> None:
        """``text`` may be a condition that has been read already, where none of the columns is a set."""
        asked = _WithSets(columns, text if isinstance(text, str) else "")
        domains = {name: column.domain for name, column in columns.items()}
        self.counts = counts
        self.condition = (
            read_condition(text, domains, whose="the release", held=asked.held) if isinstance(text, str) else text
        )
        self.columns = asked.columns
        self.spreads = Spreads(asked.columns, len(counts))
        self.found: Spread = self.spreads.spread(self.condition)

    def between(self) -> tuple[float, float]:
        """From the records that certainly satisfy the condition to those that possibly do, as the rows count them."""
        pool = self._one_pool()
        if pool is not None:
            return self._between_pools(*pool)
        return float(self.counts @ self.found.certain), float(self.counts @ self.found.possible)

    def estimate(self, low: float, high: float, *, confidence: float) -> Estimate:
        """The answer with this interval."""
        total = int(self.counts.sum())
        open_rows = self.found.undecided & (self.counts > 0)
        names = self.spreads.assumed(self.condition, open_rows) if high > low else ()
        undecided = tuple(name for name in names if not self._tells(name))
        count = min(max(float(self.counts @ self.found.share), low), high)
        return Estimate(
            count=None if undecided else count,
            low=low,
            high=high,
            confidence=confidence,
            share=None if undecided else (min(count / total, 1.0) if total else 0.0),
            total=total,
            assumes=_plain(names),
            undecided=_plain(undecided),
        )

    def _tells(self, name: str) -> bool:
        """Whether the release tells anything of what is asked of a column: of a pool it always does."""
        column = self.columns[name]
        pooled = isinstance(column, PooledColumn) or (isinstance(column, MembershipColumn) and column.pooled)
        return pooled or self.spreads.decides(self.condition, name)

    def _one_pool(self) -> tuple[PooledColumn, Condition, Condition] | None:
        """The column of pools, what is asked of it, and what is asked beside it, where only one is asked together."""
        parts: tuple[Condition, ...] = (self.condition,)
        if isinstance(self.condition, Join) and self.condition.every:
            parts = self.condition.parts
        pooled: list[tuple[Condition, ...]] = []
        others: list[Condition] = []
        for some in independent(parts):
            names = {name for part in some for name in attributes_of(part)}
            if not any(isinstance(self.columns[name], PooledColumn) for name in names):
                others += some
            elif len(names) == 1:
                pooled.append(some)
            else:
                return None
        if len(pooled) != 1:
            return None
        column = self.columns[next(iter(attributes_of(pooled[0][0])))]
        assert isinstance(column, PooledColumn), "chosen so"
        return column, Join(every=True, parts=pooled[0]), Join(every=True, parts=tuple(others))

    def _between_pools(self, column: PooledColumn, inside: Condition, beside: Condition) -> tuple[float, float]:
        """Of m records of a pool b have the value, and a have the rest: from a + b − m to the smaller of a and b."""
        other, values = self.spreads.spread(beside), self.spreads.spread(inside).share

        def by_pool(weights: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(column.pool, weights=weights).astype(np.float64)

        size = by_pool(self.counts)
        have = np.round(by_pool(self.counts * values))
        low = np.maximum(by_pool(self.counts * other.certain) + have - size, 0)
        high = np.minimum(by_pool(self.counts * other.possible), have)
        return float(low.sum()), float(high.sum())


class _WithSets:
    """The columns that a query is about: those of the release, and one for each thing that is asked of a set."""

    def __init__(self, columns: Mapping[str, QueryColumn], text: str) -> None:
        self.text = text
        self.columns = dict(columns)
        self._held: dict[tuple[str, Codes | None], str] = {}

    def held(self, asked: Comparison, domain: SetDomain) -> str:
        """The name of the column that says whether a record has what a comparison asks of a set."""
        name = asked.name.text
        nodes = nodes_of(asked, domain, self.text)
        column = self.columns[name]
        if not isinstance(column, SetsColumn):
            raise InternalError(f"the sets '{name}' are published as single values")
        if (name, nodes) not in self._held:
            self._held[name, nodes] = new = f"{name}{_OF_SETS}{len(self._held)}"
            self.columns[new] = column.held(nodes)
        return self._held[name, nodes]


def _plain(names: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes that columns are of."""
    return tuple(dict.fromkeys(name.split(_OF_SETS)[0] for name in names))
