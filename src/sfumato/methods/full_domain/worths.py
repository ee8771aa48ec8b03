"""What publishing a node of the lattice would cost, counted from tables in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.methods.full_domain.lattice import Lattice, Levels
from sfumato.methods.full_domain.rollup import Floats, Integers, Table, Tables, join_keys, number_rows
from sfumato.methods.grouping.model_checks import ModelChecks, cell_codes

TIE = 1e-12  # losses closer than this are equal: their sums are rounded
_SMALL = 2_000  # rows; counting from a table of so few is not worth a smaller one

Judge = Callable[[Table, Levels], NDArray[np.bool_]]
"""Whether each group of a node's table is published. A group below the least size never is."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A node that was counted."""

    node: Levels
    loss: float
    suppressed: int
    groups: int  # published ones
    too_small: int  # records in groups below the least size
    extra: float  # the loss that suppressing those adds

    def better_than(self, other: "Worth") -> bool:
        """Less loss, or the same in more groups, or the same in order: fixed, whichever was found first."""
        if abs(self.loss - other.loss) > TIE:
            return self.loss < other.loss
        return (-self.groups, self.node) < (-other.groups, other.node)


class Worths(Protocol):
    """Who says what nodes cost."""

    @property
    def records(self) -> int:
        """The records of the table."""
        ...

    @property
    def generalised(self) -> Sequence[Floats]:
        """The loss of each attribute at each step, over all records."""
        ...

    def of(self, node: Levels, low: Levels) -> Worth:
        """Count the groups of a node, and what publishing it would cost; nodes down to ``low`` may come next."""
        ...

    def prepare(self, low: Levels, below: Levels) -> None:
        """Several nodes between these will be asked for."""
        ...

    def sizes(self, node: Levels) -> tuple[Integers, Integers]:
        """The sizes of a node's groups, increasing, and how many groups have each."""
        ...


@dataclass(frozen=True, eq=False)
class TableWorths:
    """Worths counted from tables in memory."""

    tables: Tables
    least: int  # no smaller group satisfies the models
    allowed: int  # records that may be suppressed
    judge: Judge | None = None  # None: the least size is all that the models ask for
    over_all: Sequence[Floats] | None = None  # `generalised`, where the tables are of coarser codes

    @property
    def records(self) -> int:
        """The records of the table."""
        return self.tables.records

    @property
    def generalised(self) -> Sequence[Floats]:
        """The loss of each attribute at each step, over all records."""
        return self.tables.generalised if self.over_all is None else self.over_all

    def of(self, node: Levels, low: Levels) -> Worth:  # noqa: ARG002 - tables are made as they are needed
        """Count the groups of a node, and what publishing it would cost."""
        table = self.tables.table(node)
        totals, heads = table.totals, table.heads()
        small = totals < self.least
        too_small, extra = self._lost(node, totals, heads, small)
        gone, more = small, extra
        if self.judge is not None and too_small <= self.allowed:
            gone = ~self.judge(table, node)
            _, more = self._lost(node, totals, heads, gone)
        return Worth(
            node,
            generalised_loss(self.generalised, node) + more,
            int(totals[gone].sum()),
            int(len(totals) - gone.sum()),
            too_small,
            extra,
        )

    def prepare(self, low: Levels, below: Levels) -> None:
        """Count the table of the lowest node: from now on the box is counted from it, if it is smaller."""
        if self.tables.rows_for(below) > _SMALL:
            self.tables.table(low)

    def sizes(self, node: Levels) -> tuple[Integers, Integers]:
        """The sizes of a node's groups, increasing, and how many groups have each."""
        found, times = np.unique(self.tables.table(node).totals, return_counts=True)
        return found.astype(np.int64), times.astype(np.int64)

    def _lost(
        self, node: Levels, totals: Floats, heads: Sequence[Integers], gone: NDArray[np.bool_]
    ) -> tuple[int, float]:
        """How many records are lost, and what that adds to the loss."""
        rows = np.flatnonzero(gone)
        sizes = totals[rows]
        losses = self.tables.losses(node, [head[rows] for head in heads])
        return int(sizes.sum()), float(np.sum(sizes * (1 - losses))) / self.records


def generalised_loss(generalised: Sequence[Floats], node: Levels) -> float:
    """The loss of a node without suppression."""
    return float(sum(losses[step] for losses, step in zip(generalised, node, strict=True)))


def worths_of_cells(lattice: Lattice, checks: ModelChecks, cells: Cells, allowed: int) -> TableWorths:
    """Worths of a table all of whose cells are here."""
    codes = [cell_codes(cells, ladder.attribute) for ladder in lattice.ladders]
    return table_worths(lattice, checks, codes, checks.columns(cells), cells.counts, allowed)


def table_worths(
    lattice: Lattice,
    checks: ModelChecks,
    codes: Sequence[Integers],
    sensitive: Mapping[str, Integers],
    counts: Integers,
    allowed: int,
    over_all: Sequence[Floats] | None = None,
) -> TableWorths:
    """Rows are told apart by the quasi-identifiers, and by the sensitive attributes that a model looks at."""
    kind, kinds = _kinds(sensitive, {name: domain.size for name, domain in checks.domains.items()})
    tables = Tables(lattice, codes, counts, kind)
    judge = None if checks.sizes_alone else _judge(checks, kinds, lattice, tables)
    return TableWorths(tables, checks.least, allowed, judge, over_all)


def _kinds(columns: Mapping[str, Integers], sizes: Mapping[str, int]) -> tuple[Integers | None, dict[str, Integers]]:
    """Combinations of sensitive values, numbered through: the number of each row, and the codes of each number."""
    if not columns:
        return None, {}
    key, size = np.zeros(len(next(iter(columns.values()))), dtype=np.int64), 1
    for name, codes in columns.items():
        key, size = join_keys(key, size, codes, sizes[name])
    kind, rows = number_rows(key, size)
    return kind, {name: codes[rows] for name, codes in columns.items()}


def _judge(checks: ModelChecks, kinds: Mapping[str, Integers], lattice: Lattice, tables: Tables) -> Judge:
    def judge(table: Table, node: Levels) -> NDArray[np.bool_]:
        sensitive = {} if table.kind is None else {name: codes[table.kind] for name, codes in kinds.items()}
        people = checks.view.people
        living = None if people is None else count_people(lattice.cuts(node), tables.codes(table.heads()), people)
        return checks.published(table.owner(), table.sizes.astype(np.int64), sensitive, table.groups, people=living)

    return judge


def count_people(cuts: tuple[Cut, ...], heads: Sequence[Integers], people: Cells) -> Integers:
    """How many people live in the region of each group, which ``heads`` has one row of codes of."""
    groups = len(heads[0])
    key, size = np.zeros(groups + len(people), dtype=np.int64), 1
    for cut, codes in zip(cuts, heads, strict=True):
        if len(cut) > 1:
            both = np.concatenate([codes, cell_codes(people, cut.attribute)])
            key, size = join_keys(key, size, cut.regions(both), len(cut))
    home, rows = number_rows(key, size)
    there = np.bincount(home[groups:], weights=people.counts, minlength=len(rows)).astype(np.int64)
    found: Integers = there[home[:groups]]
    return found
