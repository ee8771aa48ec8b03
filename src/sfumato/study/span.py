"""Spans of time: which days of a study's time attribute a release is about.

A span is half-open, [start, stop), so that spans that follow each other share no record. Whether a record is in a span
depends on that record alone; a record without a readable time is in none.
"""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sfumato.errors import StudyError

_DAY: Final = r"(\d{4}-\d\d-\d\d)"
_TEXT: Final = re.compile(rf"\[?\s*{_DAY}\s*(?:,|\.\.|\s)\s*{_DAY}\s*\)?", re.ASCII)
_FIX: Final = "write two days, the second one not included: 2004-01-01..2010-01-01 or [2004-01-01, 2010-01-01)"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The days from ``start`` up to, and not including, ``stop``, by the time attribute ``of``.

    ``of`` names the column and how its text is read: spans by different ones say nothing about each other's records.

    >>> year = Span("visited", dt.date(2004, 1, 1), dt.date(2005, 1, 1))
    >>> str(year), year.days
    ('[2004-01-01, 2005-01-01)', 366)
    """

    of: str
    start: dt.date
    stop: dt.date

    def __post_init__(self) -> None:
        if self.stop <= self.start:
            raise StudyError(
                f"the span {self} holds no day",
                "let it end after it starts; the last day is not in it",
                code="SF-STUDY-196",
            )

    @classmethod
    def read(cls, of: str, text: str) -> "Span":
        """A span from text.

        >>> Span.read("visited", "2004-01-01..2005-01-01") == Span.read("visited", "[2004-01-01, 2005-01-01)")
        True
        """
        found = _TEXT.fullmatch(text.strip())
        if found is None:
            raise StudyError(f"'{text[:60]}' is no span of time", _FIX, code="SF-STUDY-197")
        return cls(of, day(found.group(1)), day(found.group(2)))

    @property
    def days(self) -> int:
        """How many days it holds."""
        return (self.stop - self.start).days

    def overlaps(self, other: "Span") -> bool:
        """Whether a record may be in both: they have a day in common, or go by different times."""
        return self.of != other.of or (self.start < other.stop and other.start < self.stop)

    def holds(self, other: "Span") -> bool:
        """Whether all days of the other are in this one."""
        return self.of == other.of and self.start <= other.start and other.stop <= self.stop

    def __str__(self) -> str:
        return f"[{self.start.isoformat()}, {self.stop.isoformat()})"


def day(text: str) -> dt.date:
    """A day as it is written in a study.

    >>> day("2004-02-30")
    Traceback (most recent call last):
    sfumato.errors.StudyError: '2004-02-30' is not a date. To fix: write dates as year-month-day: ... [SF-STUDY-134]
    """
    try:
        return dt.date.fromisoformat(text if re.fullmatch(_DAY, text, re.ASCII) else "")
    except ValueError:
        raise StudyError(
            f"'{text[:40]}' is not a date", "write dates as year-month-day: 2004-01-31", code="SF-STUDY-134"
        ) from None


def atoms(spans: Iterable[Span]) -> list[Span]:
    """The smallest pieces that these spans cut each other into, of each time attribute, in order.

    >>> a, b = Span.read("t", "2004-01-01..2006-01-01"), Span.read("t", "2005-01-01..2007-01-01")
    >>> [str(piece) for piece in atoms([a, b])]
    ['[2004-01-01, 2005-01-01)', '[2005-01-01, 2006-01-01)', '[2006-01-01, 2007-01-01)']
    """
    ends: dict[str, set[dt.date]] = {}
    for span in spans:
        ends.setdefault(span.of, set()).update((span.start, span.stop))
    return [Span(of, start, stop) for of in sorted(ends) for start, stop in pairwise(sorted(ends[of]))]
