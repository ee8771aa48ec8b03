"""Columns that are published exactly single out rows, whatever k is: every text that a reader may see says so."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release.forms.records.readme import unique_published
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.release import Release
from sfumato.release.uniqueness import count_unique, uniqueness

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

N = 400
ROOT = Path(__file__).parents[2]


def study(*, pay="insensitive"):
    rng = np.random.default_rng(7)
    table = pa.table(
        {
            "age": rng.integers(20, 60, N),
            "job": rng.choice(["a", "b", "c"], N),
            "pay": rng.integers(0, 5_000, N),
            "ill": np.resize(["flu", "cold", "none", "gout"], N),
        }
    )
    return sf.Study.from_mapping(
        {
            "name": "towns",
            "source": table,
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                "job": {"role": "quasi_identifier", "values": ["a", "b", "c"]},
                "pay": {"role": pay, "type": "integer", "bounds": [0, 4999]},
                "ill": {"role": "sensitive", "values": ["cold", "flu", "gout", "none"]},
            },
        }
    )


def brute(bundle, without=()):
    rows = Release.open(bundle).to_arrow().drop_columns(list(without)).to_pylist()
    found = Counter(tuple(row.items()) for row in rows)
    return sum(times == 1 for times in found.values()), len(rows)


def test_a_plan_names_them_from_declared_domains_alone():
    [said] = [s for s in study().plan(sf.Mondrian(k=5)).sentences if "published exactly" in s]
    assert "pay (insensitive)" in said and "ill (sensitive)" in said
    assert "20,000 combinations of declared values" in said
    assert "anyone who knows these values of a person can single out rows" in said


def test_a_readme_counts_unique_rows_in_the_published_table(tmp_path):
    done = study().release(sf.Mondrian(k=5), out=tmp_path / "out")
    unique, rows = brute(done.bundle)
    assert unique / rows > 0.9, "the case: k-anonymous, and nearly every row is unique"
    readme = (done.bundle / "README.md").read_text(encoding="utf-8")
    assert f"{unique:,} of {rows:,} published records ({100 * unique / rows:.3g} %) are unique" in " ".join(
        readme.split()
    )
    report = (done.folder / "owner" / "report.html").read_text(encoding="utf-8")
    assert f"{unique:,} of {rows:,} published records" in report
    assert uniqueness(done.draft).unique == unique
    [warning] = done.warnings
    assert warning.startswith(f"{unique:,} of {rows:,} published records") and "make them quasi-identifiers" in warning
    assert Release.open(done.bundle).to_arrow().num_rows == rows


@pytest.mark.parametrize(
    "method",
    [sf.Bucketization(privacy={"distinct-l-diversity": 2}), sf.Anatomy(l=2)],
    ids=["bucketized", "anatomy"],
)
def test_buckets_publish_quasi_identifiers_exactly_and_say_so(method, tmp_path):
    [said] = [s for s in study().plan(method).sentences if "published exactly beside the buckets" in s]
    assert "age (quasi-identifier)" in said and "ill" not in said.split("combinations")[0]
    done = study().release(method, out=tmp_path / "out")
    release = Release.open(done.bundle)
    found = unique_published(release.layout, RecordStore.of(release.records))
    names = [name for name in release.to_arrow().column_names if name not in {"age", "job", "pay"}]
    assert (found.unique, found.published) == brute(done.bundle, names)
    assert found.unique == uniqueness(done.draft).unique


def test_without_exact_columns_nothing_is_warned_of(tmp_path):
    opened = study(pay="quasi_identifier")
    few = sf.Study.from_mapping(
        {
            "name": "towns",
            "source": pa.table({"age": list(range(40)) * 2}),
            "attributes": {"age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]}},
        }
    )
    done = few.release(sf.Mondrian(k=5), out=tmp_path / "out")
    assert not any("exactly" in said for said in few.plan(sf.Mondrian(k=5)).sentences)
    assert not done.warnings
    assert "unique" not in (done.bundle / "README.md").read_text(encoding="utf-8")
    assert any("ill (sensitive)" in said for said in opened.plan(sf.Mondrian(k=5)).sentences)


def test_counting_holds_for_many_columns():
    """Numbers are given anew column by column, so no product of sizes can overflow."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2**40, 50) for _ in range(40)]
    assert count_unique(columns, np.ones(50, dtype=np.int64)) == 50
    assert count_unique(columns, np.full(50, 2, dtype=np.int64)) == 0
    assert count_unique([], np.empty(0, dtype=np.int64)) == 0


def test_no_text_claims_more_than_a_model_promises():
    """The sentences that were wrong, wherever they might come back."""
    wrong = re.compile(r"nobody in them can be picked out|whose cannot be told|nobody can be picked out|whose is whose")
    for folder, kinds in (("src", ("*.py", "*.html")), ("docs", ("*.md",)), (".", ("README.md", "pyproject.toml"))):
        for kind in kinds:
            for file in (ROOT / folder).glob(kind if folder == "." else f"**/{kind}"):
                assert not wrong.search(" ".join(file.read_text(encoding="utf-8").split())), file
