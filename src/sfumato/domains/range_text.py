"""Ranges of codes as text and back: an interval, a node's name, or the first and last of neighbouring values.

`RangeTexts` does so for a column, where every group has a region of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.errors import PublishError, VerifyError

Integers = NDArray[np.int64]

_TOGETHER: Final = 1 << 16  # texts that are Python's at once: they take ten times the room there
TO: Final = " … "  # between the first and the last of neighbouring values that are no node together


def range_text(domain: Domain, start: int, stop: int) -> str:
    """How a range reads: an interval, a node's name, or the first and last of values that are no node together.

    >>> from sfumato.domains.taxonomy.tree import Node, Taxonomy
    >>> size = Categories(taxonomy=Taxonomy.of(Node("Any", tuple(map(Node, ("small", "medium", "large"))))))
    >>> [range_text(size, *found) for found in ((0, 1), (0, 2), (0, 3))]
    ['small', 'small … medium', 'Any']
    """
    if isinstance(domain, Categories) and (start, stop) not in node_labels(domain):
        leaves = domain.taxonomy.leaves
        return f"{leaves[start]}{TO}{leaves[stop - 1]}"
    return domain.label(start, stop)


def ranges_of(domain: Domain, texts: Sequence[str]) -> list[Range | None]:
    """The ranges that texts stand for, as `range_text` writes them; None for a text that is none of them.

    >>> from fractions import Fraction
    >>> age = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    >>> ranges_of(age, ["[18, 40)", "[40, 120]", "7", "old"])
    [(18, 40), (40, 121), (7, 8), None]
    """
    return _intervals(domain, texts) if isinstance(domain, Grid) else _named(domain, texts)


def node_labels(domain: Categories) -> dict[Range, str]:
    """The names of nodes by their ranges; of a chain of only children the last one names it, as in `Taxonomy.label`."""
    tree = domain.taxonomy
    return {(tree.starts[n], tree.stops[n]): tree.labels[n] for n in range(len(tree.labels))}


def _named(domain: Domain, texts: Sequence[str]) -> list[Range | None]:
    assert isinstance(domain, Categories), "a grid is read by its intervals"
    nodes = node_labels(domain)
    known = {text: found for found, text in nodes.items()}
    codes = domain.codes()
    found = [known[text] if text in known else _between(text, codes) for text in texts]
    # A range that is a node has the name of the node alone: with two names, one class could look like two.
    return [None if pair in nodes and text not in known else pair for text, pair in zip(texts, found, strict=True)]


def _intervals(grid: Grid, texts: Sequence[str]) -> list[Range | None]:
    """By where each interval begins and ends; then compared, since a text that is no float may be a step off."""
    lost = None if grid.missing is None else grid.missing_label
    pieces = [_pieces(text, lost) for text in texts]
    begins = grid.codes_of_labels(begin for begin, _, _ in pieces).tolist()
    ends = grid.codes_of_labels(end for _, end, _ in pieces).tolist()
    found: list[Range | None] = []
    for text, (_, end, missing), begin, code in zip(texts, pieces, begins, ends, strict=True):
        stop = grid.points if text.removesuffix(f" or {lost}").endswith("]") else code + (not end)
        stop = begin + 1 if not end else stop
        found.append(_checked(grid, text, (grid.size - 1, grid.size) if text == lost else (begin, stop), missing))
    return found


def _pieces(text: str, lost: str | None) -> tuple[str, str, bool]:
    """Where an interval begins and ends (nothing for a single value), and whether the missing value is with it."""
    missing = lost is not None and text.endswith(f" or {lost}")
    body = text.removesuffix(f" or {lost}") if missing else text
    begin, _, end = body.removeprefix("[").removesuffix("]").removesuffix(")").partition(", ")
    return begin, end if body.startswith("[") else "", missing


def _checked(grid: Grid, text: str, near: Range, missing: bool) -> Range | None:  # noqa: FBT001 - one of a list
    """The range that reads as the text, the one found or one a step away."""
    for start in (near[0], near[0] + 1, near[0] - 1):
        for stop in (near[1], near[1] + 1, near[1] - 1):
            last = grid.size if missing else stop
            if 0 <= start < last <= grid.size and grid.label(start, last) == text:
                return start, last
    return None


def _between(text: str, codes: dict[str, int]) -> Range | None:
    """A range named by its first and last value; the values themselves may hold the mark between them."""
    parts = text.split(TO)
    for cut in range(1, len(parts)):
        first, last = codes.get(TO.join(parts[:cut])), codes.get(TO.join(parts[cut:]))
        if first is not None and last is not None and first < last:
            return first, last + 1
    return None


@dataclass(frozen=True)
class RangeTexts:
    """The texts of one attribute's ranges, made and read a distinct range at a time, never by the row."""

    name: str
    domain: Domain

    def texts(self, starts: Integers, stops: Integers) -> pa.Array:
        """The texts of distinct ranges; refuses two that read alike."""
        if isinstance(self.domain, Categories):
            nodes, leaves = node_labels(self.domain), self.domain.taxonomy.leaves
            ranges = list(zip(starts.tolist(), stops.tolist(), strict=True))
            found = [nodes.get(pair) or f"{leaves[pair[0]]}{TO}{leaves[pair[1] - 1]}" for pair in ranges]
            self._refuse_misread(found, ranges)
            texts = pa.array(found, pa.string())
        else:
            texts = pa.concat_arrays(
                [
                    self._labels(starts[at : at + _TOGETHER], stops[at : at + _TOGETHER])
                    for at in range(0, max(len(starts), 1), _TOGETHER)
                ]
            )
        if pc.count_distinct(texts).as_py() != len(texts):
            raise PublishError(
                f"two regions of '{self.name}' read alike, so a receiver could not tell them apart",
                "give the values different names, or numbers a coarser step",
                code="SF-PUBLISH-018",
            )
        return texts

    def _labels(self, starts: Integers, stops: Integers) -> pa.Array:
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        return pa.array([self.domain.label(*pair) for pair in pairs], pa.string())

    def _refuse_misread(self, texts: Sequence[str], ranges: Sequence[Range]) -> None:
        """Names with the mark between first and last value in them can make a range read as something else."""
        for text, meant, read in zip(texts, ranges, ranges_of(self.domain, texts), strict=True):
            if meant != read:
                raise PublishError(
                    f"some neighbouring values of '{self.name}' would read as '{text}', and its taxonomy can be read "
                    "another way there",
                    f"rename the values and nodes of '{self.name}' that have '{TO}' in their names, or leave it out "
                    "of `ordered`",
                    code="SF-PUBLISH-019",
                )

    def ranges(self, texts: Sequence[str]) -> tuple[Integers, Integers]:
        """The ranges that texts stand for; a text that is none of them is an error."""
        found = ranges_of(self.domain, texts)
        if None in found:
            raise VerifyError(
                f"'{self.name}' has a value that is no region of its domain",
                "get the bundle again",
                code="SF-VERIFY-067",
            )
        pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]
