"""Charts of the owner's report as plain values: rows of bars on one axis, and points in a plane. A template draws them.

All places are shares of the width, so that a chart fits any screen and its text stays as large as the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_FINE = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)  # steps at which an axis of points may end
_TICKS = 4  # steps of a logarithmic axis
_ROOM = 0.86  # of the width for bars; the rest is for the number behind the longest


@dataclass(frozen=True)
class Bar:
    """One bar: which series it belongs to, how long it is as a share of the axis, and the number behind it."""

    series: str
    length: float
    text: str


@dataclass(frozen=True)
class Chart:
    """Named rows of bars. ``axis`` says what the length of a bar is; ``ticks`` are places on it with their text."""

    title: str
    axis: str
    rows: tuple[tuple[str, tuple[Bar, ...]], ...]
    ticks: tuple[tuple[float, str], ...]
    room: float = _ROOM


@dataclass(frozen=True)
class Spot:
    """A point of a plane: a kind, a name, and its place from the left and from below, as shares."""

    kind: str
    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Plane:
    """Points in a plane; on both axes less is better."""

    title: str
    across: str
    up: str
    spots: tuple[Spot, ...]
    across_ticks: tuple[tuple[float, str], ...]
    up_ticks: tuple[tuple[float, str], ...]


def shares(rows: Sequence[tuple[str, float]], *, title: str, axis: str) -> Chart:
    """A share a name, on an axis from 0 to 100 %.

    >>> shares([("age", 0.25)], title="Loss", axis="share").rows[0][1][0].text
    '25.0 %'
    """
    found = tuple((name, (Bar("after", min(max(value, 0.0), 1.0), percent(value)),)) for name, value in rows)
    return Chart(title, axis, found, tuple((tick / 4, f"{25 * tick} %") for tick in range(5)))


def counts(rows: Sequence[tuple[str, int]], *, title: str, axis: str) -> Chart:
    """A whole number a name, on an axis from 0 to the largest."""
    most = nice(max([1, *(value for _, value in rows)]))
    found = tuple((name, (Bar("after", value / most, f"{value:,}"),)) for name, value in rows)
    return Chart(title, axis, found, ((0.0, "0"), (0.5, f"{most / 2:,.10g}"), (1.0, f"{most:,.10g}")))


def powers(rows: Sequence[tuple[str, int, str]], *, title: str, axis: str) -> Chart:
    """A whole number of at least 1 a name, with its text, on a logarithmic axis.

    The axis has a tenth before the 1, so that a bar of 1 has the length of a factor of ten and is seen.

    >>> [bar.length for _, [bar] in powers([("a", 1, "1"), ("b", 100, "100")], title="", axis="").rows]
    [0.3333333333333333, 1.0]
    """
    most = max(1, *(ceil(log10(max(value, 1))) for _, value, _ in rows)) if rows else 1
    found = tuple((name, (Bar("after", (1 + log10(max(value, 1))) / (1 + most), text),)) for name, value, text in rows)
    step = max(1, -(-most // _TICKS))
    ticks = tuple(((1 + power) / (1 + most), f"{10**power:,}") for power in range(0, most + 1, step))
    return Chart(title, axis, found, ticks)


def pairs(rows: Sequence[tuple[str, float, float]], *, title: str, axis: str) -> Chart:
    """Two shares a name, before and after, on an axis up to the largest of them."""
    most = nice(100 * max([1e-9, *(max(before, after) for _, before, after in rows)])) / 100
    found = tuple(
        (name, (Bar("before", before / most, percent(before)), Bar("after", after / most, percent(after))))
        for name, before, after in rows
    )
    return Chart(title, axis, found, ((0.0, "0 %"), (0.5, f"{50 * most:.3g} %"), (1.0, f"{100 * most:.3g} %")))


def plane(points: Sequence[tuple[str, str, float, float]], *, title: str, across: str, up: str) -> Plane:
    """Points of a kind with a name, and a value each way, on axes from 0."""
    widest = nice(max([1e-9, *(x for _, _, x, _ in points)]), _FINE)
    highest = nice(max([1e-9, *(y for _, _, _, y in points)]), _FINE)
    spots = tuple(Spot(kind, name, x / widest, y / highest) for kind, name, x, y in points)
    return Plane(title, across, up, spots, _halves(widest), _halves(highest))


def percent(value: float) -> str:
    """A share as text; one that would round to nothing says so."""
    if 0 < value < 0.0005:  # noqa: PLR2004 - half of the last digit shown
        return "< 0.1 %"
    return f"{100 * value:.1f} %"


def nice(value: float, steps: Sequence[float] = (1, 2, 2.5, 5, 10)) -> float:
    """The next number above that is 1, 2, 2.5 or 5 times a power of ten, or other steps times one.

    >>> [nice(value) for value in (1, 7, 23, 0.3)]
    [1, 10, 25, 0.5]
    """
    unit = 10.0 ** floor(log10(value))
    found = next(step * unit for step in steps if step * unit >= value * (1 - 1e-12))
    return int(found) if found >= 1 and float(found).is_integer() else found


def _halves(most: float) -> tuple[tuple[float, str], ...]:
    return ((0.0, "0"), (0.5, f"{most / 2:.3g}"), (1.0, f"{most:.3g}"))
