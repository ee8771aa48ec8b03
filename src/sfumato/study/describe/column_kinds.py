"""What the profile of a column says about it: unique, constant, free text, or named like something known."""

import re
from collections.abc import Iterable

from sfumato.study.describe.column_profile import ColumnProfile

NEAR_UNIQUE = 0.9  # of the records that have a value, this share has one of its own

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_WITHIN = 5  # letters; a longer word also counts inside a longer one: `maritalstatus`

KEYS = ("id", "ids", "key", "uid", "pid", "guid", "uuid", "identifier", "ssn", "mrn", "number")
IDENTIFYING = (
    "id", "ids", "key", "uid", "pid", "guid", "uuid", "identifier", "ssn", "mrn", "nhs", "name", "surname",
    "firstname", "lastname", "fullname", "username", "email", "mail", "phone", "telephone", "mobile", "fax",
    "address", "street", "passport", "license", "licence", "iban", "account", "ip", "imei", "plate", "serial",
)  # fmt: skip
DEMOGRAPHIC = (
    "age", "sex", "gender", "race", "ethnic", "ethnicity", "nationality", "country", "citizen", "zip", "zipcode",
    "postal", "postcode", "plz", "city", "town", "county", "state", "province", "region", "district",
    "municipality", "marital", "married", "family", "relationship", "household", "children", "education",
    "school", "degree", "job", "occupation", "profession", "work", "workclass", "employment", "employer",
    "industry", "hours", "language", "birth", "born", "dob", "birthday", "height", "weight", "veteran", "tenure",
    "housing",
)  # fmt: skip
SENSITIVE = (
    "diagnosis", "diagnoses", "disease", "illness", "condition", "symptom", "treatment", "drug", "medication",
    "hiv", "icd", "procedure", "death", "mortality", "disability", "pregnant", "pregnancy", "mental", "income",
    "salary", "wage", "earnings", "capital", "debt", "credit", "loan", "balance", "tax", "religion", "faith",
    "party", "vote", "political", "union", "sexual", "orientation", "crime", "criminal", "conviction", "offence",
    "offense", "genotype", "genetic",
)  # fmt: skip
TARGETS = ("class", "target", "label", "income", "outcome")
BIRTH = ("birth", "born", "dob", "birthday")
POSTAL = ("zip", "zipcode", "postal", "postcode", "plz")


def count_present(column: ColumnProfile) -> int:
    """How many records have a value."""
    return column.rows - column.missing


def is_unique(column: ColumnProfile) -> bool:
    """Whether every record that has a value has one of its own."""
    return count_present(column) > 1 and column.distinct == count_present(column)


def is_near_unique(column: ColumnProfile) -> bool:
    """Whether nearly every record that has a value has one of its own."""
    return count_present(column) > 1 and column.distinct >= NEAR_UNIQUE * count_present(column)


def reads_as_amount(column: ColumnProfile) -> bool:
    """Whether it holds numbers with decimals, thousands separators, a currency or the like, as keys seldom have."""
    return column.kind == "number" or bool(column.number_formats)


def is_constant(column: ColumnProfile) -> bool:
    """Whether all records that have a value have the same."""
    return column.distinct <= 1


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
        if word in found or word == whole or (len(word) >= _WITHIN and word in whole):
            return word
    return None
