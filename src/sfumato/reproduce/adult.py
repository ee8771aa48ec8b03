"""The packaged census table as papers use it."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from sfumato.core.attribute import Role
from sfumato.core.study import Study
from sfumato.read import load_study

SIX = ("age", "workclass", "education", "marital_status", "race", "sex")


def incomes() -> Study:
    """The study as it is packaged: 14 attributes, and the income to predict."""
    return load_study(Path(str(files("sfumato") / "data" / "adult" / "study.yaml")))


def occupations() -> Study:
    """Li & Li's seven attributes (their Table 1): six quasi-identifiers, and the occupation as the sensitive one."""
    study = incomes()
    roles = {**dict.fromkeys(SIX, Role.QUASI_IDENTIFIER), "occupation": Role.SENSITIVE}
    attributes = {name: replace(study.attributes[name], role=role) for name, role in roles.items()}
    return replace(study, attributes=attributes, purposes={}, releases={}, sweeps={})
