"""Numbers as people write them: thousands separators, a decimal comma, currency and percent signs.

Reading is total and looks at one text alone: a text that no format fits is an invalid value, never an error. Reading is
strict too, since a wrong number is worse than none: groups have three digits, so `1,05` is not 105, and a sign that a
format declares has to be there. Engines read by the same patterns, so a pattern uses only what every engine's regular
expressions have in common; letters beyond ASCII stand in it as themselves.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sfumato.domains.dates import BLANKS
from sfumato.errors import StudyError

PARENTHESES: Final = "parentheses"
TRAILING: Final = "trailing"
NEGATIVES: Final = (PARENTHESES, TRAILING)
"""Ways to write a negative number besides a sign in front, which is always read."""

SPACE: Final = "space"
_SPACES: Final = " \u00a0\u2009\u202f"  # also those that do not break, and the thin ones
_ALIKE: Final = {" ": _SPACES, "'": "'\u2019"}  # marks that programs write in several ways
_MINUS: Final = "-\u2212"
_MINUSES: Final = f"[{_MINUS}]"
_SIGNS: Final = f"[{_MINUS}+]"  # the dash first: between two letters it would be a range
_GAP: Final = f"[{_SPACES}]*"
LEADING_MINUS: Final = f"^[^0-9]*{_MINUSES}"
"""Of a text that a `Shape` with a sign fits: whether that sign is a minus. Prefixes hold no signs."""

_LONGEST: Final = 20  # letters of a prefix or suffix
_NEVER_A_MARK: Final = frozenset("+-()\u2212")


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern for the whole text, whose only group is the number without its sign; ``negative`` if it is below 0.

    Where ``negative`` is False, `LEADING_MINUS` tells the sign.
    """

    pattern: str
    negative: bool = False


@dataclass(frozen=True, kw_only=True)
class NumberFormat:
    """One way to write numbers, with or without thousands separators between groups of three digits.

    ``decimal`` is the decimal mark, ``thousands`` the mark between groups (nothing: there is none). ``prefix`` and
    ``suffix`` have to stand before and behind every number, with or without a space between. They change nothing:
    `12 %` is 12. ``negative`` is another way to write numbers below 0, one of `NEGATIVES`.

    >>> NumberFormat(thousands=",").plain("1,053.30"), NumberFormat(thousands=",").plain("1,05")
    ('1053.30', None)
    >>> NumberFormat(decimal=",", thousands=".", prefix="€").plain("-€ 1.053,30")
    '-1053.30'
    >>> NumberFormat(thousands=",", negative="parentheses").plain("(1,053)")
    '-1053'
    """

    decimal: str = ""
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    negative: str = ""

    def __post_init__(self) -> None:
        if self.thousands == SPACE or (self.thousands and self.thousands in _SPACES):
            object.__setattr__(self, "thousands", " ")
        if self.thousands == "\u2019":
            object.__setattr__(self, "thousands", "'")
        if not self.decimal:
            object.__setattr__(self, "decimal", "," if self.thousands == "." else ".")
        for field in ("prefix", "suffix"):
            object.__setattr__(self, field, getattr(self, field).strip(BLANKS + _SPACES))
        self._refuse_unclear()

    def _refuse_unclear(self) -> None:
        for field, mark in (("decimal", self.decimal), ("thousands", self.thousands)):
            if len(mark) > 1 or mark.isalnum() or mark in _NEVER_A_MARK or (mark in _SPACES[:1] and field == "decimal"):
                raise StudyError(
                    f"`{field}` of a number format is one mark, not '{mark[:40]}'",
                    "write one such as `,` or `.`" + (" or `space`" if field == "thousands" else ""),
                    code="SF-STUDY-009",
                )
        if self.decimal == self.thousands:
            raise StudyError(
                f"'{self.decimal}' cannot be the decimal mark and the thousands separator of one number format",
                "write two different marks, such as `{decimal: ',', thousands: '.'}`",
                code="SF-STUDY-010",
            )
        for field, text in (("prefix", self.prefix), ("suffix", self.suffix)):
            if len(text) > _LONGEST or any(letter.isdigit() or letter in _NEVER_A_MARK for letter in text):
                raise StudyError(
                    f"the {field} of a number format is at most {_LONGEST} letters without digits, signs and "
                    f"parentheses, not '{text[:40]}'",
                    f"write a {field} such as `€`, `USD` or `%`",
                    code="SF-STUDY-011",
                )
        if self.negative and self.negative not in NEGATIVES:
            raise StudyError(
                f"numbers below 0 cannot be written by '{self.negative[:40]}'",
                f"write `negative: {PARENTHESES}` for (5), `negative: {TRAILING}` for 5-, or leave it out",
                code="SF-STUDY-012",
            )

    @property
    def removed(self) -> str:
        """The letters that stand between groups of digits, and are taken away."""
        return _ALIKE.get(self.thousands, self.thousands)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The texts that are numbers by this format; the first that fits a text says what it is."""
        before = f"{re.escape(self.prefix)}{_GAP}" if self.prefix else ""
        behind = f"{_GAP}{re.escape(self.suffix)}" if self.suffix else ""
        digits = "[0-9]+"
        if self.thousands:
            digits = f"(?:[1-9][0-9]{{0,2}}(?:[{re.escape(self.removed)}][0-9]{{3}})+|[0-9]+)"
        mark = re.escape(self.decimal)
        number = f"((?:{digits}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?)"
        signed = f"(?:{_SIGNS}?{before}|{before}{_SIGNS})" if before else f"{_SIGNS}?"
        found = [Shape(f"{signed}{number}{behind}")]
        if self.negative == PARENTHESES:
            found.append(Shape(rf"\({_GAP}{before}{number}{behind}{_GAP}\)", negative=True))
            if before or behind:
                found.append(Shape(rf"{before}\({_GAP}{number}{_GAP}\){behind}", negative=True))
        if self.negative == TRAILING:
            found.append(Shape(f"{before}{number}{_MINUSES}{behind}", negative=True))
            if behind:
                found.append(Shape(f"{before}{number}{behind}{_MINUSES}", negative=True))
        return tuple(Shape(f"^{_GAP}{shape.pattern}{_GAP}$", negative=shape.negative) for shape in found)

    def plain(self, text: str) -> str | None:
        """The number that a text says, as programs write it, or None; blanks around the text do not count."""
        written = text.strip(BLANKS)
        for shape in self.shapes:
            found = re.fullmatch(shape.pattern[1:-1], written)
            if found is not None:
                number = found[1].translate({ord(letter): None for letter in self.removed}).replace(self.decimal, ".")
                minus = shape.negative or re.match(LEADING_MINUS, written) is not None
                return f"-{number}" if minus else number
        return None

    def fields(self) -> dict[str, str]:
        """The fields that a study file has for it; none for numbers as programs write them."""
        written = {name: getattr(self, name) for name in ("decimal", "thousands", "prefix", "suffix", "negative")}
        return {name: value for name, value in written.items() if value and (name, value) != ("decimal", ".")}


def read_number(text: str, formats: Sequence[NumberFormat]) -> float | None:
    """The number that a text says by the first format that fits it, or None.

    >>> read_number("12 %", [NumberFormat(suffix="%")]), read_number("nan", [NumberFormat()])
    (12.0, None)
    """
    for form in formats:
        plain = form.plain(text)
        if plain is not None:
            return float(plain)
    return None
