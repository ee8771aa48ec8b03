"""What a staged release will measure, in words and numbers: from domains and ε alone."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

from sfumato.methods.method import Forecast
from sfumato.methods.staged.groupings import Groupings
from sfumato.methods.staged.plan import (
    SHARE_OF_REMAINING,
    SHARE_OF_SIZE,
    STAGES_FROM,
    Plan,
    make_plan,
)
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.study.view import View


def forecast(view: View, epsilon: Fraction, groupings: Mapping[str, Groupings]) -> Forecast:
    """The sentences and numbers of a plan."""
    rest = epsilon - epsilon * SHARE_OF_SIZE - epsilon * SHARE_OF_REMAINING
    classes = len(view.classes)
    starts = [0, *(ceil(x / rest) for x in STAGES_FROM)]
    plans = [make_plan(start, rest, classes) for start in starts]
    most = plans[-1].attributes
    shared = (
        f"a noisy number of records costs {float(SHARE_OF_SIZE):.0%} of ε, small tables of the attributes that no "
        f"stage chooses cost {float(SHARE_OF_REMAINING):.0%}, and the rest is spent in stages: each chooses up to "
        f"{most} of {len(groupings)} attributes with their groups, and publishes their counts by class with noise"
    )
    small = sqrt(2) * scale_for(epsilon * SHARE_OF_REMAINING / max(len(groupings), 1), sensitivity=1)
    others = (
        f"the small tables share their part of ε: with all {len(groupings)} attributes among them, a count has noise "
        f"with a standard deviation of {small:,.3g}, with fewer less"
    )
    use = (
        "receivers get the tables, a classifier, and synthetic records with all attributes; these are computed from "
        "the tables and cost nothing more"
    )
    sentences = [shared, *(_stage_words(plan, start) for plan, start in zip(plans, starts, strict=True)), others, use]
    numbers: dict[str, Any] = {
        "attributes": len(groupings),
        "noise_scale": max(scale_for(plan.table, sensitivity=1) for plan in plans),
        # Of an attribute that no stage chooses: its table is counted by predicted class.
        "marginal_deviation": sqrt(2 * classes)
        * scale_for(epsilon * SHARE_OF_REMAINING / max(len(groupings), 1), sensitivity=1),
        "plans": [
            {
                "records_from": start,
                "stages": plan.stages,
                "noise_scale": scale_for(plan.table, sensitivity=1),
                "epsilon_of_a_table": float(plan.table),
            }
            for plan, start in zip(plans, starts, strict=True)
        ],
    }
    return Forecast(sentences=tuple(sentences), numbers=numbers)


def _stage_words(plan: Plan, start: int) -> str:
    deviation = sqrt(2) * scale_for(plan.table, sensitivity=1)
    many = "there is 1 stage" if plan.stages == 1 else f"there are {plan.stages} stages"
    whom = f"from {start:,} records on" if start else "with few records"
    return f"{whom} {many}; a count of a stage's table has noise with a standard deviation of {deviation:,.3g}"
