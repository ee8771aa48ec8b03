"""Bundles that earlier versions wrote open, verify and answer; tools/store_bundles.py made them, once."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato import Release, SfumatoError, verify_bundle
from sfumato.methods import METHODS
from tests.raising import raises_code

STORED = sorted(path for path in (Path(__file__).parents[1] / "stored").glob("manifest-*/*") if path.is_dir())


def _named(path):
    return f"{path.parent.name}/{path.name}"


EACH = pytest.mark.parametrize("bundle", STORED, ids=_named)
ONE_OF_EACH_FORM = {"anatomy", "bucketization", "diffgen", "marginals", "mondrian", "staged"}


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def data_of(bundle):
    """The table of groups or records."""
    return next(path for name in ("data.csv", "data_qit.csv", "records.csv") if (path := bundle / name).exists())


def manifest_of(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def test_every_method_is_among_them():
    found = {manifest_of(bundle)["method"]["name"] for bundle in STORED}
    assert found <= set(METHODS), "a method that published bundles keeps its name"
    assert found >= {"anatomy", "bucketization", "capped-confidence", "contingency", "diffgen"}
    assert found >= {"full-domain", "mondrian", "tds"}
    assert len(STORED) >= 16


@EACH
def test_it_verifies_and_a_changed_one_does_not(bundle, tmp_path):
    assert verify_bundle(bundle).ok
    for path in bundle.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    data = next(path for path in sorted(tmp_path.glob("*.csv")) if path.name != "other_1.csv")
    data.write_bytes(data.read_bytes().replace(b"1", b"2", 1))
    assert not verify_bundle(tmp_path).ok


@EACH
def test_it_is_read_as_its_csv_file_says(bundle):
    release = Release.open(bundle)
    read = release.to_arrow().to_pylist()
    said = rows_of(data_of(bundle))
    assert [{name: _text(row[name]) for name in said[0]} for row in read] == said


def _text(value):
    """A value as the CSV file has it: numbers without a fraction of 0, and nothing for what is missing."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


@EACH
def test_it_answers_how_many_records_it_has(bundle):
    release = Release.open(bundle)
    said = rows_of(data_of(bundle))
    job = "job" if "job" in said[0] else "age"
    everybody = "job in (Office, Field)" if job == "job" else "age >= 0"
    found = release.query(everybody)
    if "weight" in said[0]:  # the tables answer, and each has its own noise
        assert found.low <= sum(float(row["weight"]) for row in said) <= found.high
        return
    shown = sum(int(row.get("count", 1)) for row in said if row[job])  # a suppressed record has no values
    shown /= float(found.sampled or 1)
    assert found.low <= shown <= found.high
    assert found.count == pytest.approx(shown)


@EACH
def test_learners_get_its_records(bundle):
    release = Release.open(bundle)
    if bundle.name == "contingency-without-target":
        with raises_code(SfumatoError, "SF-USAGE-057"):
            release.to_training()
        return
    features, target, weights = release.to_training()
    assert len(features) == len(target) == len(weights) > 0
    assert set(target) <= {"no", "yes"}


@pytest.mark.parametrize(
    "bundle",
    [pytest.param(path, marks=[] if path.name in ONE_OF_EACH_FORM else pytest.mark.slow) for path in STORED],
    ids=_named,
)
def test_it_opens_in_a_process_that_knows_nothing_yet(bundle):
    """A form is loaded when the first bundle of it is opened, whatever was imported before."""
    code = "import sys; from sfumato.release.release import Release; print(type(Release.open(sys.argv[1])).__name__)"
    done = subprocess.run([sys.executable, "-c", code, str(bundle)], capture_output=True, text=True, check=False)
    form = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["form"]
    kind = {
        "counts": "CountsRelease",
        "noisy-counts": "CountsRelease",
        "consistent-counts": "ConsistentRelease",
        "tables": "TablesRelease",
        "marginals": "MarginalsRelease",
    }
    assert done.stdout.strip() == kind.get(form, "RecordsRelease"), done.stderr
