"""The efficient frontier (Li & Li, KDD 2009, section 4, after Markowitz)."""

from collections.abc import Iterable
from typing import Final

from sfumato.frontier.point import NOTHING, Axis, Point

NO_BETTER: Final = f"no better than “{NOTHING}”"
WHY_NO_BETTER: Final = (
    "publishing no quasi-identifier at all does at least as well on both axes. Leave them out, or try parameters that "
    "keep more, such as a larger ε or a smaller k"
)


def efficient(points: Iterable[Point], x: Axis, y: Axis) -> tuple[Point, ...]:
    """The points that no other betters: none is at least as good on both axes and better on one.

    From the best to the worst on x. Points with the same two numbers are efficient together; those without one of the
    numbers are passed over.

    >>> axes = [Axis(name=name, title=name, better="lower") for name in "pu"]
    >>> at = lambda p, u: Point(label=f"{p}/{u}", series="", family="", numbers={"p": p, "u": u})
    >>> [point.label for point in efficient([at(2, 1), at(1, 3), at(2, 2), at(3, 1)], *axes)]
    ['1/3', '2/1']
    """
    costs = [
        (x.cost(point.numbers[x.name]), y.cost(point.numbers[y.name]), place, point)
        for place, point in enumerate(points)
        if point.has(x.name, y.name)
    ]
    found: list[Point] = []
    least = float("inf")  # the best y so far, and the x it was reached at
    reached = float("inf")
    for cost_x, cost_y, _, point in sorted(costs, key=lambda cost: cost[:3]):
        if cost_y < least or (cost_y == least and cost_x == reached):
            found.append(point)
            least, reached = cost_y, cost_x
    return tuple(found)


def no_better_than_nothing(points: Iterable[Point], baselines: Iterable[Point], x: Axis, y: Axis) -> tuple[Point, ...]:
    """The points that the baseline without quasi-identifiers equals or betters on both axes; none without a baseline.

    Such a point may still be efficient among the candidates of its sweep: then no candidate is worth its risk.

    >>> axes = [Axis(name=name, title=name, better="lower") for name in "pu"]
    >>> at = lambda p, u, label="": Point(label=label or f"{p}/{u}", series="", family="", numbers={"p": p, "u": u})
    >>> [point.label for point in no_better_than_nothing([at(1, 2), at(1, 4), at(0, 3)], [at(0, 3, NOTHING)], *axes)]
    ['1/4', '0/3']
    """
    names = (x.name, y.name)
    nothing = next((point for point in baselines if point.label == NOTHING and point.has(*names)), None)
    if nothing is None:
        return ()
    costs = [axis.cost(nothing.numbers[axis.name]) for axis in (x, y)]
    return tuple(
        point
        for point in points
        if point.has(*names)
        and all(cost <= axis.cost(point.numbers[axis.name]) for cost, axis in zip(costs, (x, y), strict=True))
    )
