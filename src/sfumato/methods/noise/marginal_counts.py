"""Counts of a cross product by its marginals of a low order: measured, made consistent and non-negative, rounded.

A record is in one cell of every marginal, so one more changes one number of each by 1: Δ is the number of marginals
(`privacy.dp.strategies.marginals` has the argument). All that follows is post-processing of the noisy marginals.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, prod, sqrt
from typing import Any

import numpy as np

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut
from sfumato.errors import StudyError
from sfumato.methods.method import NOISE_ON, Context, PrivateMethod, cells_by_class, require_accountant
from sfumato.methods.noise.noisy_groups import Totals
from sfumato.methods.noise.post_processing import round_to_total, without_negative
from sfumato.methods.noise.strategy_counts import FORM, refuse_cells
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.privacy.dp.strategies import MARGINALS, MOST_CELLS, MOST_MARGINALS, Marginals, draw_measurements
from sfumato.release.draft import Draft, EstimatedGroups
from sfumato.study.view import View

POST = "nearest_marginals"


def marginals_of(view: View, cuts: Sequence[Cut], order: Any) -> Marginals:
    """The marginals of a view; refuses, from public things, what they do not fit."""
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise StudyError(
            f"the order of the marginals is {order!r}", "use a whole number from 1 on, such as 2", code="SF-STUDY-373"
        )
    if (refused := refuse_cells(view, cuts)) is not None:
        raise refused
    sizes = (*(cut.total for cut in cuts), *([len(view.classes)] if view.targeted else []))
    if order >= len(sizes):
        raise StudyError(
            f"there are {len(sizes)} attributes, and '{MARGINALS}' of order {order} needs more than {order}",
            "use `strategy: cells`, or a lower `order`",
            code="SF-STUDY-377",
        )
    found = Marginals(sizes, order)
    if comb(len(sizes), order) > MOST_MARGINALS or found.measurements > MOST_CELLS:
        raise StudyError(
            f"there are {comb(len(sizes), order):,} marginals of {order} attributes, and noise would be added to each",
            f"use a lower `order` or fewer attributes: at most {MOST_MARGINALS} marginals with {MOST_CELLS:,} cells",
            code="SF-STUDY-378",
        )
    return found


def marginals_forecast(strategy: Marginals, epsilon: Fraction) -> tuple[list[str], dict[str, Any]]:
    """What will be measured, in words and numbers, from public things."""
    scale = scale_for(epsilon, sensitivity=strategy.sensitivity)
    ours = strategy.marginal_variance() * laplace_variance(scale)
    summed = [strategy.size // prod(strategy.sizes[i] for i in subset) for subset in strategy.subsets]
    cells = float(np.mean(summed)) * laplace_variance(scale_for(epsilon, sensitivity=1))
    best = "cells" if cells <= ours else MARGINALS
    many, order = len(strategy.subsets), strategy.order
    noise = f"noise of scale {scale:.4g} (sensitivity {strategy.sensitivity})"
    errors = f"'cells' {cells:,.3g}, '{MARGINALS}' {ours:,.3g}; '{best}' has the smallest"
    fitted = "the one without negative counts whose marginals are nearest to the measured ones, rounded"
    sentences = [
        f"strategy '{MARGINALS}': {many} marginals of {order} attributes are measured, with {noise} on each number",
        f"expected squared error of a count of {order} attributes, on average over all such marginals: {errors}",
        f"the published table is {fitted}; how more than {order} attributes are related is not measured",
    ]
    return sentences, {
        "groups": strategy.size,
        "strategy": strategy.facts(),
        "noise_scale": scale,
        "measurements": strategy.measurements,
        "marginals": {"expected_squared_error": {"cells": cells, MARGINALS: ours}, "best": best},
    }


def draft_by_marginals(
    view: View,
    cuts: Sequence[Cut],
    strategy: Marginals,
    counter: Counter,
    method: PrivateMethod,
    context: Context | None,
) -> Draft:
    """Measure all marginals with all of the budget, and publish the nearest table with what was measured."""
    accountant, source, progress = require_accountant(context)
    progress("counting groups", 0, 1)
    cells = cells_by_class(counter, cuts, view)
    sizes = (*(cut.total for cut in cuts), len(view.classes))
    counts = np.zeros(sizes, dtype=np.int64)
    counts[tuple(cells.codes.astype(np.int64).T)] = cells.counts
    progress("adding noise", 0, 1)
    budget = accountant.left
    grant = accountant.grant(budget, on=f"all marginals of {strategy.order} attributes", mechanism=NOISE_ON)
    measured = draw_measurements(strategy, counts.reshape(1, -1), grant=grant, source=source)
    scale = scale_for(budget, sensitivity=strategy.sensitivity)
    progress("fitting the table", 0, 1)
    noisy = measured.astype(np.float64)
    totals = _class_totals(strategy, strategy.estimate(noisy).reshape(sizes), scale)
    table = _whole(strategy.non_negative(noisy).reshape(-1, sizes[-1]), totals.counts).reshape(sizes)
    progress("fitting the table", 1, 1)
    kept = np.argwhere(table > 0)
    content = EstimatedGroups(
        tuple(cuts), kept[:, :-1], kept[:, -1], table[tuple(kept.T)],
        measured=measured.ravel(), strategy=strategy, ordered=None, scale=scale,
    )  # fmt: skip
    facts = {
        "groups": strategy.size,
        "strategy": strategy.name,
        "order": strategy.order,
        "threshold": 1,
        "noise_scale": scale,
        "post": POST,
        "noisy_totals": totals.as_json(),
    }
    return Draft(view=view, content=content, form=FORM, guarantee=method.guarantee(view), facts=facts)


def _class_totals(strategy: Marginals, estimates: Any, scale: float) -> Totals:
    """The estimated number of records of each class, unbiased up to half a record, with the noise of one."""
    first = np.zeros(estimates.shape)
    first[..., 0] = 1
    variance = float(strategy.variance(first.reshape(1, -1))[0]) * laplace_variance(scale)
    sums = estimates.reshape(-1, estimates.shape[-1]).sum(axis=0)
    return Totals(tuple(int(total) for total in np.rint(sums)), sqrt(variance))


def _whole(table: Any, totals: Sequence[int]) -> Any:
    """The table in whole numbers, a column a class, that add up to the totals: scaled, largest remainders up."""
    found = np.zeros(table.shape, dtype=np.int64)
    for number, total in enumerate(without_negative(totals)):
        column = table[:, number]
        if total > 0 and column.sum() > 0:
            found[:, number] = round_to_total(column * (total / column.sum()), total)
    return found
