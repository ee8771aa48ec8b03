"""Releases of a real table that Sfumato does not package, checked again with pandas alone.

The first 60,000 records of the American Community Survey's view with an occupation (see the shared data folder).
"""

import duckdb
import pytest

from sfumato.api import Study
from sfumato.methods import Anatomy, Bucketization, FullDomain, Mondrian
from sfumato.privacy.models import DistinctLDiversity, KAnonymity, ProbabilisticLDiversity, TCloseness

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

QUASI = ["age", "sex", "education", "marital", "race", "work_class", "state"]


@pytest.fixture(scope="module")
def fields(shared_data, tmp_path_factory):
    folder = shared_data / "acs_pums_2024"
    records = tmp_path_factory.mktemp("acs") / "people.parquet"
    view = folder / "occ_sal_view.csv.gz"
    duckdb.sql(f"COPY (FROM read_csv('{view}', all_varchar = true) LIMIT 60000) TO '{records}'")
    values = {
        name: [str(v) for (v,) in duckdb.sql(f"SELECT DISTINCT {name} FROM '{view}' ORDER BY 1").fetchall()]
        for name in ("sex", "marital", "race", "work_class")
    }
    trees = records.parent
    for name in ("schl", "state", "occp"):  # these files have a header, which is no leaf
        lines = (folder / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
        (trees / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return {
        "name": "acs",
        "source": str(records),
        "attributes": {
            "age": {
                "role": "quasi_identifier",
                "type": "integer",
                "bounds": [16, 99],
                "taxonomy": {"intervals": {"width": 5, "levels": 4}},
            },
            **{name: {"role": "quasi_identifier", "values": found} for name, found in values.items()},
            "education": {"role": "quasi_identifier", "taxonomy": str(trees / "schl.csv")},
            "state": {"role": "quasi_identifier", "taxonomy": str(trees / "state.csv")},
            "occupation": {"role": "sensitive", "taxonomy": str(trees / "occp.csv")},
        },
    }


PROMISE = (KAnonymity(k=10), DistinctLDiversity(l=4), ProbabilisticLDiversity(l="2.5"))


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(privacy=PROMISE),
        Mondrian(privacy=PROMISE, suppress="0.02", choose="loss"),
        FullDomain(privacy=PROMISE, suppress="0.05"),
    ],
    ids=["mondrian", "mondrian with suppression", "full-domain"],
)
def test_every_group_keeps_every_promise_counted_by_pandas(fields, method, tmp_path):
    done = Study.from_mapping(fields).release(method, out=tmp_path / "out", report=False)
    table = done.open().to_pandas()
    assert len(table) == 60_000
    if "suppressed" in table:
        assert 0 <= table["suppressed"].mean() <= 0.05
        table = table[~table["suppressed"].astype(bool)]
    pairs = table.groupby([*QUASI, "occupation"], observed=True, dropna=False).size()
    groups = pairs[pairs > 0].groupby(QUASI, observed=True, dropna=False).agg(["sum", "size", "max"])
    assert groups["sum"].sum() == len(table)
    assert groups["sum"].min() >= 10
    assert groups["size"].min() >= 4
    assert (groups["max"] * 2.5 <= groups["sum"]).all()


def test_t_closeness_holds_by_a_distance_computed_here(fields, tmp_path):
    method = Mondrian(k=50, privacy=(TCloseness(t="0.4"),))
    done = Study.from_mapping(fields).release(method, out=tmp_path / "out", report=False)
    table = done.open().to_pandas()
    whole = table["occupation"].value_counts(normalize=True)
    groups = table.groupby(QUASI, observed=True)
    assert groups.ngroups > 10
    for _, group in groups:
        share = group["occupation"].value_counts(normalize=True)
        assert share.sub(whole, fill_value=0).abs().sum() / 2 <= 0.4 + 1e-9


def test_buckets_keep_the_promise_and_the_quasi_identifiers(fields, tmp_path):
    study = Study.from_mapping(fields)
    raw = duckdb.sql(f"SELECT {', '.join(QUASI)}, occupation FROM '{fields['source']}'").df()
    done = study.release(Bucketization(privacy=(DistinctLDiversity(l=5),)), out=tmp_path / "buckets", report=False)
    table = done.open().to_pandas()
    assert table.groupby("group")["occupation"].nunique().min() >= 5
    assert sorted(table["occupation"].astype(str)) == sorted(raw["occupation"])
    assert sorted(table["state"].astype(str)) == sorted(raw["state"]), "quasi-identifiers are published as they are"


def test_anatomy_has_no_value_twice_in_a_bucket_but_for_residues(fields, tmp_path):
    done = Study.from_mapping(fields).release(Anatomy(l=5), out=tmp_path / "anatomy", report=False)
    tables = list(done.bundle.glob("*st*.parquet"))
    assert len(tables) == 1
    sensitive = duckdb.sql(f"FROM '{tables[0]}'").df()
    count = next(c for c in sensitive if c.startswith("count"))
    totals = sensitive.groupby("group")[count].agg(["sum", "max", "size"])
    assert totals["size"].min() >= 5
    assert (totals["max"] * 5 <= totals["sum"]).all(), "no value is more than a fifth of its bucket"
