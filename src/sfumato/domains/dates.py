"""Dates as people write them: which texts are days, by formats in the words of `strptime`.

Reading is total and looks at one text alone: a text that no format fits is no day, and never an error. Engines read by
the same patterns, so a pattern uses only what every engine's regular expressions have in common.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sfumato.errors import StudyError

BLANKS: Final = " \t\n\r\v\f"
"""What is taken off both ends of a text before it is read."""

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

PIVOT: Final = 69
"""Two digits from here on are years of the last century, as POSIX has it: 69 is 1969, 68 is 2068."""

_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _any_case(word: str) -> str:
    """A pattern for a word in capitals, small letters or both; spelt out, since engines fold letters differently."""
    return "".join(f"[{letter.upper()}{letter}]" for letter in word)


def _one_of(words: Sequence[str], *, shortened: bool) -> str:
    long = "|".join(_any_case(word) for word in words)
    return f"(?:{long}|{'|'.join(_any_case(word[:3]) for word in words)})" if shortened else f"(?:{long})"


# Directive -> what it tells, and its pattern. A month by name may be long or short under either directive.
_DIRECTIVES: Final = {
    "d": ("day", "[0-9]{1,2}"),
    "m": ("month", "[0-9]{1,2}"),
    "b": ("name", _one_of(_NAMES, shortened=True)),
    "B": ("name", _one_of(_NAMES, shortened=True)),
    "Y": ("year", "[0-9]{4}"),
    "y": ("short", "[0-9]{2}"),
    "H": ("", "(?:2[0-3]|[01]?[0-9])"),
    "I": ("", "(?:1[0-2]|0?[1-9])"),
    "M": ("", "[0-5]?[0-9]"),
    "S": ("", "[0-5]?[0-9]"),
    "f": ("", "[0-9]{1,9}"),
    "p": ("", "(?:[AaPp][Mm])"),
    "a": ("", _one_of(_WEEK, shortened=True)),
    "A": ("", _one_of(_WEEK, shortened=True)),
}
_DIGITS: Final = frozenset("dmYyHIMSf")
_FIXED: Final = {"d": "[0-9]{2}", "m": "[0-9]{2}", "H": "(?:2[0-3]|[01][0-9])", "M": "[0-5][0-9]", "S": "[0-5][0-9]"}
_PART: Final = re.compile(r"%(.?)|([^%]+)", re.DOTALL)
_ONCE: Final = (("day", "day"), ("month", "month"), ("name", "month"), ("year", "year"), ("short", "year"))


@dataclass(frozen=True, slots=True)
class DayFormat:
    """One way to write a day: a pattern for the whole text, and which group tells which part.

    >>> DayFormat.of("%d/%m/%Y").read("31/1/2004"), DayFormat.of("%b %d, %Y").read("Jan 31, 2004")
    (datetime.date(2004, 1, 31), datetime.date(2004, 1, 31))
    >>> DayFormat.of("%Y-%m").read("2004-13") is None
    True
    """

    text: str
    pattern: str
    groups: tuple[str, ...]  # of "day", "month", "name", "year", "short"; group 1 is the first

    @classmethod
    def of(cls, text: str) -> "DayFormat":
        """Read a format: %d %m %b %B %Y %y, times %H %I %M %S %f %p, weekdays %a %A, %% and anything between them."""
        pieces = _PART.findall(text)
        pattern, groups = "", []
        for place, (directive, literal) in enumerate(pieces):
            if literal:
                pattern += re.escape(literal)
                continue
            if directive == "%":
                pattern += "%"
                continue
            if directive not in _DIRECTIVES:
                raise StudyError(
                    f"the date format '{text[:60]}' has '%{directive}', which is not known here",
                    f"use {', '.join(f'%{known}' for known in _DIRECTIVES)} and plain text between them",
                    code="SF-STUDY-003",
                )
            part, piece = _DIRECTIVES[directive]
            # 20040131: without anything between them, numbers have all their digits.
            beside = [p[0] for p in (*pieces[max(place - 1, 0) : place], *pieces[place + 1 : place + 2])]
            if any(other in _DIGITS for other in beside if other):
                piece = _FIXED.get(directive, piece)
            pattern += f"({piece})" if part else piece
            groups += [part] if part else []
        _refuse_incomplete(text, groups)
        return cls(text, f"^{pattern}$", tuple(groups))

    def read(self, text: str) -> dt.date | None:
        """The day that a text says, or None; blanks around it are not looked at."""
        found = re.fullmatch(self.pattern[1:-1], text.strip(BLANKS))
        if found is None:
            return None
        said = dict(zip(self.groups, found.groups(), strict=True))
        if "year" in said:
            year = int(said["year"])
        else:
            short = int(said["short"])
            year = short + (1900 if short >= PIVOT else 2000)
        month = MONTHS.index(said["name"][:3].lower()) + 1 if "name" in said else int(said.get("month", 1))
        try:
            return dt.date(year, month, int(said.get("day", 1)))
        except ValueError:
            return None


@cache
def formats_of(texts: tuple[str, ...]) -> tuple[DayFormat, ...]:
    """Several formats, the first that fits wins; without any, those that are always known.

    >>> [f.text for f in formats_of(())]
    ['%Y-%m-%d', '%d.%m.%Y']
    """
    return tuple(DayFormat.of(text) for text in texts) if texts else USUAL


def read_day(text: str, formats: Sequence[DayFormat]) -> dt.date | None:
    """The day that a text says by the first format that fits it, or None.

    A format that fits with a day that is none, such as the 31st of June, ends the search: engines do the same.
    """
    written = text.strip(BLANKS)
    for form in formats:
        if re.fullmatch(form.pattern[1:-1], written) is not None:
            return form.read(written)
    return None


def _refuse_incomplete(text: str, groups: Sequence[str]) -> None:
    told = [whole for part, whole in _ONCE for group in groups if group == part]
    twice = next((part for part in told if told.count(part) > 1), None)
    if twice is not None:
        raise StudyError(
            f"the date format '{text[:60]}' has the {twice} twice", "write each part once", code="SF-STUDY-004"
        )
    if "year" not in told or ("day" in told and "month" not in told):
        lacking = "year" if "year" not in told else "month"
        raise StudyError(
            f"the date format '{text[:60]}' has no {lacking}",
            "write one such as %d/%m/%Y, %m/%d/%y, %d %b %Y or %Y%m%d",
            code="SF-STUDY-005",
        )


# A day with anything behind it, such as a time, and the dotted form of several countries.
USUAL: Final = (
    DayFormat("%Y-%m-%d", r"^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ](?s:.)*)?$", ("year", "month", "day")),
    DayFormat("%d.%m.%Y", r"^([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})$", ("day", "month", "year")),
)
