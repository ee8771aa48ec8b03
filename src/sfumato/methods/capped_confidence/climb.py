"""Groups of records that climb until each keeps the cap: the fixpoint of capped confidence, in whole arrays.

A *group* is a vector of regions, one an attribute. A *pair* is a group and a combination of sensitive values: records
alike in both, which always do the same. Where a group goes when its records fail is a function of the group alone: its
attribute with the largest left domain size goes one step up. So groups form a forest, found as far as it is needed.

In a round all pairs that break the cap move to the group above, together, or are suppressed. A round changes the sizes
of the groups that pairs leave and enter, and the number n of published records; so after each round the pairs of those
groups are asked again, and all others compare n with the least n at which they keep the cap (`least_records`), which
did not change. The paper looks at one record after the other; the order is not part of its criterion, and what holds
at the end is the same: no published record breaks the cap. It ends, since each round takes at least one pair a step up
or out, records never come down or back, and there are finitely many steps.

A pair that left and is entered again later gets a new number. So a number is left once, and where the records of a
cell end up is found by following numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.methods.capped_confidence.steps import Floats, Integers, Steps
from sfumato.privacy.groups.expected_confidence import least_records
from sfumato.privacy.groups.shares import Distribution
from sfumato.privacy.models.capped_confidence import Rule, apply_rules

ROOT_FAILED, TOO_DISTORTED = -1, -2  # where a group leads that has nothing above, or nothing that may be published
_UNKNOWN = -3
_ROOM = 2**62
_SLACK = 1e-9  # a distortion exactly at the limit is within it, however its sum was rounded


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Probabilities from one source: of every region of each attribute, and of every sensitive value."""

    regions: tuple[Floats, ...]  # an attribute each: one a region of its steps
    values: Mapping[str, Floats]  # a sensitive attribute each: one a combination of values (kind)


class Climb:
    """The records of some cells in groups, and the rounds that take them up."""

    def __init__(
        self,
        steps: Sequence[Steps],
        kind: Integers,
        counts: Integers,
        sensitive: Mapping[str, Integers],
        *,
        rate: float,
        limit: float,
        rules: Mapping[str, Sequence[Rule]],
        names: tuple[str, ...],
    ) -> None:
        """``kind`` has the combination of sensitive values of each cell, ``sensitive`` the codes of each of them."""
        self.steps, self.rate, self.limit, self.names = tuple(steps), rate, limit, names
        self.rules = rules
        self._sensitive = sensitive
        # Ranks of the values that occur take their place wherever something is counted: a domain may have billions.
        self._ranks = {name: np.unique(codes, return_inverse=True)[1].ravel() for name, codes in sensitive.items()}
        self._kinds = int(kind.max(initial=0)) + 1
        self._salt = _tables(steps)
        nodes = np.stack([of.first for of in steps])
        key = self._keys(nodes)
        keys, rows, group = _distinct(key)
        self.nodes = nodes[:, rows]  # (attributes, groups)
        assert bool(np.all(self.nodes[:, group] == nodes)), "two groups have one key; this is our bug"
        self.sizes = np.bincount(group, weights=counts, minlength=len(rows)).astype(np.int64)
        self._groups = _Index(keys, np.arange(len(rows)))
        self._above = np.full(len(rows), _UNKNOWN)
        paired = group * self._kinds + kind
        keys, rows, pair = _distinct(paired)
        self._pairs = _Index(keys, np.arange(len(rows)))
        self._cell = pair
        self.group, self.kind = group[rows], kind[rows]
        self.counts = np.bincount(pair, weights=counts, minlength=len(rows)).astype(np.int64)
        self._next = np.arange(len(rows))  # where each pair's records went: itself as long as they are there
        self.published = int(counts.sum())
        self.suppressed = {ROOT_FAILED: 0, TOO_DISTORTED: 0}
        self._least = np.zeros(len(rows))  # the least n at which each pair keeps the cap, by the chances of `settle`,
        self._chances = np.empty(0)  # and those of the groups

    @property
    def live(self) -> NDArray[np.bool_]:
        """Which pairs have records."""
        return self.counts > 0

    def settle(
        self, chances: Chances, touched: NDArray[np.bool_] | None = None, *, step: Callable[[int], None]
    ) -> None:
        """Rounds until no pair breaks the cap by these chances.

        It may be called again with the same chances and the groups that were ``touched`` since: the others are as they
        were.
        """
        rows = np.flatnonzero(self.live if touched is None else self.live & touched[self.group])
        while True:
            more = np.arange(len(self._chances), self.nodes.shape[1])
            self._chances = np.concatenate([self._chances, self._chance(chances, more)])
            self._least[rows] = self._needed(rows, self._chances[self.group[rows]], chances)
            failing = np.flatnonzero(self.live & (self._least > self.published))
            if not len(failing):
                return
            now = self.raise_up(failing)
            rows = np.flatnonzero(self.live & now[self.group])
            step(self.published)

    def failing(self, chances: Chances) -> Integers:
        """The pairs that break the cap by these chances, as groups are now."""
        rows = np.flatnonzero(self.live)
        some = np.flatnonzero(self.sizes)
        chance = np.zeros(self.nodes.shape[1])
        chance[some] = self._chance(chances, some)
        return rows[self._needed(rows, chance[self.group[rows]], chances) > self.published]

    def raise_up(self, failing: Integers) -> NDArray[np.bool_]:
        """Take pairs to the groups above theirs, or out; tells which groups have changed, new ones among them."""
        groups, counts = self.group[failing], self.counts[failing]
        self._find_above(np.unique(groups[self._above[groups] == _UNKNOWN]))
        to = self._above[groups]
        touched = np.zeros(self.nodes.shape[1], dtype=np.bool_)
        touched[groups] = True
        np.subtract.at(self.sizes, groups, counts)
        self.counts[failing] = 0
        self._next[failing] = _UNKNOWN  # they have left before any of them arrives: no pair is entered that is leaving
        for reason in self.suppressed:
            gone = to == reason
            self.suppressed[reason] += int(counts[gone].sum())
            self._next[failing[gone]] = reason
        self.published -= int(counts[to < 0].sum())
        moving = np.flatnonzero(to >= 0)
        to, counts, failing = to[moving], counts[moving], failing[moving]
        touched[to] = True
        np.add.at(self.sizes, to, counts)
        pair = self._pair(to, self.kind[failing])
        np.add.at(self.counts, pair, counts)
        self._next[failing] = pair
        return touched

    def boxes(self, groups: Integers) -> Boxes:
        """The regions of groups."""
        nodes = self.nodes[:, groups]
        starts = np.stack([of.starts[n] for of, n in zip(self.steps, nodes, strict=True)], axis=1)
        stops = np.stack([of.stops[n] for of, n in zip(self.steps, nodes, strict=True)], axis=1)
        return Boxes(self.names, starts, stops)

    def values_shown(self) -> dict[str, Floats]:
        """The share that the value of each combination of sensitive values has of the published records."""
        return {
            name: (np.bincount(ranks[self.kind], weights=self.counts, minlength=len(ranks)) / max(self.published, 1))[
                ranks
            ]
            for name, ranks in self._ranks.items()
        }

    def value_shares(self, name: str, known: Distribution) -> Floats:
        """The share that a distribution gives the value of each combination of sensitive values."""
        codes = self._sensitive[name]
        return known.share(codes, codes + 1)

    def weights(self, place: int) -> Floats:
        """How many records are published in each region of one attribute."""
        some = np.flatnonzero(self.sizes)
        found = np.bincount(self.nodes[place, some], weights=self.sizes[some], minlength=len(self.steps[place]))
        return np.asarray(found, dtype=np.float64)

    def distortions(self, groups: Integers) -> Floats:
        """The distortion of groups: the mean over the attributes."""
        each = [of.distortion[self.nodes[place, groups]] for place, of in enumerate(self.steps)]
        return np.asarray(np.mean(each, axis=0))

    def groups_of_cells(self) -> Integers:
        """The group that each cell's records ended up in, or why they were suppressed (below 0)."""
        last = self._next
        while True:
            after = np.where(last < 0, last, last[last])
            if np.array_equal(after, last):
                break
            last = after
        return np.where(last < 0, last, self.group[last])[self._cell]

    def _needed(self, rows: Integers, chance: Floats, chances: Chances) -> Floats:
        """The least n at which each pair keeps the cap, for all sensitive attributes."""
        groups = self.group[rows]
        kinds = self.kind[rows]
        found = np.zeros(len(rows))
        for name, of in self._sensitive.items():
            codes = of[kinds]
            counts = self.counts[rows]
            if len(self._sensitive) > 1:  # several combinations may have the same value
                _, first, place = _distinct(groups * len(of) + self._ranks[name][kinds])
                counts = np.bincount(place, weights=counts, minlength=len(first)).astype(np.int64)[place]
            alone = chances.values[name][kinds]
            told = [(rule, self._matches(rule)[groups]) for rule in self.rules.get(name, ())]
            alone = apply_rules(alone, codes, told) if told else alone
            observed = self.rate * (counts / self.sizes[groups])
            found = np.maximum(found, least_records(chance * alone, observed))
        return found

    def _chance(self, chances: Chances, groups: Integers) -> Floats:
        found = np.ones(len(groups))
        for place, of in enumerate(chances.regions):
            found *= of[self.nodes[place, groups]]
        return found

    def _matches(self, rule: Rule) -> NDArray[np.bool_]:
        kept = np.ones(self.nodes.shape[1], dtype=np.bool_)
        for name, (start, stop) in rule.where.items():
            of = self.steps[self.names.index(name)]
            inside = (of.starts >= start) & (of.stops <= stop)
            kept &= inside[self.nodes[self.names.index(name)]]
        return kept

    def _find_above(self, groups: Integers) -> None:
        """Where each of these groups leads: the attribute with the largest left domain size goes one step up."""
        if not len(groups):
            return
        nodes = self.nodes[:, groups]
        left = np.stack([np.where(of.above[n] == n, -1, of.left[n]) for of, n in zip(self.steps, nodes, strict=True)])
        chosen = np.argmax(left, axis=0)  # of equal ones the first
        stuck = left.max(axis=0) < 0
        for place, of in enumerate(self.steps):
            here = chosen == place
            nodes[place, here] = of.above[nodes[place, here]]
        each = [of.distortion[n] for of, n in zip(self.steps, nodes, strict=True)]
        beyond = np.mean(each, axis=0) > self.limit + _SLACK
        self._above[groups] = np.where(stuck, ROOT_FAILED, np.where(beyond, TOO_DISTORTED, _UNKNOWN))
        going = ~stuck & ~beyond
        self._above[groups[going]] = self._group(nodes[:, going])

    def _group(self, nodes: Integers) -> Integers:
        """The numbers of groups, of which some may be new."""
        keys, rows, place = _distinct(self._keys(nodes))
        found = self._groups.find(keys)
        new = np.flatnonzero(found < 0)
        found[new] = np.arange(len(self.sizes), len(self.sizes) + len(new))
        self._groups.add(keys[new], found[new])
        self.nodes = np.concatenate([self.nodes, nodes[:, rows[new]]], axis=1)
        self.sizes = np.concatenate([self.sizes, np.zeros(len(new), np.int64)])
        self._above = np.concatenate([self._above, np.full(len(new), _UNKNOWN)])
        assert bool(np.all(self.nodes[:, found[place]] == nodes)), "two groups have one key; this is our bug"
        return found[place]

    def _pair(self, groups: Integers, kinds: Integers) -> Integers:
        """The numbers of pairs; new ones where there is none with records."""
        keys, rows, place = _distinct(groups * self._kinds + kinds)
        found = self._pairs.find(keys)
        known = np.flatnonzero(found >= 0)
        gone = known[self._next[found[known]] != found[known]]
        new = np.flatnonzero(found < 0)
        total = len(self.counts)
        fresh = np.concatenate([gone, new])
        found[fresh] = np.arange(total, total + len(fresh))
        self._pairs.change(keys[gone], found[gone])
        self._pairs.add(keys[new], found[new])
        self.group = np.concatenate([self.group, groups[rows[fresh]]])
        self.kind = np.concatenate([self.kind, kinds[rows[fresh]]])
        self.counts = np.concatenate([self.counts, np.zeros(len(fresh), np.int64)])
        self._next = np.concatenate([self._next, found[fresh]])
        self._least = np.concatenate([self._least, np.zeros(len(fresh))])
        return found[place]

    def _keys(self, nodes: Integers) -> Integers:
        key = np.zeros(nodes.shape[1], dtype=np.int64)
        for table, of in zip(self._salt, nodes, strict=True):
            key += table[of]  # may wrap around, as hashes do
        return key


class _Index:
    """Keys in order, with a number each."""

    def __init__(self, keys: Integers, numbers: Integers) -> None:
        self._keys, self._numbers = keys, numbers

    def find(self, keys: Integers) -> Integers:
        """The numbers of keys, -1 where there is none."""
        place = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        return np.where(self._keys[place] == keys, self._numbers[place], -1)

    def add(self, keys: Integers, numbers: Integers) -> None:
        """Enter new keys, which are in order."""
        place = np.searchsorted(self._keys, keys)
        self._keys = np.insert(self._keys, place, keys)
        self._numbers = np.insert(self._numbers, place, numbers)

    def change(self, keys: Integers, numbers: Integers) -> None:
        """Give keys that are there other numbers."""
        self._numbers[np.searchsorted(self._keys, keys)] = numbers


def _distinct(keys: Integers) -> tuple[Integers, Integers, Integers]:
    """Distinct keys in order, a row that has each, and the place of every row's key among them."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], order[new], place


def _tables(steps: Sequence[Steps]) -> list[Integers]:
    """What each region adds to the key of its group: digits where they fit into one number, else parts of a hash.

    Hashes of two groups may be alike, once in 10⁷ tables of a million groups; wherever groups are numbered the regions
    are compared as well, so that a collision stops the release and never mixes two groups.
    """
    room = 1
    found = []
    for of in steps:
        found.append(np.arange(len(of), dtype=np.int64) * room)
        room *= len(of)
        if room >= _ROOM:
            return [_mixed(place, len(each)) for place, each in enumerate(steps)]
    return found


def _mixed(place: int, size: int) -> Integers:
    """Well mixed 64-bit numbers (the finalizer of splitmix64)."""
    with np.errstate(over="ignore"):
        x = (np.arange(size, dtype=np.uint64) + np.uint64((place + 1) << 40)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x ^ (x >> np.uint64(31))).view(np.int64)
