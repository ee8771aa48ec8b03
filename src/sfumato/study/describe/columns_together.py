"""What can be told from the columns together: the time, the persons, the class, codes, and columns that are alike."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from sfumato.study.attribute import Role
from sfumato.study.describe.column_kinds import count_present, is_constant, is_unique, named_like, words
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.known_names import BIRTH, COUNTED, IDS, KEYS, NOMINAL, OUTCOMES, TARGETS

AT_MOST: Final = 3
"""Proposed records a person. A fixed guess: the most that occurs would tell about somebody."""

_PERSONS = (
    "patient", "person", "customer", "client", "subject", "member", "user", "employee", "citizen", "student", "pupil",
    "resident", "participant", "respondent", "individual", "insured", "voter", "driver", "donor", "beneficiary",
)  # fmt: skip
_NUMBERED = (*KEYS, "nbr", "no", "num")
_FEW_KEYS = 20  # a key with no more values than this is a code for something else
_SHARED = 50  # records that share a value, on average, beyond which it is no person

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
    said = f"{shared:.1f}"
    several = "a few values stand in several records" if said == "1.0" else f"about {said} records share each value"
    return chosen.name, f"it is named like a key, and {several}"


def _is_key(column: ColumnProfile) -> bool:
    name = words(column.name)
    if column.kind not in ("integer", "category", "text") or not name:
        return False
    last = name[-1]
    return (
        last in IDS
        or name in ([number] for number in _NUMBERED)
        or (named_like(column, _PERSONS) is not None and (last in _NUMBERED or len(name) == 1))
    )


def as_codes(column: ColumnProfile) -> ColumnProfile | None:
    """The column as categories, if its whole numbers seem to be codes: few and small, or of what has no amount."""
    if column.kind != "integer" or not column.values or column.number_formats or named_like(column, COUNTED):
        return None
    if is_nominal(column):
        return replace(column, kind="category") if column.distinct > 1 else None
    named = words(column.name)[-1:] and words(column.name)[-1] in _CODED
    most, largest = (_NAMED_CODES, _NAMED_LARGEST) if named else (_CODES, _LARGEST)
    numbers = [float(value) for value in column.values]
    if not 1 < column.distinct <= most or min(numbers) < 0 or max(numbers) > largest:
        return None
    if not named and _falls(column, numbers):
        return None
    return replace(column, kind="category")


def is_nominal(column: ColumnProfile) -> bool:
    """Whether its name ends with what has no amount and no order: an occupation, a country.

    >>> made = dict(kind="integer", rows=900, distinct=530, missing=0)
    >>> [is_nominal(ColumnProfile(name=name, **made)) for name in ("occupation", "hispanic_origin", "state_income")]
    [True, True, False]
    """
    return words(column.name)[-1:] != [] and words(column.name)[-1] in NOMINAL


def _falls(column: ColumnProfile, numbers: Sequence[float]) -> bool:
    """Whether the numbers are 0, 1, 2, … and ever rarer: how often something happened, and no codes.

    The last may stand for all above it. Of three numbers nothing can be told.
    """
    counts = () if column.distribution is None else column.distribution.counts
    if sorted(numbers) != list(range(len(counts))) or len(counts) <= _TOLD:
        return False
    start = max(range(2), key=counts.__getitem__)
    return all(more >= less for more, less in pairwise(counts[start:-1]))


def codes_reason(column: ColumnProfile) -> str:
    """Why whole numbers are proposed as categories, and what to do if they are not."""
    why = "stand for what has no amount" if is_nominal(column) else "are small and few"
    return (
        f"its {column.distinct} different whole numbers {why}, so they are taken for codes: if they are "
        "amounts, write `type: integer` and `bounds` in place of `values`"
    )


MOST_CLASSES: Final = 20
_CLASS_OF: Final = ("target", "true", "outcome", "income", "salary", "risk", "predicted")  # before `class`
_TOLD: Final = 3  # different values: columns of yes and no have nothing in common


def target_of(columns: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    """The column that is predicted, and why: called so, or else the last of those that such tables often predict."""
    few = [c for c in columns if 1 < c.distinct <= MOST_CLASSES and c.values and c.kind != "number"]
    for word in TARGETS:
        for column in few:
            if word in words(column.name):
                return column.name, f"its name says '{word}' and it has {column.distinct} values"
    for column in few:
        *before, last = words(column.name) or [""]
        if last == "class" and (not before or before[-1] in _CLASS_OF):
            return column.name, f"its name says 'class' and it has {column.distinct} values"
    for column in reversed(few):
        if often := named_like(column, OUTCOMES):
            why = f"its name says '{often}', which is often what is predicted, and it has {column.distinct} values"
            return column.name, f"{why}: if nothing is to be predicted, give it another role"
    return None


def like_neighbours(columns: Sequence[ColumnProfile], roles: Sequence[Role]) -> dict[str, tuple[Role, str]]:
    """Roles for undecided columns among neighbours that hold the same values: one question asked of many things.

    >>> made = dict(kind="category", rows=9, missing=0)
    >>> insulin = ColumnProfile(name="insulin", values=("down", "no", "up"), distinct=3, **made)
    >>> other = ColumnProfile(name="x17", values=("no", "up"), distinct=2, **made)
    >>> like_neighbours([insulin, other], [Role.SENSITIVE, Role.UNDECIDED])["x17"][0].value
    'sensitive'
    """
    found: dict[str, tuple[Role, str]] = {}
    for start, stop in _runs(columns):
        whole = {value for column in columns[start:stop] for value in column.values}
        if len(whole) < _TOLD:
            continue
        telling = [n for n in range(start, stop) if roles[n] in (Role.SENSITIVE, Role.QUASI_IDENTIFIER)]
        if not telling or len({roles[n] for n in telling}) > 1:
            continue
        role, example = roles[telling[0]], columns[telling[0]].name
        reason = f"it holds the same values as '{example}' beside it, which is proposed as {role.value}"
        found |= {columns[n].name: (role, reason) for n in range(start, stop) if roles[n] is Role.UNDECIDED}
    return found


def _runs(columns: Sequence[ColumnProfile]) -> list[tuple[int, int]]:
    """Where columns stand side by side whose values are all among those of one of them."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(columns):
        stop, most = start, set[str]()
        while stop < len(columns) and columns[stop].kind in ("category", "boolean") and columns[stop].values:
            values = set(columns[stop].values)
            if not (values <= most or most <= values):
                break
            most |= values
            stop += 1
        if stop > start + 1:
            found.append((start, stop))
        start = max(stop, start + 1)
    return found
