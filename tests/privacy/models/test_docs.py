"""Every registered model, parameter and distance is documented, as it is."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from sfumato.privacy.groups.distances import DISTANCES
from sfumato.privacy.models import MODELS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip(" `"): [cell.strip() for cell in cells[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| `") and (cells := re.split(r"(?<!\\)\|", line))
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_row_with_its_parameters_and_whether_it_is_monotone(name):
    _, parameters, _, monotone, left_open = ROWS[name]
    kind = MODELS[name]
    assert re.findall(r"`(\w+)`", parameters) == sorted(
        (field.name for field in fields(kind)), key=lambda parameter: parameter == "attribute"
    )
    assert monotone == ({True: "yes", False: "no"}[kind.monotone] if kind.checkable else "")
    assert left_open, "what it does not protect from"


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_explained(name):
    section = PAGE.split("## Parameters")[1].split("\n## ")[0]
    for field in fields(MODELS[name]):
        assert re.search(rf"^\| [^|]*`{field.name}`", section, re.MULTILINE), field.name


@pytest.mark.parametrize("name", DISTANCES)
def test_every_distance_is_explained(name):
    assert name in ROWS


def test_nothing_is_documented_that_is_not_there():
    rows = re.findall(r"^\| `([^`]+)` \|", PAGE.split("## The models")[1].split("\n## ")[0], re.MULTILINE)
    assert sorted(rows) == list(MODELS)
