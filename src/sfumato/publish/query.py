"""Queries on a release: how many records satisfy a condition, estimated from the published groups.

Within a group nothing is known but the regions, so values are taken to be uniform over the codes of a region and
independent between attributes. Under that assumption the estimate is exact: conditions on several attributes joined by
or and not are worked out, not approximated. Of a set a group tells the nodes: a record is taken to have one code under
each that it lists, any of them equally likely, and what is asked of one set is taken as independent. All this looks at
published counts alone, so it costs no privacy.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.core.condition import Condition, Join, Leaf, attributes_of, leaves, read_condition
from sfumato.core.cut import Cut
from sfumato.core.domain import Categories, Domain
from sfumato.core.draft import Groups
from sfumato.core.query_codes import Codes, nodes_of
from sfumato.core.query_text import Comparison
from sfumato.core.set_cut import SetCut, plain_numbers
from sfumato.core.set_regions import SetRegions
from sfumato.core.sets import SetDomain
from sfumato.core.taxonomy import Node, Taxonomy
from sfumato.errors import OursError, UsageError
from sfumato.publish.table import Layout

Shares = NDArray[np.float64]  # (groups,): which part of each group satisfies a condition

_MOST_CASES: Final = 5_000
_YES_OR_NO: Final = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("no"), Node("yes")))))


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How many records satisfy a condition (``count``), of how many (``total``), and their ratio (``share``).

    ``deviation`` is the standard deviation of ``count`` from the noise on the groups that are listed, √(Σ share² · 2b²)
    with b the scale of the noise; None where no scale is published. It does not cover the groups that are not listed
    (their noisy counts were under the threshold), nor values that are not uniform within a region. Of a release of a
    random sample, ``sampled`` is the share of the table's records that was drawn, as exact text, and ``count`` and
    ``total`` are divided by it: they are about the table.
    """

    count: float
    share: float
    total: int
    deviation: float | None
    sampled: str | None = None


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


@dataclass(frozen=True, eq=False)
class Held:
    """Something that a record has (1) or has not (0), with how likely it is in each row."""

    chance: Shares
    domain: Domain = _YES_OR_NO

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has it, or has not."""
        return (1 in codes) * self.chance + (0 in codes) * (1 - self.chance)


@dataclass(frozen=True, eq=False)
class AskedSets:
    """A column of sets of nodes; of a node below the published ones, only how likely it is can be told.

    Each row has one of the regions, or a pool in which they have shares.
    """

    domain: SetDomain
    regions: SetRegions
    place: NDArray[np.int64]  # (rows,): which region, or which pool
    shares: csr_array | None = None  # (pools, regions)

    def share(self, codes: Codes) -> Shares:
        """Which part of each row has a code among the given ones."""
        return self.chance(codes)

    def chance(self, codes: Codes | None) -> Shares:
        """How likely a record of each row has a code among the given ones; None: no code at all."""
        regions = self.regions
        if codes is None:
            found = regions.none.astype(np.float64)
        else:
            inside = codes.below(regions.stops) - codes.below(regions.starts)
            found = regions.some(inside / (regions.stops - regions.starts))
        each: Shares = np.asarray(found if self.shares is None else self.shares @ found)[self.place]
        return each


def query(layout: Layout, groups: Groups, text: str, *, noise_scale: float | None = None) -> Estimate:
    """Estimate how many records satisfy a query; `sfumato.core.query_text` has the language."""
    numbers = [*groups.regions.T, groups.classes]
    columns: dict[str, Asked] = {
        name: _sets(labels.domain, labels.cut, column)
        if isinstance(labels.domain, SetDomain) and isinstance(labels.cut, SetCut)
        else Regions(labels.domain, labels.cut, plain_numbers(labels.cut, column))
        for name, labels, column in zip(layout.columns, layout.labels, numbers, strict=False)
    }
    return estimate(columns, groups.counts, text, noise_scale=noise_scale)


def _sets(domain: SetDomain, cut: SetCut, column: NDArray[Any]) -> AskedSets:
    numbers, place = np.unique(column, return_inverse=True)
    return AskedSets(domain, SetRegions.of_cut(cut, numbers), place.ravel())


def estimate(
    columns: Mapping[str, Asked], counts: NDArray[np.int64], text: str, *, noise_scale: float | None = None
) -> Estimate:
    """The same for rows of any kind, each with how many records it stands for."""
    asked = _WithSets(columns, text)
    domains = {name: column.domain for name, column in columns.items()}
    condition = read_condition(text, domains, whose="the release", held=asked.held)
    shares = Shared(asked.columns, len(counts)).shares(condition)
    total = int(counts.sum())
    count = float(counts @ shares)
    deviation = None if noise_scale is None else noise_scale * math.sqrt(2 * float(shares @ shares))
    return Estimate(count=count, share=count / total if total else 0.0, total=total, deviation=deviation)


class _WithSets:
    """The columns that a query is about: those of the release, and one for each thing that is asked of a set."""

    def __init__(self, columns: Mapping[str, Asked], text: str) -> None:
        self.text = text
        self.columns = dict(columns)
        self._held: dict[tuple[str, Codes | None], str] = {}

    def held(self, asked: Comparison, domain: SetDomain) -> str:
        """The name of the column that says whether a record has what a comparison asks of a set."""
        name = asked.name.text
        nodes = nodes_of(asked, domain, self.text)
        column = self.columns[name]
        if not isinstance(column, AskedSets):
            raise OursError(f"the sets '{name}' are published as single values")
        if (name, nodes) not in self._held:
            self._held[name, nodes] = new = f"{name}\0{len(self._held)}"  # no attribute is called so
            self.columns[new] = Held(column.chance(nodes))
        return self._held[name, nodes]


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
