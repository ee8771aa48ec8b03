"""What publishing a node would cost, of a table whose cells do not fit here: asked of an engine, in sums.

For a node that no table in memory is specific enough for, the engine says how many classes there are of each size.
This alone tells what suppressing the small ones costs, which refutes most nodes. If the classes fit here they are
brought, and all more general nodes are counted from them in memory; those of the lowest node that the search looks at
are tried first. If they do not fit, and the models look at more than sizes, they are brought in slices. So memory is
that of the limit for any node, and the optimum is the same: sums differ by rounding, which `TIE` is far above. Beside
the classes, the values of each single attribute are brought once, with how often they occur. A table in which those of
one attribute do not fit is refused, and so is a class whose own sensitive values do not.

A model that compares groups with the published table is asked in rounds, as groups are left out: the totals of each
round are kept, never which groups are left, and the rounds before are repeated for each slice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import ClassSizes, TableParts
from sfumato.domains.cut import Cut
from sfumato.memory_limit import collecting
from sfumato.methods.full_domain.lattice import Lattice, Levels
from sfumato.methods.full_domain.rollup import Floats, Integers
from sfumato.methods.full_domain.worths import TableWorths, Worth, count_people, generalised_loss, table_worths
from sfumato.methods.grouping.model_checks import ModelChecks
from sfumato.methods.grouping.slices import Keep, Slice, exact_cuts, slices
from sfumato.methods.grouping.table_totals import table_totals
from sfumato.privacy.groups.statistics import ValueTotals
from sfumato.privacy.models import any_relative

Totals = dict[str, ValueTotals]


@dataclass(slots=True, eq=False)
class _Left:
    """What is left of a node when groups that violate a model are suppressed."""

    groups: int
    suppressed: int
    spans: Floats  # for each attribute, the codes beyond one of suppressed records' regions
    totals: Totals  # of what is left
    changed: bool  # whether the last round left out any group


class EngineWorths:
    """Worths counted by an engine, and from the classes of nodes that fit here."""

    def __init__(self, lattice: Lattice, checks: ModelChecks, counts: TableParts, allowed: int) -> None:
        self._lattice, self._checks, self._counts, self._allowed = lattice, checks, counts, allowed
        self._beside = exact_cuts(checks.view, list(checks.domains))
        self._relative = any_relative(checks.models)
        self._sizes: dict[Levels, ClassSizes] = {}
        self._large: list[Levels] = []  # nodes whose classes do not fit; nor do those of more specific ones
        self._brought: list[tuple[Levels, int, TableWorths]] = []
        self.records = counts.records
        self.generalised = [self._losses(place) for place in range(len(lattice.ladders))]
        self._whole = table_totals(counts, checks.domains)

    def of(self, node: Levels, low: Levels) -> Worth:
        """Count the groups of a node, and what publishing it would cost."""
        found = self._here(node) or self._bring_below(node, low)
        return self._by_engine(node) if found is None else found.of(node, low)

    def prepare(self, low: Levels, below: Levels) -> None:
        """Count the lowest node in memory, if it is there."""
        found = self._here(below)
        if found is not None and self._here(low) is found:
            found.prepare(low, below)

    def sizes(self, node: Levels) -> tuple[Integers, Integers]:
        """The sizes of a node's groups, increasing, and how many groups have each."""
        found = self._sizes_of(node)
        return found.sizes, found.classes

    def _here(self, node: Levels) -> TableWorths | None:
        """The worths in memory that a node can be counted from."""
        found = [worths for base, _, worths in self._brought if _below(base, node)]
        return min(found, key=lambda worths: worths.tables.rows_for(node), default=None)

    def _bring_below(self, node: Levels, low: Levels) -> TableWorths | None:
        """The classes of the most specific of a few nodes that fit; None if not even those of the node do."""
        middle = tuple((one + two) // 2 for one, two in zip(low, node, strict=True))
        for base in dict.fromkeys((low, middle, node)):
            rows = self._rows_of(base)
            if rows is not None:
                return self._bring(base, rows)
        return None

    def _rows_of(self, node: Levels) -> int | None:
        """How many rows the classes of a node are, beside sensitive values; None if they do not fit."""
        if any(_below(node, large) for large in self._large):
            return None
        rows = len(self._sizes_of(node))
        if self._beside and rows <= self._counts.most_cells:
            rows = self._counts.count_regions([*self._lattice.cuts(node), *self._beside], {})
        if rows <= self._counts.most_cells:
            return rows
        self._large.append(node)
        return None

    def _bring(self, base: Levels, rows: int) -> TableWorths:
        while self._brought and rows + sum(size for _, size, _ in self._brought) > self._counts.most_cells:
            self._brought.pop(0)
        cuts = self._lattice.cuts(base)
        cells = self._counts.regions([*cuts, *self._beside], {}, limited=False)  # as `_rows_of` has counted
        codes = [cut.ends(cells.codes[:, place])[0] for place, cut in enumerate(cuts)]
        sensitive = {cut.attribute: cells.codes[:, len(cuts) + place] for place, cut in enumerate(self._beside)}
        found = table_worths(
            self._lattice, self._checks, codes, sensitive, cells.counts, self._allowed, over_all=self.generalised
        )
        self._brought.append((base, rows, found))
        return found

    def _by_engine(self, node: Levels) -> Worth:
        """The worth of a node whose classes do not fit."""
        found = self._sizes_of(node)
        small = found.sizes < self._checks.least
        too_small = int((found.sizes * found.classes)[small].sum())
        extra = self._extra(too_small, (found.spans * found.sizes)[:, small].sum(axis=1))
        generalised = generalised_loss(self.generalised, node)
        if self._checks.sizes_alone or too_small > self._allowed:
            groups = len(found) - int(found.classes[small].sum())
            return Worth(node, generalised + extra, too_small, groups, too_small, extra)
        left, _ = self._judged(node)
        more = self._extra(left.suppressed, left.spans)
        return Worth(node, generalised + more, left.suppressed, left.groups, too_small, extra)

    def _extra(self, records: int, spans: Floats) -> float:
        """What suppressing records adds to the loss: 1 each, less what generalising has cost them already."""
        sizes = [ladder.cuts[0].size for ladder in self._lattice.ladders]
        cost = sum(span / max(1, size - 1) for span, size in zip(spans.tolist(), sizes, strict=True)) / len(sizes)
        return float((records - cost) / self.records)

    def keep(self, node: Levels, suppressed: int) -> Keep | None:
        """Which groups of a node are published, for their slices; None if all of them are, as nobody is suppressed."""
        if not suppressed:
            return None
        compared = self._judged(node)[1] if self._relative else [self._whole]
        cuts = self._lattice.cuts(node)
        return lambda part: self._kept(part, cuts, compared)[1]

    def _judged(self, node: Levels) -> tuple[_Left, list[Totals]]:
        """Suppress groups that violate a model, until all that are left satisfy it; and the totals of each round."""
        compared = [self._whole]
        while True:
            left = self._round(node, compared)
            if not self._relative or not left.changed or not left.groups:
                return left, compared
            compared.append(left.totals)

    def _round(self, node: Levels, compared: Sequence[Totals]) -> _Left:
        cuts = self._lattice.cuts(node)
        left = _Left(0, 0, np.zeros(len(cuts)), {}, changed=False)
        kept_values: dict[str, list[ValueTotals]] = {name: [] for name in self._whole}
        for part in slices(self._counts, cuts, self._beside, {}):
            before, kept = self._kept(part, cuts, compared)
            left.changed |= bool(before.sum() > kept.sum())
            left.groups += int(kept.sum())
            left.suppressed += int(part.sizes[~kept].sum())
            gone = part.regions[~kept].T
            for place, (cut, region) in enumerate(zip(cuts, gone, strict=True)):
                left.spans[place] += float((part.sizes[~kept] * cut.spans(region)).sum())
            rows = kept[part.group]
            for name, codes in part.beside.items():
                kept_values[name].append(ValueTotals.of(codes[rows], part.counts[rows], self._size(name)))
        left.totals = {name: _added(found, self._size(name)) for name, found in kept_values.items()}
        return left

    def _kept(
        self, part: Slice, cuts: tuple[Cut, ...], compared: Sequence[Totals]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which groups are left before the last round, and after it."""
        people = self._checks.view.people
        heads = [cut.ends(region)[0] for cut, region in zip(cuts, part.regions.T, strict=True)]
        living = None if people is None else count_people(cuts, heads, people)
        kept = np.ones(len(part.regions), np.bool_) if self._relative else part.sizes >= self._checks.least
        before = kept
        for totals in compared:
            before, kept = kept, kept.copy()
            if not before.any():
                break
            rows = np.flatnonzero(before[part.group])
            hold = self._checks.hold(
                (np.cumsum(before) - 1)[part.group[rows]],
                part.counts[rows],
                {name: part.beside[name][rows] for name in self._whole},
                groups=int(before.sum()),
                table=totals,
                people=None if living is None else living[before],
            )
            kept[np.flatnonzero(before)[~hold]] = False
        return before, kept

    def _sizes_of(self, node: Levels) -> ClassSizes:
        if node not in self._sizes:
            self._sizes[node] = self._counts.class_sizes(self._lattice.cuts(node), {})
        return self._sizes[node]

    def _losses(self, place: int) -> Floats:
        """The loss of one attribute at each step, over all records."""
        ladder = self._lattice.ladders[place]
        with collecting("for `full-domain`, the loss of each step follows from how often each value occurs"):
            cells = self._counts.cells([ladder.attribute], {}, limited=True)
        codes, often = cells.codes[:, 0], cells.counts.astype(np.float64)
        width = len(self._lattice.ladders)
        losses = [ladder.losses(step)[cut.regions(codes)] / width for step, cut in enumerate(ladder.cuts)]
        return np.array([np.sum(often * loss) for loss in losses]) / max(1, self.records)

    def _size(self, name: str) -> int:
        return self._checks.domains[name].size


def _below(low: Levels, node: Levels) -> bool:
    """Whether a node is at least as specific as another."""
    return all(one <= two for one, two in zip(low, node, strict=True))


def _added(found: Sequence[ValueTotals], size: int) -> ValueTotals:
    none = np.empty(0, np.int64)
    values = np.concatenate([none, *(one.values for one in found)])
    return ValueTotals.of(values, np.concatenate([none, *(one.counts for one in found)]), size)
