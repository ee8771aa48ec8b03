"""What the profile of a column says about it: unique, constant, a running number, or named like something known."""

import re
from collections.abc import Iterable

from sfumato.study.describe.column_profile import LISTED, ColumnProfile
from sfumato.study.describe.known_names import ALONE, DRUG_STEMS, WEIGHING, WEIGHTS

NEAR_UNIQUE = 0.9  # of the records that have a value, this share has one of its own

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_WITHIN = 5  # letters; a longer word also counts inside a longer one: `maritalstatus`
_DENSE = 0.99  # of the whole numbers between the bounds, this share occurs in running numbers
_OF_RECORDS = 0.2  # running numbers of a few records each, such as households
_EVEN = 3.0  # times the mean: no bin of running numbers has more records


def count_present(column: ColumnProfile) -> int:
    """How many records have a value."""
    return column.rows - column.missing


def is_unique(column: ColumnProfile) -> bool:
    """Whether every record that has a value has one of its own."""
    return count_present(column) > 1 and column.distinct == count_present(column)


def is_near_unique(column: ColumnProfile) -> bool:
    """Whether nearly every record that has a value has one of its own."""
    return count_present(column) > 1 and column.distinct >= NEAR_UNIQUE * count_present(column)


def is_running_number(column: ColumnProfile) -> bool:
    """Whether it holds nearly every whole number between its bounds, each for a few records: numbers of things.

    >>> made = dict(kind="integer", rows=3000, missing=0, lower="1", upper="2000")
    >>> [is_running_number(ColumnProfile(name="n", distinct=n, **made)) for n in (2000, 1200)]
    [True, False]
    """
    if column.kind != "integer" or column.distinct <= LISTED or column.lower is None or column.upper is None:
        return False
    counts = () if column.distribution is None else column.distribution.counts[:-1]  # the last bin may be cut short
    even = not counts or max(counts) * len(counts) <= _EVEN * sum(counts)
    dense = column.distinct >= _DENSE * (float(column.upper) - float(column.lower) + 1)
    return dense and even and column.distinct >= _OF_RECORDS * count_present(column)


def reads_as_amount(column: ColumnProfile) -> bool:
    """Whether it holds numbers that keys seldom are: with decimals, separators, a currency, or very uneven.

    Amounts of money are many small ones and a few large ones, so that nearly all fall into the first bins; numbers that
    were given out fill their range.
    """
    if column.kind == "number" or column.number_formats:
        return True
    if column.kind != "integer" or column.distribution is None or is_running_number(column):
        return False
    counts = column.distribution.counts
    return float(column.lower or 0) < 0 or (len(counts) > _WITHIN and 4 * sum(counts[len(counts) // 2 :]) < sum(counts))


def is_constant(column: ColumnProfile) -> bool:
    """Whether all records that have a value have the same."""
    return column.distinct <= 1


def is_survey_weight(column: ColumnProfile) -> bool:
    """Whether it says how many people of the population a record of a survey stands for."""
    found = words(column.name)
    named = any(part in word for part in WEIGHTS for word in found)
    return column.kind in ("integer", "number") and (
        named or (any(word in found for word in ("weight", "weights")) and any(word in found for word in WEIGHING))
    )


def drug_stem(column: ColumnProfile) -> str | None:
    """The ending by which a name is that of a drug, if it is one.

    >>> profile = dict(kind="category", rows=9, distinct=2, missing=0)
    >>> [drug_stem(ColumnProfile(name=name, **profile)) for name in ("metformin", "atorvastatin_mg", "platform")]
    ['formin', 'vastatin', None]
    """
    found = [word for word in words(column.name) if len(word) > _WITHIN]
    return next((s for s in sorted(DRUG_STEMS, key=len, reverse=True) for w in found if w.endswith(s) and w != s), None)


def words(name: str) -> list[str]:
    """Take the name of a column apart.

    >>> words("maritalStatus"), words("ZIP_code-2")
    (['marital', 'status'], ['zip', 'code', '2'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def named_like(column: ColumnProfile, known: Iterable[str]) -> str | None:
    """The first known word in the column's name, if there is one."""
    found = words(column.name)
    whole = "".join(found)
    for word in known:
        within = len(word) >= _WITHIN and word not in ALONE
        if word in found or word == whole or (within and word in whole):
            return word
    return None
