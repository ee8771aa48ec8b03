"""The groups of a descent: what a specialization would do to them, counted from cells in memory or by an engine.

All that TDS asks of groups are their sizes and whether models hold in those that a specialization makes. Of a table
that does not fit, the cells of cuts that are finer than the current ones by as many specializations as fit are brought,
and the descent goes on in memory until it needs finer ones. Where not even the next specializations fit, the engine is
asked about each by itself: the size of the smallest group, and the groups in slices if models look at more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from sfumato.domains.counts import Cells, TableParts
from sfumato.domains.cut import Cut, Range
from sfumato.methods.grouping.model_checks import ModelChecks, cell_codes
from sfumato.methods.grouping.slices import exact_cuts, slices
from sfumato.methods.specialization.regrouping import Regrouping
from sfumato.privacy.groups.statistics import ValueTotals

Reach = Callable[[int | None], tuple[Cut, ...]]
"""The cuts after so many specializations below each region that are still open; None: after all there are."""


class Groups(Protocol):
    """The groups of the current cuts."""

    @property
    def smallest(self) -> int:
        """The size of the smallest group."""
        ...

    def smallest_after(self, attribute: str, region: Range, children: Sequence[Range]) -> int:
        """The size of the smallest of the groups that a specialization would make out of others."""
        ...

    def hold_after(self, attribute: str, region: Range, children: Sequence[Range]) -> bool:
        """Whether all groups that a specialization would make satisfy the models."""
        ...

    def specialize(self, attribute: str, region: Range, children: Sequence[Range]) -> None:
        """Split the groups of a region."""
        ...


class CellGroups:
    """The groups of cells that are here."""

    def __init__(
        self, cells: Cells, names: Sequence[str], checks: ModelChecks, table: Mapping[str, ValueTotals]
    ) -> None:
        self._checks, self._table, self._counts = checks, table, cells.counts
        self._sensitive = checks.columns(cells)
        self.rows = Regrouping({name: cell_codes(cells, name) for name in names}, cells.counts)

    @property
    def smallest(self) -> int:
        """The size of the smallest group."""
        return self.rows.smallest

    def smallest_after(self, attribute: str, region: Range, children: Sequence[Range]) -> int:  # noqa: ARG002
        """The size of the smallest of the groups that a specialization would make out of others."""
        return self.rows.smallest_after(attribute, children)

    def hold_after(self, attribute: str, region: Range, children: Sequence[Range]) -> bool:  # noqa: ARG002
        """Whether all groups that a specialization would make satisfy the models."""
        rows, group, groups = self.rows.after(attribute, children)
        sensitive = {name: codes[rows] for name, codes in self._sensitive.items()}
        hold = self._checks.hold(group, self._counts[rows], sensitive, groups=groups, table=self._table)
        return bool(hold.all())

    def specialize(self, attribute: str, region: Range, children: Sequence[Range]) -> None:  # noqa: ARG002
        """Split the groups of a region."""
        self.rows.specialize(attribute, children)


class EngineGroups:
    """The groups of a table whose cells do not fit."""

    def __init__(
        self, counts: TableParts, cuts: Sequence[Cut], checks: ModelChecks, table: Mapping[str, ValueTotals]
    ) -> None:
        self._counts, self._checks, self._table = counts, checks, table
        self._names = tuple(cut.attribute for cut in cuts)
        self._cuts = {cut.attribute: cut for cut in cuts}
        self._beside = exact_cuts(checks.view, list(checks.domains))
        self._taken: list[tuple[str, Range, Sequence[Range]]] = []
        self._here: tuple[dict[str, frozenset[int]], CellGroups] | None = None
        self._too_many_at = -1  # specializations when not even the next ones fitted
        self._smallest: int | None = counts.records
        self.reach: Reach = lambda _: tuple(cuts)

    @property
    def smallest(self) -> int:
        """The size of the smallest group."""
        if self._smallest is None:
            here = None if self._here is None else self._here[1]
            self._smallest = self._counts.class_sizes(self.cuts, {}).smallest if here is None else here.smallest
        return self._smallest

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The current cuts."""
        return tuple(self._cuts.values())

    def smallest_after(self, attribute: str, region: Range, children: Sequence[Range]) -> int:
        """The size of the smallest of the groups that a specialization would make out of others."""
        here = self._finer(attribute, children)
        if here is not None:
            return here.smallest_after(attribute, region, children)
        return self._counts.class_sizes(self._after(attribute, region, children), {attribute: region}).smallest

    def hold_after(self, attribute: str, region: Range, children: Sequence[Range]) -> bool:
        """Whether all groups that a specialization would make satisfy the models."""
        here = self._finer(attribute, children)
        if here is not None:
            return here.hold_after(attribute, region, children)
        after = self._after(attribute, region, children)
        for part in slices(self._counts, after, self._beside, {attribute: region}):
            hold = self._checks.hold(
                part.group, part.counts, part.beside, groups=len(part.regions), table=self._table
            )  # fmt: skip
            if not hold.all():
                return False
        return True

    def specialize(self, attribute: str, region: Range, children: Sequence[Range]) -> None:
        """Split the groups of a region."""
        here = self._finer(attribute, children)
        self._taken.append((attribute, region, children))
        self._cuts[attribute] = self._cuts[attribute].specialize(region, children)
        self._smallest = None
        if here is not None:
            here.specialize(attribute, region, children)

    def _after(self, attribute: str, region: Range, children: Sequence[Range]) -> tuple[Cut, ...]:
        return tuple(cut.specialize(region, children) if name == attribute else cut for name, cut in self._cuts.items())

    def _finer(self, attribute: str, children: Sequence[Range]) -> CellGroups | None:
        """Groups in memory whose cells tell these children apart; None if such cells do not fit."""
        if self._here is not None and all(start in self._here[0][attribute] for start, _ in children):
            return self._here[1]
        if self._too_many_at == len(self._taken):
            return None
        self._here = None  # before others are brought
        self._here = self._bring()
        if self._here is None:
            self._too_many_at = len(self._taken)
            return None
        return self._here[1]

    def _bring(self) -> tuple[dict[str, frozenset[int]], CellGroups] | None:
        """The cells of the finest cuts that fit, as groups of the current ones."""
        cuts = self._fitting()
        if cuts is None:
            return None
        cells = self._counts.regions([*cuts, *self._beside], {}, limited=False)  # as `_fitting` has counted
        codes = cells.codes.copy()
        for place, cut in enumerate(cuts):
            codes[:, place], _ = cut.ends(codes[:, place])
        found = CellGroups(Cells(cells.attributes, codes, cells.counts), self._names, self._checks, self._table)
        for attribute, region, children in self._taken:
            found.specialize(attribute, region, children)
        return {cut.attribute: frozenset(cut.starts) for cut in cuts}, found

    def _fitting(self) -> tuple[Cut, ...] | None:
        """The cuts after all specializations that are still open, or else after as many of them as fit."""
        depths: list[int | None] = [None, 1]
        best: tuple[Cut, ...] | None = None
        for depth in depths:
            cuts = self.reach(depth)
            if cuts == best or self._counts.count_regions([*cuts, *self._beside], {}) > self._counts.most_cells:
                continue
            best = cuts
            if depth is None:
                break
            depths.append(2 * depth)
        return best
