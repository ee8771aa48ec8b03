"""What a proposal says besides: a taxonomy that may be used, what would confirm the domain, and what to look at."""

from decimal import Decimal
from typing import Final

from sfumato.study.describe.code_systems import code_system
from sfumato.study.describe.column_kinds import named_like
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.known_names import MONEY
from sfumato.study.describe.rounding import quantity_of, round_bounds
from sfumato.study.describe.value_notes import odd_code, sentinels, spellings, words_for_missing

_LARGE: Final = 1000  # money below it needs no steps that grow
_SERIES: Final = (1, 2, 5)
_TWO: Final = 2


def commented_taxonomy(column: ColumnProfile) -> str | None:
    """A taxonomy of a number or date, for those who want one: a grid without one is split where it is most useful.

    Ages have intervals of 5, 10, 20 and 40 years, money has steps that grow, dates have the calendar.

    >>> made = dict(kind="integer", rows=9, distinct=5, missing=0, lower="0")
    >>> commented_taxonomy(ColumnProfile(name="age", upper="90", **made))
    '{intervals: {width: 5, levels: 4}}'
    >>> commented_taxonomy(ColumnProfile(name="income", upper="3000", **made))
    '{intervals: {bounds: [[1000], [1, 2, 5, 10, 20, 50, 100, 200, 500, 2000]]}}'
    """
    bounds = round_bounds(column) if column.kind in ("integer", "number", "date") else None
    if bounds is None or (column.values and code_system(column)):
        return None
    if column.kind == "date":
        return "{dates: [year, quarter, month]}"
    if column.kind == "integer" and (known := quantity_of(column)) and "age" in known.named:
        return "{intervals: {width: 5, levels: 4}}"
    upper = Decimal(bounds.upper)
    if column.kind == "integer" and named_like(column, MONEY) and Decimal(bounds.lower) == 0 and upper >= _LARGE:
        steps = [digit * 10**power for power in range(upper.adjusted() + 1) for digit in _SERIES]
        inside = [step for step in steps if step < upper]
        coarse = [step for step in inside if str(step).startswith("1") and step >= _LARGE]
        fine = [step for step in inside if step not in coarse]
        return f"{{intervals: {{bounds: [{coarse}, {fine}]}}}}" if coarse else None
    return None


def confirming(column: ColumnProfile) -> str:
    """What public source would confirm the domain of a column."""
    system = code_system(column)
    if system is not None and column.values:
        return system.source
    if column.kind == "date":
        return "the period that the table is known to cover"
    if column.kind in ("integer", "number"):
        if quantity_of(column):
            return "what is known of the quantity"
        return "law, price list, top code or instrument"
    few = "the answers that the form allows" if column.distinct <= _TWO else "the code book, with values nobody has"
    return "the list of codes" if column.kind == "set" else few


def notes_of(column: ColumnProfile) -> list[str]:
    """What the owner should look at: numbers and words that seem to mean a missing value, spellings of one value."""
    notes: list[str] = []
    if marks := sentinels(column):
        notes.append(
            f"{_listed(marks)} may stand for a missing value, or for all above a limit: if missing, write "
            "`missing: [...]` under `source` with it, and narrower bounds"
        )
    if code := odd_code(column):
        notes.append(
            f"'{code}' may stand for a missing value: it is kept as a value; write `missing: [...]` under `source` "
            "to treat it as missing"
        )
    if column.kind in ("category", "boolean") and (said := words_for_missing(column.values)):
        notes.append(
            f"{_listed(said)} seems to mean that the value is not known: it is kept as a value; write "
            "`missing: [...]` under `source` to treat it as missing"
        )
    if column.kind == "category" and (same := spellings(column.values)):
        notes.append(f"{_listed(same[0])} differ in case or blanks alone: better unify them in the table")
    return notes


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values[:5])
