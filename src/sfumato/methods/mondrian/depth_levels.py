"""Mondrian level by level: all groups of one depth are cut at once, on arrays; nothing here loops over groups.

A pass cuts the groups of a level along the axis that each tries first, and asks the models about all the children
together; groups whose cut is not allowable try their next axis in a further pass over their own rows. What a level
costs is a sort of its rows. A median cut leaves at most half of the records on one side or ends at a single code, so
levels are about log(records / k) many.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.mondrian.axes import Axes, Spans
from sfumato.methods.mondrian.cuts import Attempt, Codes, Integers, Level, attempt, ranges
from sfumato.progress import Progress, silent

Flags = NDArray[np.bool_]

Keeps = Callable[[Integers, Attempt], Flags]
"""Whether each child of an attempt satisfies the models, from the table's row of each of its rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """For every group (a column): the axes in the order to try, which of them to try at all, and where to cut each."""

    order: Integers
    open: Flags
    at: Integers | None = None  # the last code of the lower part; None: at the median


Chooser = Callable[[Level, Spans, Integers], Choice]
"""What some groups of a level try before the medians."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is cut, and when a cut is allowable."""

    axes: Axes
    keeps: Keeps
    least: int = 1  # no smaller group can satisfy the models
    strict: bool = True  # else records on the median may go to either side
    first: Chooser | None = None  # tried before the medians, widest axis first


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The groups that no allowable cut is left for."""

    rows: Integers  # which row of the table
    weights: Integers  # and how many of its records
    group: Integers  # −1: suppressed
    starts: Integers  # (groups, axes)
    stops: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Groups of the next level that one pass has cut."""

    places: Integers  # (rows,): where in this level
    weights: Integers
    lengths: Integers  # (groups,): rows
    sizes: Integers  # (groups,): records
    starts: Integers
    stops: Integers
    allowance: Integers


@dataclass(slots=True)
class _Finished:
    """What has left the levels so far."""

    rows: list[Integers] = field(default_factory=list)
    weights: list[Integers] = field(default_factory=list)
    group: list[Integers] = field(default_factory=list)
    starts: list[Integers] = field(default_factory=list)
    stops: list[Integers] = field(default_factory=list)
    groups: int = 0

    def add(self, rows: Integers, weights: Integers, group: Integers) -> None:
        self.rows.append(rows)
        self.weights.append(weights)
        self.group.append(group)

    def publish(self, level: Level, groups: Integers) -> None:
        places = ranges(level.first[groups], level.first[groups + 1])
        numbers = np.repeat(np.arange(len(groups)) + self.groups, np.diff(level.first)[groups])
        self.add(level.rows[places], level.weights[places], numbers)
        self.starts.append(level.starts[groups])
        self.stops.append(level.stops[groups])
        self.groups += len(groups)

    def leaves(self) -> Leaves:
        parts = (self.rows, self.weights, self.group, self.starts, self.stops)
        return Leaves(*(np.concatenate(part) for part in parts))


def split_groups(
    columns: Codes,
    weights: Integers,
    rules: Rules,
    *,
    allowance: int = 0,
    inside: tuple[Integers, Integers] | None = None,
    progress: Progress = silent,
) -> Leaves:
    """Cut the whole table until no allowable cut is left; ``inside`` has the ends of a part of it on each axis."""
    total = int(weights.sum())
    level = Level(
        columns,
        weights,
        np.arange(len(weights)),
        np.array([0, len(weights)]),
        np.array([total]),
        np.zeros((1, len(rules.axes.sizes)), np.int64) if inside is None else inside[0][None],
        np.array([rules.axes.sizes], np.int64) if inside is None else inside[1][None],
        np.array([allowance]),
    )
    done = _Finished()
    while len(level):
        level = _cut_level(level, rules, done)
        progress("cutting groups", total - int(level.sizes.sum()), total)
    return done.leaves()


def _cut_level(level: Level, rules: Rules, done: _Finished) -> Level:
    """Cut every group that an allowable cut is found for; the others are done. The children are the next level."""
    spans = rules.axes.spans(level.columns, level.first[:-1])
    pending = np.flatnonzero((level.sizes >= 2 * rules.least) & (spans.widths >= 0).any(axis=0))
    children: list[_Part] = []
    uncut = np.ones(len(level), dtype=bool)
    choices = [] if rules.first is None or not len(pending) else [rules.first(level, spans, pending)]
    choices.append(Choice(spans.widest_first(), spans.widths >= 0))
    for choice in choices:
        left = pending[uncut[pending]]
        for order in choice.order:
            axis = order[left]
            worth = choice.open[axis, left]
            left, axis = left[worth], axis[worth]
            if not len(left):
                break
            at = None if choice.at is None else choice.at[axis, left]
            tried = attempt(level, spans, rules.axes, left, axis, at=at, strict=rules.strict)
            fine = rules.keeps(level.rows[tried.places], tried)
            allowable = _allowable(tried, fine, level.allowance[left])
            if allowable.any():
                children.append(_accept(level, tried, left, axis, fine, allowable, done))
            uncut[left[allowable]] = False
            left = left[~allowable]
    done.publish(level, np.flatnonzero(uncut))
    return _join_parts(level, children)


def _allowable(tried: Attempt, fine: Flags, allowance: Integers) -> Flags:
    """Whether every child satisfies the models, or those that do not are few enough to be suppressed."""
    kept = np.bincount(tried.parent, weights=fine, minlength=len(allowance))
    found: Flags = (_broken(tried, fine, len(allowance)) <= allowance) & (kept > 0)
    return found


def _broken(tried: Attempt, fine: Flags, groups: int) -> Integers:
    """How many records of each group are in children that violate a model."""
    return np.bincount(tried.parent, weights=np.where(fine, 0, tried.sizes), minlength=groups).astype(np.int64)


def _accept(
    level: Level, tried: Attempt, groups: Integers, axis: Integers, fine: Flags, allowable: Flags, done: _Finished
) -> _Part:
    """The children of the allowable cuts that satisfy the models; the others' records are suppressed."""
    taken = allowable[tried.parent]
    gone = np.flatnonzero(taken & ~fine)
    if len(gone):
        lost = ranges(tried.first[gone], tried.first[gone + 1])
        done.add(level.rows[tried.places[lost]], tried.weights[lost], np.full(len(lost), -1))
    kept = np.flatnonzero(taken & fine)
    here = ranges(tried.first[kept], tried.first[kept + 1])
    parent = tried.parent[kept]
    starts, stops = level.starts[groups[parent]], level.stops[groups[parent]]
    starts[np.arange(len(kept)), axis[parent]] = tried.starts[kept]
    stops[np.arange(len(kept)), axis[parent]] = tried.stops[kept]
    broken = _broken(tried, fine, len(groups))
    rest, whole = (level.allowance[groups] - broken)[parent], (level.sizes[groups] - broken)[parent]
    return _Part(
        tried.places[here],
        tried.weights[here],
        np.diff(tried.first)[kept],
        tried.sizes[kept],
        starts,
        stops,
        rest * tried.sizes[kept] // whole,  # shares rounded down: together never more than what is left
    )


def _join_parts(level: Level, parts: list[_Part]) -> Level:
    """The next level, its rows moved so that groups stand one behind the other again."""
    if not parts:
        none = np.empty(0, np.int64)
        return Level(level.columns[:, :0], none, none, np.zeros(1, np.int64), none, none, none, none)
    places = np.concatenate([part.places for part in parts])
    return Level(
        np.take(level.columns, places, axis=1),
        np.concatenate([part.weights for part in parts]),
        level.rows[places],
        np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.stops for part in parts]),
        np.concatenate([part.allowance for part in parts]),
    )
