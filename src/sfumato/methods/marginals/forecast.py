"""What a release of marginals can measure, in words and numbers: from domains, the workload and ε alone."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, prod, sqrt
from typing import Any

from sfumato.domains.cut import Cut
from sfumato.methods.marginals.plan import PLANS, SHARE_OF_CHOICE, SHARE_OF_SIZE, Plan, one_way_shares
from sfumato.methods.marginals.workload import Workload
from sfumato.methods.method import Forecast
from sfumato.privacy.dp.mechanisms.laplace import scale_for
from sfumato.release.measured_marginals import MOST_TABLE_CELLS


def forecast(epsilon: Fraction, cuts: Sequence[Cut], workload: Workload) -> Forecast:
    """The sentences and numbers of a plan."""
    sizes = [cut.total for cut in cuts]
    telling = [size for size in sizes if size > 1] or [1]
    rest = epsilon - epsilon * SHARE_OF_SIZE
    starts = [ceil(plan.records_times_epsilon / epsilon) for plan in PLANS]
    scales = [_scales(plan, rest, telling, len(workload.candidates)) for plan in PLANS]
    cells = [prod(sizes[a] for a in one) for one in workload.candidates]
    first = (
        f"a noisy number of records costs {float(SHARE_OF_SIZE):.0%} of ε; then each of {len(telling)} attributes is "
        f"counted by its groups ({min(telling)} to {max(telling)} of them)"
    )
    use = (
        "receivers get the tables, and synthetic records with all attributes; these are computed from the tables and "
        "cost nothing more"
    )
    sentences = [
        first,
        *_workload_words(workload, cells),
        *(_plan_words(*each, candidates=len(cells)) for each in zip(PLANS, starts, scales, strict=True)),
        use,
    ]
    numbers: dict[str, Any] = {
        "attributes": len(cuts),
        "groups": {cut.attribute: cut.total for cut in cuts},
        "workload": len(workload.sets),
        "candidates": len(workload.candidates),
        "noise_scale": max(max(found) for found in scales),
        "plans": [
            {
                "records_from": start,
                "rounds": plan.rounds_for(len(cells)),
                "share_of_one_way": float(plan.one_way if cells else Fraction(1)),
                "noise_scale_of_one_way": one_way,
                "noise_scale_of_first_round": chosen,
            }
            for plan, start, (one_way, chosen) in zip(PLANS, starts, scales, strict=True)
        ],
    }
    return Forecast(sentences=tuple(sentences), numbers=numbers)


def _scales(plan: Plan, rest: Fraction, sizes: Sequence[int], candidates: int) -> tuple[float, float]:
    """The largest noise scale of a one-way marginal, and that of a first round: later rounds get no less ε."""
    one_way = rest * plan.one_way if candidates else rest
    shares = one_way_shares(one_way, sizes)
    first = 0.0
    if candidates:
        step = (rest - one_way) / plan.rounds_for(candidates)
        first = scale_for(step - step * SHARE_OF_CHOICE, sensitivity=1)
    return max(scale_for(share, sensitivity=1) for share in shares), first


def _workload_words(workload: Workload, cells: Sequence[int]) -> list[str]:
    if not cells:
        return ["no set of attributes of the workload can be measured, so all of ε is spent on single attributes"]
    by_ways = [sum(len(one) == ways for one in workload.candidates) for ways in (1, 2, 3)]
    words = [f"{many:,} of {ways}" for ways, many in enumerate(by_ways, start=1) if many]
    among = (
        f"the workload has {len(workload.sets):,} sets of attributes, and tables are chosen among "
        f"{len(cells):,} ({', '.join(words)} attributes) with {min(cells):,} to {max(cells):,} cells; a choice costs "
        f"{float(SHARE_OF_CHOICE):.0%} of its round"
    )
    found = [among]
    large = len({*workload.sets} - {*workload.candidates})
    if large:
        found.append(
            f"{large:,} sets of the workload have more than {MOST_TABLE_CELLS:,} cells, so pairs of their attributes "
            "are measured in their place, where these are small enough"
        )
    return found


def _plan_words(plan: Plan, start: int, scales: tuple[float, float], *, candidates: int) -> str:
    whom = f"from {start:,} records on" if start else "with few records"
    alone, first = (sqrt(2) * scale for scale in scales)
    if not candidates:
        return f"{whom} a count has noise with a standard deviation of at most {alone:,.3g}"
    rounds = plan.rounds_for(candidates)
    return (
        f"{whom} {float(plan.one_way):.0%} of the rest is spent on single attributes, whose counts have noise with a "
        f"standard deviation of at most {alone:,.3g}, and {1 - float(plan.one_way):.0%} on at most "
        f"{rounds} round{'s' * (rounds > 1)}, whose counts have at most {first:,.3g}"
    )
