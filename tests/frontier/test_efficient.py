from dataclasses import replace

from hypothesis import given

from sfumato.frontier import NOTHING, efficient, no_better_than_nothing
from tests.frontier.points import X, Y, at, clouds, failed, ways


def betters(one, two, x, y):
    """The definition: at least as good on both, better on one."""
    pairs = [(axis.cost(one.numbers[axis.name]), axis.cost(two.numbers[axis.name])) for axis in (x, y)]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


@given(clouds, ways, ways)
def test_it_is_what_no_other_point_betters(cloud, across, upwards):
    x, y = replace(X, better=across), replace(Y, better=upwards)
    points = [at(*one) for one in cloud]
    slow = [one for one in points if not any(betters(other, one, x, y) for other in points)]
    found = efficient(points, x, y)
    assert {id(p) for p in found} == {id(p) for p in slow}
    costs = [x.cost(p.numbers["ploss"]) for p in found]
    assert costs == sorted(costs)


@given(clouds)
def test_every_point_is_efficient_or_bettered_by_an_efficient_one(cloud):
    points = [at(*one) for one in cloud]
    found = efficient(points, X, Y)
    for point in points:
        assert any(point is one or betters(one, point, X, Y) for one in found)


def test_points_without_a_number_are_passed_over():
    good = at(1.0, 1.0)
    odd = [failed("tds"), at(float("nan"), 0.0), replace(good, numbers={"ploss": 0.0})]
    assert efficient([*odd, good], X, Y) == (good,)
    assert efficient(odd, X, Y) == ()


@given(clouds, ways, ways)
def test_what_nothing_published_equals_or_betters_is_no_better(cloud, across, upwards):
    x, y = replace(X, better=across), replace(Y, better=upwards)
    points, nothing = [at(*one) for one in cloud], at(3.0, 3.0, NOTHING)
    same = [(3.0, 3.0)] * 2
    slow = [
        one for one in points
        if betters(nothing, one, x, y) or [(one.numbers["ploss"], one.numbers["uloss"])] * 2 == same
    ]  # fmt: skip
    assert no_better_than_nothing(points, [nothing], x, y) == tuple(slow)
    assert no_better_than_nothing(points, [], x, y) == ()
    assert no_better_than_nothing(points, [failed(NOTHING)], x, y) == ()
