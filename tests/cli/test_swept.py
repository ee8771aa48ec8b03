"""The command line says that a sweep was run for the purpose of a release."""

import pyarrow.parquet
import pytest

import sfumato as sf
from tests.workflow.sweeping.test_place_on_frontier import STUDY
from tests.workflow.test_sweep import table

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

SAID = "sweep over the raw table was run for the whole study"


@pytest.fixture
def study(tmp_path):
    pyarrow.parquet.write_table(table(), tmp_path / "clinic.parquet")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return str(tmp_path / "study.yaml")


def test_a_sweep_is_told_of_in_words_and_in_json(study, run):
    assert SAID not in run("plan", study, "groups").out
    sf.frontier(sf.Study.load(study), sf.sweep("mondrian", k=[50]), workers=1)
    assert SAID in run("plan", study, "groups").out
    assert any(SAID in one for one in run("plan", study, "groups", "--json").json["sentences"])
    made = run("release", study, "groups", "--json")
    assert made.code == 0 and made.err.startswith(f"warning: a {SAID}")
    assert [SAID in one for one in made.json["warnings"]] == [True]
    assert SAID in run("release", study, "noise").err
    [ran] = run("run", study, "--only", "noise", "--runs", "1", "--json").json
    assert [SAID in one for one in ran["warnings"]] == [True]
