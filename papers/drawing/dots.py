"""A figure of dots by name: what bars show elsewhere, on an axis that need not begin at 0."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from papers.drawing.page import RULE, Better, Drawing, legend_columns, side_by_side_panels, upwards_words

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, slots=True)
class Dot:
    """A number with a standard error, where there is one, for one name of one panel and one series."""

    panel: str
    name: str
    series: str
    y: float
    error: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots(Drawing):
    """Dots by name, one beside the other for each series; ``levels`` (panel, y, words) are lines all along a panel."""

    x: str
    y: str
    dots: tuple[Dot, ...]
    levels: tuple[tuple[str, float, str], ...] = ()
    better: Better = "higher"
    columns: int = 2
    zero: bool = False
    width: int = 110  # of one name, in dots of the screen

    def chart(self) -> "alt.ConcatChart":
        """The plot."""
        names = list(dict.fromkeys(dot.panel for dot in self.dots))
        panels = [self._panel(name, titled=place % self.columns == 0) for place, name in enumerate(names)]
        return side_by_side_panels(panels, title=self.title, note=self.note, columns=self.columns, shared=True)

    def _panel(self, panel: str, *, titled: bool) -> "alt.LayerChart":
        import altair as alt  # noqa: PLC0415 - takes a second to load

        from sfumato.frontier.plot import COLOURS, SHAPES, data_of  # noqa: PLC0415 - as above

        series = list(dict.fromkeys(dot.series for dot in self.dots))
        mine = [dot for dot in self.dots if dot.panel == panel]
        names = list(dict.fromkeys(dot.name for dot in mine))
        rows = [
            {"name": d.name, "series": d.series, "y": d.y, "low": d.y - d.error, "high": d.y + d.error} for d in mine
        ]
        across = alt.X("name:N", sort=names, title=self.x, axis=alt.Axis(labelAngle=0, labelLimit=self.width))
        aside = alt.XOffset("series:N", sort=series)
        words = upwards_words(self.y, self.better) if titled else None
        scale = alt.Scale(zero=self.zero, nice=True)
        ticks = alt.Axis(tickMinStep=1) if all(float(dot.y).is_integer() for dot in self.dots) else alt.Axis()
        wide = self.width * len(names) * min(self.columns, len({dot.panel for dot in self.dots}))
        legend = alt.Legend(orient="bottom", title=None, columns=legend_columns(series, wide))
        colours, shapes = list(COLOURS[: len(series)]), list(SHAPES[: len(series)])
        colour = alt.Color("series:N", sort=series, scale=alt.Scale(domain=series, range=colours), legend=legend)
        shape = alt.Shape("series:N", sort=series, scale=alt.Scale(domain=series, range=shapes), legend=legend)
        tips = [alt.Tooltip("series:N"), alt.Tooltip("name:N"), alt.Tooltip("y:Q", title=self.y, format=".4")]
        base = alt.Chart(data_of(rows))
        layers: list[Any] = [
            base.mark_rule(strokeWidth=1.5).encode(
                x=across, xOffset=aside, color=colour, y2="high:Q",
                y=alt.Y("low:Q", title=words, scale=scale, axis=ticks),
            ),
            base.mark_point(size=80, filled=True, opacity=1).encode(
                x=across, xOffset=aside, color=colour, shape=shape, tooltip=tips,
                y=alt.Y("y:Q", title=words, scale=scale, axis=ticks),
            ),
        ]  # fmt: skip
        levels = [{"y": y, "words": said} for where, y, said in self.levels if where == panel]
        if levels:
            held = alt.Chart(data_of(levels))
            layers.append(held.mark_rule(color=RULE, strokeDash=[5, 4]).encode(y=alt.Y("y:Q", title=words)))
            layers.append(
                held.mark_text(align="left", baseline="bottom", dy=-3, fontSize=11, color=RULE).encode(
                    x=alt.value(4), y=alt.Y("y:Q", title=words), text="words:N"
                )
            )
        built = alt.layer(*layers).properties(width=self.width * len(names), height=300, title=panel)
        assert isinstance(built, alt.LayerChart), "no layer has facets"
        return built
