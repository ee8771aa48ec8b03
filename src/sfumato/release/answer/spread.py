"""Which part of every row satisfies a condition, and in which rows it is decided without an assumption.

Parts of a condition without an attribute in common are independent, since every combination of values inside a region
may occur and, under the assumption, all are equally likely; parts with one in common are taken apart by its values. So
shares are exact under the assumption, and rows are decided exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from sfumato.domains.query.codes import Codes
from sfumato.domains.query.condition import Condition, Join, Leaf, attributes_of, leaves
from sfumato.errors import UsageError
from sfumato.release.answer.columns import Mask, QueryColumn, Reach, Shares

_MOST_CASES: Final = 5_000


@dataclass(frozen=True, eq=False)
class Spread:
    """A condition in every row: the part that satisfies it under the assumption, and what is known without it."""

    share: Shares
    certain: Mask
    possible: Mask

    @property
    def undecided(self) -> Mask:
        """Rows of which some values satisfy the condition and others do not."""
        return self.possible & ~self.certain


class Spreads:
    """Works conditions out over all rows of a release."""

    def __init__(self, columns: Mapping[str, QueryColumn], rows: int) -> None:
        self._columns = columns
        self._rows = rows
        self._cases = 0

    def spread(self, condition: Condition) -> Spread:
        """Independent parts are multiplied; those with an attribute in common are taken apart by its values."""
        if isinstance(condition, Leaf):
            column = self._columns[condition.attribute]
            return Spread(column.share(condition.codes), *column.bounds(condition.codes))
        # P(all) = Π P(part), and P(at least one) = 1 − Π (1 − P(part)), over independent parts.
        every = condition.every
        product = np.ones(self._rows)
        certain = np.full(self._rows, every)
        possible = np.full(self._rows, every)
        for parts in independent(condition.parts):
            part = parts[0] if len(parts) == 1 else Join(every, parts)
            one = self.spread(part) if len(parts) == 1 else self._by_cases(part)
            product *= one.share if every else 1 - one.share
            certain = certain & one.certain if every else certain | one.certain
            possible = possible & one.possible if every else possible | one.possible
        return Spread(product if every else 1 - product, certain, possible)

    def assumed(self, condition: Condition, rows: Mask) -> tuple[str, ...]:
        """The attributes that leave some of these rows undecided, in the order of the condition."""
        found: dict[str, None] = {}
        for leaf in leaves(condition):
            certain, possible = self._columns[leaf.attribute].bounds(leaf.codes)
            if np.any(rows & possible & ~certain):
                found[leaf.attribute] = None
        return tuple(found)

    def decides(self, condition: Condition, attribute: str) -> bool:
        """Whether there is a row in which what the condition asks of an attribute is decided."""
        for leaf in leaves(condition):
            if leaf.attribute == attribute:
                certain, possible = self._columns[attribute].bounds(leaf.codes)
                if np.any(certain | ~possible):
                    return True
        return False

    def reach(self, condition: Condition) -> Reach:
        """At most which share of all regions there are satisfies the condition; see `Reach`."""
        if isinstance(condition, Leaf):
            return self._columns[condition.attribute].reach(condition.codes)
        found = [self._joined_reach(condition.every, parts) for parts in independent(condition.parts)]
        return _and(found) if condition.every else _or(found)

    def _joined_reach(self, every: bool, parts: Sequence[Condition]) -> Reach:  # noqa: FBT001 - Join has it so
        """Parts with an attribute in common: at most the smallest of them, or all together.

        Together parts may decide a region that none of them decides: that at least one holds for certain is bounded by
        that one holds possibly, and that all hold for certain not by that one possibly does not.
        """
        each = [self.reach(part) for part in parts]
        few = Reach(*(min(column) for column in zip(*each, strict=True)))
        many = Reach(*(min(1.0, sum(column)) for column in zip(*each, strict=True)))
        if every:
            return Reach(few.certain, few.possible, many.doubtful, many.doubtful)
        return Reach(many.possible, many.possible, few.impossible, few.doubtful)

    def _by_cases(self, condition: Condition) -> Spread:
        """Σ over the cases of one attribute: P(case) · P(condition, given the case)."""
        found = list(leaves(condition))
        names = [leaf.attribute for leaf in found]
        column = max(names, key=names.count)
        share = np.zeros(self._rows)
        certain = np.ones(self._rows, dtype=bool)
        possible = np.zeros(self._rows, dtype=bool)
        size = self._columns[column].domain.size
        for case in _cases([leaf.codes for leaf in found if leaf.attribute == column], size):
            self._cases += 1
            if self._cases > _MOST_CASES:
                raise UsageError(
                    "the query combines the same attributes in too many ways to be answered",
                    "split it into simpler queries",
                    code="SF-USAGE-049",
                )
            given = self.spread(given_case(condition, column, case))
            _, here = self._columns[column].bounds(case)
            share += self._columns[column].share(case) * given.share
            certain &= ~here | given.certain
            possible |= here & given.possible
        return Spread(share, certain, possible)


def _and(parts: Sequence[Reach]) -> Reach:
    """All hold: shares of independent parts are multiplied; at least one fails: those that do not are."""
    return Reach(
        float(np.prod([part.certain for part in parts])),
        float(np.prod([part.possible for part in parts])),
        float(1 - np.prod([1 - part.impossible for part in parts])),
        float(1 - np.prod([1 - part.doubtful for part in parts])),
    )


def _or(parts: Sequence[Reach]) -> Reach:
    """Not all of the opposites hold."""
    opposite = _and([Reach(part.impossible, part.doubtful, part.certain, part.possible) for part in parts])
    return Reach(opposite.impossible, opposite.doubtful, opposite.certain, opposite.possible)


def independent(parts: Sequence[Condition]) -> list[tuple[Condition, ...]]:
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


def given_case(condition: Condition, column: str, case: Codes) -> Condition:
    """The condition once it is known that an attribute's code is in ``case``, which no leaf tells apart."""
    if isinstance(condition, Leaf):
        if condition.attribute != column:
            return condition
        return Join(every=case.ranges[0][0] in condition.codes, parts=())
    parts: list[Condition] = []
    for part in condition.parts:
        known = given_case(part, column, case)
        if isinstance(known, Join) and not known.parts:
            if known.every != condition.every:
                return known  # false among all, true among at least one: the others do not matter
        else:
            parts.append(known)
    return Join(condition.every, tuple(parts))
