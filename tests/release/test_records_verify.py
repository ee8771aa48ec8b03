"""Verification of bundles of records: it finds what was changed, and it asks the models, not the maker."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings

from sfumato.privacy.models import DistinctLDiversity, KAnonymity, ProbabilisticLDiversity, TCloseness
from sfumato.release.bundle.atomic_files import file_facts
from sfumato.release.storage.seal import render, seal
from sfumato.release.verify import verify_bundle
from tests.examples import examples
from tests.release.partitions import drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def failed(path):
    return {check.name: check.detail for check in verify_bundle(path).checks if not check.ok}


def resealed(path, change):
    """Change the manifest and seal it again, as a forger would."""
    place = path / "manifest.json"
    content = json.loads(place.read_text(encoding="utf-8"))
    change(content)
    for name in content["files"]:
        facts = file_facts(path / name)
        content["files"][name] = {"size": facts.size, "sha256": facts.sha256}
    content["seal"] = seal(content)
    place.write_bytes(render(content))
    return path


def rewritten(path, change, name="data"):
    """Change the table in both files, and seal."""
    table = change(pa.parquet.read_table(path / f"{name}.parquet"))
    for ending in ("parquet", "csv"):
        (path / f"{name}.{ending}").unlink()
    pa.parquet.write_table(table, path / f"{name}.parquet", store_schema=False)
    pa.csv.write_csv(table, path / f"{name}.csv")
    return resealed(path, lambda content: None)


@pytest.fixture
def bundle(tmp_path):
    return publish(small_draft(suppressed=True), tmp_path).path


def test_a_sound_bundle_verifies_and_says_why(bundle):
    checks = verify_bundle(bundle).checks
    assert all(check.ok for check in checks)
    assert [check.name for check in checks] == [
        "files", "manifest", "data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json",
        "index.html", "values", "data files",
        "order", "numbers", "data package", "croissant", "page", "guarantee", "privacy model",
    ]  # fmt: skip
    assert checks[-1].detail == "k-anonymity (k = 3) holds in every group"


def test_a_stronger_promise_than_the_table_keeps_is_found(bundle):
    """A forger who raises k in words and numbers is refuted by the table."""
    raised = KAnonymity(k=5)

    def change(content):
        content["privacy"]["models"][0] = {
            "model": raised.name, "parameters": {"k": 5}, "sentence": raised.sentence(),
        }  # fmt: skip
        content["guarantee"] = content["guarantee"].replace("at least 3", "at least 5")

    found = failed(resealed(bundle, change))
    assert found["privacy model"] == "k-anonymity (k = 5) is violated in 2 of 2 groups, for 100.00% of the records"
    assert "guarantee" not in found


def test_words_that_say_more_than_the_models_are_found(bundle):
    def change(content):
        content["guarantee"] = content["guarantee"].replace("at least 3", "at least 30")

    assert "guarantee" in failed(resealed(bundle, change))


@pytest.mark.parametrize("limits", ["", "It is differential privacy."])
def test_other_limits_than_those_of_the_models_are_found(bundle, limits):
    resealed(bundle, lambda content: content["privacy"].update(limits=limits))
    assert "not what follows" in failed(bundle)["guarantee"]


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("kk-anonymity", {"k": 3}),
        ("k-anonymity", {"k": -1}),
        ("k-anonymity", {"kk": 2}),
        ("ε-differential privacy", {}),
    ],
)
def test_a_promise_that_cannot_be_checked_does_not_pass(bundle, model, parameters):
    def change(content):
        content["privacy"]["models"][0] |= {"model": model, "parameters": parameters}

    assert "has no checker" in failed(resealed(bundle, change))["guarantee"]


def test_no_promise_at_all_does_not_pass(bundle):
    def change(content):
        content["privacy"]["models"] = []
        content["guarantee"] = content["privacy"]["limits"]

    assert failed(resealed(bundle, change))["guarantee"] == "the manifest states no privacy model"


def test_a_record_that_leaves_its_group_breaks_the_promise(bundle):
    def change(table):
        ages = table["age"].to_pylist()
        ages[0] = "[20, 29)"
        return table.set_column(0, "age", pa.array(ages, pa.string()))

    found = failed(rewritten(bundle, change))
    assert found["privacy model"] == "k-anonymity (k = 3) is violated in 2 of 3 groups, for 50.00% of the records"
    assert "numbers" in found


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("age", "[20, 500)", "'age' has a value that is no region of its domain"),
        ("job", "Zookeeper", "'job' has a value that is no region of its domain"),
        ("ill", "Any", "'ill' is published exactly and has a value that stands for several"),
        ("ill", None, "'ill' has no value in some record that is not suppressed"),
        ("pay", 0.05, "'pay' has a number that is no point of its domain"),
        ("pay", 99.0, "'pay' has a number that is no point of its domain"),
    ],
)
def test_a_value_outside_its_domain_is_found(bundle, column, value, problem):
    def change(table):
        values = table[column].to_pylist()
        values[2] = value
        place = table.column_names.index(column)
        return table.set_column(place, column, pa.array(values, table[column].type))

    assert failed(rewritten(bundle, change))["values"] == problem


def test_a_suppressed_record_that_says_something_is_found(bundle):
    def change(table):
        values = table["ill"].to_pylist()
        values[-1] = "flu"
        return table.set_column(2, "ill", pa.array(values, pa.string()))

    assert failed(rewritten(bundle, change))["values"] == "'ill' has a value in a suppressed record"


def test_suppressed_records_are_no_group(tmp_path):
    """Three suppressed records would be a group of three alike; passed over, they cannot make a promise hold."""
    path = publish(small_draft(suppressed=True), tmp_path).path
    content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    assert content["records"]["groups"] == 2


def test_another_order_of_rows_is_found(bundle):
    found = failed(rewritten(bundle, lambda table: table.take([1, 3, 0, 2, 4, 5, 6, 7, 8])))
    assert set(found) == {"order", "data package", "croissant"}, "the promise itself does not depend on the order"


@pytest.mark.parametrize(
    "name",
    ["data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json", "index.html", "manifest.json"],
)
def test_a_changed_file_is_found(bundle, name):
    raw = (bundle / name).read_bytes()
    (bundle / name).write_bytes(raw.replace(b"r", b"s", 1))
    assert failed(bundle)


def test_a_missing_and_an_extra_file_are_found(bundle):
    (bundle / "owner.json").write_text("{}")
    assert "not part of the bundle: owner.json" in failed(bundle)["files"]
    (bundle / "owner.json").unlink()
    (bundle / "data.csv").unlink()
    assert "missing: data.csv" in failed(bundle)["files"]
    assert failed(bundle)["privacy model"] == "it cannot be checked without the data"


def test_two_tables_must_agree(tmp_path):
    path = publish(small_draft(form="anatomy", models=(DistinctLDiversity(l=1),)), tmp_path).path

    def change(table):
        counts = table["count"].to_numpy().copy()
        counts[0] += 1
        return table.set_column(2, "count", pa.array(counts))

    assert failed(rewritten(path, change, "data_st"))["tables"] == "the two tables disagree about their buckets"


def test_a_hash_from_elsewhere_rules_out_a_new_seal(tmp_path):
    written = publish(small_draft(), tmp_path)
    assert verify_bundle(written.path, sha256=written.sha256).ok
    resealed(written.path, lambda content: content.update(date="2026-11-17"))
    assert not verify_bundle(written.path, sha256=written.sha256).ok


MODELS = (KAnonymity(k=2), DistinctLDiversity(l=2), ProbabilisticLDiversity(l=2), TCloseness(t="0.4"))


@settings(max_examples=examples(quick=16, slow=40), deadline=None)
@given(draft=drafts())
def test_models_see_the_same_groups_in_the_files_as_in_the_draft(tmp_path_factory, draft):
    """By group of equal labels, counted here in plain Python from the CSV file."""
    import csv
    from collections import Counter, defaultdict

    path = publish(draft, tmp_path_factory.mktemp("out"), suppression=True).path
    groups = defaultdict(Counter)
    with (path / "data.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["suppressed"] == "false":
                groups[row["age"], row["job"]][row["ill"]] += 1
    from sfumato.release.release import Release

    release = Release.open(path)
    found = release.records.statistics({"ill": release.domains["ill"]})
    assert sorted(sum(g.values()) for g in groups.values()) == sorted(found.sizes.tolist())
    assert KAnonymity(k=2).holds(found).sum() == sum(sum(g.values()) >= 2 for g in groups.values())
    assert DistinctLDiversity(l=2).holds(found).sum() == sum(len(g) >= 2 for g in groups.values())
    share = sum(2 * max(g.values()) <= sum(g.values()) for g in groups.values())
    assert ProbabilisticLDiversity(l=2).holds(found).sum() == share
    assert len(np.unique(found.sizes)) <= len(groups)
