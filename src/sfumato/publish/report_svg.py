"""Small pictures for the owner's report, as SVG inside the page: bars, and a field of cells."""

from collections.abc import Sequence
from html import escape
from math import log1p

_WIDTH = 640
_ROW = 22
_LABEL = 200


def histogram(counts: Sequence[int], labels: Sequence[str], *, title: str) -> str:
    """Upright bars, one a bin, with the number above and the bin's name below.

    >>> histogram([3, 1], ["5", "6"], title="sizes").count("<rect")
    2
    """
    height, floor, top = 220, 180, 20
    most = max([*counts, 1])
    step = _WIDTH / max(len(counts), 1)
    parts = []
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall = (floor - top) * count / most
        left, middle = place * step, (place + 0.5) * step
        parts.append(
            f'<rect class="bar" x="{left + step * 0.1:.1f}" y="{floor - tall:.1f}" width="{step * 0.8:.1f}" '
            f'height="{tall:.1f}"><title>{escape(label)}: {count:,}</title></rect>'
            f'<text class="number" x="{middle:.1f}" y="{floor - tall - 4:.1f}">{_short(count)}</text>'
            f'<text class="number" x="{middle:.1f}" y="{floor + 16}">{escape(label)}</text>'
        )
    return _svg(height, title, "".join(parts))


def bars(rows: Sequence[tuple[str, float]], *, title: str, most: float = 1.0) -> str:
    """Bars to the right, one a name, with the share behind."""
    parts = []
    for place, (name, value) in enumerate(rows):
        top = place * _ROW
        parts.append(_named(name, top + 15) + _bar("bar", top + 3, _ROW - 6, value, most, f"{name}: {value:.1%}"))
    return _svg(len(rows) * _ROW + 4, title, "".join(parts))


def pairs(rows: Sequence[tuple[str, float, float]], *, title: str) -> str:
    """Two bars a name, before and after."""
    most = max([1e-9, *(max(before, after) for _, before, after in rows)])
    parts = []
    for place, (name, before, after) in enumerate(rows):
        top = place * (_ROW + 6)
        parts.append(
            _named(name, top + 18)
            + _bar("before", top + 2, 10, before, most, f"{name}, before: {before:.1%}")
            + _bar("bar", top + 13, 10, after, most, f"{name}, after: {after:.1%}")
        )
    return _svg(len(rows) * (_ROW + 6) + 4, title, "".join(parts))


def field(cells: Sequence[tuple[int, int, int]], *, size: int, title: str, across: str, up: str) -> str:
    """Records by two shares from 0 to 1: a cell is darker the more records it holds; the diagonal is where both agree.

    >>> field([(9, 1, 5), (9, 9, 1)], size=10, title="t", across="x", up="y").count("<rect")
    3
    """
    wide, left, top = 400, 60, 8
    one = wide / size
    most = max([log1p(count) for *_, count in cells], default=1.0)
    parts = [f'<rect class="ground" x="{left}" y="{top}" width="{wide}" height="{wide}"/>']
    for x, y, count in cells:
        told = (
            f"{across} {x / size:.0%} to {(x + 1) / size:.0%}, {up} {y / size:.0%} to {(y + 1) / size:.0%}: {count:,}"
        )
        parts.append(
            f'<rect class="bar" x="{left + x * one:.1f}" y="{top + wide - (y + 1) * one:.1f}" width="{one:.1f}" '
            f'height="{one:.1f}" fill-opacity="{0.25 + 0.75 * log1p(count) / most:.2f}">'
            f"<title>{escape(told)}</title></rect>"
        )
    floor = top + wide
    parts.append(f'<line class="limit" x1="{left}" y1="{floor}" x2="{left + wide}" y2="{top}"/>')
    parts.append(f'<text class="number" x="{left + wide / 2}" y="{floor + 34}">{escape(across)}</text>')
    parts.append(f'<text x="{left}" y="{floor + 54}">{escape(up)}: upwards; the line is the cap</text>')
    for share in (0.0, 0.5, 1.0):
        parts.append(f'<text class="number" x="{left + share * wide}" y="{floor + 16}">{share:.0%}</text>')
        parts.append(f'<text class="name" x="{left - 8}" y="{floor - share * wide + 4}">{share:.0%}</text>')
    return _svg(floor + 60, title, "".join(parts))


def _named(name: str, at: int) -> str:
    shown = name if len(name) <= 28 else f"{name[:27]}…"  # noqa: PLR2004 - what fits before the bars
    return f'<text class="name" x="{_LABEL - 8}" y="{at}">{escape(shown)}<title>{escape(name)}</title></text>'


def _bar(kind: str, top: float, tall: float, value: float, most: float, told: str) -> str:
    wide = (_WIDTH - _LABEL - 60) * value / most
    return (
        f'<rect class="{kind}" x="{_LABEL}" y="{top}" width="{wide:.1f}" height="{tall}"><title>{escape(told)}</title>'
        f'</rect><text class="share" x="{_LABEL + wide + 5:.1f}" y="{top + tall - 1}">{value:.1%}</text>'
    )


def _svg(height: float, title: str, body: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )


def _short(count: int) -> str:
    for limit, unit in ((1_000_000, "M"), (10_000, "k")):
        if count >= limit:
            return f"{count / (1_000_000 if unit == 'M' else 1_000):.3g}{unit}"
    return str(count)
