"""docs/reference/measures.md tells of every measure what the registry tells of it, and of every parameter."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from sfumato.evaluate.measures import MEASURES, range_words

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", PAGE, re.MULTILINE))


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_in_the_table_with_its_direction_range_and_unit(name):
    measure = MEASURES[name]
    told = [cell.strip() for cell in ROWS[name].split(" | ")]
    assert told[:4] == [measure.kind, measure.better, range_words(measure), measure.unit]
    assert len(told) == 5 and told[4] == measure.summary


@pytest.mark.parametrize("name", MEASURES)
def test_every_parameter_of_a_measure_is_documented(name):
    for field in fields(MEASURES[name]):
        assert re.search(rf"^\| `{field.name}` \| .*`{name}`", PAGE, re.MULTILINE), f"{name}: {field.name}"


def test_no_measure_is_told_of_that_is_not_there():
    kinds = {measure.kind for measure in MEASURES.values()}
    assert {name for name, row in ROWS.items() if row.split(" | ")[0] in kinds} == set(MEASURES)
