"""Tables as lines of text: whole in a pipe, within the width of a terminal."""

from collections.abc import Collection, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final

from rich.cells import cell_len

Line = tuple[str, bool]
"""A line, and whether it is a heading."""

_GAP: Final = 2  # spaces between columns of a table
_ENOUGH: Final = 30  # columns that text needs to be read beside a table
_BELOW: Final = 4  # spaces before text that stands below its row


def table_lines(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None, right: Collection[int] = ()
) -> list[Line]:
    """Rows under names; columns in ``right`` hold numbers. Without a width, as in a pipe, a row is a line.

    In a terminal of some width nothing is wider, except a single word. Names go over several lines where that makes
    room. The last column takes what is left and wraps between words; where too little is left, it stands below its
    row. All others stay whole, so that no name or number is broken; where they do not fit beside each other, every row
    becomes a list.

    >>> table_lines(["k", "groups"], [["5", "1,200"]], width=None, right=(1,))
    [('k  groups', True), ('5   1,200', False)]
    >>> [line for line, _ in table_lines(["k", "what was found"], [["5", "all of it and more"]], width=12)]
    ['k', '5', '    all of it and more']
    """
    widths = [max(cell_len(row[at]) for row in [names, *rows]) for at in range(len(names))]
    if width is None:
        lines = [(_line(row, widths, right), not number) for number, row in enumerate([names, *rows])]
        return lines if any(names) else lines[1:]
    if _total(widths) > width:  # the names in several lines
        words = [max((cell_len(word) for word in name.split()), default=0) for name in names]
        cells = [max((cell_len(row[at]) for row in rows), default=0) for at in range(len(names))]
        widths = [max(pair) for pair in zip(words, cells, strict=True)]
    before = _total(widths[:-1]) + _GAP if len(widths) > 1 else 0
    left = width - before
    if left < 0:
        return _lists(names, rows, width)
    shown = widths if widths[-1] <= left or left >= _ENOUGH else widths[:-1]
    head = [_wrapped(name, min(wide, width)) for name, wide in zip(names, shown, strict=False)]
    lines = [(_line(line, shown, right), True) for line in zip_longest(*head, fillvalue="") if any(line)]
    for row in rows:
        lines += [(line, False) for line in _row_lines(row, widths, right, left, width)]
    return lines


def _row_lines(row: Sequence[str], widths: Sequence[int], right: Collection[int], left: int, width: int) -> list[str]:
    """One row, with its last cell beside the others or below them."""
    if widths[-1] <= left:
        return [_line(row, widths, right)]
    whole = _line(row[:-1], widths[:-1], right, strip=False)
    if left < _ENOUGH:
        return [whole.rstrip(), *_below(row[-1], width)]
    start = whole + " " * _GAP if len(row) > 1 else ""
    first, *more = _wrapped(row[-1], left)
    return [(start + first).rstrip(), *(" " * cell_len(start) + line for line in more)]


def _lists(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Every row as its first cell with the others below it, by name."""
    lines: list[Line] = []
    for first, *others in rows:
        lines.append((first, True))
        for name, cell in zip(names[1:], others, strict=True):
            lines += [(line, False) for line in _below(f"{name}: {cell}", width)]
    return lines


def _below(text: str, width: int) -> list[str]:
    return [" " * _BELOW + line for line in _wrapped(text, max(width - _BELOW, _ENOUGH))] if text else []


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, max(width, 1), break_on_hyphens=False, break_long_words=False) or [""]


def _line(row: Sequence[str], widths: Sequence[int], right: Collection[int], *, strip: bool = True) -> str:
    cells = [
        " " * (width - cell_len(cell)) + cell if at in right else cell + " " * (width - cell_len(cell))
        for at, (cell, width) in enumerate(zip(row, widths, strict=False))
    ]
    line = (" " * _GAP).join(cells)
    return line.rstrip() if strip else line


def _total(widths: Sequence[int]) -> int:
    """How wide columns are beside each other."""
    return sum(widths) + _GAP * (len(widths) - 1)
