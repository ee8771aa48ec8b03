"""What all plots of figures share: how they look, the page they stand on, and the files they are written to."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from papers.figure import MARKS, Fact
from sfumato.errors import PublishError

if TYPE_CHECKING:
    import altair as alt

Better = Literal["lower", "higher", ""]
Table = tuple[Sequence[Any], Sequence[str]]  # rows, and which of their fields are columns

# From light to dark, so that an order among curves is seen without colours, too.
SHADES = ("#A6CEE3", "#66B2D9", "#3690C0", "#0570B0", "#045A8D", "#012E4A")
RING, RULE = "#D55E00", "#666666"


def shades(some: int) -> list[str]:
    """As many shades, as far apart as they can be.

    >>> shades(1) == [SHADES[-1]], shades(2) == [SHADES[0], SHADES[-1]]
    (True, True)
    """
    last = len(SHADES) - 1
    return [SHADES[last - round(place * last / max(some - 1, 1))] for place in range(some)][::-1]


def upwards_words(words: str, better: Better) -> str:
    """An axis title that says which way is better.

    >>> upwards_words("seconds", "lower"), upwards_words("k", "")
    ('↓ better · seconds', 'k')
    """
    return f"{'↓' if better == 'lower' else '↑'} better · {words}" if better else words


def legend_columns(names: Sequence[str], width: int) -> int:
    """How many names of a legend stand beside each other in so many dots of the screen.

    >>> legend_columns(["a"] * 4, 300), legend_columns(["a rather long name"] * 4, 320)
    (4, 2)
    """
    widest = max(len(name) for name in names)
    return max(1, min(len(names), width // (7 * widest + 32)))


def side_by_side_panels(
    panels: Sequence["alt.LayerChart"], *, title: str, note: str, columns: int, shared: bool
) -> "alt.ConcatChart":
    """Panels in rows of ``columns``, under one title; ``shared`` if all have the same axis upwards."""
    import altair as alt  # noqa: PLC0415 - takes a second to load

    built: alt.ConcatChart = (
        alt.concat(*panels, columns=columns, spacing=24)
        .resolve_scale(y="shared" if shared else "independent", x="independent")
        .properties(title=alt.TitleParams(title, subtitle=_lines(note), anchor="start", offset=12))
        .configure(font="system-ui, sans-serif", padding=10)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#EEEEEE")
        .configure_legend(labelFontSize=12, symbolSize=90, titleFontSize=12, labelLimit=330)
    )
    return built


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure with a title and a note: what it draws is its own, how it is written is the same for all."""

    title: str
    note: str

    def chart(self) -> "alt.ConcatChart":
        """The plot."""
        raise NotImplementedError

    def save(
        self,
        folder: Path,
        name: str,
        table: Table,
        facts: Sequence[Fact],
        more: Mapping[str, Table] | None = None,
    ) -> list[Path]:
        """Write the page, the plot twice, the table, and other tables by name."""
        from sfumato.frontier.plot import image  # noqa: PLC0415 - altair takes a second to load

        built = self.chart()
        files = {
            f"{name}.html": _page(built, self.title, self.note, facts),
            f"{name}.png": image(built, "png"),
            f"{name}.svg": image(built, "svg"),
            f"{name}.csv": csv_of(*table),
            **{f"{other}.csv": csv_of(*rows) for other, rows in (more or {}).items()},
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


def csv_of(rows: Sequence[Any], columns: Sequence[str]) -> str:
    """Some fields of some values, as a table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([getattr(row, name) for name in columns] for row in rows)
    return out.getvalue()


def _lines(note: str, wide: int = 110) -> list[str]:
    """A text in lines, since a plot does not wrap its titles."""
    found = [""]
    for word in note.split():
        if found[-1] and len(found[-1]) + len(word) >= wide:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


def _page(built: "alt.TopLevelMixin", title: str, note: str, facts: Sequence[Fact]) -> str:
    from sfumato.frontier.frontier_page import embedded, whole  # noqa: PLC0415 - altair takes a second to load

    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in (f.what, f.printed, f.ours, MARKS[f.agrees], f.why))}"
        "</tr>"
        for f in facts
    )
    heads = "".join(f"<th>{word}</th>" for word in ("what", "printed", "ours", "agrees", "why it may differ"))
    return whole(
        title,
        [
            f"<div class='wide'>{embedded(built)}</div>",
            f"<p>{escape(note)}</p>",
            f"<div class='wide'><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
        ],
    )
