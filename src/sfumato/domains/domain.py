"""Domains: the public set of values an attribute may take, as codes ``0 … size-1``.

``Categories`` have a taxonomy; a ``Grid`` is a range of numbers or days with a public step, and may have one.
Coding is total: every raw value, also a missing one or one outside the domain, has exactly one code or ``DROP``.
That keeps the coding record-local, so it changes nothing about who is whose neighbour.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.dates import BLANKS, DayFormat, formats_of, read_day
from sfumato.domains.number_format import NumberFormat, read_number
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError

DROP = -1  # the code of a value whose record the policy leaves out
SLACK = 1e-9  # of a step: 0.3 / 0.1 is a little below 3 in binary, and 0.3 begins step 3 all the same

MOST_POINTS = 2**53
"""Points of a grid: beyond this a float cannot tell neighbouring ones apart."""

# What text counts as a number or a day. Narrower than `float` and `fromisoformat`, so that engines agree with it.
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:inf|infinity)",
    re.IGNORECASE | re.ASCII,  # else the dotless i is an i, and `float` does not know it
)
_WHOLE = 1e15  # whole numbers below it have an exact, plain text

Unit = Literal["number", "integer", "day"]


class Domain(Protocol):
    """What methods need to know of a domain: how many codes, how a range of codes splits, how it reads."""

    @property
    def declared(self) -> bool:
        """Whether the owner declared it; else it was read off the data."""
        ...

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The tree over the codes, if there is one."""
        ...

    @property
    def missing(self) -> int | None:
        """The code of missing values, if they are kept."""
        ...

    @property
    def size(self) -> int:
        """How many codes there are, the missing value's among them."""
        ...

    @property
    def free(self) -> bool:
        """Whether a range may be split anywhere (a grid without a taxonomy)."""
        ...

    def children(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """The ranges a taxonomy puts below ``[start, stop)``; nothing for a leaf or a free grid."""
        ...

    def label(self, start: int, stop: int) -> str:
        """How the range reads in a release."""
        ...

    def root(self, name: str) -> Cut:
        """The cut of an attribute of this domain that tells nothing: all in one region."""
        ...

    def encode(self, values: Iterable[object]) -> NDArray[np.int64]:
        """Codes of raw values."""
        ...


@dataclass(frozen=True, kw_only=True)
class Categories:
    """Named values below a taxonomy; ``missing`` and ``other`` are codes that stand in for invalid values, or None.

    >>> from sfumato.domains.taxonomy.tree import Node
    >>> sex = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("Female"), Node("Male")))))
    >>> sex.encode(["Male", None, "?"]).tolist()
    [1, -1, -1]
    """

    taxonomy: Taxonomy
    declared: bool = True
    missing: int | None = None
    other: int | None = None

    @property
    def size(self) -> int:
        """How many leaves the taxonomy has."""
        return self.taxonomy.size

    @property
    def free(self) -> bool:
        """Categories split as the taxonomy says."""
        return False

    def children(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """The ranges right below a node."""
        return self.taxonomy.children(start, stop)

    def label(self, start: int, stop: int) -> str:
        """The label of the node."""
        return self.taxonomy.label(start, stop)

    def codes(self) -> dict[str, int]:
        """Every text that a record may hold, with its code; the label of the missing value is one of them."""
        return {label: code for code, label in enumerate(self.taxonomy.leaves)}

    def root(self, name: str) -> Cut:
        """The cut of an attribute of this domain that tells nothing: all in one region."""
        return Cut(name, (0,), self.size)

    def encode(self, values: Iterable[object]) -> NDArray[np.int64]:
        """Codes of raw values: text matched exactly, None and NaN as missing, the rest as other.

        A whole number matches without a fraction (1.0 is '1'), a truth value in lower case or as Python writes it; so
        does the text 'true' where 'True' is declared and 'true' is not.
        """
        known = truth_texts(self.codes())
        lost = DROP if self.missing is None else self.missing
        other = DROP if self.other is None else self.other
        return np.fromiter(
            (lost if is_missing(value) else _find(known, value, other) for value in values), dtype=np.int64
        )


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Numbers or days from ``lower`` to ``upper`` in steps; values outside are moved to the nearer end.

    Code i stands for ``[lower + i·step, lower + (i+1)·step)``; the last one holds ``upper``. A declared missing value
    takes one code more, behind the last. With ``taxonomy`` (leaves as wide as their intervals) ranges split as it
    says, else anywhere. ``formats`` say how text is read as days; without any, 2004-01-31 and 31.1.2004 are.
    ``number_formats`` say how text is read as numbers; without any, 12, -3.5 and 1e6 are.

    >>> age = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    >>> age.size, age.label(18, 40), age.encode([17, 300, None]).tolist()
    (121, '[18, 40)', [17, 120, -1])
    """

    lower: Fraction
    upper: Fraction
    step: Fraction
    unit: Unit = "number"
    taxonomy: Taxonomy | None = None
    declared: bool = True
    missing: int | None = None
    missing_label: str = "(missing)"
    formats: tuple[str, ...] = ()
    number_formats: tuple[NumberFormat, ...] = ()

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise StudyError("the step of a grid must be above 0", "give a positive step", code="SF-STUDY-006")
        if self.upper < self.lower:
            raise StudyError("the lower bound is above the upper one", "swap the bounds", code="SF-STUDY-007")
        if self.missing is not None and self.missing != self.points:
            raise StudyError(
                "the missing value of a grid takes the code behind the last point",
                "leave it to Grid",
                code="SF-STUDY-008",
            )

    @property
    def points(self) -> int:
        """How many grid points there are."""
        return int((self.upper - self.lower) // self.step) + 1

    @property
    def size(self) -> int:
        """Grid points, and one for the missing value if it is declared."""
        return self.points + (self.missing is not None)

    @property
    def free(self) -> bool:
        """A grid without a taxonomy splits anywhere."""
        return self.taxonomy is None

    def children(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """The ranges right below a taxonomy node; nothing on a free grid."""
        return self.taxonomy.children(start, stop) if self.taxonomy else ()

    def value(self, code: int) -> Fraction:
        """The lower end of a code's step."""
        return self.lower + code * self.step

    def text(self, value: Fraction) -> str:
        """A point of the grid as people write it."""
        if self.unit == "day":
            return dt.date.fromordinal(int(value)).isoformat()
        return str(value.numerator) if value.denominator == 1 else repr(float(value))

    def label(self, start: int, stop: int) -> str:
        """An interval, closed on the right only where the domain ends; a single whole number as itself."""
        if self.missing is not None and stop > self.missing:
            if start == self.missing:
                return self.missing_label
            return f"{self.label(start, self.missing)} or {self.missing_label}"
        whole = self.unit != "number" and self.step == 1
        if whole and stop == start + 1:
            return self.text(self.value(start))
        if stop == self.points:
            return f"[{self.text(self.value(start))}, {self.text(self.upper)}]"
        return f"[{self.text(self.value(start))}, {self.text(self.value(stop))})"

    def root(self, name: str) -> Cut:
        """The cut of an attribute of this domain that tells nothing: all in one region."""
        return Cut(name, (0,), self.size)

    def encode(self, values: Iterable[object]) -> NDArray[np.int64]:
        """Codes of raw values: numbers and dates clamped onto the grid, what is not one as missing."""
        if self.unit == "day":
            formats = formats_of(self.formats)
            read = (float("nan") if is_missing(value) else _as_day(value, formats) for value in values)
        else:
            read = (float("nan") if is_missing(value) else _as_number(value, self.number_formats) for value in values)
        return self.encode_numbers(np.fromiter(read, dtype=np.float64))

    def codes_of_labels(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Codes of points as `label` writes them: formats are for raw values alone."""
        return replace(self, formats=(), number_formats=()).encode(texts)

    def encode_numbers(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The same for an array of numbers (days as ordinals), NaN as missing."""
        lost = np.isnan(numbers)
        with np.errstate(over="ignore"):  # beyond all floats is infinity, and clamped as such
            steps = np.floor((np.where(lost, 0.0, numbers) - float(self.lower)) / float(self.step) + SLACK)
        codes = np.clip(steps, 0, self.points - 1).astype(np.int64)
        codes[lost] = DROP if self.missing is None else self.missing
        return codes


def is_missing(value: object) -> bool:
    """None, NaN, NaT and the empty text are missing values."""
    return value is None or (isinstance(value, str) and not value.strip()) or value != value  # noqa: PLR0124 - NaN


def as_text(value: object) -> str:
    """A value as the text that categories are matched by: whole numbers without a fraction, truth in small letters.

    >>> as_text(1.0), as_text(True), as_text("Male")
    ('1', 'true', 'Male')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) < _WHOLE:
        return str(int(value))
    return str(value)


def truth_texts(known: Mapping[str, int]) -> dict[str, int]:
    """The declared values, and truth values in small letters where they are declared as Python writes them.

    >>> truth_texts({"True": 0, "False": 1, "no": 2})
    {'true': 0, 'false': 1, 'True': 0, 'False': 1, 'no': 2}
    """
    return {truth.lower(): known[truth] for truth in ("True", "False") if truth in known} | dict(known)


def _find(known: Mapping[str, int], value: object, other: int) -> int:
    return known.get(as_text(value), known.get(str(value), other))


def _as_number(value: object, formats: Sequence[NumberFormat]) -> float:
    if isinstance(value, str) and formats:
        number = read_number(value, formats)
        return float("nan") if number is None else number
    if isinstance(value, str):
        text = value.strip(BLANKS)
        return float(text) if _NUMBER.fullmatch(text) else float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond all floats
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]
    except (TypeError, ValueError):
        return float("nan")


def _as_day(value: object, formats: Sequence[DayFormat]) -> float:
    if isinstance(value, dt.date):
        return float(value.toordinal())
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[D]").astype(object).toordinal())
    day = read_day(str(value), formats)
    return float("nan") if day is None else float(day.toordinal())


def labels(domain: Domain, ranges: Sequence[tuple[int, int]]) -> list[str]:
    """How several ranges read."""
    return [domain.label(start, stop) for start, stop in ranges]
