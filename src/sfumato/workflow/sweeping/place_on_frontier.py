"""The position of a release on the frontier of its study, for the owner's report.

Sweeps keep what they measured beside the study. Here it is read back, the release is measured the same way, and put
among the points, if they are of the same table and study: points of another state of them say nothing about it. All of
this looks at raw records and goes into the owner's report alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.frontier import Axis, Point, average_draws, efficient
from sfumato.progress import Progress, silent
from sfumato.study.study import Study
from sfumato.workflow.evaluate import both_records, measuring_view
from sfumato.workflow.steps.study_table import open_study_table
from sfumato.workflow.sweeping.stored_points import digest, fingerprint, read_stored_points

_X: Final = Axis(name="ploss", title="privacy loss", better="lower")
_Y: Final = Axis(name="uloss", title="utility loss", better="lower")
_OWN: Final = Axis(name="own-record-loss", title="own-record loss", better="lower")
_BASELINE: Final = "baseline"
_THIS: Final = "this"
_NAMED: Final = 3  # better candidates that a sentence names
_AGAIN: Final = "“sfumato frontier” makes a new one."


@dataclass(frozen=True, kw_only=True)
class FrontierPosition:
    """The candidates as the report draws them, this release among them, and sentences; nothing without a frontier."""

    points: tuple[tuple[str, str, float, float], ...] = ()
    own: tuple[tuple[str, str, float, float], ...] = ()  # the same over own-record loss, of those that have one
    words: tuple[str, ...] = ()


def place_on_frontier(
    study: Study,
    purpose: str | None,
    looked: Evidence | None,
    *,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> FrontierPosition:
    """The position of the release among the points of the sweeps of this study and purpose.

    ``looked`` is the release next to the table; without it, the candidates are drawn alone.
    """
    try:
        kept = [] if study.base == Path() else read_stored_points(study.base / "frontier")
        if not any("method" in one and one.get("purpose") == purpose for one in kept):
            return FrontierPosition()
        progress("comparing it with your frontier", 0, 1)
        view = measuring_view(study, purpose)
        with open_study_table(study, memory_limit=memory_limit) as table:
            _, raw, cells = both_records(study, view, table)
        of = fingerprint(view, study.unit, raw.cells, cells, raw.sets)
        fresh = [one for one in kept if one.get("of") == of and one.get("purpose", purpose) == purpose]
        return _among(fresh, looked)
    except SfumatoError as error:
        return FrontierPosition(words=(f"The frontier of this study could not be read: {error.problem}.",))
    except Exception as error:  # noqa: BLE001 - a report lacks a section rather than fail
        return FrontierPosition(words=(f"The frontier of this study could not be read ({type(error).__name__}).",))


def _among(kept: Sequence[dict[str, Any]], looked: Evidence | None) -> FrontierPosition:
    """The release among the points that are of the same table and study."""
    if not any("method" in one for one in kept):
        why = "The frontier of this study was made from another state of the table or the study, or by another "
        return FrontierPosition(
            words=(f"{why}version of Sfumato, so this release is not drawn among its points. {_AGAIN}",)
        )
    found = [point for point in _points(kept) if point.has(_X.name, _Y.name)]
    candidates = [point for point in found if point.series != _BASELINE]
    if not candidates:
        return FrontierPosition(words=("No candidate of the frontier has both a privacy loss and a utility loss.",))
    if looked is None:
        refused = ["the table is too large to compute its position"]
    else:
        refused = [why for name in (_X.name, _Y.name) if (why := MEASURES[name]().refuses(looked)) is not None]
    if looked is None or refused:
        drawn = tuple(_drawn(found, efficient(candidates, _X, _Y)))
        return FrontierPosition(
            points=drawn, own=_over_own(found), words=(f"This release is not among the points: {refused[0]}.",)
        )
    numbers = {name: round(float(MEASURES[name]().read(looked).value), 12) for name in (_X.name, _Y.name)}
    this = Point(label="this release", series=_THIS, family="", numbers=numbers)
    best = efficient([*candidates, this], _X, _Y)
    drawn = tuple(_drawn([*found, this], best))
    return FrontierPosition(
        points=drawn, own=_over_own([*found, _with_own(this, looked, found)]), words=_words(this, candidates, best)
    )


def _with_own(this: Point, looked: Evidence, candidates: Sequence[Point]) -> Point:
    """The release with its own-record loss, if the candidates have one, and it has."""
    measure = MEASURES[_OWN.name]()
    if not any(point.has(_OWN.name) for point in candidates) or measure.refuses(looked) is not None:
        return this
    own = round(float(measure.read(looked).value), 12)
    return replace(this, numbers={**this.numbers, _OWN.name: own})


def _over_own(points: Sequence[Point]) -> tuple[tuple[str, str, float, float], ...]:
    """The points that have an own-record loss, over it; none where no candidate has."""
    found = [point for point in points if point.has(_OWN.name, _Y.name)]
    candidates = [point for point in found if point.series != _BASELINE]
    if all(point.series == _THIS for point in candidates):
        return ()
    return tuple(_drawn(found, efficient(candidates, _OWN, _Y), _OWN))


def _points(kept: Sequence[dict[str, Any]]) -> list[Point]:
    """What was kept as points: the draws of a candidate together, each candidate and baseline once."""
    draws: dict[str, dict[int, Point]] = {}
    for one in kept:
        what = {key: one.get(key) for key in ("baseline", "method", "parameters", "said")}
        draws.setdefault(digest(what), {})[int(one.get("draw", 0))] = Point(
            label=str(one["label"]),
            series=_BASELINE if "baseline" in one else str(one["method"]),
            family="",
            numbers={name: float(value) for name, value in one["numbers"].items()},
            failure=one["failure"],
        )
    return [average_draws([of[number] for number in sorted(of)]) for of in draws.values()]


def _drawn(
    points: Sequence[Point], best: Sequence[Point], across: Axis = _X
) -> Iterator[tuple[str, str, float, float]]:
    """Points as the report draws them."""
    among = {id(point) for point in best}
    for point in points:
        kind = point.series if point.series in {_BASELINE, _THIS} else "efficient" if id(point) in among else "other"
        yield kind, point.label, point.numbers[across.name], point.numbers[_Y.name]


def _words(this: Point, candidates: Sequence[Point], best: Sequence[Point]) -> tuple[str, ...]:
    """Where this release is, what is better, and what is to be known of random ones."""
    found = [f"This release has {_both(this)}, beside {len(candidates):,} candidates."]
    better = [point for point in candidates if efficient([point, this], _X, _Y) == (point,)]
    if any(point is this for point in best):
        found.append("It is on the frontier: no candidate is as good on both and better on one.")
    else:
        named = "; ".join(f"{point.label}, with {_both(point)}" for point in sorted(better, key=_sum)[:_NAMED])
        many = f"{len(better):,} candidates are" if len(better) > 1 else "One candidate is"
        found.append(f"It is not on the frontier. {many} as good on both and better on one: {named}.")
    if any(point.draws > 1 for point in candidates):
        found.append(
            "Candidates that are random are drawn at the mean of their drafts. If this release is random too, it is "
            "one draw, and another would lie elsewhere."
        )
    return tuple(found)


def _sum(point: Point) -> float:
    return point.numbers[_X.name] + point.numbers[_Y.name]


def _both(point: Point) -> str:
    return f"a privacy loss of {point.numbers[_X.name]:.3g} and a utility loss of {point.numbers[_Y.name]:.3g} nats"
