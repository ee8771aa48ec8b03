"""Real sets: diagnoses of the diabetes130 table, and market baskets. Skipped where the data is not there."""

import time
from pathlib import Path

import pytest

import sfumato as sf
from bench import diabetes, retail
from sfumato.release.verify import verify_bundle

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not (DATA / "diabetes130").is_dir(), reason="the diabetes130 table is not there")
@pytest.mark.parametrize("tree", ["observed", "grouped"])
def test_readmission_with_diagnosis_sets(tmp_path, tree):
    """By the codes that occur, and by all of ICD-9 as it is packaged, both with four groups above the chapters."""
    study = diabetes.study(tmp_path, tree=tree)
    method = sf.DiffGen(epsilon=1)
    began = time.process_time()
    release = study.release(method, out=tmp_path / "out", report=False).open()
    found = study.accuracy(method, runs=1)
    assert time.process_time() - began < 20  # of a processor; a busy machine takes longer by the clock
    assert verify_bundle(tmp_path / "out").ok
    assert release.manifest["privacy"]["unit"] == "one person with at most 3 records"
    assert release.domains["diagnosis"].most == 3
    assert 0.54 < found.la.mean < 0.59 and found.la.mean < found.ba.mean
    assert found.la.mean - 0.03 < found.ca.mean < found.ba.mean + 0.02
    circulatory = release.query("diagnosis contains circulatory")
    assert 0 <= circulatory.low < circulatory.high <= circulatory.total * 1.5
    assert circulatory.share is None or 0 <= circulatory.share <= 1  # None where no row decides it


@pytest.mark.skipif(not (DATA / "retail").is_dir(), reason="the retail baskets are not there")
def test_market_baskets(tmp_path):
    table = retail.baskets()
    assert len(table) == 88_162
    release = (
        retail.study(table).release(sf.DiffGen(epsilon=1, h=6, score="gini"), out=tmp_path / "out", report=False).open()
    )
    assert verify_bundle(tmp_path / "out").ok
    assert release.cuts["items"].total >= 2**100
