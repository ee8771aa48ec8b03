"""The packaged census table as papers use it."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from sfumato.evaluate.learning.lessons import Codes
from sfumato.methods import DiffGen
from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source

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


def coded_incomes() -> tuple[View, Codes]:
    """The packaged records as codes, in the order in which `worth` has them: splits and folds are the same."""
    study = incomes()
    view = tailor(study, None, DiffGen.needs)
    with open_source(study.source, base=study.base) as table:
        cells = CodedTable(table, view.attributes, unit=view.unit).full_cells([a.name for a in view.attributes])
    return view, {name: np.repeat(cells.codes[:, place], cells.counts) for place, name in enumerate(cells.attributes)}
