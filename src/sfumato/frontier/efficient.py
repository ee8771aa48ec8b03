"""The efficient frontier (Li & Li, KDD 2009, section 4, after Markowitz)."""

from collections.abc import Iterable

from sfumato.frontier.point import Axis, Point


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
