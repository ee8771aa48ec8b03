"""Releases of Adult that ARX, MST and AIM made: what is read of them, counted again with pandas alone.

The counts of equivalence classes are those that the files' own README states.
"""

import pandas as pd
import pytest

import sfumato as sf
from bench.peers import FOREIGN, peers_study

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
