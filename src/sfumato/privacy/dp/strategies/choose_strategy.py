"""Which strategy has the smallest expected error for the queries that are declared, from public numbers alone.

The expected squared error of a query is its variance, since the estimates are unbiased. It depends on the number of
cells, on ε and on the queries, and on no record: to compare strategies costs nothing (`Strategy.variance`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, prod
from typing import Any, Final

import numpy as np

from sfumato.errors import StudyError, VerifyError
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.privacy.dp.strategies.cells import Cells
from sfumato.privacy.dp.strategies.consistent_marginals import Marginals
from sfumato.privacy.dp.strategies.hierarchical import Hierarchical
from sfumato.privacy.dp.strategies.strategy import OrderedStrategy
from sfumato.privacy.dp.strategies.wavelet import Wavelet

AUTO: Final = "auto"
ORDERED: Final = (Hierarchical.name, Wavelet.name)
"""Strategies that need cells in an order in which ranges mean something."""

MARGINALS: Final = Marginals.name
STRATEGIES: Final = (Cells.name, *ORDERED, MARGINALS, AUTO)

MOST_CELLS: Final = 100_000
"""Cells of all rows together that a strategy for ordered cells is used on: each is held in memory."""

MOST_MARGINALS: Final = 100
"""Marginals that are measured together: each more makes the noise of all larger."""

_HEIGHTS: Final = range(2, 7)
_FAN_OUTS: Final = (8, 16, 32)

CellRange = tuple[int, int]  # the first cell, and the first one after it


@dataclass(frozen=True)
class Queries:
    """What will be asked of a row: all ranges, all single cells, or declared sums, each over some ranges of cells."""

    kind: str  # "ranges", "cells" or "declared"
    declared: tuple[tuple[CellRange, ...], ...] = ()

    def words(self) -> str:
        """For a sentence."""
        if self.kind == "declared":
            return "the declared ranges"
        return "all ranges" if self.kind == "ranges" else "single values"

    def variance(self, strategy: OrderedStrategy) -> float:
        """The mean variance of such a query, where each noise has variance 1."""
        if self.kind == "ranges":
            return strategy.range_variance()
        if self.kind == "cells":
            return float(strategy.cell_variances().mean())
        weights = np.zeros((1, strategy.size))
        total = 0.0
        for ranges in self.declared:
            weights[:] = 0
            for start, stop in ranges:
                weights[0, start:stop] = 1
            total += float(strategy.variance(weights)[0])
        return total / len(self.declared)


ALL_RANGES: Final = Queries("ranges")
SINGLE_CELLS: Final = Queries("cells")


@dataclass(frozen=True)
class Comparison:
    """The strategies for rows of ``size`` ordered cells at an ε, by their expected squared error."""

    size: int
    epsilon: Fraction
    queries: Queries = ALL_RANGES

    @cached_property
    def candidates(self) -> dict[str, tuple[OrderedStrategy, float]]:
        """Each strategy with its expected squared error; of the trees the one with the smallest."""
        trees = {tree: self.error(tree) for tree in _trees(self.size)}
        tree = min(trees, key=trees.__getitem__)
        found: list[OrderedStrategy] = [Cells(self.size), tree, Wavelet(self.size)]
        return {strategy.name: (strategy, self.error(strategy)) for strategy in found}

    def error(self, strategy: OrderedStrategy) -> float:
        """The expected squared error of a query, on average over the queries."""
        scale = scale_for(self.epsilon, sensitivity=strategy.sensitivity)
        return laplace_variance(scale) * self.queries.variance(strategy)

    @property
    def best(self) -> str:
        """The name of the strategy with the smallest expected error; the simplest of equal ones."""
        return min(self.candidates, key=lambda name: self.candidates[name][1])

    def chosen(self, name: str) -> OrderedStrategy:
        """The strategy of a name; `auto` is the best."""
        return self.candidates[self.best if name == AUTO else name][0]

    def sentence(self) -> str:
        """For a plan."""
        errors = ", ".join(f"'{name}' {error:,.3g}" for name, (_, error) in self.candidates.items())
        return (
            f"expected squared error of a count over {self.queries.words()} of {self.size:,} ordered values: {errors}; "
            f"'{self.best}' has the smallest"
        )

    def as_json(self) -> dict[str, Any]:
        """The numbers."""
        return {
            "queries": self.queries.kind,
            "expected_squared_error": {name: error for name, (_, error) in self.candidates.items()},
            "best": self.best,
        }


@lru_cache(maxsize=64)
def _trees(size: int) -> tuple[Hierarchical, ...]:
    """Trees of a few heights with as few children as possible, and with 8, 16 and 32, with the root and without."""
    fan_outs = {_root(size, height) for height in _HEIGHTS} | {k for k in _FAN_OUTS if k < size}
    wide = sorted(k for k in fan_outs if k < size) or [max(size, 2)]
    return tuple(Hierarchical(size=size, fan_out=k, root=root) for k in wide for root in (False, True))


def _root(size: int, height: int) -> int:
    """The least number from 2 on whose power of ``height`` is not below ``size``."""
    return next(found for found in range(2, size + 2) if found**height >= size)


def check_strategy(name: Any) -> None:
    """Refuse what is not the name of a strategy."""
    if name not in STRATEGIES:
        raise StudyError(f"the strategy is {name!r}", f"use one of: {', '.join(STRATEGIES)}", code="SF-STUDY-370")


def strategy_from(facts: Any, size: int) -> OrderedStrategy:
    """The strategy that facts of a release name, over so many cells; refuses what no release says."""
    if not isinstance(facts, dict) or facts.get("size") != size or not 1 <= size <= MOST_CELLS:
        raise _invalid_strategy()
    name, fan_out, root = facts.get("name"), facts.get("fan_out"), facts.get("root")
    if name == Wavelet.name:
        return Wavelet(size)
    if name != Hierarchical.name or isinstance(fan_out, bool) or not isinstance(fan_out, int):
        raise _invalid_strategy()
    if not 2 <= fan_out <= max(size, 2) or not isinstance(root, bool):  # noqa: PLR2004 - a tree branches
        raise _invalid_strategy()
    return Hierarchical(size=size, fan_out=fan_out, root=root)


def marginals_from(facts: Any, sizes: tuple[int, ...]) -> Marginals:
    """The marginals that facts of a release name, of a table of these sizes; refuses what no release says."""
    order = facts.get("order") if isinstance(facts, dict) else None
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order < len(sizes):
        raise _invalid_strategy()
    if facts != {"name": MARGINALS, "size": prod(sizes), "sizes": list(sizes), "order": order}:
        raise _invalid_strategy()
    if comb(len(sizes), order) > MOST_MARGINALS:
        raise _invalid_strategy()
    found = Marginals(sizes, order)
    if found.measurements > MOST_CELLS:
        raise _invalid_strategy()
    return found


def _invalid_strategy() -> VerifyError:
    return VerifyError(
        "the manifest does not state the strategy of the counts as a release does",
        "get the bundle again, and verify it",
        code="SF-VERIFY-370",
    )
