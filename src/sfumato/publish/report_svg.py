"""Small pictures for the owner's report, as SVG inside the page: bars, nothing else."""

from collections.abc import Sequence
from html import escape

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
