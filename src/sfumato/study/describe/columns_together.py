"""What can be told from the columns together: which date is the time, who the persons are, which numbers are codes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sfumato.study.describe.column_kinds import BIRTH, KEYS, count_present, is_constant, is_unique, named_like, words
from sfumato.study.describe.column_profile import ColumnProfile

AT_MOST: Final = 3
"""Proposed records a person. A fixed guess: the most that occurs would tell about somebody."""

_PERSONS = (
    "patient", "person", "customer", "client", "subject", "member", "user", "employee", "citizen", "student", "pupil",
    "resident", "participant", "respondent", "individual", "insured", "voter", "driver", "donor", "beneficiary",
)  # fmt: skip
_NUMBERED = (*KEYS, "nbr", "nr", "no", "num")
_FEW_KEYS = 20  # a key with no more values than this is a code for something else
_SHARED = 50  # records that share a value, on average, beyond which it is no person

_COUNTED = (
    "age", "count", "counts", "number", "num", "hours", "hour", "days", "day", "weeks", "months", "years", "year",
    "size", "score", "scores", "times", "visits", "children", "amount", "quantity", "rank", "total", "sum", "income",
    "salary", "wage", "weight", "height", "price", "cost", "duration", "length", "rate",
)  # fmt: skip
_CODED = ("id", "code", "codes", "type", "class", "status", "category", "cat", "group", "kind", "flag", "recode")
_CODES, _NAMED_CODES = 12, 60  # different values, at most; of columns that are called a code
_LARGEST, _NAMED_LARGEST = 99, 999


def time_of(columns: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    """The date that spans may go by, and why: of those that are no birth, the one most records have, else the first."""
    dates = [c for c in columns if c.kind == "date" and not is_constant(c) and not named_like(c, BIRTH)]
    if not dates:
        return None
    chosen = min(dates, key=lambda column: column.missing)  # the first of equals
    if len(dates) == 1:
        return chosen.name, "it is a date: spans can be defined by it"
    why = "the first date that every record has" if chosen.missing == 0 else "the date that most records have"
    return (
        chosen.name,
        f"of {len(dates)} dates {why}: spans can be defined by one only, so choose another if it is not this one",
    )


def person_of(columns: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    """The column that says whose record it is, and why: named like a key, with values that several records share."""
    found = [c for c in columns if _is_key(c) and not is_unique(c) and c.distinct > _FEW_KEYS]
    found = [c for c in found if count_present(c) <= _SHARED * c.distinct]
    if not found:
        return None
    chosen = max(found, key=lambda column: (named_like(column, _PERSONS) is not None, column.distinct))
    shared = count_present(chosen) / chosen.distinct
    return chosen.name, f"it is named like a key, and about {shared:.1f} records share each value"


def _is_key(column: ColumnProfile) -> bool:
    name = words(column.name)
    if column.kind not in ("integer", "category", "text") or not name:
        return False
    last = name[-1]
    return last in KEYS[:-1] or (named_like(column, _PERSONS) is not None and (last in _NUMBERED or len(name) == 1))


def as_codes(column: ColumnProfile) -> ColumnProfile | None:
    """The column as categories, if its whole numbers seem to be codes: few, small, and not named like an amount."""
    if column.kind != "integer" or not column.values or column.number_formats or named_like(column, _COUNTED):
        return None
    named = words(column.name)[-1:] and words(column.name)[-1] in _CODED
    most, largest = (_NAMED_CODES, _NAMED_LARGEST) if named else (_CODES, _LARGEST)
    numbers = [float(value) for value in column.values]
    if not 1 < column.distinct <= most or min(numbers) < 0 or max(numbers) > largest:
        return None
    return replace(column, kind="category")


def codes_reason(column: ColumnProfile) -> str:
    """Why whole numbers are proposed as categories, and what to do if they are not."""
    return (
        f"its {column.distinct} different whole numbers are small and few, so they are taken for codes: if they are "
        "amounts, write `type: integer` and `bounds` in place of `values`"
    )
