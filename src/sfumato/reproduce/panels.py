"""A figure of two panels side by side: curves, what the paper prints, and the files they are written to."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import PublishError
from sfumato.reproduce.figure import MARKS, Fact

if TYPE_CHECKING:
    import altair as alt

Table = tuple[Sequence[Any], Sequence[str]]  # rows, and which of their fields are columns

# From light to dark, so that an order among curves is seen without colours, too.
_SHADES = ("#A6CEE3", "#66B2D9", "#3690C0", "#0570B0", "#045A8D", "#012E4A")
_RING = "#D55E00"
_BEND, _BENT_TICKS = 0.03, (0, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of one panel."""

    panel: str
    series: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panels:
    """Curves by panel on the same axes; ``printed`` are points (panel, x, y) that the paper gives."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    printed: tuple[tuple[str, float, float], ...]
    note: str
    bent: bool = False  # whether the axis upwards is logarithmic, down to a few hundredths, for small shares to be seen

    def chart(self) -> "alt.HConcatChart":
        """The plot."""
        import altair as alt  # noqa: PLC0415 - takes a second to load

        series = list(dict.fromkeys(curve.series for curve in self.curves))
        first = next(iter(self.curves)).panel
        panels = [
            self._panel(panel, series, titled=panel == first)
            for panel in dict.fromkeys(curve.panel for curve in self.curves)
        ]
        built: alt.HConcatChart = (
            alt.hconcat(*panels)
            .resolve_scale(y="shared")
            .properties(title=alt.TitleParams(self.title, subtitle=self.note, anchor="start", offset=12))
            .configure(font="system-ui, sans-serif", padding=10)
            .configure_view(stroke=None)
            .configure_axis(labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#EEEEEE")
            .configure_legend(labelFontSize=12, symbolSize=90, titleFontSize=12)
        )
        return built

    def save(
        self,
        folder: Path,
        name: str,
        table: Table,
        facts: Sequence[Fact],
        more: Mapping[str, Table] | None = None,
    ) -> list[Path]:
        """Write the page, the plot twice, the table, and other tables by name."""
        from sfumato.compare.plot import image  # noqa: PLC0415 - altair takes a second to load

        built = self.chart()
        files = {
            f"{name}.html": self._page(built, facts).encode("utf-8"),
            f"{name}.png": image(built, "png"),
            f"{name}.svg": str(image(built, "svg")).encode("utf-8"),
            f"{name}.csv": _table(*table).encode("utf-8"),
            **{f"{other}.csv": _table(*rows).encode("utf-8") for other, rows in (more or {}).items()},
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, found in files.items():
                (folder / file).write_bytes(found if isinstance(found, bytes) else found.encode("utf-8"))
        except OSError as error:
            raise PublishError(
                f"'{folder}' cannot be written ({error.strerror})", "name a folder you may write to with --out"
            ) from None
        return [folder / file for file in files]

    def _panel(self, panel: str, series: list[str], *, titled: bool) -> "alt.LayerChart":
        import altair as alt  # noqa: PLC0415 - takes a second to load

        from sfumato.compare.plot import data_of  # noqa: PLC0415 - as above

        rows = [
            {"x": x, "y": y, "series": curve.series} for curve in self.curves if curve.panel == panel
            for x, y in curve.points
        ]  # fmt: skip
        scale = alt.Scale(type="symlog", constant=_BEND) if self.bent else alt.Scale()
        ticks = alt.Axis(values=list(_BENT_TICKS), format="~g") if self.bent else alt.Axis()
        across = alt.X("x:Q", title=self.x, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
        upwards = alt.Y("y:Q", title=self.y if titled else None, scale=scale, axis=ticks)
        colours = alt.Scale(domain=series, range=list(_SHADES[-len(series) :]))
        tips = [
            alt.Tooltip("series:N"),
            alt.Tooltip("x:Q", title=self.x),
            alt.Tooltip("y:Q", title=self.y, format=".3"),
        ]
        lines = (
            alt.Chart(data_of(rows))
            .mark_line(point=alt.OverlayMarkDef(size=45), strokeWidth=2)
            .encode(
                x=across, y=upwards, tooltip=tips,
                color=alt.Color("series:N", sort=series, scale=colours, legend=alt.Legend(orient="bottom", title=None)),
            )
        )  # fmt: skip
        printed = [{"x": x, "y": y, "said": "the paper"} for where, x, y in self.printed if where == panel]
        rings = (
            alt.Chart(data_of(printed))
            .mark_point(size=260, color=_RING, strokeWidth=2.5, filled=False)
            .encode(x=across, y=upwards, tooltip=[alt.Tooltip("said:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q")])
        )
        built = alt.layer(lines, rings).properties(width=320, height=300, title=panel)
        assert isinstance(built, alt.LayerChart), "neither of the layers has facets"
        return built

    def _page(self, built: "alt.HConcatChart", facts: Sequence[Fact]) -> str:
        from sfumato.compare.page import embedded, whole  # noqa: PLC0415 - altair takes a second to load

        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in (f.what, f.printed, f.ours, MARKS[f.agrees], f.why))}"
            "</tr>"
            for f in facts
        )
        heads = "".join(f"<th>{word}</th>" for word in ("what", "printed", "ours", "agrees", "why it may differ"))
        return whole(
            self.title,
            [
                f"<h1>{escape(self.title)}</h1>",
                f"<div class='wide'>{embedded(built)}</div>",
                f"<p>{escape(self.note)}</p>",
                f"<div class='wide'><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
            ],
        )


def _table(rows: Sequence[Any], columns: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([getattr(row, name) for name in columns] for row in rows)
    return out.getvalue()
