"""A figure of panels: curves over a number, what the paper prints, and levels to compare with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from papers.drawing.page import (
    RING,
    RULE,
    Better,
    Drawing,
    legend_columns,
    shades,
    side_by_side_panels,
    upwards_words,
)

if TYPE_CHECKING:
    import altair as alt

_BEND, _BENT_TICKS = 0.03, (0, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of one panel; ``errors`` are standard errors, one a point, where there are any."""

    panel: str
    series: str
    points: tuple[tuple[float, float], ...]
    errors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """A number that a panel is to be compared with, as a line all along it."""

    panel: str
    y: float
    words: str
    left: bool = False  # where the words stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels(Drawing):
    """Curves by panel; ``printed`` are points (panel, x, y) that the paper gives."""

    x: str
    y: str | Mapping[str, str]  # by panel, where axes differ
    curves: tuple[Curve, ...]
    printed: tuple[tuple[str, float, float], ...] = ()
    levels: tuple[Level, ...] = ()
    better: Better = "lower"
    upwards: Literal["", "bent", "log"] = ""  # bent: logarithmic, but down to 0, for small shares to be seen
    logarithmic: bool = False  # the axis across
    ordered: bool = True  # whether the curves have an order, which shades show; else each has a colour and a mark
    columns: int = 2
    shared: bool = True  # whether all panels have the same axis upwards
    ticks: tuple[float, ...] = ()  # on the axis across
    sizes: tuple[int, int] = (320, 300)  # of a panel, in dots of the screen
    zero: bool | None = None  # whether the axis upwards begins at 0; without it, where there are no levels

    def chart(self) -> "alt.ConcatChart":
        """The plot."""
        series = list(dict.fromkeys(curve.series for curve in self.curves))
        names = list(dict.fromkeys(curve.panel for curve in self.curves))
        panels = [
            self._panel(name, series, titled=not self.shared or place % self.columns == 0)
            for place, name in enumerate(names)
        ]
        return side_by_side_panels(panels, title=self.title, note=self.note, columns=self.columns, shared=self.shared)

    def _panel(self, panel: str, series: list[str], *, titled: bool) -> "alt.LayerChart":
        import altair as alt  # noqa: PLC0415 - takes a second to load

        curves = [curve for curve in self.curves if curve.panel == panel]
        axes = self._axes(panel, titled=titled)
        layers = [*self._levels(panel, curves, axes), *self._lines(curves, series, axes)]
        layers += self._rings(panel, axes)
        width, height = self.sizes
        built = alt.layer(*layers).properties(width=width, height=height, title=panel)
        assert isinstance(built, alt.LayerChart), "no layer has facets"
        return built

    def _axes(self, panel: str, *, titled: bool) -> dict[str, Any]:
        import altair as alt  # noqa: PLC0415 - takes a second to load

        words = self.y if isinstance(self.y, str) else self.y[panel]
        scales = {
            "": alt.Scale(zero=not self.levels if self.zero is None else self.zero),
            "log": alt.Scale(type="log", nice=False, padding=8),
            "bent": alt.Scale(type="symlog", constant=_BEND),
        }  # fmt: skip
        scale, bent = scales[self.upwards], self.upwards == "bent"
        marks = alt.Axis(values=list(_BENT_TICKS), format="~g") if bent else alt.Axis(format=",.4~f", tickCount=5)
        across = alt.Axis(values=list(self.ticks), format=",.4~f") if self.ticks else alt.Axis(tickCount=6)
        along = alt.Scale(type="log", padding=10, nice=False) if self.logarithmic else alt.Scale(zero=False, padding=10)
        return {
            "x": alt.X("x:Q", title=self.x, scale=along, axis=across),
            "y": alt.Y("y:Q", title=upwards_words(words, self.better) if titled else None, scale=scale, axis=marks),
        }

    def _lines(self, curves: Sequence[Curve], series: list[str], axes: Mapping[str, Any]) -> list[Any]:
        import altair as alt  # noqa: PLC0415 - takes a second to load

        from sfumato.frontier.plot import COLOURS, SHAPES, data_of  # noqa: PLC0415 - as above

        rows = [{"x": x, "y": y, "series": curve.series} for curve in curves for x, y in curve.points]
        spread = [
            {"x": x, "y": y - error, "top": y + error, "series": curve.series}
            for curve in curves if curve.errors
            for (x, y), error in zip(curve.points, curve.errors, strict=True)
        ]  # fmt: skip
        colours = shades(len(series)) if self.ordered else list(COLOURS[: len(series)])
        width = self.sizes[0] * min(self.columns, len({curve.panel for curve in self.curves}))
        legend = alt.Legend(orient="bottom", title=None, columns=legend_columns(series, width))
        colour = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colours), legend=legend)
        shapes = ["circle"] * len(series) if self.ordered else list(SHAPES[: len(series)])
        shape = alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series, range=shapes), legend=legend)
        tips = [
            alt.Tooltip("series:N"), alt.Tooltip("x:Q", title=self.x), alt.Tooltip("y:Q", title="here", format=".4"),
        ]  # fmt: skip
        base = alt.Chart(data_of(rows))
        found: list[Any] = [base.mark_line(strokeWidth=2).encode(x=axes["x"], y=axes["y"], color=colour)]
        if spread:
            found.append(
                alt.Chart(data_of(spread)).mark_rule(strokeWidth=1.5).encode(
                    x=axes["x"], y=axes["y"], y2="top:Q", color=colour,
                )
            )  # fmt: skip
        found.append(
            base.mark_point(size=55, filled=True, opacity=1).encode(
                x=axes["x"], y=axes["y"], color=colour, shape=shape, tooltip=tips
            )
        )
        return found

    def _rings(self, panel: str, axes: Mapping[str, Any]) -> list[Any]:
        import altair as alt  # noqa: PLC0415 - takes a second to load

        from sfumato.frontier.plot import data_of  # noqa: PLC0415 - as above

        printed = [{"x": x, "y": y, "said": "the paper"} for where, x, y in self.printed if where == panel]
        if not printed:
            return []
        ring = alt.Chart(data_of(printed)).mark_point(size=260, color=RING, strokeWidth=2.5, filled=False)
        tips = [alt.Tooltip("said:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")]
        return [ring.encode(x=axes["x"], y=axes["y"], tooltip=tips)]

    def _levels(self, panel: str, curves: Sequence[Curve], axes: Mapping[str, Any]) -> list[Any]:
        import altair as alt  # noqa: PLC0415 - takes a second to load

        from sfumato.frontier.plot import data_of  # noqa: PLC0415 - as above

        ends = [x for curve in curves for x, _ in curve.points]
        found: list[Any] = []
        for one in self.levels:
            if one.panel == panel:
                row = {"x": min(ends) if one.left else max(ends), "y": one.y, "words": one.words}
                base = alt.Chart(data_of([row]))
                words = base.mark_text(
                    align="left" if one.left else "right", baseline="bottom", dy=-3, fontSize=11, color=RULE
                )
                found.append(base.mark_rule(color=RULE, strokeDash=[5, 4]).encode(y=axes["y"]))
                found.append(words.encode(x=axes["x"], y=axes["y"], text="words:N"))
        return found
