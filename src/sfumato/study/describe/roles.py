"""Which role a column seems to have, and why: rules, of which the first that has an opinion decides.

There is no default role. What no rule speaks of is undecided, with the question that the owner has to answer; free text
never gets a role that is published.
"""

from typing import Final

from sfumato.study.attribute import Role
from sfumato.study.describe.column_kinds import (
    count_present,
    drug_stem,
    is_constant,
    is_near_unique,
    is_running_number,
    is_survey_weight,
    is_unique,
    named_like,
    reads_as_amount,
    words,
)
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.columns_together import as_codes
from sfumato.study.describe.known_names import BIRTH, DEMOGRAPHIC, IDENTIFYING, KEYS, SENSITIVE
from sfumato.study.describe.known_values import known_values
from sfumato.study.describe.rounding import COORDINATES

Verdict = tuple[Role, str]

_FEW: Final = 20  # a column named like an identifier with no more values than this is a code for something else
_TELLTALE: Final = {
    "email": "mail addresses",
    "url": "web addresses",
    "uuid": "keys",
    "ip": "network addresses",
    "phone": "telephone numbers",
}
_KNOWN: Final = "may others know it of a person (`quasi_identifier`)"
_KEPT: Final = "must it not be disclosed for a person (`sensitive`)"
QUESTION: Final = f"neither its name nor its values say what it is: {_KNOWN}, {_KEPT}, or neither (`insensitive`)?"


def role_of(column: ColumnProfile) -> Verdict:
    """The role of a column by itself, and why."""
    return next((verdict for rule in _RULES if (verdict := rule(column)) is not None), (Role.UNDECIDED, QUESTION))


def _empty(column: ColumnProfile) -> Verdict | None:
    return (Role.UNDECIDED, "it is empty: take it out, or say what it will hold") if not count_present(column) else None


def _looks_identifying(column: ColumnProfile) -> Verdict | None:
    look = next((look for look in _TELLTALE if look in column.looks_like), None)
    return (Role.IDENTIFIER, f"its values have the form of {_TELLTALE[look]}") if look else None


def _named_identifying(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, IDENTIFYING)
    if word is None or column.kind in ("date", "set") or not (column.distinct > _FEW or is_near_unique(column)):
        return None
    if as_codes(column) and not is_near_unique(column):  # `disposition_id` with its 26 values
        return None
    last = words(column.name)[-1]
    key = last in KEYS  # `citizen_id` is an id, `country_name` is a country
    if reads_as_amount(column) and last not in IDENTIFYING and not key:  # `account_balance`, unlike `patient_id`
        return None
    if key or is_near_unique(column) or not named_like(column, (*DEMOGRAPHIC, *SENSITIVE)):
        return Role.IDENTIFIER, f"its name says '{word}' and it has {column.distinct} different values"
    return None


def _constant(column: ColumnProfile) -> Verdict | None:
    if not is_constant(column):
        return None
    return Role.UNDECIDED, "all records have the same value, so it carries no information: may it be published at all?"


def _free_text(column: ColumnProfile) -> Verdict | None:
    if column.kind != "text":
        return None
    if is_near_unique(column):
        return Role.IDENTIFIER, f"{_own(column)} a unique text"
    why = "it is free text, which can name people: it is published only if you list its values by hand"
    return Role.UNDECIDED, f"{why}; else make it an `identifier`, which is never released"


def _date(column: ColumnProfile) -> Verdict | None:
    if column.kind != "date":
        return None
    if named_like(column, BIRTH):
        return Role.QUASI_IDENTIFIER, "a date of birth is known to others and singles people out"
    return Role.QUASI_IDENTIFIER, "it is a date that others may know of a person, and not the time"


def _survey_weight(column: ColumnProfile) -> Verdict | None:
    if not is_survey_weight(column):
        return None
    why = "it seems to be a weight of a survey, computed from where and how somebody was sampled, which it may tell"
    return Role.UNDECIDED, f"{why}: leave it out, or is it public (`insensitive`)?"


def _coordinate(column: ColumnProfile) -> Verdict | None:
    if column.kind not in ("integer", "number") or not any(word in COORDINATES for word in words(column.name)):
        return None
    return Role.QUASI_IDENTIFIER, "it is part of a place on the map, which others may know of a person"


def _drug(column: ColumnProfile) -> Verdict | None:
    stem = drug_stem(column)
    return (Role.SENSITIVE, f"its name ends as those of drugs do (-{stem})") if stem else None


def _named_sensitive(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, SENSITIVE)
    return (Role.SENSITIVE, f"its name says '{word}', which people usually keep confidential") if word else None


def _named_demographic(column: ColumnProfile) -> Verdict | None:
    word = named_like(column, DEMOGRAPHIC)
    return (Role.QUASI_IDENTIFIER, f"its name says '{word}', which others may know of a person") if word else None


def _known_values(column: ColumnProfile) -> Verdict | None:
    known = known_values(column.values)
    return (Role.QUASI_IDENTIFIER, f"its values are {known}, which others may know of a person") if known else None


def _one_each(column: ColumnProfile) -> Verdict | None:
    if is_running_number(column):
        return Role.IDENTIFIER, "it holds running numbers, as keys of people, households or records do"
    if column.kind in ("integer", "category") and is_near_unique(column) and not reads_as_amount(column):
        return Role.IDENTIFIER, f"{_own(column)} a unique value"
    return None


def _own(column: ColumnProfile) -> str:
    every = "every record" if is_unique(column) else "nearly every record"
    return f"{every} that has a value has" if column.missing else f"{every} has"


_RULES: Final = (
    _empty,
    _looks_identifying,
    _named_identifying,
    _constant,
    _free_text,
    _date,
    _survey_weight,
    _coordinate,
    _drug,
    _named_sensitive,
    _named_demographic,
    _known_values,
    _one_each,
)
