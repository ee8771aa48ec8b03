"""Cuts of sets: the nodes a set is told by, and the number of each set of nodes.

The state of a set attribute under specialization is again one node on each root-to-leaf path. A record's generalised
value is the set of those nodes that its codes fall under. At the root every record is in one region, the one without
codes too. Specializing a node v divides the records that contain v by which non-empty subset of v's children they
contain (at the root: by which subset). So every record is in exactly one region, and the regions are the subsets of
the cut's nodes. One record more is one record more in one region: counts of regions have sensitivity 1, as ever.

Where a record is known to hold at most ``most`` codes, it contains at most so many nodes, and regions with more cannot
occur in any table: they are not counted, not noised and not numbered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut, Range
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import InternalError

Integers = NDArray[np.int64]
Numbers = NDArray[Any]  # of regions: machine integers, or Python's where those are too small

BETWEEN: Final = ", "
NONE: Final = "(none)"
OTHER_SETS: Final = "(other sets in "  # how the rest of a published node of sets begins
WORD: Final = 62  # bits of a region's number that fit a machine integer with room for a sign


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Sets of leaves, one behind the other: set i is ``leaves[first[i]:first[i + 1]]``, in order, each leaf once."""

    first: Integers
    leaves: Integers
    size: int  # how many leaves there are to be had

    @classmethod
    def of(cls, sets: Sequence[Sequence[int]], size: int) -> "Sets":
        """From sorted rows of codes."""
        lengths = np.fromiter((len(one) for one in sets), dtype=np.int64, count=len(sets))
        leaves = np.fromiter((leaf for one in sets for leaf in one), dtype=np.int64, count=int(lengths.sum()))
        return cls(np.concatenate([[0], np.cumsum(lengths)]), leaves, size)

    @property
    def owner(self) -> Integers:
        """Which set each leaf is of."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, places: Integers) -> "Sets":
        """Some of the sets."""
        lengths = self.lengths[places]
        first = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(int(first[-1])) - np.repeat(first[:-1], lengths)
        return Sets(first, self.leaves[np.repeat(self.first[places], lengths) + within], self.size)

    @property
    def lengths(self) -> Integers:
        """How many leaves each set has."""
        return np.diff(self.first)

    def rows(self) -> list[tuple[int, ...]]:
        """The sets as sorted rows of codes."""
        flat = self.leaves.tolist()
        return [tuple(flat[begin:end]) for begin, end in pairwise(self.first.tolist())]

    def nodes(self, starts: Sequence[int]) -> tuple["Sets", Integers]:
        """The sets of nodes that the sets fall under, each once, in the order of sets, and which of them each has.

        Nodes are told by where they begin among the leaves, and a node stands as the leaf that it begins with.

        >>> found, places = Sets.of([(0, 1), (1,), (1, 3)], 4).nodes((0, 2))
        >>> found.first.tolist(), found.leaves.tolist(), places.tolist()
        ([0, 1, 3], [0, 0, 2], [0, 0, 1])
        """
        edges = np.asarray(starts, dtype=np.int64)
        node, owner = edges[np.searchsorted(edges, self.leaves, side="right") - 1], self.owner
        new = np.ones(len(node), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (owner[1:] != owner[:-1])
        ends = np.cumsum(np.bincount(owner[new], minlength=len(self)))
        rows = Sets(np.concatenate([[0], ends]), node[new], self.size).rows()
        order = sorted(set(rows))
        place = {row: number for number, row in enumerate(order)}
        return Sets.of(order, self.size), np.array([place[row] for row in rows], dtype=np.int64)

    def contain(self, starts: Integers, stops: Integers) -> NDArray[np.bool_]:
        """Which nodes the sets have leaves under, (nodes, sets); a set without leaves has the one behind the last."""
        found = np.zeros((len(starts), len(self)), np.bool_)
        owner, empty = self.owner, self.lengths == 0
        for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            if start == self.size:
                found[place] = empty
            else:
                found[place, owner[(self.leaves >= start) & (self.leaves < stop)]] = True
        return found

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True, slots=True)
class SetCut(Cut):
    """The nodes that sets are published in, by where each begins among the leaves; regions are subsets of the nodes.

    Region numbers: of an unspecialized root 0. Else the subsets in order of how many nodes they have where ``most`` is
    known and those numbers fit machine integers, and bit i for node i where not.

    >>> cut = SetCut("codes", (0, 2), 4)
    >>> cut.total, cut.numbers(Sets.of([(), (0, 1), (1, 3), (2,)], 4)).tolist()
    (4, [0, 1, 3, 2])
    """

    most: int | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is specialized: then all sets are alike."""
        return len(self.starts) == 1

    @property
    def is_finest(self) -> bool:
        """A region of sets is never a single code."""
        return False

    @property
    def ranked(self) -> bool:
        """Whether regions are numbered by how many nodes they have."""
        return self._subsets is not None

    @property
    def total(self) -> int:
        """How many regions there are: 2 to the number of nodes, or fewer where sets are known to be small."""
        if self.whole:
            return 1
        small = self._subsets
        return 2 ** len(self.starts) if small is None else small

    def __len__(self) -> int:
        return self.total

    def range_at(self, region: int) -> Range:
        """No region of sets is a range of codes."""
        raise InternalError(f"region {region} of the sets '{self.attribute}' was taken for a range")

    def regions(self, codes: Integers) -> Numbers:
        """Which region each code is in; `DROP` stays -1. The codes must come with their dictionary (`SetCodes`)."""
        if self.whole:
            return np.where(codes < 0, np.int64(-1), np.int64(0))
        sets = getattr(codes, "sets", None)
        if sets is None:
            raise InternalError(f"codes of the sets '{self.attribute}' came without their dictionary")
        numbers = np.append(self.numbers(sets), -1)  # the last place is that of DROP
        found: Numbers = numbers[np.asarray(codes)]
        return found

    def numbers(self, sets: Sets) -> Numbers:
        """The region of each set."""
        node = np.searchsorted(np.asarray(self.starts), sets.leaves, side="right") - 1
        owner = sets.owner
        new = np.ones(len(node), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (owner[1:] != owner[:-1])
        return self.number(owner[new], node[new], len(sets))

    def number(self, rows: Integers, nodes: Integers, size: int) -> Numbers:
        """The regions of ``size`` sets of nodes, given as (row, node) in order, each once."""
        if self.whole:
            return np.zeros(size, dtype=np.int64)
        if self.ranked:
            held = np.bincount(rows, minlength=size)
            if held.max(initial=0) > (self.most or 0):
                raise InternalError(f"a set of '{self.attribute}' holds more than {self.most} codes")
            choose, offsets = _binomials(len(self.starts), self.most or 0)
            which = np.arange(len(rows)) - (np.cumsum(held) - held)[rows] + 1
            found = offsets[held]
            np.add.at(found, rows, choose[nodes, which])
            return found
        words = [np.zeros(size, dtype=np.int64) for _ in range(0, len(self.starts), WORD)]
        for number, word in enumerate(words):
            here = nodes // WORD == number
            np.bitwise_or.at(word, rows[here], np.int64(1) << (nodes[here] % WORD))
        if len(words) == 1:
            return words[0]
        whole: Numbers = words[0].astype(object)
        for number, word in enumerate(words[1:], start=1):
            whole = whole + (word.astype(object) << (WORD * number))
        return whole

    def members(self, regions: Numbers) -> tuple[Integers, Integers]:
        """The nodes of regions as (row, node) in order; -1 has none, and no region of an unspecialized root has."""
        if self.whole:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        pairs = self._unrank(regions) if self.ranked else self._bits(regions)
        rows, nodes = np.concatenate([r for r, _ in pairs]), np.concatenate([n for _, n in pairs])
        order = np.lexsort((nodes, rows))
        return rows[order], nodes[order]

    def labels(self, taxonomy: Taxonomy, regions: Numbers) -> list[str]:
        """How regions read: the names of their nodes in the taxonomy's order."""
        names = [taxonomy.label(*node) for node in self.ranges]
        if self.whole:
            return names * len(regions)
        found: list[list[str]] = [[] for _ in regions]
        for row, node in zip(*(part.tolist() for part in self.members(regions)), strict=True):
            found[row].append(names[node])
        return [BETWEEN.join(held) if held else NONE for held in found]

    def read(self, taxonomy: Taxonomy, texts: Sequence[str]) -> Numbers:
        """The regions that texts stand for, as `labels` writes them; -1 for a text that is none of them."""
        places = {taxonomy.label(*node): place for place, node in enumerate(self.ranges)}
        if self.whole:
            return np.array([0 if text in places else -1 for text in texts], dtype=np.int64)
        held = [[] if text == NONE else [places.get(name, -1) for name in text.split(BETWEEN)] for text in texts]
        wrong = np.array([-1 in nodes or sorted(set(nodes)) != nodes or self._crowded(nodes) for nodes in held], bool)
        sound = [[] if bad else nodes for bad, nodes in zip(wrong.tolist(), held, strict=True)]
        flat = Sets.of(sound, len(self.starts))
        numbers = self.number(flat.owner, flat.leaves, len(flat))
        numbers[wrong] = -1
        return numbers

    def _crowded(self, nodes: Sequence[int]) -> bool:
        return self.most is not None and len(nodes) > self.most

    @property
    def _subsets(self) -> int | None:
        """How many subsets have at most ``most`` nodes, where that is known and fits a machine integer."""
        if self.most is None:
            return None
        nodes, found = len(self.starts), 0
        for held in range(min(self.most, nodes) + 1):
            found += comb(nodes, held)
            if found >= 2**WORD:
                return None
        return found

    def _bits(self, regions: Numbers) -> list[tuple[Integers, Integers]]:
        pairs = []
        kept = np.flatnonzero(regions >= 0)
        for begin in range(0, len(self.starts), WORD):
            part = regions[kept]
            if part.dtype == object:
                part = (part >> begin) & (2**WORD - 1)
            elif begin:
                break  # such numbers hold no more
            word = part.astype(np.int64)
            for bit in range(min(WORD, len(self.starts) - begin)):
                rows = kept[(word >> bit) & 1 == 1]
                pairs.append((rows, np.full(len(rows), begin + bit)))
        return pairs

    def _unrank(self, regions: Numbers) -> list[tuple[Integers, Integers]]:
        """The combinatorial number system backwards: the largest node first."""
        choose, offsets = _binomials(len(self.starts), self.most or 0)
        rest = np.asarray(regions).astype(np.int64)
        held = np.searchsorted(offsets, rest, side="right") - 1
        left = rest - offsets[np.maximum(held, 0)]
        pairs = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        for which in range(len(offsets) - 1, 0, -1):
            rows = np.flatnonzero(held >= which)
            nodes = np.searchsorted(choose[:-1, which], left[rows], side="right") - 1
            left[rows] -= choose[nodes, which]
            pairs.append((rows, nodes))
        return pairs


@lru_cache(maxsize=64)
def _binomials(nodes: int, most: int) -> tuple[Integers, Integers]:
    """How many ways there are to choose 0 … most of 0 … nodes things, and how many subsets are smaller than each size.

    Node c as the i-th smallest of a subset adds ``choose[c, i]``: all subsets that begin lower in that place.
    """
    top = min(most, nodes)
    choose = np.array([[comb(n, k) for k in range(top + 1)] for n in range(nodes + 1)], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(choose[nodes])[:-1]])
    return choose, offsets
