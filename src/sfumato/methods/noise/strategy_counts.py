"""Counts of a cross product by a strategy over one ordered attribute: measured, estimated, rounded for publication.

The cells of the other attributes and the class are rows. A record is in one row, and in it in one cell of the ordered
attribute, so one more changes the measurements of one row by Δ, the strategy's sensitivity, and those of the others not
at all: all rows share ε (`privacy.dp.strategies.strategy` has the argument). All that follows, the estimates, their
totals and the rounding, is post-processing of the noisy measurements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut, cross_product
from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.methods.method import NOISE_ON, Context, PrivateMethod, cells_by_class, require_accountant
from sfumato.methods.noise.noisy_groups import Totals
from sfumato.methods.noise.post_processing import POSTS, post_process
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.privacy.dp.strategies import (
    AUTO,
    MOST_CELLS,
    Cells,
    Comparison,
    Hierarchical,
    Strategy,
    draw_measurements,
)
from sfumato.release.draft import Draft, EstimatedGroups, Groups
from sfumato.study.view import View

FORM = "consistent-counts"


@dataclass(frozen=True)
class OrderedTable:
    """A cross product with an attribute whose values have an order: which one, how many rows the others make."""

    view: View
    cuts: tuple[Cut, ...]
    place: int

    @classmethod
    def of(cls, view: View, cuts: Sequence[Cut]) -> "OrderedTable | None":
        """The table by its numbers or days with the most values; None where there are none, or too many cells."""
        if _refusal(view, cuts) is not None:
            return None
        ordered = [n for n, attribute in enumerate(view.predictors) if isinstance(attribute.domain, Grid)]
        return cls(view, tuple(cuts), max(ordered, key=lambda n: cuts[n].total))

    @property
    def name(self) -> str:
        """The ordered attribute."""
        return self.cuts[self.place].attribute

    @property
    def size(self) -> int:
        """Its cells."""
        return self.cuts[self.place].total

    @property
    def rows(self) -> int:
        """Cells of all other attributes and the class."""
        return cross_product(self.cuts) * len(self.view.classes) // self.size

    def comparison(self, epsilon: Fraction) -> Comparison:
        """The strategies over all ranges of the ordered attribute."""
        return Comparison(self.size, epsilon)


def choose_strategy(
    name: str, view: View, cuts: Sequence[Cut], epsilon: Fraction
) -> tuple[OrderedTable, Strategy] | None:
    """The table and the strategy to measure it by; None for `cells`. Refuses, from public things, what does not fit."""
    if name == Cells.name:
        return None
    table = OrderedTable.of(view, cuts)
    if table is None:
        if name == AUTO:
            return None
        raise _refusal(view, cuts) or AssertionError("one of them")
    strategy = table.comparison(epsilon).chosen(name)
    return None if isinstance(strategy, Cells) else (table, strategy)


def refuse_strategy(name: str, view: View, cuts: Sequence[Cut]) -> None:
    """Refuse a strategy over an ordered attribute that does not fit a view."""
    refused = _refusal(view, cuts)
    if name not in {Cells.name, AUTO} and refused is not None:
        raise refused


def _refusal(view: View, cuts: Sequence[Cut]) -> StudyError | None:
    """Why no strategy over an ordered attribute fits."""
    if (refused := refuse_cells(view, cuts)) is not None:
        return refused
    if not any(isinstance(attribute.domain, Grid) for attribute in view.predictors):
        return StudyError(
            "the strategy adds up neighbouring values, and no attribute has values with an order",
            "use `strategy: cells`, or add an attribute of numbers or days",
            code="SF-STUDY-375",
        )
    return None


def refuse_cells(view: View, cuts: Sequence[Cut]) -> StudyError | None:
    """Why no strategy other than `cells` fits: sets, or too many cells."""
    if any(isinstance(attribute.domain, SetDomain) for attribute in view.predictors):
        return StudyError(
            "strategies other than `cells` do not support sets of codes",
            "use `strategy: cells`, or a purpose without the sets",
            code="SF-STUDY-374",
        )
    total = cross_product(cuts) * len(view.classes)
    if total > MOST_CELLS:
        many = f"{total:,}" if total < 10**15 else "more than 10^15"
        return StudyError(
            f"there are {many} combinations, and the strategy measures every one of them",
            f"use `strategy: cells`, fewer attributes or coarser steps: at most {MOST_CELLS:,} combinations",
            code="SF-STUDY-376",
        )
    return None


def strategy_forecast(
    table: OrderedTable, strategy: Strategy, *, epsilon: Fraction
) -> tuple[list[str], dict[str, Any]]:
    """What will be measured, in words and numbers, from public things."""
    scale = scale_for(epsilon, sensitivity=strategy.sensitivity)
    what = "differences of halves" if strategy.name == "wavelet" else "sums of neighbouring values"
    tree = f", in a tree with up to {strategy.fan_out} children a node" if isinstance(strategy, Hierarchical) else ""
    single = sqrt(float(strategy.cell_variances().max()) * laplace_variance(scale))
    numbers = f"{strategy.measurements:,} numbers in each of {table.rows:,} rows of all other values"
    sentences = [
        f"strategy '{strategy.name}': {what} of '{table.name}' are measured{tree}, {numbers}",
        (
            f"each measured number gets noise of scale {scale:.4g} (sensitivity {strategy.sensitivity}); a single "
            f"estimated count has a standard deviation of at most {single:,.3g} records"
        ),
        (
            "the counts of the published table are estimates, rounded, and those below 1 are not listed; `query` "
            "answers from the measured numbers, unbiased and with intervals"
        ),
    ]
    facts = {
        "groups": table.rows * table.size,
        "strategy": strategy.facts(),
        "noise_scale": scale,
        "count_deviation": single,
        "measurements": table.rows * strategy.measurements,
    }
    return sentences, facts


def draft_by_strategy(
    table: OrderedTable,
    strategy: Strategy,
    counter: Counter,
    method: PrivateMethod,
    *,
    post: str,
    threshold: int,
    context: Context | None,
) -> Draft:
    """Measure every row with all that is left of the budget, and publish the estimates with what was measured."""
    accountant, source, progress = require_accountant(context)
    view, cuts, classes = table.view, table.cuts, len(table.view.classes)
    progress("counting groups", 0, 1)
    cells = cells_by_class(counter, cuts, view)
    sizes = (*(cut.total for cut in cuts), classes)
    counts = np.zeros(sizes, dtype=np.int64)
    counts[tuple(cells.codes.astype(np.int64).T)] = cells.counts
    rows = np.moveaxis(counts, table.place, -1)
    progress("adding noise", 0, 1)
    budget = accountant.left
    grant = accountant.grant(budget, on=f"sums of neighbouring values of '{table.name}'", mechanism=NOISE_ON)
    measured = draw_measurements(strategy, rows.reshape(-1, table.size), grant=grant, source=source)
    scale = scale_for(budget, sensitivity=strategy.sensitivity)
    estimates = np.moveaxis(strategy.estimate(measured.astype(np.float64)).reshape(rows.shape), -1, table.place)
    progress("adding noise", 1, 1)
    totals = _totals(table, strategy, estimates, scale, post)
    groups = _rounded(cuts, estimates, threshold)
    listed, undo = post_process(
        groups, post, None if totals is None else totals.counts, threshold=threshold, classes=classes
    )
    content = EstimatedGroups(
        listed.cuts, listed.regions, listed.classes, listed.counts,
        measured=measured.T.ravel(), strategy=strategy, ordered=table.name, scale=scale,
    )  # fmt: skip
    facts: dict[str, Any] = {
        "groups": int(np.prod(sizes)),
        "strategy": strategy.name,
        "threshold": threshold,
        "noise_scale": scale,
        "post": post,
        "noisy_counts": undo.as_json(),
    }
    if totals is not None:
        facts["noisy_totals"] = totals.as_json()
    return Draft(view=view, content=content, form=FORM, guarantee=method.guarantee(view), facts=facts)


def _totals(table: OrderedTable, strategy: Strategy, estimates: Any, scale: float, post: str) -> Totals | None:
    """The estimated number of records of each class, or of all, as whole numbers; unbiased up to half a record."""
    needs = POSTS[post].needs
    if needs == "none":
        return None
    sums = estimates.reshape(-1, estimates.shape[-1]).sum(axis=0)
    if needs == "size":
        sums = sums.sum(keepdims=True)
    variance = float(strategy.variance(np.ones((1, table.size)))[0]) * laplace_variance(scale)
    return Totals(tuple(int(total) for total in np.rint(sums)), sqrt(table.rows // len(sums) * variance))


def _rounded(cuts: Sequence[Cut], estimates: Any, threshold: int) -> Groups:
    """The groups whose rounded estimate reaches the threshold, in the order of their values."""
    whole = np.rint(estimates).astype(np.int64)
    kept = np.argwhere(whole >= threshold)
    return Groups(tuple(cuts), kept[:, :-1], kept[:, -1], whole[tuple(kept.T)])
