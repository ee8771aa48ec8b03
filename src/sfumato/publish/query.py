"""Queries on a release: how many records satisfy a condition, estimated from the published groups.

Within a group nothing is known but the regions, so values are taken to be uniform over the codes of a region and
independent between attributes. Under that assumption the estimate is exact: conditions on several attributes joined by
or and not are worked out, not approximated. It looks at published counts alone, so it costs no privacy.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.condition import Condition, Join, Leaf, attributes_of, leaves, read_condition
from sfumato.core.cut import Cut
from sfumato.core.domain import Domain
from sfumato.core.draft import Groups
from sfumato.core.query_codes import Codes
from sfumato.errors import UsageError
from sfumato.publish.table import Layout

Shares = NDArray[np.float64]  # (groups,): which part of each group satisfies a condition

_MOST_CASES: Final = 5_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How many records satisfy a condition (``count``), of how many (``total``), and their ratio (``share``).

    ``deviation`` is the standard deviation of ``count`` from the noise on the groups that are listed, √(Σ share² · 2b²)
    with b the scale of the noise; None where no scale is published. It does not cover the groups that are not listed
    (their noisy counts were under the threshold), nor values that are not uniform within a region.
    """

    count: float
    share: float
    total: int
    deviation: float | None


class Asked(Protocol):
    """One column as a query sees it: its domain, and which part of each row has one of some codes."""

    @property
    def domain(self) -> Domain:
        """The public domain."""
        ...

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has one of the codes."""
        ...


@dataclass(frozen=True, eq=False)
class Regions:
    """A column of regions of one cut; a row is spread evenly over the codes of its region."""

    domain: Domain
    cut: Cut
    regions: NDArray[np.int64]

    def share(self, codes: Codes) -> Shares:
        """Which part of the codes of each row's region is among the given ones."""
        if self.cut.is_finest:
            return (codes.below(self.regions + 1) - codes.below(self.regions)).astype(np.float64)
        edges = np.array([*self.cut.starts, self.cut.size], dtype=np.int64)
        inside = np.diff(codes.below(edges)) / np.diff(edges)
        shares: Shares = inside[self.regions]
        return shares


def query(layout: Layout, groups: Groups, text: str, *, noise_scale: float | None = None) -> Estimate:
    """Estimate how many records satisfy a query; `sfumato.core.query_text` has the language."""
    numbers = [*groups.regions.T, groups.classes]
    columns = {
        name: Regions(labels.domain, labels.cut, column)
        for name, labels, column in zip(layout.columns, layout.labels, numbers, strict=False)
    }
    return estimate(columns, groups.counts, text, noise_scale=noise_scale)


def estimate(
    columns: Mapping[str, Asked], counts: NDArray[np.int64], text: str, *, noise_scale: float | None = None
) -> Estimate:
    """The same for rows of any kind, each with how many records it stands for."""
    condition = read_condition(text, {name: column.domain for name, column in columns.items()}, whose="the release")
    shares = Shared(columns, len(counts)).shares(condition)
    total = int(counts.sum())
    count = float(counts @ shares)
    deviation = None if noise_scale is None else noise_scale * math.sqrt(2 * float(shares @ shares))
    return Estimate(count=count, share=count / total if total else 0.0, total=total, deviation=deviation)


class Shared:
    """Works out which part of every group satisfies a condition."""

    def __init__(self, columns: Mapping[str, Asked], rows: int) -> None:
        self._columns = columns
        self._groups = rows
        self._cases = 0

    def shares(self, condition: Condition) -> Shares:
        """Parts without an attribute in common are independent; those with one are taken apart by its values."""
        if isinstance(condition, Leaf):
            return self._columns[condition.attribute].share(condition.codes)
        # P(all) = Π P(part), and P(at least one) = 1 − Π (1 − P(part)), over independent parts.
        product = np.ones(self._groups)
        for parts in _independent(condition.parts):
            part = parts[0] if len(parts) == 1 else Join(condition.every, parts)
            share = self.shares(part) if len(parts) == 1 else self._by_cases(part)
            product *= share if condition.every else 1 - share
        return product if condition.every else 1 - product

    def _by_cases(self, condition: Condition) -> Shares:
        """Σ over the cases of one attribute: P(case) · P(condition, given the case)."""
        found = list(leaves(condition))
        names = [leaf.attribute for leaf in found]
        column = max(names, key=names.count)
        total = np.zeros(self._groups)
        size = self._columns[column].domain.size
        for case in _cases([leaf.codes for leaf in found if leaf.attribute == column], size):
            self._cases += 1
            if self._cases > _MOST_CASES:
                raise UsageError(
                    "the query joins the same attributes in too many ways to be worked out", "ask for less at a time"
                )
            total += self._columns[column].share(case) * self.shares(_given(condition, column, case))
        return total


def _independent(parts: Sequence[Condition]) -> list[tuple[Condition, ...]]:
    """The parts in sets that have no attribute in common; several on one attribute alone stay together too."""
    sets: list[tuple[set[str], list[Condition]]] = []
    for part in parts:
        columns, members = set(attributes_of(part)), [part]
        apart = []
        for other in sets:
            if other[0] & columns:
                columns, members = columns | other[0], other[1] + members
            else:
                apart.append(other)
        sets = [*apart, (columns, members)]
    return [tuple(members) for _, members in sets]


def _cases(sets: Sequence[Codes], size: int) -> list[Codes]:
    """The codes in classes that no set tells apart."""
    edges = sorted({0, size, *(edge for codes in sets for r in codes.ranges for edge in r)})
    classes: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    for start, stop in pairwise(edges):
        classes.setdefault(tuple(start in codes for codes in sets), []).append((start, stop))
    return [Codes.of(ranges) for ranges in classes.values()]


def _given(condition: Condition, column: str, case: Codes) -> Condition:
    """The condition once it is known that an attribute's code is in ``case``, which no leaf tells apart."""
    if isinstance(condition, Leaf):
        if condition.attribute != column:
            return condition
        return Join(every=case.ranges[0][0] in condition.codes, parts=())
    parts: list[Condition] = []
    for part in condition.parts:
        known = _given(part, column, case)
        if isinstance(known, Join) and not known.parts:
            if known.every != condition.every:
                return known  # false among all, true among at least one: the others do not matter
        else:
            parts.append(known)
    return Join(condition.every, tuple(parts))
