"""What the listed values of a column tell about themselves: spellings of one value, and stand-ins for a missing one."""

import re
from collections.abc import Sequence
from typing import Final

from sfumato.study.describe.column_profile import ColumnProfile

UNKNOWN: Final = frozenset(
    {
        "unknown", "unk", "unspecified", "missing", "none given", "not available", "not known", "not stated",
        "refused", "no answer", "no response", "not reported", "not recorded", "unknown/invalid", "invalid",
        "keine angabe", "k.a.", "inconnu", "desconocido", "do not know", "don't know", "dk", "n.a.", "n.a", "na",
        "null", "not mapped", "tbd", "unbekannt", "ohne angabe", "nicht bekannt", "weiß nicht", "inconnue",
        "non renseigné", "no sabe", "sconosciuto", "onbekend",
    }
)  # fmt: skip
_BELOW: Final = ("-9", "-99", "-999", "-9999", "-99999", "-8", "-88", "-888")
_ABOVE: Final = ("99", "999", "9999", "99999", "999999", "88", "888", "8888")
_FAR: Final = 2  # times the largest other value
_CODES: Final = 3  # of fewer numbers one can be far above the others without meaning anything
_APART: Final = 5  # a sentinel stands for many different values, so there are more than this besides it


def spellings(values: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The values that differ in case and blanks alone, together.

    >>> spellings(["Male", "male", "MALE ", "Female"])
    (('Male', 'male', 'MALE '),)
    """
    found: dict[str, list[str]] = {}
    for value in values:
        found.setdefault(" ".join(value.split()).casefold(), []).append(value)
    return tuple(tuple(same) for same in found.values() if len(same) > 1)


def words_for_missing(values: Sequence[str]) -> tuple[str, ...]:
    """The values that are words for not knowing.

    >>> words_for_missing(["flu", "Unknown", "asthma"])
    ('Unknown',)
    """
    return tuple(value for value in values if " ".join(value.split()).casefold() in UNKNOWN)


def sentinels(column: ColumnProfile) -> tuple[str, ...]:
    """Numbers that seem to stand for a missing value, of a column whose values are listed: -9 of ages, 999 of days.

    One is below zero where all others are not, or it is all nines or eights and far above the others.

    >>> made = dict(kind="integer", rows=99, missing=0)
    >>> ages = tuple(str(n) for n in (-9, *range(18, 80)))
    >>> sentinels(ColumnProfile(name="age", distinct=len(ages), values=ages, **made))
    ('-9',)
    """
    if column.kind not in ("integer", "number") or len(column.values) <= _APART:
        return ()
    numbers = {value: float(plain) for value in column.values if (plain := column.plain(value))}
    marks = {value for value in numbers if column.plain(value) in (*_BELOW, *_ABOVE)}
    others = [number for value, number in numbers.items() if value not in marks]
    if len(others) < _APART:
        return ()
    low, high = min(others), max(others)
    return tuple(
        value
        for value in column.values
        if value in marks and ((low >= 0 > numbers[value]) or numbers[value] > _FAR * max(high, 1))
    )


def odd_code(column: ColumnProfile) -> str | None:
    """The number, among few that are taken for codes, that is all nines or eights and far above the others.

    >>> made = dict(name="kids", kind="category", rows=99, missing=0)
    >>> odd_code(ColumnProfile(distinct=4, values=("0", "1", "2", "99"), **made))
    '99'
    """
    if column.kind != "category" or not all(re.fullmatch(r"\d{1,9}", value) for value in column.values):
        return None
    *others, last = sorted(column.values, key=int) or [""]
    return last if last in _ABOVE and len(others) >= _CODES and int(last) > _FAR * max(int(others[-1]), 1) else None


def missing_numbers(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """The sentinels that nothing else can be, below zero among numbers that are not, and that no column has as a value.

    What a source declares as missing holds for all its columns of text, so ``columns`` are these.
    """
    found: dict[str, None] = {}
    for column in columns:
        found |= dict.fromkeys(value for value in sentinels(column) if column.plain(value).startswith("-"))
    return tuple(value for value in found if not any(_may_hold(column, value) for column in columns))


def _may_hold(column: ColumnProfile, value: str) -> bool:
    """Whether a value may stand in a column and mean what it says."""
    if column.values:
        return value in column.values and value not in sentinels(column)
    return column.kind in ("integer", "number") and float(column.lower or 0) <= float(value)
