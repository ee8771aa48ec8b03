"""A field of the owner's report: records by two shares from 0 to 1, and the diagonal where both agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p


@dataclass(frozen=True)
class Square:
    """One square: its place from the left and from the top in steps, how dark it is, and what it says."""

    x: int
    y: int
    dark: float
    says: str


@dataclass(frozen=True)
class Field:
    """Squares of a grid with ``size`` steps each way; a template draws them."""

    title: str
    across: str
    up: str
    size: int
    squares: tuple[Square, ...]


def field(cells: Sequence[tuple[int, int, int]], *, size: int, title: str, across: str, up: str) -> Field:
    """A square is darker the more records it holds.

    >>> field([(9, 1, 5), (9, 9, 1)], size=10, title="t", across="x", up="y").squares[0].says
    'x 90% to 100%, y 10% to 20%: 5 records'
    """
    most = max([log1p(count) for *_, count in cells], default=1.0)
    squares = tuple(
        Square(
            x,
            size - 1 - y,
            round(0.25 + 0.75 * log1p(count) / most, 2),
            f"{across} {x / size:.0%} to {(x + 1) / size:.0%}, {up} {y / size:.0%} to {(y + 1) / size:.0%}: "
            f"{count:,} records",
        )
        for x, y, count in cells
    )
    return Field(title, across, up, size, squares)
