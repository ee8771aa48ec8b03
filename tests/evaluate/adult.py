"""The seven attributes of the packaged census table that Li & Li use, with the occupation as the sensitive one."""

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from sfumato.release.partition import Boxes, Partition
from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.workflow.evaluate import measuring_view, raw_cells
from tests.made_drafts import records_draft

QUASI = ("age", "workclass", "education", "marital_status", "race", "sex")


@cache
def study():
    declared = load_study(Path(str(files("sfumato") / "data" / "adult" / "study.yaml")))
    roles = {**dict.fromkeys(QUASI, Role.QUASI_IDENTIFIER), "occupation": Role.SENSITIVE}
    return replace(
        declared, attributes={name: replace(declared.attributes[name], role=role) for name, role in roles.items()}
    )


@cache
def table():
    """The view and the cells."""
    view = measuring_view(study())
    return view, raw_cells(study(), view)


def trivial():
    """All quasi-identifiers removed."""
    view, cells = table()
    sizes = np.array([[view.domain(name).size for name in QUASI]])
    boxes = Boxes(QUASI, np.zeros_like(sizes), sizes)
    return records_draft(view, Partition(cells, np.zeros(len(cells), np.int64), boxes))


def original():
    """Everything as it is."""
    view, cells = table()
    exact = cells.codes[:, : len(QUASI)]
    boxes = Boxes(QUASI, exact, exact + 1)
    return records_draft(view, Partition(cells, np.arange(len(cells)), boxes), form="bucketized")
