"""Releases of measured tables: published, read, verified, forged, asked, sampled and learnt from."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.tree import DecisionTreeClassifier

import sfumato as sf
from sfumato.domains.json_form import domain_to_json
from sfumato.errors import VerifyError
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.bundle.atomic_files import file_facts
from sfumato.release.forms.tables.answer import query
from sfumato.release.forms.tables.layout import layout_of
from sfumato.release.model.plug_in import PlugIn, softmax
from sfumato.release.storage.seal import render, seal
from sfumato.study.purpose import tailor
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code
from tests.small_domains import flat

SIZE = 6_000
STUDY = {
    "name": "people",
    "privacy": {"budget": 1_000},
    "attributes": {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
        "job": {
            "role": "quasi_identifier",
            "taxonomy": {"Any": {"Office": ["Clerk", "Boss"], "Field": ["Farmer", "Guard"]}},
        },
        "pay": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 9_999], "missing": "keep"},
        "town": {"role": "quasi_identifier", "values": ["A", "B", "C"]},
        "moved": {"role": "class", "values": ["no", "yes"]},
    },
}


def people(size=SIZE, seed=1):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(0, 100, size), rng.choice(["Clerk", "Boss", "Farmer", "Guard"], size)
    pay = rng.integers(0, 10_000, size).astype(object)
    pay[rng.random(size) < 0.1] = None
    likely = 0.1 + 0.7 * (age < 40) * (job != "Boss")
    return pd.DataFrame(
        {
            "age": age,
            "job": job,
            "pay": pay,
            "town": rng.choice(list("ABC"), size, p=[0.6, 0.3, 0.1]),
            "moved": np.where(rng.random(size) < likely, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    study = sf.Study.from_mapping({**STUDY, "source": people(), "ledger": "memory:"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecureSource, "__new__", lambda _: InsecureSource(11))
        study.release(sf.Staged(epsilon=2), out=folder / "out", report=False)
    return folder / "out" / "bundle"


@pytest.fixture
def bundle(published, tmp_path):
    for path in published.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def release(published):
    return sf.Release.open(published)


def reseal(bundle, change=lambda manifest: None):
    manifest = json.loads((bundle / "manifest.json").read_text())
    for name in manifest["files"]:
        facts = file_facts(bundle / name)
        manifest["files"][name] = {"size": facts.size, "sha256": facts.sha256}
    change(manifest)
    manifest["seal"] = seal(manifest)
    (bundle / "manifest.json").write_bytes(render(manifest))


def failed(bundle):
    return {check.name: check.detail for check in sf.verify_bundle(bundle).checks if not check.ok}


def test_it_verifies_and_reads_back_alike(published, release):
    assert not failed(published)
    assert set(release.tables) >= {"table_1"}
    for name, table in release.tables.items():
        assert (
            table.to_pandas().astype(str).equals(pd.read_csv(published / f"{name}.csv", dtype=str)[table.column_names])
        )
    records = pd.read_csv(published / "records.csv")
    assert records["weight"].sum() == pytest.approx(release.measured.size, rel=0.01)
    assert set(records.columns) == {*STUDY["attributes"], "weight"}


def test_every_cell_of_a_table_is_listed_once(release):
    for name, table in release.tables.items():
        frame = table.to_pandas()
        cells = frame.drop(columns="count")
        assert not cells.duplicated().any()
        assert len(frame) == cells.nunique().prod(), name


@pytest.mark.parametrize("name", ["table_1.csv", "table_1.parquet", "records.csv", "README.md"])
def test_a_changed_file_is_found(bundle, name):
    raw = bytearray((bundle / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (bundle / name).write_bytes(bytes(raw))
    assert name in failed(bundle)


def test_another_count_in_one_of_the_files_is_found(bundle):
    table = pq.read_table(bundle / "table_1.parquet")
    counts = table.column("count").to_pylist()
    counts[0] += 1
    pq.write_table(
        table.set_column(table.num_columns - 1, "count", [counts]), bundle / "table_1.parquet", store_schema=False
    )
    reseal(bundle)
    assert "data files" in failed(bundle)


def test_cells_in_another_order_are_found(bundle):
    table = pq.read_table(bundle / "table_1.parquet")
    pq.write_table(table.take(list(range(len(table)))[::-1]), bundle / "table_1.parquet", store_schema=False)
    reseal(bundle)
    assert "declared cells in their order" in failed(bundle)["values"]
    with raises_code(VerifyError, "SF-VERIFY-119"):
        sf.Release.open(bundle)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), 0.0, -1.0, 1e300])
def test_a_weight_that_is_none_is_found(bundle, weight):
    table = pq.read_table(bundle / "records.parquet")
    weights = table.column("weight").to_pylist()
    weights[0] = weight
    table = table.set_column(table.num_columns - 1, "weight", [weights])
    pq.write_table(table, bundle / "records.parquet", store_schema=False)
    pa.csv.write_csv(table, bundle / "records.csv")
    reseal(bundle)
    assert "too large to be added up" in failed(bundle)["values"]


def one_class(manifest):
    manifest["attributes"][-1]["domain"] = manifest["attributes"][-1]["domain"] | flat_tree("no")


def flat_tree(*values):
    """The domain of these categories, as a manifest has it."""
    return domain_to_json(flat(*values))


def a_wide_leaf(manifest):
    """Single codes of a leaf that is 300 million codes wide: a listing would take 50 GB."""
    for attribute in manifest["attributes"]:
        if attribute["name"] == "town":
            tree = attribute["domain"]["taxonomy"]
            tree["widths"] = [1, 1, 300_000_000]
    for table in manifest["tables"]:
        for cut in table["cuts"]:
            if cut["attribute"] == "town":
                cut.pop("starts", None)
                cut |= {"size": 300_000_002, "starts": "finest"}


FORGED = [
    (one_class, "manifest", "from 2 to 100 values"),
    (a_wide_leaf, "manifest", "more groups of an attribute than any release has"),
    (lambda m: m.update(noisy_size=m["noisy_size"] * 2), "numbers", "as many as the manifest says"),
    (lambda m: m["tables"][0].update(rows=8), "manifest", "other rows or columns"),
    (lambda m: m["tables"][0].update(noise_scale=-1.0), "manifest", "wrong at 'tables.0.noise_scale'"),
    (lambda m: m["tables"][0].update(kind="remaining"), "manifest", "other rows or columns"),
    (lambda m: m["tables"].clear(), "manifest", "no measured table"),
    (lambda m: m["tables"].append(m["tables"][0]), "manifest", "an attribute that it cannot count"),
    (lambda m: m["tables"][0]["cuts"][0].update(size=7), "manifest", "not a partition"),
    (lambda m: m["tables"][0]["cuts"][0].update(attribute="town"), "manifest", "not one of its domain"),
    (lambda m: m["attributes"].reverse(), "manifest", "its class last"),
    (lambda m: m["records"].update(rows=3), "values", "as many rows as the manifest says"),
    (lambda m: m.update(weight_column="age"), "manifest", "the same name"),
    (lambda m: m.update(form="noisy-counts"), "manifest", "wrong at"),
    (lambda m: m["privacy"].update(epsilon="1"), "guarantee", "cost more than ε"),
]


@pytest.mark.parametrize(("change", "check", "detail"), FORGED)
def test_a_forged_manifest_is_found(bundle, change, check, detail):
    reseal(bundle, change)
    assert detail in failed(bundle)[check]


def test_a_table_of_too_many_groups_is_refused_before_it_is_read(bundle):
    def change(manifest):
        finest = {"attribute": "pay", "size": 10_001, "starts": "finest"}
        manifest["tables"][0]["cuts"] = [finest, {"attribute": "age", "size": 100, "starts": "finest"}]
        manifest["tables"][1:] = []
        manifest["attributes"][0]["domain"]["upper"] = "99999999"
        manifest["tables"][0]["cuts"][1]["size"] = 100_000_000

    reseal(bundle, change)
    assert "more groups of an attribute than any release has" in failed(bundle)["manifest"]


def test_the_classifier_is_the_model_of_the_tables(release):
    new = people(500, seed=2)
    model = release.classifier()
    found = model.predict_proba(new)
    codes = {name: release.domains[name].encode(new[name].tolist()) for name in ("age", "job", "pay", "town")}
    assert np.allclose(found, softmax(PlugIn(release.measured.stages).scores(codes, 500)))
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert (model.predict(new) == new["moved"]).mean() > 0.75, "8 in 10 can be known"
    assert model.score(new, new["moved"]) == (model.predict(new) == new["moved"]).mean()


def test_a_tree_learns_from_its_records(release):
    features, y, w = release.to_training()
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.01, random_state=0).fit(features, y, sample_weight=w)
    new = people(2_000, seed=2)
    assert (tree.predict(release.encoder().transform(new)) == new["moved"]).mean() > 0.75
    framed, classes, weights = release.to_training(as_frame=True)
    assert framed.shape == features.shape and classes.name == "moved" and weights.name == "weight"


def test_samples_have_plain_values_and_the_shares_of_the_tables(release):
    drawn = release.sample(20_000, seed=3).to_pandas()
    assert len(drawn) == 20_000 and set(drawn.columns) == set(STUDY["attributes"])
    assert drawn["age"].between(0, 99).all() and set(drawn["town"]) <= set("ABC")
    assert (drawn["moved"] == "yes").mean() == pytest.approx((people()["moved"] == "yes").mean(), abs=0.04)
    assert release.sample(7, seed=3).num_rows == 7
    assert release.sample(seed=3).num_rows == release.measured.size


def office(table):
    return table["job"].isin(["Clerk", "Boss"])


def rich(table):
    return table["pay"].fillna(-1) >= 5_000


ASKED = [
    ("moved = yes", lambda p: p["moved"] == "yes"),
    ("age < 40", lambda p: p["age"] < 40),
    ("age < 37 and moved = no", lambda p: (p["age"] < 37) & (p["moved"] == "no")),
    ("town = B", lambda p: p["town"] == "B"),
    ("town = B and age < 40", lambda p: (p["town"] == "B") & (p["age"] < 40)),
    ("town = B or age < 40", lambda p: (p["town"] == "B") | (p["age"] < 40)),
    ("job = Office and pay >= 5000 and town != A", lambda p: office(p) & rich(p) & (p["town"] != "A")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "holds"), ASKED, ids=[text for text, _ in ASKED])
def test_an_interval_holds_the_truth(release, text, holds):
    found = release.query(text)
    true = int(holds(people()).sum())
    assert found.low <= true <= found.high
    assert found.count is None or found.low <= found.count <= found.high
    assert found.confidence == 0.95


def test_what_joins_tables_says_so(release):
    by_name = {cut.attribute: number for number, t in enumerate(release.measured.stages) for cut in t.cuts}
    names = ["age", "job", "pay", "town"]
    apart = [(a, b) for a in names for b in names if a < b and by_name.get(a, a) != by_name.get(b, b)]
    assert apart, "four attributes do not fit one table"
    asked = {"age": "age < 50", "job": "job = Office", "pay": "pay >= 5000", "town": "town = A"}
    found = release.query(" and ".join(asked[name] for name in apart[0]))
    assert set(found.modelled) == set(apart[0])
    assert found.as_json()["modelled"] == list(found.modelled)


def test_intervals_hold_as_often_as_they_say():
    """Drawn anew for 40 drafts; of parts of groups none to all is allowed, so more than 95 in 100 hold."""
    view, records = view_of(), people()
    codes = {a.name: a.domain.encode(records[a.name].tolist()) for a in view.attributes}
    table = ArrayCounter(codes, {"moved": 2})
    held = 0
    for seed in range(40):
        context = Context(accountant=Accountant(Fraction(1, 2)), source=InsecureSource(seed))
        draft = sf.Staged(epsilon="1/2").draft(view, table, context)
        for text, holds in ASKED:
            found = query(layout_of(draft), draft.content, text)
            held += found.low <= int(holds(records).sum()) <= found.high
    assert held >= 0.95 * 40 * len(ASKED)


def view_of():
    study = sf.Study.from_mapping({**STUDY, "source": people(10), "ledger": "memory:"})
    return tailor(study.declared, None, sf.Staged.needs)


def test_a_draft_read_back_is_the_draft(release):
    draft = release.to_draft(view_of())
    assert draft.measured is release.measured and draft.groups is release.groups
    assert draft.form == "tables" and draft.guarantee.epsilon == 2
