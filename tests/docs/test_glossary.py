"""The glossary has every word that a reader meets: roles, kinds of measures, and the terms of the house, in order."""

import re
from pathlib import Path
from typing import get_args

from sfumato.evaluate.measures.measure import Kind
from sfumato.study.attribute import Role

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", PAGE, re.MULTILINE)[1:])
TERMS = {
    "equivalence class", "privacy model", "guarantee", "generalise", "taxonomy", "suppress", "marginal",
    "contingency table", "synthetic records", "privacy budget", "budget breakdown", "privacy accountant", "ledger",
    "composition", "target", "utility", "information loss", "invalid value", "out-of-domain value", "missing value",
    "release", "record", "adversary", "background knowledge", "re-identification", "attribute disclosure",
    "membership disclosure",
}  # fmt: skip


def test_every_term_of_the_vocabulary_has_an_entry():
    assert set(ENTRIES) >= TERMS
    assert all(len(meaning) > 15 and meaning.endswith(".") for meaning in ENTRIES.values())


def test_roles_and_kinds_of_measures_are_explained():
    names = {role.value.replace("_", "-") for role in Role} - {"class"}
    assert names <= set(ENTRIES)
    assert "`class`" in ENTRIES["target"]
    assert all(kind in ENTRIES["measure"] for kind in get_args(Kind))


def test_entries_stand_in_order_and_once():
    names = [name for name, _ in re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", PAGE, re.MULTILINE)[1:]]
    plain = [re.sub(r"^ε, ", "", name).lower() for name in names]
    assert plain == sorted(plain)
    assert len(set(plain)) == len(plain)
