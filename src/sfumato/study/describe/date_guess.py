"""Which formats the dates of a column may be written in, told from some of its values; for proposals to the owner."""

import re
from collections.abc import Sequence
from typing import Final

from sfumato.domains.dates import BLANKS, USUAL, DayFormat, read_day

_DAYS: Final = (
    "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%Y%m%d", "%d %b %Y", "%d-%b-%Y", "%d%b%Y",
    "%b %d, %Y", "%b %d %Y", "%Y-%b-%d", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%m-%d-%y", "%d-%b-%y",
    "%Y-%m-%d", "%d.%m.%Y", "%Y-%m",
    "%m/%Y", "%Y/%m", "%m.%Y", "%m-%Y", "%b %Y", "%b-%Y",
)  # fmt: skip
_TIMES: Final = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")
CANDIDATES: Final = tuple(DayFormat.of(f"{day}{time}") for day in _DAYS for time in _TIMES)
_LIKE_ONE: Final = re.compile("|".join(f"(?:{form.pattern[1:-1]})" for form in CANDIDATES))
_MOST: Final = 3  # formats of one column; more are not a way to write dates
_FIRST: Final = 20  # values that rule most formats out

Formats = tuple[str, ...]


def guess_formats(values: Sequence[str]) -> tuple[Formats, ...] | None:
    """The ways in which all the values are days, the likeliest first; None if they are not days.

    A way is a list of formats for the study, empty where the usual ones do. There are two ways where the day and the
    month may be either: 3/4/2004.

    >>> guess_formats(["2004-01-31", "2004-02-01 10:00"]), guess_formats(["31/1/2004"]), guess_formats(["31", "x"])
    (((),), (('%d/%m/%Y',),), None)
    >>> guess_formats(["3/4/2004", "1/2/2004"])
    (('%d/%m/%Y',), ('%m/%d/%Y',))
    >>> guess_formats(["31/1/2004", "2004-02-01", "1 Feb 2004"])
    (('%d/%m/%Y', '%d %b %Y', '%Y-%m-%d'),)
    """
    if not values:
        return None
    if all(read_day(value, USUAL) is not None for value in values):
        return ((),)
    if not all(_LIKE_ONE.fullmatch(value.strip(BLANKS)) for value in values[:_FIRST]):  # nearly all columns end here
        return None
    tried = [form for form in CANDIDATES if any(form.read(value) is not None for value in values[:_FIRST])]
    if not all(any(form.read(value) is not None for form in tried) for value in values[:_FIRST]):
        return None
    alone = [form.text for form in tried if all(form.read(value) is not None for value in values)]
    if alone:
        return tuple((text,) for text in alone[:2] if _turned(text) == _turned(alone[0]))
    together = _cover(tried, values)
    return None if together is None else (together,)


def _cover(tried: Sequence[DayFormat], values: Sequence[str]) -> Formats | None:
    """A few formats that read all values together, those that read most first; None if a few are not enough."""
    chosen: list[str] = []
    left = list(values)
    while left and len(chosen) < _MOST:
        best = max(tried, key=lambda form: sum(form.read(value) is not None for value in left))
        chosen.append(best.text)
        left = [value for value in left if best.read(value) is None]
    return None if left else tuple(chosen)


def _turned(text: str) -> str:
    """A format without telling days from months: those that are the same then are easily taken for each other."""
    return text.replace("%m", "%d")
