"""Candidates of a sweep as a page shows them: as they are stored while it runs, and as it gave them in the end."""

import datetime as dt
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sfumato.evaluate.measures import MEASURES
from sfumato.frontier import NO_BETTER, NOTHING, Axis, Point, Spread, average_draws, efficient, no_better_than_nothing
from sfumato.frontier.choose import Choice
from sfumato.study.recipe import Chosen, Recipe
from sfumato.workflow.sweeping.stored_points import LATEST, digest

BASELINE: Final = "baseline"
FAILED: Final = "failed"
_ENDS: Final = f"{NOTHING}, everything published"  # what the legend calls the baselines
_OBLIQUE: Final = "M-.7,-.7L.7,.7M-.7,.7L.7,-.7"  # a cross for the two baselines
_ROOM: Final = 10  # pixels between the outermost points and the edge, which would cut them
SHAPES: Final = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")


@dataclass(frozen=True)
class Candidate:
    """One point, and whether it is efficient among those that are shown."""

    point: Point
    efficient: bool
    no_better: bool = False  # than a table without any quasi-identifier

    @property
    def name(self) -> str:
        """What it is called."""
        return self.point.label

    @property
    def key(self) -> str:
        """A name for its box that stays the same while other points arrive."""
        return digest(self.name)[:12]

    def value(self, measure: str) -> str:
        """A number as text, with how far its draws lie apart."""
        found, spread = self.point.numbers.get(measure), self.point.spread.get(measure)
        if found is None or not math.isfinite(found):
            return "–"
        return f"{found:.4g}" if spread is None else f"{found:.4g} ± {spread.deviation:.2g}"

    @property
    def settings(self) -> dict[str, Any]:
        """What a study declares below `releases` to publish it, as `sfumato frontier` says it."""
        return Choice(point=self.point, rule="", sentence="").settings


def axis_of(name: str) -> Axis:
    """A measure as an axis; its parameters may stand behind its name."""
    plain = name.split(" ", maxsplit=1)[0]
    if plain not in MEASURES:
        return Axis(name=name, title=name, better="lower")
    found = MEASURES[plain]()
    return Axis(name=name, title=found.title, better=found.better, unit=found.unit)


@dataclass(frozen=True, kw_only=True)
class StoredSweep:
    """What a sweep listed when it last began, and the points of it that are stored by now."""

    sweep: str
    purpose: str
    x: str
    y: str
    measures: tuple[str, ...]
    repeats: int
    began: float  # seconds since 1970
    points: tuple[Point, ...]

    @property
    def asked(self) -> dict[str, Any]:
        """What it was started with, as the page asks for it."""
        return {
            "sweep": self.sweep, "purpose": self.purpose, "x": self.x, "y": self.y,
            "measures": list(self.measures), "repeats": self.repeats,
        }  # fmt: skip

    @property
    def day(self) -> str:
        """When it began."""
        return f"{dt.datetime.fromtimestamp(self.began, dt.UTC):%Y-%m-%d %H:%M} UTC"


def stored(folder: Path) -> StoredSweep | None:
    """The points of the latest sweep of a folder, the draws of a candidate together; None if it lists none.

    The sweep lists the files of its own candidates on its own table (`PointFiles.keep_list`), so a point that an
    earlier start stored is among them, and one of another grid or of another state of the table is not.
    """
    try:
        file = folder / "points" / LATEST
        began = file.stat().st_mtime
        said = json.loads(file.read_text(encoding="utf-8"))
        return StoredSweep(
            sweep=str(said["sweep"]), purpose=str(said["purpose"] or ""), x=str(said["x"]), y=str(said["y"]),
            measures=tuple(map(str, said["measures"])), repeats=int(said["repeats"]), began=began,
            points=tuple(point for one in said["points"] if (point := _listed_point(file.parent, one)) is not None),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or not one of ours
        return None


def latest(folder: Path, sweeps: Collection[str], purposes: Collection[str]) -> StoredSweep | None:
    """The sweep that began last, of all that are stored below a folder and that the study still declares."""
    found = [one for place in folder.glob(f"*/points/{LATEST}") if (one := stored(place.parent.parent)) is not None]
    known = [one for one in found if one.sweep in sweeps and (not one.purpose or one.purpose in purposes)]
    return max(known, key=lambda one: one.began, default=None)


def _listed_point(folder: Path, one: Mapping[str, Any]) -> Point | None:
    """A candidate with the draws that are stored; None if none is yet."""
    stated = one["recipe"]
    plain = Point(
        label=str(one["label"]), series=str(one["series"]), family=str(one["family"]), failure=one["failure"],
        recipe=None if stated is None else _recipe(stated["method"], stated["parameters"], stated["purpose"]),
    )  # fmt: skip
    if plain.failure is not None:
        return replace(plain, series=FAILED, recipe=None)
    draws = [found for name in one["files"] if (found := _stored_draw(folder / Path(name).name, plain)) is not None]
    return average_draws(draws) if draws else None


def _stored_draw(file: Path, plain: Point) -> Point | None:
    try:
        one = json.loads(file.read_text(encoding="utf-8"))
        return replace(
            plain, numbers={str(name): float(value) for name, value in one["numbers"].items()},
            refused=dict(one["refused"]), facts=dict(one["facts"]), seconds=float(one["seconds"]),
            failure=one["failure"],
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):  # it is to come, or half of an older version's file
        return None


def finished(result: Mapping[str, Any]) -> list[Point]:
    """The points that a sweep printed, failures and baselines among them."""
    found = [_printed_point(one) for one in (*result["points"], *result["baselines"])]
    failed = [
        Point(label=str(one.get("label", "")), series=FAILED, family="", failure=str(one["why"]))
        for one in result["failures"]
        if isinstance(one, Mapping)
    ]
    known = {point.label for point in found}
    return [*found, *(point for point in failed if point.label not in known)]


def candidates(points: Iterable[Point], x: str, y: str, shown: Sequence[str] | None = None) -> list[Candidate]:
    """The points by privacy loss, the efficient ones marked; only series that are ``shown``, and all without it."""
    every = [point for point in points if shown is None or point.series in shown or point.series == BASELINE]
    there = [point for point in every if point.has(x, y) and point.series != BASELINE]
    best = {id(point) for point in efficient(there, axis_of(x), axis_of(y))}
    worse = {id(point) for point in no_better_than_nothing(there, every, axis_of(x), axis_of(y))}
    order = sorted(every, key=lambda p: (not p.has(x, y), p.series == BASELINE, p.numbers.get(x, 0.0), p.label))
    return [Candidate(point, id(point) in best, id(point) in worse) for point in order]


def series_of(points: Iterable[Point]) -> list[str]:
    """The methods with their privacy models, each once."""
    return list(dict.fromkeys(point.series for point in points if point.series not in {BASELINE, FAILED}))


def plot(found: Sequence[Candidate], x: str, y: str, *, log: bool, series: Sequence[str]) -> str:
    """The points as a Vega-Lite specification: shapes by method, efficient ones filled and joined."""
    rows = [
        {
            "x": one.point.numbers[x],
            "y": one.point.numbers[y],
            "series": _ENDS if one.point.series == BASELINE else one.point.series,
            "kind": "baseline" if one.point.series == BASELINE else "efficient" if one.efficient else "other",
            "words": f"{one.name}: {x} {one.value(x)}, {y} {one.value(y)}" + f"; {NO_BETTER}" * one.no_better,
            "opacity": 0.4 if one.no_better else 1,
            "low": _end(one.point, y, "least"),
            "high": _end(one.point, y, "most"),
        }
        for one in found
        if one.point.has(x, y)
    ]
    along, up = axis_of(x), axis_of(y)
    encoding = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": _title(along).rsplit(", ", 1),
            "scale": _scale(rows, "x", log=log),
        },
        "y": {"field": "y", "type": "quantitative", "title": _title(up), "scale": _scale(rows, "y", log=log)},
    }
    domain = [*series, _ENDS]
    shapes = [SHAPES[n % len(SHAPES)] for n in range(len(series))] + [_OBLIQUE]
    legend = {"orient": "bottom", "columns": 1, "labelLimit": 320}
    plain = {"field": "series", "type": "nominal", "title": None, "legend": legend}
    by_series = {
        "shape": {**plain, "scale": {"domain": domain, "range": shapes}},
        "color": {**plain, "scale": {"domain": domain}},
        "opacity": {"field": "opacity", "type": "quantitative", "scale": None},
    }
    return json.dumps(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "width": "container",
            "height": 380,
            "data": {"values": rows},
            "layer": [
                {
                    "transform": [{"filter": "datum.kind == 'efficient'"}],
                    "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "opacity": 0.5},
                    "encoding": {**encoding, "order": {"field": "x", "type": "quantitative"}},
                },
                {
                    "transform": [{"filter": "datum.high > datum.low"}],
                    "mark": {"type": "rule", "strokeWidth": 1},
                    "encoding": {"x": encoding["x"], "y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "params": [{"name": "zoom", "select": "interval", "bind": "scales"}],
                    "mark": {"type": "point", "size": 110, "strokeWidth": 2, "filled": False},
                    "encoding": {**encoding, **by_series},
                },
                {
                    "transform": [{"filter": "datum.kind == 'efficient'"}],
                    "mark": {"type": "point", "size": 130, "filled": True},
                    "encoding": {**encoding, **by_series},
                },
            ],
        }
    )  # fmt: skip


def _title(axis: Axis) -> str:
    return f"{axis.title}{f' ({axis.unit})' if axis.unit else ''}, {axis.better} is better"


def _scale(rows: Sequence[Mapping[str, Any]], which: str, *, log: bool) -> dict[str, Any]:
    if not log:
        return {"zero": False, "nice": False, "padding": _ROOM}
    positive = [row[which] for row in rows if row[which] > 0]
    if positive and len(positive) == len(rows):
        return {"type": "log", "padding": _ROOM}
    return {"type": "symlog", "constant": min(positive, default=1.0), "padding": _ROOM}


def _end(point: Point, measure: str, which: str) -> float:
    spread = point.spread.get(measure)
    return point.numbers[measure] if spread is None else float(getattr(spread, which))


def _printed_point(one: Mapping[str, Any]) -> Point:
    stated = one["recipe"]
    recipe = None if stated is None else _recipe(stated["method"], stated["parameters"], stated["purpose"])
    return Point(
        label=str(one["label"]), series=str(one["series"]), family=str(one["family"]), recipe=recipe,
        numbers=dict(one["numbers"]), refused=dict(one["refused"]), facts=dict(one["facts"]),
        seconds=float(one["seconds"]), failure=one["failure"], draws=int(one["draws"]),
        spread={name: Spread(**found) for name, found in one["spread"].items()}, foreign=bool(one["foreign"]),
    )  # fmt: skip


def _recipe(method: str, parameters: Mapping[str, Any], purpose: str | None) -> Recipe:
    return Recipe(name=method, method=method, purpose=purpose, parameters=dict(parameters), chosen=Chosen.ON_RAW)
