"""A release that says its parameters were fixed in advance is warned of a sweep that looked at the table before."""

import json

import pyarrow.parquet
import pytest

import sfumato as sf
from tests.workflow.sweeping.test_place_on_frontier import STUDY
from tests.workflow.test_sweep import table

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

SIZES = sf.sweep("mondrian", k=[50, 200])
RAW = "chosen on the raw table"
SAID = f"has to say `chosen: {RAW}`"
MORE = """\
  told: {method: mondrian, k: 50, chosen: chosen on the raw table}
  other: {method: mondrian, k: 50, purpose: few}
"""


@pytest.fixture
def clinic(tmp_path):
    pyarrow.parquet.write_table(table(), tmp_path / "clinic.parquet")
    (tmp_path / "study.yaml").write_text(STUDY + MORE, encoding="utf-8")
    return sf.Study.load(tmp_path / "study.yaml")


def warned(words):
    return [one for one in words if SAID in one]


def chosen(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["privacy"]["chosen"]


@pytest.mark.parametrize("name", ["groups", "noise"])
def test_plan_and_release_warn_after_a_sweep_and_not_before(clinic, name):
    assert not warned(clinic.plan(name).sentences) and not warned(clinic.release(name, report=False).warnings)
    sf.frontier(clinic, SIZES, workers=1)
    [planned] = warned(clinic.plan(name).sentences)
    made = clinic.release(name, report=False)
    assert warned(made.warnings) == [planned] and "for the whole study" in planned
    assert chosen(made.bundle) == "fixed in advance", "the owner's word stands"
    files = [file for file in made.bundle.iterdir() if file.suffix in {".json", ".md"}]
    assert not any("sweep" in file.read_text(encoding="utf-8") for file in files)


def test_who_says_so_and_another_purpose_are_not_warned(clinic):
    sf.frontier(clinic, SIZES, workers=1)
    for name in ("told", "other"):
        assert not warned(clinic.plan(name).sentences) and not warned(clinic.release(name, report=False).warnings)
    sf.frontier(clinic, SIZES, workers=1, purpose="few")
    assert "for purpose 'few'" in warned(clinic.plan("other").sentences)[0]
    assert warned(clinic.release(sf.Mondrian(k=50), report=False).warnings)
    made = clinic.release(sf.Mondrian(k=50), chosen=RAW, report=False)
    assert not warned(made.warnings) and chosen(made.bundle) == RAW
