"""Codes that everybody writes alike: how they are known, the prefixes that group them, and who publishes the list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.study.describe.column_kinds import named_like, words
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.known_names import COUNTED, POSTAL

_NEARLY: Final = 0.9  # of the values have the form; the others are groups, or slips
_LEAST: Final = 2  # different codes: of fewer nothing can be told


@dataclass(frozen=True, slots=True)
class CodeSystem:
    """A public list of codes: the words that name a column of them, their form, and the prefixes that are levels."""

    title: str
    named: tuple[str, ...]
    form: re.Pattern[str]
    prefixes: tuple[int, ...]
    source: str


SYSTEMS: Final = (
    CodeSystem(
        "postal codes", POSTAL, re.compile(r"[A-Z0-9][A-Z0-9 -]{2,9}"), (1, 3),
        "the list of the postal service",
    ),
    CodeSystem(
        "ICD-10 codes", ("icd", "icd10", "diag", "diagnosis", "dx"),
        re.compile(r"[A-TV-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?"), (1, 3),
        "ICD-10 of the World Health Organization",
    ),
    CodeSystem(
        "ICD-9 codes", ("icd", "icd9", "diag", "diagnosis", "diagnoses", "dx"),
        re.compile(r"(?:[0-9]{1,3}|V[0-9]{2}|E[0-9]{3})(?:\.[0-9]{1,2})?"), (1, 2, 3),
        "ICD-9-CM, which `sfumato taxonomy icd9` writes as a taxonomy",
    ),
    CodeSystem(
        "SOC codes", ("soc", "onet", "occupation", "job"), re.compile(r"[0-9]{2}-?[0-9]{4}(?:\.[0-9]{2})?"), (2, 4),
        "the Standard Occupational Classification",
    ),
    CodeSystem(
        "NACE codes", ("nace", "isic", "industry", "activity"), re.compile(r"[A-U]?[0-9]{2}(?:\.[0-9]{1,2})?"), (1, 2),
        "NACE of Eurostat",
    ),
    CodeSystem(
        "NAICS or SIC codes", ("naics", "sic", "industry"), re.compile(r"[0-9]{4,6}"), (2, 3),
        "the list of the statistics office",
    ),
    CodeSystem(
        "ISCO codes", ("isco", "isco08", "isco88"), re.compile(r"[0-9]{4}"), (1, 2, 3),
        "ISCO of the International Labour Organization",
    ),
    CodeSystem(
        "ATC codes", ("atc", "drug", "medication"), re.compile(r"[A-Z][0-9]{2}[A-Z]{2}[0-9]{2}"), (1, 3, 5),
        "the ATC index of the World Health Organization",
    ),
    CodeSystem(
        "codes of counties", ("fips", "county", "tract"), re.compile(r"[0-9]{5}(?:[0-9]{6})?"), (2, 5),
        "the list of the census office",
    ),
)  # fmt: skip


def code_system(column: ColumnProfile) -> CodeSystem | None:
    """The list that the values of a column are codes of: by its name and by the form of the values.

    >>> codes = ("250.83", "V27", "8", "401", "427.1")
    >>> code_system(ColumnProfile(name="diag_1", kind="category", rows=9, distinct=5, missing=0, values=codes)).title
    'ICD-9 codes'
    """
    name = words(column.name)
    named = {*name, "".join(name)}
    if column.kind == "integer" and named_like(column, COUNTED):  # `number_of_diagnoses` has no diagnoses
        return None
    for system in SYSTEMS:
        if (
            not named.isdisjoint(system.named)
            and len(column.values) >= _LEAST
            and _has_form(column.values, system.form)
        ):
            return system
    return None


def prefix_lengths(values: Sequence[str], wanted: Sequence[int]) -> list[int]:
    """The lengths that group the values: those shorter than every value."""
    return [length for length in wanted if length < min(map(len, values), default=0)]


def _has_form(values: Sequence[str], form: re.Pattern[str]) -> bool:
    fitting = sum(form.fullmatch(value) is not None for value in values)
    return fitting >= _NEARLY * len(values) and all("*" not in value for value in values)
