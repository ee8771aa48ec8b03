"""The plot of a frontier: an interactive Vega-Lite chart, readable without colour and on a phone."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert

from sfumato.frontier.axis_scale import AxisScale
from sfumato.frontier.choose import Choice
from sfumato.frontier.efficient import NO_BETTER
from sfumato.frontier.point import FOREIGN, Axis, Point

if TYPE_CHECKING:
    from sfumato.frontier.frontier import Frontier

# Okabe & Ito's palette, which colour-blind readers can tell apart, with brown in place of black, as the two ends are
# black. Yellow comes last, since it is faint on white. A test simulates three kinds of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5A2A00", "#F0E442")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
INK = "#222222"
# The two ends of every frontier, as filled shapes: an oblique cross, and one with eight arms.
_CROSS = "M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z"
_STAR = (
    "M-.15,-1.1L.15,-1.1L.15,-.36L.67,-.89L.89,-.67L.36,-.15L1.1,-.15L1.1,.15L.36,.15L.89,.67L.67,.89L.15,.36L.15,1.1"
    "L-.15,1.1L-.15,.36L-.67,.89L-.89,.67L-.36,.15L-1.1,.15L-1.1,-.15L-.36,-.15L-.89,-.67L-.67,-.89L-.15,-.36Z"
)
ENDS = (_CROSS, _STAR)
HOURGLASS = "M-.8,-1L.8,-1L.12,0L.8,1L-.8,1L-.12,0Z"  # releases that other tools made
_HEIGHT = 400
_BETWEEN = 30  # two panels
_ROOM = 14  # pixels between the frame of a plot and its outermost marks


def chart(frontier: "Frontier", chosen: Choice | None, *, width: int | str = 640, zoom: bool = False) -> alt.LayerChart:
    """One plane by itself; ``zoom`` lets a reader of the page move and enlarge it."""
    autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    built: alt.LayerChart = _configured(
        _layers(frontier, chosen, zoom=zoom).properties(width=width, height=_HEIGHT, autosize=autosize)
    )
    return built


def side_by_side(
    panels: "Sequence[Frontier]", chosen: Choice | None, *, width: int = 640
) -> alt.LayerChart | alt.HConcatChart:
    """Planes with the same y axis next to each other, with one legend; a single one by itself."""
    if len(panels) == 1:
        return chart(panels[0], chosen, width=width)
    each = (width - _BETWEEN * (len(panels) - 1)) // len(panels)
    built: alt.HConcatChart = _configured(
        alt.hconcat(
            *(
                _layers(panel, chosen, picks=not number).properties(width=each, height=_HEIGHT)
                for number, panel in enumerate(panels)
            ),
            spacing=_BETWEEN,
        ).resolve_scale(color="shared", shape="shared", y="shared")
    )
    return built


def _layers(frontier: "Frontier", chosen: Choice | None, *, zoom: bool = False, picks: bool = True) -> alt.LayerChart:
    """The frontier as layers: the efficient line, families, points and ends, and a ring around the chosen point.

    ``picks`` is false for a panel that follows the selection in the legend of the first.
    """
    x, y = frontier.x, frontier.y
    ends = [point for point in frontier.baselines if point.has(x.name, y.name)]
    room = _ROOM if zoom else 0  # what can be moved is cut off at the frame, and no mark may be
    scales = (AxisScale.of(_values([*frontier.points, *ends], axis), room) for axis in (x, y))
    plane = _Plane(x, y, *scales)
    layers = []
    if len(frontier.efficient) > 1:
        layers.append(_efficient(frontier.efficient, plane))
    if frontier.points or ends:
        layers += _families(frontier.points, ends, frontier, plane, picks=picks)
    if chosen is not None and chosen.point.has(x.name, y.name):
        layers.append(_ring(chosen.point, plane))
    if not layers:
        layers = [alt.Chart(data_of([])).mark_point().encode(x=plane.across(), y=plane.up())]
    if zoom:
        wheel = "wheel![event.shiftKey]"  # without the key the wheel scrolls the page
        layers[-1] = layers[-1].add_params(alt.selection_interval(bind="scales", zoom=wheel, name="zoom"))
    found = alt.layer(*layers)
    assert isinstance(found, alt.LayerChart), "no layer has facets"
    return found


def _values(points: Sequence[Point], axis: Axis) -> list[float]:
    """All that an axis has to show: the numbers of the points, and how far their draws go."""
    spreads = [point.spread[axis.name] for point in points if axis.name in point.spread]
    ends = [end for spread in spreads for end in (spread.least, spread.most)]
    return [*(point.numbers[axis.name] for point in points if point.has(axis.name)), *ends]


def _configured(built: Any) -> Any:
    """The look of every plot."""
    return (
        built.configure(font="system-ui, sans-serif", padding={"left": 6, "right": 14, "top": 10, "bottom": 6})
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, titleFontWeight="normal", grid=True, gridColor="#EEEEEE")
        .configure_legend(labelFontSize=12, labelLimit=330, symbolSize=90, titleFontSize=12)
    )


def image(built: alt.TopLevelMixin, form: str) -> str | bytes:
    """The chart as PNG, SVG or the JSON of its specification; drawn without a network."""
    if form == "json":
        return str(built.to_json())
    if form == "svg":
        return str(vl_convert.vegalite_to_svg(built.to_dict()))
    out = io.BytesIO()
    built.save(out, format="png", scale_factor=2)
    return out.getvalue()


def data_of(rows: Sequence[dict[str, Any]]) -> alt.Data:
    """Rows as a chart takes them."""
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def better(axis: Axis, *, across: bool) -> str:
    """An axis's title, which says which way is better.

    >>> better(Axis(name="ploss", title="Privacy loss, worst case", better="lower", unit="nats"), across=True)
    '← better · Privacy loss, worst case (nats)'
    """
    words = axis.title + (f" ({axis.unit})" if axis.unit else "")
    if across:
        return f"← better · {words}" if axis.better == "lower" else f"{words} · better →"
    return f"{'↓' if axis.better == 'lower' else '↑'} better · {words}"


@dataclass(frozen=True)
class _Plane:
    """Two axes with their scales."""

    x: Axis
    y: Axis
    x_scale: AxisScale
    y_scale: AxisScale

    def across(self, of: str = "x") -> alt.X:
        """The x axis, of one field."""
        scale = self.x_scale
        return alt.X(
            f"{of}:Q",
            title=better(self.x, across=True) + scale.words,
            scale=scale.scale(),
            axis=alt.Axis(titlePadding=8, labelOverlap=True, **scale.ticks()),
        )

    def up(self, of: str = "y") -> alt.Y:
        """The y axis; its title lies flat above it, so that it is read without turning the head and takes no width."""
        scale = self.y_scale
        return alt.Y(
            f"{of}:Q",
            title=better(self.y, across=False) + scale.words,
            scale=scale.scale(),
            axis=alt.Axis(
                titleAngle=0,
                titleAlign="left",
                titleAnchor="end",
                titleX=-34,
                titleY=-14,
                titleBaseline="bottom",
                **scale.ticks(),
            ),
        )


def _efficient(points: Sequence[Point], plane: _Plane) -> alt.Chart:
    """Steps: with this much of x, the best y that can be had."""
    x, y = plane.x, plane.y
    rows = [{"x": p.numbers[x.name], "y": p.numbers[y.name]} for p in points]
    found: alt.Chart = (
        alt.Chart(data_of(rows))
        .mark_line(
            interpolate="step-after" if x.better == "lower" else "step-before",
            color="#BBBBBB",
            strokeWidth=5,
            strokeCap="round",
            strokeJoin="round",
            opacity=0.8,
        )
        .encode(x=plane.across(), y=plane.up())
    )
    return found


def _families(
    points: Sequence[Point], ends: Sequence[Point], frontier: "Frontier", plane: _Plane, *, picks: bool
) -> list[alt.Chart]:
    """Lines, bars and marks of the candidates and, as series of their own, the ends.

    What a mark is stands in the legend and nowhere beside it: words among points would lie over some of them.
    """
    x, y = frontier.x, frontier.y
    series = list(dict.fromkeys(point.series for point in points))
    named = list(dict.fromkeys(point.label for point in ends))
    domain = [*series, *named]
    colours = [*(COLOURS[n % len(COLOURS)] for n in range(len(series))), *(INK for _ in named)]
    own = [name for name in series if name != FOREIGN]
    mark = {FOREIGN: HOURGLASS, **{name: SHAPES[n % len(SHAPES)] for n, name in enumerate(own)}}
    shapes = [*(mark[name] for name in series), *(ENDS[n % len(ENDS)] for n in range(len(named)))]
    best, worse = ({id(point) for point in some} for some in (frontier.efficient, frontier.no_better_than_nothing))
    rows = [
        {
            **_row(point, x, y, frontier),
            "order": number,
            "efficient": "yes" if id(point) in best else "no",
            "remark": NO_BETTER if id(point) in worse else None,
        }
        for number, point in enumerate(points)
    ]
    rows += [{**_row(point, x, y, frontier), "series": point.label} for point in ends]
    legend = alt.Legend(orient="bottom", columns=1, title=frontier.legend)
    pick = alt.selection_point(fields=["series"], bind="legend", name="series")
    base = alt.Chart(data_of(rows)).encode(
        x=plane.across(),
        y=plane.up(),
        color=alt.Color("series:N", scale=alt.Scale(domain=domain, range=colours), legend=legend),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)),
    )
    lines = base.mark_line(strokeWidth=1.5).encode(detail="family:N", order="order:Q")
    marks = base.mark_point(filled=True, size=85, opacity=1).encode(
        shape=alt.Shape("series:N", scale=alt.Scale(domain=domain, range=shapes), legend=legend),
        tooltip=[*_tips(frontier), "efficient:N", *(["remark:N"] if worse else [])],
    )
    return [lines, *_bars(base, points, plane), marks.add_params(pick) if picks else marks]


def _bars(base: alt.Chart, points: Sequence[Point], plane: _Plane) -> list[alt.Chart]:
    """Of releases that were drawn several times, from the least to the largest, each way."""
    if not any(point.spread for point in points):
        return []
    thin = base.mark_rule(strokeWidth=1.2)
    return [
        thin.encode(x=plane.across("x_least"), x2="x_most:Q", y=plane.up()),
        thin.encode(x=plane.across(), y=plane.up("y_least"), y2="y_most:Q"),
    ]


def _ring(point: Point, plane: _Plane) -> alt.Chart:
    rows = [{"x": point.numbers[plane.x.name], "y": point.numbers[plane.y.name]}]
    found: alt.Chart = (
        alt.Chart(data_of(rows))
        .mark_point(shape="circle", size=420, strokeWidth=2.5, color=INK, opacity=1, filled=False, tooltip=None)
        .encode(x=plane.across(), y=plane.up())
    )
    return found


def _row(point: Point, x: Axis, y: Axis, frontier: "Frontier") -> dict[str, Any]:
    return {
        "x": point.numbers[x.name],
        "y": point.numbers[y.name],
        "release": point.label,
        "series": point.series,
        "family": point.family,
        **{_key(name): point.numbers.get(name) for name in _measures(frontier)},
        **_spreads(point, x, y),
        "rows": point.facts.get("rows"),
        "suppressed": point.facts.get("suppressed"),
    }


def _spreads(point: Point, x: Axis, y: Axis) -> dict[str, Any]:
    """How far draws lie apart, as bars and in words; nothing of a release that is always the same."""
    if not point.spread:
        return {"draws": point.draws}
    ends = {
        f"{of}_{end}": getattr(point.spread.get(axis.name), end, None)
        for of, axis in (("x", x), ("y", y))
        for end in ("least", "most")
    }
    words = {
        f"{_key(name)}_spread": f"± {found.deviation:.2g}, {found.least:.4g} to {found.most:.4g}"
        for name, found in point.spread.items()
    }
    return {"draws": point.draws, **ends, **words}


def _measures(frontier: "Frontier") -> list[str]:
    return list(dict.fromkeys((frontier.x.name, frontier.y.name, *frontier.axes)))


def _key(measure: str) -> str:
    """A measure's name as a field: dots and brackets have a meaning in Vega."""
    return "measure_" + "".join(c if c.isalnum() else "_" for c in measure)


def _tips(frontier: "Frontier") -> list[alt.Tooltip]:
    numbers = [alt.Tooltip(f"{_key(name)}:Q", title=name, format=".4~g") for name in _measures(frontier)]
    if any(point.spread for point in frontier.points):
        apart = [alt.Tooltip(f"{_key(name)}_spread:N", title=f"{name}, draws") for name in _measures(frontier)]
        numbers = [tip for pair in zip(numbers, apart, strict=True) for tip in pair] + [alt.Tooltip("draws:Q")]
    return [alt.Tooltip("release:N"), *numbers, alt.Tooltip("rows:Q"), alt.Tooltip("suppressed:Q")]
