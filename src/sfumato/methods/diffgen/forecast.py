"""What DiffGen will do, worked out beforehand from domains and parameters: how many groups, how much noise, which h."""

from fractions import Fraction
from math import exp, floor, isfinite, log, log10, sqrt
from statistics import fmean
from typing import Any

from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.methods.noise.noisy_groups import (
    FEW_NOISE_ROWS,
    MOST_NOISE_ROWS,
    SHARE_OF_TOTALS,
    noise_records,
    noise_rows,
    safe_threshold,
)
from sfumato.study.attribute import Attribute
from sfumato.study.view import View

_WRITTEN = 10**15  # numbers up to this are written out
_CLEARANCE = 2  # `h: auto` keeps the average group at this many standard deviations of its noise


def auto_specializations(view: View, size: int, epsilon: Fraction) -> int:
    """The number of specializations for about ``size`` records and counts with ``epsilon``.

    One specialization multiplies the number of groups by about the geometric mean g of the roots' fan-outs (2 for
    numbers), so h of them make about |classes|·gʰ groups. A count's noise has a standard deviation of about √2/ε. The
    rule takes the largest h at which an average group is still twice that: size / (|classes|·gʰ) ≥ 2·√2/ε. It sees the
    domains, ε and a noisy size, nothing else, so it costs nothing beyond the noisy size.
    """
    growth = exp(fmean(log(_fan_out(a)) for a in view.predictors))
    groups = size * float(epsilon) / (_CLEARANCE * sqrt(2) * len(view.classes))
    if groups <= growth or growth <= 1:
        return 1
    return max(1, floor(log(groups) / log(growth)))


def _fan_out(attribute: Attribute) -> int:
    domain = attribute.domain
    assert domain is not None, "a predictor has a domain"
    if domain.free:
        return 2 if domain.size > 1 else 1
    # Sets: as if a record had one of the children, or none. How many it has of them is not public.
    return max(1, len(domain.children(0, domain.size)) + isinstance(domain, SetDomain))


def group_range(view: View, h: int) -> tuple[int, int]:
    """The fewest and the most groups (× classes) that h specializations can make, over all cuts there are."""
    few: list[int] = [1]
    most: list[int] = [1]
    for attribute in view.predictors:
        assert attribute.domain is not None, "a predictor has a domain"
        sizes = _cut_sizes(attribute.domain, h)
        few, most = _combine(few, [s[0] for s in sizes], h, min), _combine(most, [s[1] for s in sizes], h, max)
    return few[-1] * len(view.classes), most[-1] * len(view.classes)


def _combine(so_far: list[int], sizes: list[int], h: int, pick: Any) -> list[int]:
    """Products for every number of specializations, shared between the attributes so far and one more."""
    reach = min(h, len(so_far) + len(sizes) - 2)
    return [
        pick(so_far[i] * sizes[j - i] for i in range(j + 1) if i < len(so_far) and j - i < len(sizes))
        for j in range(reach + 1)
    ]


def _cut_sizes(domain: Domain, h: int) -> list[tuple[int, int]]:
    """The smallest and largest cut of a domain after 0, 1, … specializations, as far as it can be specialized."""
    if domain.free:
        return [(n, n) for n in range(1, min(h + 1, domain.size) + 1)]
    nodes = [(1 + few, 1 + most) for few, most in _gains(domain, 0, domain.size, h)]
    if isinstance(domain, SetDomain):
        return [(_subsets(domain, few), _subsets(domain, most)) for few, most in nodes]
    return nodes


def _subsets(domain: SetDomain, nodes: int) -> int:
    """How many regions sets have in a cut of so many nodes."""
    return SetCut("", tuple(range(nodes)), nodes, domain.most).total


def _gains(domain: Domain, start: int, stop: int, h: int) -> list[tuple[int, int]]:
    """How many regions more: fewest and most after 0, 1, … specializations below one node."""
    children = domain.children(start, stop)
    if not children or h == 0:
        return [(0, 0)]
    below: list[tuple[int, int]] = [(0, 0)]
    for child in children:
        more = _gains(domain, *child, h - 1)
        reach = min(h - 1, len(below) + len(more) - 2)
        below = [
            (
                min(below[i][0] + more[j - i][0] for i in range(j + 1) if i < len(below) and j - i < len(more)),
                max(below[i][1] + more[j - i][1] for i in range(j + 1) if i < len(below) and j - i < len(more)),
            )
            for j in range(reach + 1)
        ]
    fan = len(children) - 1
    return [(0, 0), *((few + fan, most + fan) for few, most in below)]


def count_sentences(
    view: View, low: int, high: int | None, *, scale: Fraction, threshold: int | str, post: str, epsilon: Fraction
) -> tuple[list[str], dict[str, Any]]:
    """In words: how many groups, how much noise on each, how many rows of noise alone, which threshold helps, the bias.

    ``epsilon`` is the whole budget for records, ``scale`` the noise of the counts.
    """
    deviation = sqrt(2) * float(scale)
    classes, by_class = (f" × {len(view.classes)} classes", " × classes") if view.targeted else ("", "")
    sentences = [
        (
            f"every group{classes} gets a noisy count, including empty ones: discrete Laplace noise "
            f"of scale about {float(scale):.4g} (standard deviation {deviation:.3g})"
        )
    ]
    facts: dict[str, Any] = {"noise_scale": float(scale)}
    if high is not None:
        least, most = noise_rows(low, 1, scale), noise_rows(high, 1, scale)
        facts |= {"groups_least": low, "groups_most": high, "noise_rows_least": least, "noise_rows_most": most}
        sentences.append(
            f"the cuts produce {_between(low, high)} groups{by_class}, so {_rows(least, most)} of noise alone would be "
            "published without a threshold"
        )
        if most > MOST_NOISE_ROWS:
            facts["proposed_threshold"] = safe_threshold(high, scale)
            sentences.append(
                f"a threshold of {facts['proposed_threshold']} on noisy counts would keep rows of noise under "
                f"{FEW_NOISE_ROWS:,} in any case (post-processing: it spends no ε, and smaller groups are lost)"
            )
    if threshold == "auto":
        sentences.append(
            "threshold: auto publishes every noisy count of at least 1; only if the chosen cut would publish more than "
            f"{MOST_NOISE_ROWS:,} rows of noise alone is ε/100 spent on a noisy number of records, and the threshold "
            "is raised until rows of noise hold a tenth of that number"
        )
    else:
        facts["threshold"] = threshold
        sentences.append(f"only noisy counts of at least {threshold} are published")
        if high is not None:
            facts["rows_of_noise_at_threshold"] = noise_rows(high, int(threshold), scale)
    return [
        *sentences,
        *_bias(
            low,
            high,
            scale=scale,
            threshold=threshold,
            post=post,
            epsilon=epsilon,
            classes=len(view.classes),
            facts=facts,
        ),
    ], facts


def _bias(
    low: int,
    high: int | None,
    *,
    scale: Fraction,
    threshold: int | str,
    post: str,
    epsilon: Fraction,
    classes: int,
    facts: dict[str, Any],
) -> list[str]:
    """What the post-processing does to the number of records and of each class, in words."""
    least = 1 if threshold == "auto" else int(threshold)
    several = classes > 1
    if post == "none":
        said = (
            "post: none drops noisy counts below the threshold and keeps those that are too high: the counts add up to "
        )
        rare = ", and a rare class gets more than its share of them" if several else ""
        if high is None:
            return [f"{said}too many records{rare}"]
        few, many = noise_records(low, least, scale), noise_records(high, least, scale)
        facts |= {"bias_least": few, "bias_most": many}
        return [f"{said}up to {_records(few, many)} too many (as many if all groups are empty){rare}"]
    facts |= {"bias_least": 0.0, "bias_most": 0.0}
    if post == "class_totals":
        facts["class_total_deviation"] = deviation = sqrt(2) * SHARE_OF_TOTALS / float(epsilon)
        each = " of each class" * several
        said = (
            f"post: class_totals keeps the largest noisy counts{each} until they add up to a noisy total: the expected "
            f"bias of the number of records{each.replace(' of', ' and of', 1)} is 0. A total has a standard deviation "
            f"of at most {deviation:,.4g} records (ε/{SHARE_OF_TOTALS} is spent on it where sums of counts "
            "would be less accurate); groups that are small compared with the noise are not listed"
        )
    else:
        said = (
            f"post: {post} makes the counts add up to a noisy number of records (expected bias 0)"
            + ". It does not repair the shares of the classes: a rare class keeps more than its share" * several
        )
    return [said]


def _records(few: float, many: float) -> str:
    if not isfinite(many):
        return "more records than can be counted"
    return f"{_between(round(few), round(many))} records"


def _rows(least: float, most: float) -> str:
    if not isfinite(most):
        return "more rows than can be counted"
    return f"{_between(round(least), round(most))} rows"


def _between(low: int, high: int) -> str:
    return _written(low) if low == high else f"between {_written(low)} and {_written(high)}"


def _written(number: int) -> str:
    """A number, or about which power of ten it is: sets make numbers that nobody reads."""
    return f"{number:,}" if number < _WRITTEN else f"10^{log10(number):.0f}"
