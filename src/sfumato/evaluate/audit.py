"""Audit: a black-box test of a differentially private method.

Run the method many times on two neighbouring tables, look for an event that is likelier on one than ε allows, and
state a lower bound on the privacy loss that holds with a given confidence. Finding none proves nothing; finding one
proves that the method violates its guarantee.
"""

from collections import Counter as Tally
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import tally
from sfumato.domains.sets.set_cut import SetCut
from sfumato.errors import InternalError, UsageError
from sfumato.release.draft import Draft, EstimatedGroups, Groups, Tables
from sfumato.release.measured import MeasuredTables
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.model.plug_in import PlugIn, band_of
from sfumato.study.budget import show

_FEWEST = 200  # runs on each table below which no event can be told from chance
_TESTED = 10  # events taken from the first half of the runs to be tested on the second
_MOST_CELLS = 1_000  # whose measured numbers are looked at, where no records are named
_STEPS = (1, 2, 3, 4, 6, 8, 12)  # counts are looked at as "at least this many"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit found: with the stated confidence the privacy loss is at least ``lower_bound``."""

    epsilon: Fraction
    lower_bound: float
    event: str
    runs: int
    confidence: float

    @property
    def violates(self) -> bool:
        """Whether the lower bound on the privacy loss exceeds ε."""
        return self.lower_bound > self.epsilon

    def sentence(self) -> str:
        """The finding in words."""
        says = "violates" if self.violates else "is consistent with"
        return (
            f"{says} ε = {float(self.epsilon):g}: over {self.runs:,} runs on each of two neighbouring tables the "
            f"privacy loss is at least {self.lower_bound:.3f} (confidence {self.confidence:.4%}), by the event: "
            f"{self.event}"
        )

    def as_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "consistent": not self.violates,
            "epsilon": show(self.epsilon),
            "lower_bound": self.lower_bound,
            "event": self.event,
            "runs": self.runs,
            "confidence": self.confidence,
        }


def audit(
    once: Callable[[int], Iterable[Hashable]], *, epsilon: Fraction, runs: int, confidence: float = 0.9999
) -> Finding:
    """Compare two neighbouring tables by the events that an adversary observes in one run, ``once(0)`` and ``once(1)``.

    The first half of the runs picks the events that differ most; the second half, independent of that choice, bounds
    the ratio of their probabilities with Clopper-Pearson intervals, the error shared over all tested events, both
    directions and both tables. So the bound exceeds the true loss with probability at most 1 - confidence.
    """
    half = runs // 2
    if half < _FEWEST:
        raise UsageError(f"{runs} runs are too few for an audit", f"use at least {2 * _FEWEST}", code="SF-USAGE-025")
    first = [_tally(once, table, half) for table in (0, 1)]
    second = [_tally(once, table, half) for table in (0, 1)]
    events = _most_different(first[0], first[1], half)
    if not events:
        raise InternalError("an audit saw no event at all")
    error = (1 - confidence) / (4 * len(events))
    best, named = -inf, "none"
    for event, present, side in events:
        hits = [second[table][event] if present else half - second[table][event] for table in (0, 1)]
        low, high = _at_least(hits[side], half, error), _at_most(hits[1 - side], half, error)
        bound = log(low / high) if low > 0 else -inf
        if bound > best:
            best, named = bound, f"{'' if present else 'not '}{event}"
    return Finding(epsilon=epsilon, lower_bound=max(best, 0.0), event=named, runs=2 * half, confidence=confidence)


def events_of(draft: Draft, codes: Mapping[str, NDArray[np.int64]] | None = None) -> set[Hashable]:
    """What an adversary observes of one release, as a set of events: the cuts, and each group's count by steps.

    With ``codes`` only the groups that these records are in are looked at, and no others.
    """
    if isinstance(draft.content, Tables):
        if isinstance(draft.content.measured, MeasuredMarginals):
            return _events_of_marginals(draft.marginals, codes)
        return _events_of_tables(draft.measured, codes)
    measured = _events_of_measured(draft, draft.content, codes) if isinstance(draft.content, EstimatedGroups) else set()
    groups = draft.groups if codes is None else _groups_of(draft.groups, codes)
    domains = {a.name: a.domain for a in draft.view.predictors}
    labels = []
    for cut in groups.cuts:
        domain = domains[cut.attribute]
        if domain is None:
            raise InternalError(f"'{cut.attribute}' was published without a domain")
        labels.append([domain.label(*part) for part in cut.ranges])
    cuts = tuple(tuple(names) for names in labels)
    seen: set[Hashable] = {("cuts", cuts), ("rows", len(groups)), *measured}
    for row, place, count in zip(groups.regions, groups.classes, groups.counts, strict=True):
        name = tuple(
            region if isinstance(groups.cuts[column], SetCut) else labels[column][region]
            for column, region in enumerate(row.tolist())
        )
        seen.update(("count", name, int(place), "at least", step) for step in _STEPS if count >= step)
        seen.update(("cuts and count", cuts, name, int(place), "at least", step) for step in _STEPS if count >= step)
    return seen


def _groups_of(groups: Groups, codes: Mapping[str, NDArray[np.int64]]) -> Groups:
    """The groups that these records are in."""
    homes, _ = tally([cut.regions(codes[cut.attribute]) for cut in groups.cuts])
    kept = (groups.regions[:, None, :] == homes[None, :, :]).all(axis=2).any(axis=1)
    return Groups(groups.cuts, groups.regions[kept], groups.classes[kept], groups.counts[kept])


def _events_of_measured(
    draft: Draft, content: EstimatedGroups, codes: Mapping[str, NDArray[np.int64]] | None
) -> set[Hashable]:
    """Sums of the measured numbers that one record changes: for every cell, or those that these records are in.

    All of them move by 1 with a record in the cell, so their sum, each with its sign, is what tells most of it.
    """
    sizes = (*(cut.total for cut in content.cuts), len(draft.view.classes))
    place = len(sizes) if content.ordered is None else [cut.attribute for cut in content.cuts].index(content.ordered)
    if codes is None:
        cells = np.indices(sizes[:-1]).reshape(len(sizes) - 1, -1).T[:_MOST_CELLS]
    else:
        cells, _ = tally([cut.regions(codes[cut.attribute]) for cut in content.cuts])
    table = content.measured.reshape(content.strategy.measurements, -1).T
    seen: set[Hashable] = set()
    for cell in cells.tolist():
        for label in range(sizes[-1]):
            alone = np.zeros(sizes, dtype=np.int64)
            alone[(*cell, label)] = 1
            rows = np.moveaxis(alone, place, -1) if place < len(sizes) else alone
            changed = content.strategy.measure(rows.reshape(-1, content.strategy.size))
            total = int((changed * table).sum())
            seen.update(("measured", tuple(cell), label, "at least", step) for step in _STEPS if total >= step)
    return seen


def _events_of_tables(measured: MeasuredTables, codes: Mapping[str, NDArray[np.int64]] | None) -> set[Hashable]:
    """The noisy size, what each table counts, and the counts of its cells, alone and with what was chosen."""
    seen: set[Hashable] = {("size", "at least", step) for step in _STEPS if measured.size >= step}
    chosen: tuple[Hashable, ...] = ()
    model = PlugIn(())
    size = 0 if codes is None else len(next(iter(codes.values())))
    for number, table in enumerate(measured.stages):
        chosen = (*chosen, tuple((cut.attribute, tuple(cut.starts)) for cut in table.cuts))
        seen.add(("tables", chosen))
        rows = np.arange(len(table.counts))
        if codes is not None:
            bands = band_of(model.scores(codes, size)) if number else np.zeros(size, dtype=np.int64)
            rows = np.unique(table.rows(bands, codes))
        model = model.with_table(table)
        for row in rows.tolist():
            for label, count in enumerate(table.counts[row].tolist()):
                cell = (number, tuple(table.cells[row].tolist()), label)
                seen.update(("count", cell, "at least", step) for step in _STEPS if count >= step)
                seen.update(("tables and count", chosen, cell, "at least", step) for step in _STEPS if count >= step)
    for other in measured.remaining:
        groups = (
            np.arange(other.cut.total) if codes is None else np.unique(other.cut.regions(codes[other.cut.attribute]))
        )
        for label, counts in enumerate(other.counts):
            for group in groups.tolist():
                home = (other.cut.attribute, tuple(other.cut.starts), group, label)
                seen.update(("count", home, "at least", step) for step in _STEPS if counts[group] >= step)
    return seen


def _events_of_marginals(measured: MeasuredMarginals, codes: Mapping[str, NDArray[np.int64]] | None) -> set[Hashable]:
    """The noisy size, what each table counts, and the counts of its cells, alone and with what was chosen."""
    seen: set[Hashable] = {("size", "at least", step) for step in _STEPS if measured.size >= step}
    chosen: tuple[Hashable, ...] = ()
    for number, table in enumerate(measured.tables):
        names = tuple(measured.cuts[a].attribute for a in table.attributes)
        chosen = (*chosen, names)
        seen.add(("tables", chosen))
        cells = np.argwhere(np.ones(table.counts.shape, dtype=np.bool_))
        if codes is not None:
            cuts = [measured.cuts[a] for a in table.attributes]
            cells, _ = tally([cut.regions(codes[cut.attribute]) for cut in cuts])
        for cell in map(tuple, cells.tolist()):
            steps = [step for step in _STEPS if table.counts[cell] >= step]
            seen.update(("count", number, names, cell, "at least", step) for step in steps)
            seen.update(("tables and count", chosen, cell, "at least", step) for step in steps)
    return seen


def _tally(once: Callable[[int], Iterable[Hashable]], table: int, runs: int) -> Tally[Hashable]:
    found: Tally[Hashable] = Tally()
    for _ in range(runs):
        found.update(set(once(table)))
    return found


def _most_different(one: Tally[Hashable], other: Tally[Hashable], runs: int) -> list[tuple[Hashable, bool, int]]:
    """Events, or their opposites, with the side on which they seem likelier, most telling first.

    Ranked by the bound a 99 % interval would give, roughly: the log ratio less two standard deviations.
    """
    ranked: list[tuple[float, str, Hashable, bool, int]] = []
    for event in one.keys() | other.keys():
        for present in (True, False):
            hits = [t[event] if present else runs - t[event] for t in (one, other)]
            side = 0 if hits[0] >= hits[1] else 1
            top, bottom = hits[side] + 0.5, hits[1 - side] + 0.5
            worth = log(top / bottom) - 2 * (1 / top + 1 / bottom) ** 0.5
            ranked.append((worth, repr(event), event, present, side))
    ranked.sort(key=lambda r: (-r[0], r[1], r[3]))
    return [(event, present, side) for _, _, event, present, side in ranked[:_TESTED]]


def _at_least(hits: int, runs: int, error: float) -> float:
    from scipy.stats import beta  # noqa: PLC0415 - a slow import, needed here alone

    return float(beta.ppf(error, hits, runs - hits + 1)) if hits else 0.0


def _at_most(hits: int, runs: int, error: float) -> float:
    from scipy.stats import beta  # noqa: PLC0415 - a slow import, needed here alone

    return float(beta.ppf(1 - error, hits + 1, runs - hits)) if hits < runs else 1.0
