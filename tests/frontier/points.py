"""Points for tests."""

from hypothesis import strategies as st

from sfumato.frontier import Axis, Frontier, Point
from sfumato.study.recipe import Chosen, Recipe

X = Axis(name="ploss", title="Privacy loss", better="lower", unit="nats")
Y = Axis(name="uloss", title="Utility loss", better="lower", unit="nats")


def at(x, y, name=None, series="mondrian: k-anonymity", **more):
    """A point with two numbers."""
    words = name or f"{x}/{y}"
    recipe = Recipe(name="mondrian", method="mondrian", parameters={"k": 5}, chosen=Chosen.ON_RAW)
    return Point(
        label=words, series=series, family=series, recipe=recipe, numbers={"ploss": x, "uloss": y},
        facts={"rows": 3, "suppressed": 0}, seconds=0.25, **more,
    )  # fmt: skip


def failed(name, why="it cannot be kept. To fix: lower it."):
    return Point(label=name, series="tds: k-anonymity", family="tds", failure=why)


BASELINES = (
    Point(label="nothing published", series="baseline", family="a", numbers={"ploss": 0.0, "uloss": 0.05}),
    Point(label="everything published", series="baseline", family="b", numbers={"ploss": 0.69, "uloss": 0.0}),
)


def frontier(*points, x=X, y=Y, **more):
    return Frontier(study="s", x=x, y=y, tried=points, baselines=BASELINES, axes={"ploss": x, "uloss": y}, **more)


numbers = st.integers(0, 6).map(float)
clouds = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=25)
ways = st.sampled_from(["lower", "higher"])
