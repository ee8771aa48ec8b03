"""Sets of codes, and which codes a comparison means."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.query.language import Comparison, Token, list_names, query_error
from sfumato.domains.sets.set_cut import NONE
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.check import similar_names
from sfumato.errors import UsageError

_NUMBER: Final = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Codes:
    """A set of codes as ranges in order that do not touch.

    >>> Codes.of([(5, 9), (0, 2), (2, 3)]).ranges, Codes.of([(2, 4)]).opposite(6).ranges
    (((0, 3), (5, 9)), ((0, 2), (4, 6)))
    """

    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> "Codes":
        """The union of ranges."""
        joined: list[Range] = []
        for start, stop in sorted(r for r in ranges if r[0] < r[1]):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
            else:
                joined.append((start, stop))
        return cls(tuple(joined))

    def opposite(self, size: int) -> "Codes":
        """All other codes below ``size``."""
        edges = [0, *(edge for r in self.ranges for edge in r), size]
        return Codes.of(zip(edges[::2], edges[1::2], strict=True))

    def __or__(self, other: "Codes") -> "Codes":
        return Codes.of((*self.ranges, *other.ranges))

    def __contains__(self, code: int) -> bool:
        return any(start <= code < stop for start, stop in self.ranges)

    def below(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many codes of the set are less than each given one."""
        edges = np.array(self.ranges, dtype=np.int64).reshape(-1, 2)
        lengths = np.concatenate([[0], np.cumsum(edges[:, 1] - edges[:, 0])])
        begun = np.searchsorted(edges[:, 0], codes, side="left")  # ranges that begin before the code
        stops = np.concatenate([[0], edges[:, 1]])[begun]
        beyond: NDArray[np.int64] = lengths[begun] - np.maximum(stops - codes, 0)
        return beyond


def codes_of(comparison: Comparison, domain: Domain, text: str) -> Codes:
    """The codes that satisfy a comparison with a value of this domain.

    A number or date stands for its step of the grid; beyond the bounds it stands below or above all. A label stands for
    all values below its node. A missing value is equal to its label alone and not less or greater than anything.
    """
    if comparison.operator == "contains":
        problem = f"'{comparison.name.text}' has one value a record, not a set"
        raise query_error(text, comparison.name.at, problem, "use =, != or `in`", code="SF-USAGE-014")
    places = [_place(value, domain, comparison, text) for value in comparison.values]
    if comparison.operator in ("=", "!="):
        equal = Codes.of(_within(place, domain) for place in places)
        return equal if comparison.operator == "=" else equal.opposite(domain.size)
    points = domain.points if isinstance(domain, Grid) else domain.size
    start, stop = places[0]
    ranges = {"<": (0, start), "<=": (0, stop), ">": (stop, points), ">=": (start, points)}
    lower, upper = ranges[comparison.operator]
    return Codes.of([(max(lower, 0), min(upper, points))])


def nodes_of(comparison: Comparison, domain: SetDomain, text: str) -> Codes | None:
    """The codes of which a record has at least one; None for a record without codes."""
    if comparison.operator not in ("=", "!=", "contains"):
        problem = f"'{comparison.name.text}' has sets of codes, which have no order"
        raise query_error(text, comparison.name.at, problem, "use `contains`, =, != or `in`", code="SF-USAGE-015")
    if [value.text for value in comparison.values] == [NONE]:
        return None
    return Codes.of(_place(value, domain, comparison, text) for value in comparison.values)


def _within(place: Range, domain: Domain) -> Range:
    beyond = isinstance(domain, Grid) and place[0] >= domain.points and place != _missing_place(domain)
    return (0, 0) if place[0] < 0 or beyond else place


def _place(value: Token, domain: Domain, comparison: Comparison, text: str) -> Range:
    """The codes a value stands for; on a grid (-1, 0) below the bounds, and one beyond the last point above them."""
    ordered = comparison.operator not in ("=", "!=", "contains")
    name = comparison.name.text
    if ordered and not isinstance(domain, Grid):
        problem = f"'{name}' has categories, which have no order"
        raise query_error(text, comparison.name.at, problem, "use =, != or `in`", code="SF-USAGE-016")
    if domain.taxonomy is not None and value.text in domain.taxonomy.labels:
        return domain.taxonomy.range_of(domain.taxonomy.find(value.text))
    if isinstance(domain, Grid):
        if domain.missing is not None and value.text == domain.missing_label and not ordered:
            return _missing_place(domain)
        return _step(value, domain, name, text)
    assert domain.taxonomy is not None, "categories have a taxonomy"
    labels = list(dict.fromkeys(domain.taxonomy.labels))
    close = similar_names(value.text, labels)
    fix = f"write {' or '.join(repr(c) for c in close)}" if close else f"use one of: {list_names(labels)}"
    raise query_error(text, value.at, f"'{name}' has no value '{value.text}'", fix, code="SF-USAGE-017")


def _missing_place(domain: Grid) -> Range:
    return domain.points, domain.points + 1


def _step(value: Token, grid: Grid, name: str, text: str) -> Range:
    number = _number(value, grid, name, text)
    if number > grid.upper:
        return grid.points + 1, grid.points + 2  # past the missing value's code too
    code = max(int((number - grid.lower) // grid.step), -1)
    return code, code + 1


def _number(value: Token, grid: Grid, name: str, text: str) -> Fraction:
    if grid.unit != "day" and _NUMBER.fullmatch(value.text):
        return Fraction(value.text)
    if grid.unit == "day" and _DAY.fullmatch(value.text):
        try:
            return Fraction(dt.date.fromisoformat(value.text).toordinal())
        except ValueError:  # the 31st of June
            pass
    raise _not_a_number(value, grid, name, text)


def _not_a_number(value: Token, grid: Grid, name: str, text: str) -> UsageError:
    kind = "a date such as 2004-12-31" if grid.unit == "day" else "a number"
    bounds = f"{grid.text(grid.lower)} to {grid.text(grid.upper)}"
    named = "" if grid.missing is None else f", or '{grid.missing_label}'"
    return query_error(
        text,
        value.at,
        f"'{value.text}' is no value of '{name}'",
        f"write {kind} from {bounds}{named}",
        code="SF-USAGE-018",
    )
