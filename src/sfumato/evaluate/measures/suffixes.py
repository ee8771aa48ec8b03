"""Rows by what they have in common from one attribute on, for walks down a trie of populations.

Below a population whose last predicate is on one attribute only later attributes matter, so rows that are alike in all
of those are one. There are millions of distinct rows and a few hundred that differ in the last two attributes: merged
on the way down, the populations of a long table take little more time and memory than those of a short one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.evaluate.evidence import Floats, Integers, Places, narrow, ranked

_FEW = 5_000  # rows that are not worth adding up: it takes longer than to go through them


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some groups of rows that are alike from one attribute on, in ascending order, and how much is in each."""

    group: Places  # a group may come several times
    amount: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Suffixes:
    """The groups of rows that are alike in an attribute, in all later ones, and in a value; for each attribute.

    They stand in the order of value, last attribute, last but one, and so on. So those that are alike from the next
    attribute on are neighbours, and merging is one pass.
    """

    kinds: tuple[Places, ...]  # for each attribute what it is in each group
    values: tuple[Places, ...]  # the value of each group
    merged: tuple[Places, ...]  # for each attribute the group of the next one that each group becomes a part of

    @classmethod
    def of(cls, columns: Sequence[Places], value: Places, amounts: Floats) -> "tuple[Suffixes, Rows]":
        """The groups of rows with these kinds and values, and all rows with their amounts."""
        kinds: list[Places] = []
        merged: list[Places] = []
        _, group = ranked(value.astype(np.int64))
        values = [_first(group, value)]
        for column in reversed(columns):
            many = int(column.max(initial=0)) + 1
            keys, group = ranked(group * many + column)
            kinds.append(narrow(keys % many, many))
            merged.append(narrow(keys // many, max(1, len(values[-1]))))
            values.append(values[-1][merged[-1]])
        every = np.bincount(group, weights=amounts, minlength=len(values[-1])).astype(np.float64)
        found = cls(tuple(kinds[::-1]), tuple(values[:0:-1]), tuple(merged[::-1]))
        return found, Rows(np.arange(len(every)), every)

    def merge(self, rows: Rows, at: int, share: Floats | None = None) -> Rows:
        """The rows as groups of the next attribute; with a ``share`` so much of each, and only where there is one."""
        group, amount = rows.group, rows.amount
        if share is not None:
            kept = share.nonzero()[0]
            group, amount = group[kept], amount[kept] * share[kept]
        into = self.merged[at][group]
        if len(into) <= _FEW:
            return Rows(into, amount)
        new = np.empty(len(into), np.bool_)
        new[0] = True
        np.not_equal(into[1:], into[:-1], out=new[1:])
        first = new.nonzero()[0]
        return Rows(into[first], np.add.reduceat(amount, first))


def _first(group: Integers, value: Places) -> Places:
    """The value of each group."""
    found: Places = np.zeros(int(group.max(initial=-1)) + 1, value.dtype)
    found[group] = value
    return found
