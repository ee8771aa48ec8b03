"""Releases of Adult that ARX, MST and AIM made: what is read of them, counted again with pandas alone.

The counts of equivalence classes are those that the files' own README states.
"""

import pandas as pd
import pytest

import sfumato as sf
from bench.peers import FOREIGN, peers_study
from sfumato.ledger import open_ledger

NINE = [
    "age", "education", "marital_status", "native_country", "occupation", "race", "salary_class", "sex", "workclass",
]  # fmt: skip
GROUPS = {
    "arx-k5-full-domain-0": (24, 0),
    "arx-k5-full-domain-2": (222, 506),
    "arx-k5-full-domain-100": (602, 2_553),
    "arx-k5-local-recoding": (4_557, 0),
}


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "peers" / "adult"


@pytest.mark.parametrize("name", GROUPS)
def test_arx_k_anonymity_holds_as_read(name, folder, shared_data):
    rows = pd.read_csv(folder / f"{name}.csv.gz", dtype=str)
    kept = rows[(rows != "*").any(axis=1)]
    sizes = kept.groupby(NINE).size()
    groups, suppressed = GROUPS[name]
    assert (len(sizes), len(rows) - len(kept)) == (groups, suppressed) and sizes.min() >= 5

    study = sf.Study.from_mapping(peers_study(shared_data, "quasi_identifier"))
    shown = study.read_table(folder / f"{name}.csv.gz").shown
    assert len(shown) == groups and shown.suppressed == suppressed
    assert sorted(shown.weights.tolist()) == sorted(sizes.tolist())


# A node with one child is published under the child's name, ARX names the level: these mean the same values.
SAME = {"Primary education": "Primary School", "Secondary education": "High School", "Africa": "South"}


@pytest.mark.parametrize(
    ("name", "suppress"),
    [
        ("arx-k5-full-domain-2", 0.02),
        pytest.param("arx-k5-full-domain-0", 0.0, marks=pytest.mark.slow),
        pytest.param("arx-k5-full-domain-100", 1.0, marks=pytest.mark.slow),
    ],
)
def test_full_domain_recoding_publishes_what_arx_publishes(name, suppress, folder, shared_data, tmp_path):
    """With ARX's settings and hierarchies: the same levels, the same classes, the same suppressed records."""
    fields = peers_study(shared_data, "quasi_identifier")
    ages = shared_data / "adult" / "hierarchies" / "arx" / "adult_hierarchy_age.csv"
    fields["attributes"]["age"] = {"role": "quasi_identifier", "taxonomy": str(ages)}
    study = sf.Study.from_mapping(fields, ledger=open_ledger("memory:"))
    study.release(sf.FullDomain(k=5, suppress=suppress), out=tmp_path / "ours", report=False)
    ours = pd.read_csv(tmp_path / "ours" / "bundle" / "data.csv", dtype=str, keep_default_na=False)
    kept = ours[ours["suppressed"] == "false"] if "suppressed" in ours else ours
    theirs = pd.read_csv(folder / f"{name}.csv.gz", dtype=str)
    theirs = theirs[(theirs != "*").any(axis=1)].replace(SAME)
    assert len(ours) == 30_162
    assert kept.groupby(NINE).size().to_dict() == theirs.groupby(NINE).size().to_dict()


def test_every_foreign_release_is_read(folder, shared_data):
    study = sf.Study.from_mapping(peers_study(shared_data))
    assert set(FOREIGN) == {file.name.removesuffix(".csv.gz") for file in folder.glob("*.gz")} - {"original"}
    for name, synthetic in FOREIGN.items():
        read = study.read_table(sf.ForeignTable(source=folder / f"{name}.csv.gz", synthetic=synthetic))
        assert read.rows == 30_162 and not read.undeclared and not read.unpublished


def test_the_original_has_no_loss(folder, shared_data):
    study = sf.Study.from_mapping(peers_study(shared_data))
    found = study.measure(table=folder / "original.csv.gz", only=["query-error", "marginals-2", "general-loss"])
    assert all(one.value == pytest.approx(0, abs=1e-12) for one in found.values())
