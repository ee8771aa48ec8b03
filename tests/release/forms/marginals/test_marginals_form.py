"""Releases of marginals: published, read, verified, forged, asked, sampled and learnt from."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.tree import DecisionTreeClassifier

import sfumato as sf
from sfumato.errors import UsageError, VerifyError
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.forms.marginals.layout import layout_of
from sfumato.release.forms.tables.answer import query
from sfumato.study.purpose import tailor
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code
from tests.release.forms.tables.test_tables import ASKED, STUDY, failed, flat_tree, people, reseal

WITHOUT = {**STUDY, "attributes": {name: what for name, what in STUDY["attributes"].items() if name != "moved"}}


def publish(folder, study, source, **parameters):
    made = sf.Study.from_mapping({**study, "source": source, "ledger": "memory:"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecureSource, "__new__", lambda _: InsecureSource(11))
        made.release(sf.Marginals(epsilon=2, **parameters), out=folder / "out", report=False)
    return folder / "out" / "bundle"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return publish(tmp_path_factory.mktemp("marginals"), STUDY, people())


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return publish(tmp_path_factory.mktemp("without"), WITHOUT, people().drop(columns="moved"))


@pytest.fixture
def bundle(published, tmp_path):
    for path in published.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def release(published):
    return sf.Release.open(published)


def test_it_verifies_and_reads_back_alike(published, release):
    assert not failed(published)
    assert len(release.tables) > len(STUDY["attributes"])
    for name, table in release.tables.items():
        frame = table.to_pandas()
        assert frame.astype(str).equals(pd.read_csv(published / f"{name}.csv", dtype=str)[table.column_names])
        cells = frame.drop(columns="count")
        assert not cells.duplicated().any() and len(frame) == cells.nunique().prod(), "every cell, once"
    records = pd.read_csv(published / "records.csv")
    assert set(records.columns) == {*STUDY["attributes"], "weight"}
    assert records["weight"].sum() == pytest.approx(release.measured.total, rel=0.001)


def test_what_a_receiver_reads_says_what_is_there(published, release):
    readme = (published / "README.md").read_text()
    for name in release.tables:
        assert f"| `{name}` |" in readme
    assert "classifier()" not in readme and "to_training" in readme
    words = " ".join(readme.split())
    assert "a row may equal one by chance" in words and "nobody" not in words, "a synthetic row may be a real record"
    code = readme.split("```python")[1].split("```")[0]
    compile(code, "README.md", "exec")


def test_without_a_target_there_is_nothing_to_train_on(without):
    assert not failed(without)
    release = sf.Release.open(without)
    assert set(release.to_arrow().column_names) == {*WITHOUT["attributes"], "weight"}
    assert set(release.sample(50, seed=1).column_names) == {*WITHOUT["attributes"]}
    assert release.query("age < 40").high > 0 and release.classes == ()
    with raises_code(UsageError, "SF-USAGE-300"):
        release.to_training()
    readme = (without / "README.md").read_text()
    assert "to_training" not in readme and "sklearn" not in readme


def test_a_tree_learns_from_its_records(release):
    features, y, w = release.to_training()
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.01, random_state=0).fit(features, y, sample_weight=w)
    new = people(2_000, seed=2)
    assert (tree.predict(release.encoder().transform(new)) == new["moved"]).mean() > 0.75, "8 in 10 can be known"


def test_samples_are_as_many_as_wanted_and_have_what_goes_together(release):
    drawn = release.sample(20_000, seed=3).to_pandas()
    assert len(drawn) == 20_000 and set(drawn.columns) == set(STUDY["attributes"])
    assert drawn["age"].between(0, 99).all() and set(drawn["town"]) <= set("ABC")
    assert drawn["pay"].isna().mean() == pytest.approx(0.1, abs=0.03), "missing values are values, too"
    true, found = (
        pd.crosstab(table["age"] < 40, [table["job"] == "Boss", table["moved"]], normalize=True).to_numpy()
        for table in (people(), drawn)
    )
    assert np.abs(true - found).sum() / 2 < 0.05
    assert release.sample(7, seed=3).equals(release.sample(7, seed=3))
    assert release.sample(seed=3).num_rows == round(release.measured.total)
    assert release.sample(0, seed=1).num_rows == 0


def test_what_no_table_has_together_is_modelled_and_says_so(release):
    names = ["age", "job", "pay", "town"]
    together = [table.known for table in release.layout.tables]
    apart = [(a, b) for a in names for b in names if a < b and not any({a, b} <= known for known in together)]
    asked = {"age": "age < 50", "job": "job = Office", "pay": "pay >= 5000", "town": "town = A"}
    assert not release.query("age < 40").modelled
    assert apart, "of four attributes that have nothing to do with each other some pair is not measured"
    for pair in apart:
        assert set(release.query(" and ".join(asked[name] for name in pair)).modelled) == {*pair}


def test_parts_that_a_table_knows_together_are_bounded_together(release):
    """The most of "A and B and C" is no more than that of "A and B" by the table that has both."""
    two = next(t for t in release.layout.tables if len(t.known) > 1 and "moved" in t.known)
    other = next(name for name in STUDY["attributes"] if name not in two.known)
    asked = {"age": "age < 50", "job": "job = Office", "pay": "pay >= 5000", "town": "town = A", "moved": "moved = yes"}
    both = [asked[name] for name in two.known]
    alone = release.query(" and ".join(both))
    more = release.query(" and ".join([*both, asked[other]]))
    wider = 1.0 + 2 * (alone.high - alone.low) / max(alone.high, 1)
    assert more.modelled == () or more.high <= alone.high * wider


def view_of(study=STUDY):
    made = sf.Study.from_mapping({**study, "source": people(10), "ledger": "memory:"})
    return tailor(made.declared, None, sf.Marginals.needs)


def test_intervals_hold_as_often_as_they_say():
    """Drawn anew for 15 drafts; of parts of groups none to all is allowed, so more than 95 in 100 hold."""
    view, records = view_of(), people()
    codes = {a.name: a.domain.encode(records[a.name].tolist()) for a in view.attributes}
    table = ArrayCounter(codes, {"moved": 2})
    held = 0
    for seed in range(15):
        context = Context(accountant=Accountant(Fraction(1, 2)), source=InsecureSource(seed))
        draft = sf.Marginals(epsilon="1/2").draft(view, table, context)
        layout = layout_of(draft)
        held += sum(found.low <= int(holds(records).sum()) <= found.high for found, holds in asked_of(layout, draft))
    assert held >= 0.95 * 15 * len(ASKED)


def asked_of(layout, draft):
    return [(query(layout, draft.content, text), holds) for text, holds in ASKED]


def test_a_draft_read_back_is_the_draft(release):
    draft = release.to_draft(view_of())
    assert draft.marginals is release.measured and draft.groups is release.groups
    assert draft.form == "marginals" and draft.guarantee.epsilon == 2


def test_measures_read_it(published):
    made = sf.Study.from_mapping({**STUDY, "source": people(), "ledger": "memory:"})
    found = made.measure(published, only=["marginals-1"])
    assert 0 < found["marginals-1"].value < 0.2


# --- files from anybody ---


@pytest.mark.parametrize("name", ["table_1.csv", "table_7.parquet", "records.csv", "README.md"])
def test_a_changed_file_is_found(bundle, name):
    raw = bytearray((bundle / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (bundle / name).write_bytes(bytes(raw))
    assert name in failed(bundle)


def test_cells_in_another_order_are_found(bundle):
    table = pq.read_table(bundle / "table_7.parquet")
    pq.write_table(table.take(list(range(len(table)))[::-1]), bundle / "table_7.parquet", store_schema=False)
    reseal(bundle)
    assert "declared cells in their order" in failed(bundle)["values"]
    with raises_code(VerifyError, "SF-VERIFY-119"):
        sf.Release.open(bundle)


def a_wide_leaf(manifest):
    """Single codes of a leaf that is 300 million codes wide: a listing would take 50 GB."""
    [town] = [attribute for attribute in manifest["attributes"] if attribute["name"] == "town"]
    town["domain"]["taxonomy"]["widths"] = [1, 1, 300_000_000]
    town["cut"] = {"attribute": "town", "size": 300_000_002, "starts": "finest"}


def a_large_model(manifest):
    """Tables of pairs that are small each, and whose cliques are too large together."""
    for attribute in manifest["attributes"][:4]:
        size = 70
        attribute["domain"] = {**manifest["attributes"][0]["domain"], "upper": str(size - 1)}
        attribute["cut"] = {"attribute": attribute["name"], "size": size, "starts": "finest"}
    names = [attribute["name"] for attribute in manifest["attributes"][:4]]
    manifest["tables"] = [table for table in manifest["tables"] if len(table["attributes"]) == 1]
    manifest["tables"] += [
        {"attributes": [one, two], "noise_scale": 1.0} for n, one in enumerate(names) for two in names[n + 1 :]
    ]


def many_attributes(manifest):
    first = manifest["attributes"][0]
    manifest["attributes"] = [
        *({**first, "name": f"a{n}", "cut": {**first["cut"], "attribute": f"a{n}"}} for n in range(501)),
    ]


FORGED = [
    (a_wide_leaf, "manifest", "more groups of 'town' than any release has"),
    (a_large_model, "manifest", "a larger model than any release has"),
    (many_attributes, "manifest", "more attributes or tables than any release has"),
    (lambda m: m["tables"].extend([m["tables"][0]] * 1_000), "manifest", "more attributes or tables"),
    (lambda m: m["tables"][0].update(attributes=["nobody"]), "manifest", "one to three attributes in their order"),
    (lambda m: m["tables"][0].update(attributes=[]), "manifest", "one to three attributes in their order"),
    (lambda m: m["tables"][0].update(attributes=["job", "age"]), "manifest", "one to three attributes in their order"),
    (lambda m: m["tables"][0].update(attributes=["age", "age"]), "manifest", "one to three attributes in their order"),
    (lambda m: m["tables"][0].update(noise_scale=0.0), "manifest", "wrong at 'tables.0.noise_scale'"),
    (lambda m: m.update(noisy_size_scale=-1.0), "manifest", "wrong at 'noisy_size_scale'"),
    (lambda m: m["tables"].clear(), "manifest", "counted by no table"),
    (lambda m: m.update(attributes=[]), "manifest", "once each, and its class last"),
    (lambda m: m["attributes"].reverse(), "manifest", "its class last"),
    (lambda m: m["attributes"].append(m["attributes"][0]), "manifest", "once each"),
    (lambda m: m["attributes"][0]["cut"].update(size=7), "manifest", "not a partition"),
    (lambda m: m["attributes"][-1].update(domain=flat_tree("x", "y", "z")), "manifest", "not one of its domain"),
    (lambda m: m["records"].update(rows=3), "values", "as many rows as the manifest says"),
    (lambda m: m.update(weight_column="age"), "manifest", "the same name"),
    (lambda m: m.update(noisy_size=m["noisy_size"] * 1_000), "numbers", "as many as the manifest says"),
    (lambda m: m["privacy"].update(epsilon="1"), "guarantee", "cost more than ε"),
]


@pytest.mark.parametrize(("change", "check", "detail"), FORGED)
def test_a_forged_manifest_is_found(bundle, change, check, detail):
    reseal(bundle, change)
    found = failed(bundle)
    assert check in found and detail in found[check], found


def test_a_class_of_too_many_values_is_refused(bundle):
    def change(manifest):
        many = [str(n) for n in range(101)]
        manifest["attributes"][-1] |= {
            "domain": flat_tree(*many),
            "cut": {"attribute": "moved", "size": 101, "starts": "finest"},
        }

    reseal(bundle, change)
    assert "not counted by at most 100 values" in failed(bundle)["manifest"]


def test_the_manifest_is_plain_json(published):
    manifest = json.loads((published / "manifest.json").read_text())
    assert manifest["format_version"] == 2 and manifest["form"] == "marginals"
    assert sum(Fraction(step["epsilon"]) for step in manifest["privacy"]["budget_breakdown"]) == 2
