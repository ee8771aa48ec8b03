"""Taxonomies made by rule: flat lists, prefixes of codes, intervals of numbers, and the calendar.

The nodes of a grid's taxonomy are named as the release will name them (`Grid.label`), so what is shown beforehand is
what comes out. A level that splits nothing is left out.
"""

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from sfumato.domains.domain import Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import TaxonomyError

ROOT = "Any"
MOST = 1_000_000  # leaves of a grid's taxonomy; with more of them a grid without one is what is meant

CALENDAR = ("decade", "year", "quarter", "month", "day")
_MONTHS = {"decade": 120, "year": 12, "quarter": 3, "month": 1}


def flat(values: Sequence[str], root: str = ROOT) -> Taxonomy:
    """All values right below the root.

    >>> flat(["yes", "no"]).labels
    ('Any', 'yes', 'no')
    """
    if not values:
        raise TaxonomyError("the list of values is empty", "write at least one value", code="SF-TAXONOMY-001")
    _refuse_repeats(values)
    if root in values:
        raise TaxonomyError(
            f"the value '{root}' has the name of the root",
            f"write a taxonomy with another root: {{All: [{root}, …]}}",
            code="SF-TAXONOMY-002",
        )
    return Taxonomy.of(Node(root, tuple(Node(value) for value in values)))


def prefixes(codes: Sequence[str], lengths: Sequence[int], root: str = ROOT) -> Taxonomy:
    """Codes below their first characters: each length gives a level, the shortest on top.

    >>> print(*prefixes(["13053", "13068", "14850"], [1, 3]).labels)
    Any 1**** 130** 13053 13068 148** 14850
    """
    if not codes:
        raise TaxonomyError(
            "the list of codes is empty", "list the codes as the attribute's `values`", code="SF-TAXONOMY-003"
        )
    if not lengths or min(lengths) < 1:
        raise TaxonomyError(
            "a prefix needs one character or more", "write lengths such as [1, 3]", code="SF-TAXONOMY-004"
        )
    _refuse_repeats(codes)
    longest = max(len(code) for code in codes)
    even = all(len(code) == longest for code in codes)

    def below(members: Sequence[str], left: Sequence[int]) -> tuple[Node, ...]:
        if not left:
            return tuple(Node(code) for code in members)
        groups: dict[str, list[str]] = {}
        for code in members:
            groups.setdefault(code[: left[0]], []).append(code)
        nodes: list[Node] = []
        for start, group in groups.items():
            if group == [start]:  # the prefix is the code itself
                nodes.append(Node(start))
            else:
                star = "*" * (longest - len(start)) if even else "*"
                nodes.append(Node(start + star, below(group, left[1:])))
        return tuple(nodes)

    return Taxonomy.of(Node(root, below(codes, sorted(set(lengths)))))


def equal_width(
    grid: Grid, width: Fraction, *, levels: int = 1, factor: int = 2, origin: Fraction | None = None
) -> Taxonomy:
    """Intervals of one width from ``origin`` (the lower bound), ``factor`` of them together on each level above.

    The upper bound belongs to the interval that ends with it.

    >>> age = Grid(lower=Fraction(0), upper=Fraction(100), step=Fraction(1), unit="integer")
    >>> print(*equal_width(age, Fraction(25), levels=2).labels)
    [0, 100] [0, 50) [0, 25) [25, 50) [50, 100] [50, 75) [75, 100]
    """
    if width <= 0 or levels < 1 or factor < 2:  # noqa: PLR2004 - a level that joins one interval is none
        raise TaxonomyError(
            f"intervals of width {width} on {levels} levels by {factor}",
            "choose a width above 0, one level or more, and a factor of 2 or more",
            code="SF-TAXONOMY-005",
        )
    start = grid.lower if origin is None else origin
    if (grid.upper - grid.lower) / width > MOST:
        raise _too_many()

    def codes(wide: Fraction) -> list[int]:
        first, last = (grid.lower - start) // wide + 1, ceil((grid.upper - start) / wide) - 1
        return [_code(grid, start + number * wide) for number in range(first, last + 1)]

    return _below(grid, [codes(width * factor**up) for up in range(levels - 1, -1, -1)])


def nested_bounds(grid: Grid, levels: Sequence[Sequence[Fraction]]) -> Taxonomy:
    """Intervals that begin at the given bounds, coarsest level first; each level keeps the bounds of those above it.

    A level is written with both ends of the grid or with neither.

    >>> age = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    >>> print(*nested_bounds(age, [[Fraction(65)], [Fraction(18), Fraction(30)]]).labels)
    [0, 120] [0, 65) [0, 18) [18, 30) [30, 65) [65, 120]
    """
    return _below(grid, [sorted({_code(grid, bound) for bound in _inner(grid, level)}) for level in levels])


def dates(grid: Grid, levels: Sequence[str]) -> Taxonomy:
    """The calendar over a grid of days: decades, years, quarters, months and days, as many of them as are named.

    >>> days = dict(lower=dt.date(2003, 12, 30).toordinal(), upper=dt.date(2004, 1, 2).toordinal())
    >>> grid = Grid(lower=Fraction(days["lower"]), upper=Fraction(days["upper"]), step=Fraction(1), unit="day")
    >>> dates(grid, ["year"]).leaves
    ('[2003-12-30, 2004-01-01)', '[2004-01-01, 2004-01-02]')
    """
    if grid.unit != "day" or grid.step != 1:
        raise TaxonomyError("the calendar needs whole days", "use `type: date` with `step: 1`", code="SF-TAXONOMY-006")
    unknown = [level for level in levels if level not in CALENDAR]
    if unknown or not levels:
        raise TaxonomyError(
            f"'{unknown[0]}' is no level of the calendar" if unknown else "no level of the calendar is named",
            f"choose from: {', '.join(CALENDAR)}",
            code="SF-TAXONOMY-007",
        )
    wanted = [level for level in CALENDAR if level in levels]
    return _below(grid, [list(_calendar(grid, level)) for level in wanted])


def quantile_bounds(grid: Grid, public: Iterable[Fraction], parts: int) -> tuple[Fraction, ...]:
    """Bounds that cut a list of public numbers into ``parts`` of about equal size, moved down onto the grid.

    The list must be public: bounds computed from the records would tell about them.

    >>> age = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    >>> [int(bound) for bound in quantile_bounds(age, map(Fraction, range(100)), 4)]
    [25, 50, 75]
    """
    numbers = sorted(public)
    if parts < 2 or len(numbers) < parts:  # noqa: PLR2004 - one part has no bounds
        raise TaxonomyError(
            f"{len(numbers)} public numbers cannot be cut into {parts} parts",
            "ask for 2 parts or more, and give at least as many numbers",
            code="SF-TAXONOMY-008",
        )
    cuts = (numbers[-(-part * len(numbers) // parts)] for part in range(1, parts))
    on_grid = {grid.lower + (cut - grid.lower) // grid.step * grid.step for cut in cuts}
    return tuple(sorted(bound for bound in on_grid if grid.lower < bound <= grid.upper))


def _below(grid: Grid, levels: Sequence[Sequence[int]]) -> Taxonomy:
    """The tree of the ranges of codes that begin at the codes of each level."""
    if sum(len(level) for level in levels) > MOST:
        raise _too_many()
    if not any(levels):
        raise TaxonomyError(
            f"the intervals split nothing: {grid.label(0, grid.points)} stays whole",
            "choose narrower intervals or bounds inside the grid, or leave the taxonomy out",
            code="SF-TAXONOMY-009",
        )
    widths: list[int] = []

    def node(start: int, stop: int, depth: int) -> Node:
        children: tuple[Node, ...] = ()
        for deeper in range(depth, len(levels)):
            cuts = _within(levels[deeper], start, stop)
            if cuts:
                edges = [start, *cuts, stop]
                children = tuple(node(a, b, deeper + 1) for a, b in pairwise(edges))
                break
        else:
            widths.append(stop - start)
        return Node(grid.label(start, stop), children)

    root = node(0, grid.points, 0)
    if grid.missing is not None:
        widths.append(1)
        root = Node(grid.label(0, grid.size), (*root.children, Node(grid.missing_label)))
    return Taxonomy.of(root, widths)


def _within(cuts: Sequence[int], start: int, stop: int) -> Sequence[int]:
    first, last = bisect_right(cuts, start), bisect_left(cuts, stop)
    return cuts[first:last]


def _inner(grid: Grid, level: Sequence[Fraction]) -> Sequence[Fraction]:
    """A level without the ends of the grid, if it names both."""
    if grid.lower in level and grid.upper in level:
        return [bound for bound in level if bound not in (grid.lower, grid.upper)]
    return level


def _code(grid: Grid, bound: Fraction) -> int:
    code = (bound - grid.lower) / grid.step
    if not grid.lower < bound <= grid.upper:
        raise TaxonomyError(
            f"the bound {_text(grid, bound)} is not between {grid.text(grid.lower)} and {grid.text(grid.upper)}",
            "choose bounds above the lower bound and up to the upper one",
            code="SF-TAXONOMY-010",
        )
    if code.denominator != 1:
        raise TaxonomyError(
            f"the bound {_text(grid, bound)} is not on the grid from {grid.text(grid.lower)} in steps of {grid.step}",
            "choose a bound on the grid, or a smaller step",
            code="SF-TAXONOMY-011",
        )
    return int(code)


def _text(grid: Grid, bound: Fraction) -> str:
    return grid.text(bound) if grid.unit != "day" or bound.denominator == 1 else str(bound)


def _calendar(grid: Grid, level: str) -> Iterator[int]:
    """The codes inside the grid at which a decade, year, … begins."""
    if level == "day":
        yield from range(1, grid.points)
        return
    first = dt.date.fromordinal(int(grid.lower))
    every = _MONTHS[level]
    month = (first.year * 12 + first.month - 1) // every * every + every
    while month < (dt.MAXYEAR + 1) * 12:
        code = dt.date(month // 12, month % 12 + 1, 1).toordinal() - int(grid.lower)
        if code >= grid.points:
            return
        yield code
        month += every


def _refuse_repeats(values: Sequence[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if not value.strip():
            raise TaxonomyError(
                "a value in the list is empty",
                "take it out; for records without a value use the attribute's `missing`",
                code="SF-TAXONOMY-012",
            )
        if value in seen:
            raise TaxonomyError(
                f"'{value}' stands twice in the list of values", "write it once", code="SF-TAXONOMY-013"
            )
        seen.add(value)


def _too_many() -> TaxonomyError:
    return TaxonomyError(
        f"the taxonomy would have more than {MOST:,} intervals",
        "choose wider intervals, or leave the taxonomy out: the grid can then be split anywhere",
        code="SF-TAXONOMY-014",
    )
