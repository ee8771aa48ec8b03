"""Releases of other tools among the points: they can be better than the chosen one, and are never chosen."""

from dataclasses import replace

from sfumato.frontier import Axis, Frontier, Point
from sfumato.frontier.plot import HOURGLASS, SHAPES, chart
from sfumato.frontier.point import FOREIGN
from sfumato.study.recipe import Recipe

X, Y = (Axis(name=name, title=name, better="lower") for name in ("p", "u"))


def own(p, u):
    recipe = Recipe(name="a", method="mondrian", parameters={"k": 5})
    return Point(label=f"own {p}/{u}", series="mondrian", family="m", recipe=recipe, numbers={"p": p, "u": u})


def foreign(p, u):
    numbers = {"p": p, "u": u}
    return Point(label=f"their {p}/{u}", series=FOREIGN, family="t", foreign=True, numbers=numbers, notes=("a, b",))


def of(*points):
    return Frontier(study="s", x=X, y=Y, tried=points, axes={"p": X, "u": Y})


def test_they_take_part_in_what_is_efficient():
    found = of(own(2.0, 2.0), own(1.0, 5.0), foreign(1.5, 1.5))
    assert [point.label for point in found.efficient] == ["own 1.0/5.0", "their 1.5/1.5"]
    assert found.better_foreign(found.points[0]) == (found.points[2],) and not found.better_foreign(found.points[1])


def test_the_choice_is_one_of_ours_and_names_a_better_one():
    found = of(own(2.0, 2.0), foreign(1.5, 1.5), foreign(3.0, 0.5), foreign(2.0, 2.0))
    chosen = found.choose("knee")
    assert chosen.point is found.points[0]
    assert chosen.sentence.endswith("not chosen; better on these axes than the chosen one: their 1.5/1.5")
    assert of(own(2.0, 2.0), foreign(3.0, 0.5)).choose("knee").sentence.endswith("not counted here and not chosen")
    assert "other tools" not in of(own(2.0, 2.0)).choose("knee").sentence


def test_without_one_of_ours_nothing_is_chosen():
    found = of(foreign(1.0, 1.0))
    assert found.knee is None and "their 1.0/1.0" in found.to_html()


def test_they_have_a_mark_of_their_own():
    found = of(own(2.0, 2.0), foreign(1.0, 1.0), replace(own(3.0, 1.0), series="tds"))
    drawn = chart(found, found.knee).to_json()
    assert HOURGLASS in drawn and SHAPES[0] in drawn and SHAPES[1] in drawn
