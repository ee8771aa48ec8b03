"""Profiles: what an engine tells about the columns of a table before anything is declared about them.

A profile is for the owner alone. It holds values of records (bounds, and the values of columns with few of them), so
nothing of it may go into a release, an error or a log.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.domains.number_format import NumberFormat

Kind = Literal["integer", "number", "date", "category", "text", "boolean", "set"]

LISTED = 1000  # a column with more distinct values than this has none of them listed
MOST_BINS = 20  # of a distribution

_LOOKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("url", re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)),
    ("uuid", re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)),
    ("ip", re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")),
    ("phone", re.compile(r"(?:\+|00)\d[\d ()/.-]{6,}\d|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4}")),
    ("zip", re.compile(r"\d{5}(?:-\d{4})?")),
    ("code", re.compile(r"(?=.*\d)[A-Z0-9][A-Z0-9.-]{1,11}")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How many records have a value in each of at most `MOST_BINS` bins, or each of the most frequent values.

    ``edges`` are where the bins of numbers (of dates: their ordinals) begin, and where the last one ends; values have
    none. ``others`` are the records with a value that is not among the most frequent.
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    edges: tuple[float, ...] = ()
    others: int = 0

    def as_json(self) -> dict[str, Any]:
        """The distribution as plain values."""
        return {
            "labels": list(self.labels),
            "counts": list(self.counts),
            "edges": list(self.edges),
            "others": self.others,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """One column: how it is stored, how many values it has, and the least and greatest of numbers and dates.

    ``lower`` and ``upper`` are numbers or ISO dates as text. ``values`` are all distinct values, or none where there
    are more than `LISTED`. ``looks_like`` says what nearly all values have the form of, see `looks`. ``formats`` are
    those that dates in text are written in, none for the usual ones, and ``number_formats`` those of numbers, none for
    plain ones; ``ambiguous`` if days and months may be swapped, or thousands and decimals. ``distribution`` is None for
    text whose values are not listed. ``separator`` stands between the ``codes`` of a column of sets: all that
    there are.
    """

    name: str
    kind: Kind
    rows: int
    distinct: int  # missing values apart
    missing: int
    lower: str | None = None
    upper: str | None = None
    values: tuple[str, ...] = ()
    mean_length: float = 0.0
    looks_like: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    number_formats: tuple[NumberFormat, ...] = ()
    ambiguous: bool = False
    distribution: Distribution | None = None
    separator: str = ""
    codes: tuple[str, ...] = ()

    def plain(self, value: str) -> str:
        """A value of a column of numbers as programs write it; other values as they are."""
        read = (form.plain(value) for form in self.number_formats)
        return next((number for number in read if number is not None), value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Every column of a table, in its order."""

    rows: int
    columns: tuple[ColumnProfile, ...]


def looks(values: Iterable[str]) -> tuple[str, ...]:
    """The forms that at least nine in ten of the values have.

    >>> looks(["ann@example.org", "bob@example.org"])
    ('email',)
    >>> looks(["13053", "14850"])
    ('zip', 'code')
    """
    sample = [value.strip() for value in values]
    if not sample:
        return ()
    return tuple(
        name for name, form in _LOOKS if sum(form.fullmatch(v) is not None for v in sample) * 10 >= 9 * len(sample)
    )
