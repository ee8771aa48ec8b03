"""Tables of the owner's report as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rows:
    """A table: a caption, heads, lines of text, and which columns are numbers."""

    caption: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
