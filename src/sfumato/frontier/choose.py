"""Choosing one release: by the largest acceptable privacy loss or utility loss, or at the knee."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import InfeasibleError, UsageError
from sfumato.frontier.efficient import efficient
from sfumato.frontier.point import Axis, Point

KNEE = "knee"
_RULES = "use knee, privacy=0.2 (the worst acceptable value on the x axis) or utility=0.02 (on the y axis)"
COVERED = "it was chosen on the raw table, which no guarantee covers"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The release that a rule chooses, and a sentence that says so and what it costs."""

    point: Point
    rule: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def as_json(self) -> dict[str, Any]:
        """The choice as plain values."""
        return {
            "label": self.point.label, "rule": self.rule, "sentence": self.sentence, "settings": self.settings
        }  # fmt: skip

    @property
    def settings(self) -> dict[str, Any]:
        """What a study declares below `releases` to publish it; it says that it was chosen on the raw table."""
        recipe = self.point.recipe
        if recipe is None:
            return {}
        purpose = {} if recipe.purpose is None else {"purpose": recipe.purpose}
        return {**purpose, "method": recipe.method, **recipe.plain_parameters(), "chosen": recipe.chosen.value}


def parse_rule(text: str) -> tuple[str | None, float | None, float | None]:
    """A rule as it is typed: ``knee``, ``privacy=0.2`` or ``utility=0.02``, as `choose` takes it.

    >>> parse_rule("privacy=0.2")
    (None, 0.2, None)
    """
    name, given, value = text.partition("=")
    name = name.strip()
    if name == KNEE and not given:
        return KNEE, None, None
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if name not in {"privacy", "utility"} or not np.isfinite(number):
        raise UsageError(f"'{text[:60]}' is not a rule for choosing a release", _RULES, code="SF-USAGE-038")
    return (None, number, None) if name == "privacy" else (None, None, number)


def choose(
    points: Sequence[Point],
    x: Axis,
    y: Axis,
    rule: str | None = None,
    *,
    privacy: float | None = None,
    utility: float | None = None,
) -> Choice:
    """One of the efficient points.

    ``privacy``: of those with at most this much on the x axis (at least, where higher is better) the best on y.
    ``utility``: of those with at most this much on the y axis the best on x. ``"knee"``: the point farthest below the
    straight line between the two ends of the frontier, with both axes scaled from 0 to 1 over the efficient points;
    where several are equally far, or none lies below it, the one that is best on x. Random releases are chosen by their
    means, and the sentence says how far their draws lie apart.
    """
    if [rule is not None, privacy is not None, utility is not None].count(True) != 1 or rule not in (None, KNEE):
        raise UsageError("a release is chosen by exactly one rule", _RULES, code="SF-USAGE-039")
    best = efficient(points, x, y)
    if not best:
        raise InfeasibleError(
            f"no release of the sweep has both {x.name} and {y.name}, so none can be chosen",
            "`sfumato frontier` lists the reasons; change the sweep",
            code="SF-INFEASIBLE-004",
        )
    if privacy is not None:
        return _within(best, x, y, privacy)
    if utility is not None:
        return _within(best[::-1], y, x, utility)
    point = best[_knee(best, x, y)]
    if len(best) == 1:
        words = f"{point.label} is chosen: it is as good as every other release of the sweep, or better, on both axes. "
        return Choice(point=point, rule=KNEE, sentence=f"{words}It has {_numbers(point, x, y)}; {_covered(point)}")
    return Choice(
        point=point,
        rule=KNEE,
        sentence=f"{point.label} is chosen, the knee: of {len(best)} efficient releases the farthest below the line "
        f"between the two extremes. It has {_numbers(point, x, y)}, {_range(best, x, y)}; {_covered(point)}",
    )


def _within(best: Sequence[Point], limited: Axis, other: Axis, limit: float) -> Choice:
    """The best on the other axis of those within the limit; along the frontier that is the last one within it."""
    allowed = [point for point in best if limited.cost(point.numbers[limited.name]) <= limited.cost(limit)]
    least = "at most" if limited.better == "lower" else "at least"
    if not allowed:
        reached = best[0].numbers[limited.name]
        raise InfeasibleError(
            f"no release of the sweep has {limited.name} of {least} {limit:g}",
            f"allow {reached:.4g}, which {best[0].label} has, or sweep stronger parameters",
            code="SF-INFEASIBLE-005",
        )
    point = min(allowed, key=lambda p: (other.cost(p.numbers[other.name]), limited.cost(p.numbers[limited.name])))
    return Choice(
        point=point,
        rule=f"{limited.name} {least} {limit:g}",
        sentence=f"{point.label} is chosen: with {limited.name} of {least} {limit:g} it has the best {other.name} of "
        f"{len(best)} efficient releases, {_numbers(point, limited, other)}{_beyond(point, limited, limit)}; "
        f"{_covered(point)}",
    )


def _knee(best: Sequence[Point], x: Axis, y: Axis) -> int:
    """The place of the knee.

    With the ends of the frontier at (0, 1) and (1, 0), a point's distance from the line between them is (1 − x − y)/√2,
    so the farthest below it has the least x + y.
    """
    costs = np.array([[x.cost(point.numbers[x.name]), y.cost(point.numbers[y.name])] for point in best])
    width = costs.max(axis=0) - costs.min(axis=0)
    scaled = (costs - costs.min(axis=0)) / np.where(width > 0, width, 1.0)
    return int(np.argmin(np.round(scaled.sum(axis=1), 12)))


def _numbers(point: Point, *axes: Axis) -> str:
    return " and ".join(axis.says(point.numbers[axis.name]) + _apart(point, axis) for axis in axes)


def _apart(point: Point, axis: Axis) -> str:
    """How far the draws of a random release lie apart."""
    spread = point.spread.get(axis.name)
    return "" if spread is None else f" ({spread.least:.4g} to {spread.most:.4g})"


def _beyond(point: Point, limited: Axis, limit: float) -> str:
    """That a single draw went beyond the limit, which the mean keeps."""
    spread = point.spread.get(limited.name)
    if spread is None:
        return ""
    worst = max((spread.least, spread.most), key=limited.cost)
    return ", though not every draw is within the limit" if limited.cost(worst) > limited.cost(limit) else ""


def _covered(point: Point) -> str:
    """What no guarantee covers; of a random release also that its numbers are means, and the published one is new."""
    if point.draws == 1:
        return COVERED
    return f"these are means of {point.draws} draws, and the published release will be a new draw; {COVERED}"


def _range(best: Sequence[Point], x: Axis, y: Axis) -> str:
    first, last = best[0].numbers, best[-1].numbers
    return (
        f"where they go from {first[x.name]:.4g} to {last[x.name]:.4g} and from {first[y.name]:.4g} to "
        f"{last[y.name]:.4g}"
    )
