"""Releases of consistent counts: published, read, verified, forged, asked with intervals that hold, and refused."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import StudyError, VerifyError
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.privacy.dp.strategies import Hierarchical
from sfumato.release.bundle.atomic_files import file_facts
from sfumato.release.forms.consistent_counts.layout import layout_of_draft
from sfumato.release.forms.consistent_counts.release import ConsistentRelease
from sfumato.release.storage.seal import render, seal
from sfumato.study.unit import PersonUnit
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code
from tests.small_domains import flat, grid, view

OF = view(sex=flat("f", "m"), age=grid(0, 99))
BY = [sf.ContingencyTable(epsilon=1, strategy=name) for name in ("hierarchical", "wavelet")]
MARGINALS = sf.ContingencyTable(epsilon=1, strategy="consistent-marginals")
EACH = pytest.mark.parametrize("method", BY, ids=lambda method: method.strategy)


def codes(size=3_000, seed=5):
    rng = np.random.default_rng(seed)
    return {
        "sex": rng.integers(0, 2, size),
        "age": np.clip(rng.normal(45, 18, size), 0, 99).astype(np.int64),
        "class": rng.integers(0, 2, size),
    }


def drafted(method, of=OF, *, records=None, source=None):
    counter = ArrayCounter(codes() if records is None else records, {"class": len(of.classes)})
    accountant = Accountant(method.spends / of.unit.stability)
    draft = method.draft(of, counter, Context(accountant=accountant, source=source or SecureSource()))
    return draft, accountant


def opened(draft):
    layout = layout_of_draft(draft)
    return ConsistentRelease(Path(), {}, layout.counts, draft.groups, consistent=layout)


@EACH
def test_intervals_of_random_ranges_hold(method):
    """500 ranges, five of each of 100 drafts, over one sex, one class, or all; at least 96 % are expected to hold."""
    records, rng = codes(), np.random.default_rng(23)
    held = 0
    for seed in range(100):
        release = opened(drafted(method, records=records, source=InsecureSource(seed))[0])
        for number in range(5):
            low, high = sorted(rng.integers(0, 100, 2).tolist())
            inside = (records["age"] >= low) & (records["age"] <= high)
            beside, mask = [
                ("", True), (" and sex = m", records["sex"] == 1), (" and class = Y", records["class"] == 1),
                (" or sex = f", None), (" and (sex = m or class = N)", (records["sex"] == 1) | (records["class"] == 0)),
            ][number]  # fmt: skip
            true = inside | (records["sex"] == 0) if mask is None else inside & mask
            found = release.query(f"age >= {low} and age <= {high}{beside}")
            held += found.low <= true.sum() <= found.high
            assert found.low <= found.count <= found.high
    assert held >= 0.95 * 500


def test_intervals_of_marginals_hold_also_where_no_marginal_answers():
    """500 conditions, ten of each of 50 drafts, on one, two and all three attributes; 96 % are expected to hold."""
    records, rng = codes(), np.random.default_rng(29)
    held = 0
    for seed in range(50):
        release = opened(drafted(MARGINALS, records=records, source=InsecureSource(seed))[0])
        for number in (0, 1, 2, 3, 4) * 2:
            low, high = sorted(rng.integers(0, 100, 2).tolist())
            inside = (records["age"] >= low) & (records["age"] <= high)
            man, ill = records["sex"] == 1, records["class"] == 1
            beside, true, modelled = [
                ("", inside, False), (" and sex = m", inside & man, False), (" or class = Y", inside | ill, False),
                (" and sex = m and class = Y", inside & man & ill, True),
                (" or sex = m and class = Y", inside | (man & ill), True),
            ][number]  # fmt: skip
            found = release.query(f"age >= {low} and age <= {high}{beside}")
            held += found.low <= true.sum() <= found.high
            assert found.low <= found.count <= found.high
            assert (found.modelled != ()) == (modelled and (high - low) < 99)
    assert held >= 0.95 * 500


@pytest.mark.error_rate(1e-80, reason="noise that takes 1,400 off a class of 1,500: Chernoff, 1e-200")
def test_marginals_are_published_without_negative_counts_and_with_unbiased_totals():
    draft, accountant = drafted(MARGINALS)
    groups, layout = draft.groups, layout_of_draft(draft)
    assert accountant.left == 0 and [spend.on for spend in accountant.breakdown] == ["all marginals of 2 attributes"]
    assert draft.facts["noise_scale"] >= 3, "a record is in three marginals"
    assert np.all(groups.counts >= 1)
    by_class = np.bincount(groups.classes, weights=groups.counts, minlength=2)
    assert by_class.tolist() == [max(total, 0) for total in draft.facts["noisy_totals"]["counts"]]
    assert layout.estimates(groups.measured).sum(axis=(0, 1)) == pytest.approx(by_class, abs=1)


@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_without_noise_marginals_are_those_of_the_table():
    draft, _ = drafted(replace(MARGINALS, epsilon=10**6))
    records, release = codes(), opened(draft)
    assert release.query("age < 40 and sex = m").count == pytest.approx(
        np.sum((records["age"] < 40) & (records["sex"] == 1)), abs=1e-6
    )
    forecast = MARGINALS.forecast(OF)
    assert forecast.numbers["marginals"]["best"] in " ".join(forecast.sentences)


@EACH
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_without_noise_the_table_is_the_contingency_table(method):
    draft, accountant = drafted(replace(method, epsilon=10**6))
    exact = drafted(sf.ContingencyTable(epsilon=10**6))[0]
    assert np.array_equal(draft.groups.counts, exact.groups.counts)
    assert np.array_equal(draft.groups.regions, exact.groups.regions)
    assert accountant.left == 0
    assert [spend.on for spend in accountant.breakdown] == ["sums of neighbouring values of 'age'"]


@EACH
@pytest.mark.parametrize("post", ["class_totals", "scale", "least_squares", "none"])
@pytest.mark.error_rate(1e-80, reason="noise that takes 1,400 off a class of 1,500: Chernoff, 1e-91 for 'wavelet'")
def test_published_counts_add_up_to_the_unbiased_total(method, post):
    draft, _ = drafted(replace(method, post=post))
    groups = draft.groups
    assert draft.form == "consistent-counts" and np.all(groups.counts >= 1)
    layout = layout_of_draft(draft)
    total = layout.estimates(groups.measured).sum()
    if post == "none":
        assert groups.counts.sum() > 0
    else:
        assert abs(groups.counts.sum() - max(total, 0)) <= 1 + len(OF.classes)


@EACH
def test_totals_are_unbiased(method):
    """The mean of the totals of 100 drafts, within four of its standard errors."""
    totals = [drafted(method, source=InsecureSource(seed))[0].facts["noisy_totals"] for seed in range(100)]
    counts = np.array([sum(total["counts"]) for total in totals])
    deviation = totals[0]["deviation"] * np.sqrt(len(OF.classes))
    assert abs(counts.mean() - 3_000) < 4 * deviation / np.sqrt(100)
    assert counts.std() == pytest.approx(deviation, rel=0.4), "and as exact as stated"


@EACH
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_record_of_a_person_gets_its_part(method):
    draft, accountant = drafted(method, replace(OF, unit=PersonUnit("id", 4)))
    alone, _ = drafted(method)
    assert accountant.spent == Fraction(1, 4)
    assert draft.facts["noise_scale"] == pytest.approx(4 * alone.facts["noise_scale"])


@pytest.mark.parametrize("size", [16, 100])
def test_auto_is_the_best_by_the_plan(size):
    of = view(age=grid(0, size - 1))
    forecast = sf.ContingencyTable(epsilon=1, strategy="auto").forecast(of)
    numbers = forecast.numbers["strategies"]["expected_squared_error"]
    best = min(numbers, key=numbers.__getitem__)
    assert any(f"'{best}' has the smallest" in said for said in forecast.sentences)
    assert best == {16: "cells", 100: "hierarchical"}[size]
    assert any("strategy 'hierarchical'" in said for said in forecast.sentences) == (size == 100)
    plain = sf.ContingencyTable(epsilon=1).forecast(of)
    assert plain.numbers["strategies"] == forecast.numbers["strategies"], "said for every strategy"


def test_what_does_not_fit_is_refused_before_anything_is_looked_at():
    def refuse(of, code, strategy="hierarchical"):
        method, accountant = sf.ContingencyTable(epsilon=1, strategy=strategy), Accountant(Fraction(1))
        for attempt in (
            lambda: method.check(of),
            lambda: method.forecast(of),
            lambda: method.draft(of, None, Context(accountant=accountant)),
        ):
            with raises_code(StudyError, code):
                attempt()
        assert accountant.spent == 0

    refuse(view(job=flat("a", "b")), "SF-STUDY-375")
    refuse(view(age=grid(0, 99), pay=grid(0, 9_999)), "SF-STUDY-376")
    refuse(view(age=grid(0, 99)), "SF-STUDY-377", "consistent-marginals")
    refuse(view(age=grid(0, 99), pay=grid(0, 9_999)), "SF-STUDY-376", "consistent-marginals")
    refuse(view(**{f"a{n}": flat("x", "y") for n in range(15)}), "SF-STUDY-378", "consistent-marginals")
    for order in (0, True, "two"):
        with raises_code(StudyError, "SF-STUDY-373"):
            replace(MARGINALS, order=order).check(OF)
    with raises_code(StudyError, "SF-STUDY-379"):
        replace(MARGINALS, post="none")
    with raises_code(StudyError, "SF-STUDY-370"):
        sf.ContingencyTable(epsilon=1, strategy="pyramid")
    assert sf.ContingencyTable(epsilon=1, strategy="auto").forecast(view(job=flat("a", "b"))).sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("consistent")
    records = codes()
    table = pa.table(
        {
            "age": records["age"],
            "sex": [("f", "m")[code] for code in records["sex"]],
            "ill": [("no", "yes")[code] for code in records["class"]],
        }
    )
    study = sf.Study.from_mapping(
        {
            "name": "visits",
            "source": table,
            "ledger": "memory:",
            "privacy": {"budget": 5},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecureSource, "__new__", lambda _: InsecureSource(11))
        for method in (*BY, MARGINALS):
            study.release(method, out=folder / method.strategy, report=False)
    return folder


@pytest.fixture
def published(folder):
    return folder / "hierarchical" / "bundle"


@pytest.fixture
def bundle(published, tmp_path):
    for path in published.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


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


@pytest.mark.parametrize("strategy", ["hierarchical", "wavelet", "consistent-marginals"])
def test_every_strategy_verifies_and_opens(folder, strategy):
    bundle = folder / strategy / "bundle"
    assert not failed(bundle)
    release = sf.Release.open(bundle)
    assert release.manifest["measured"]["strategy"]["name"] == strategy
    assert release.query("age >= 20").low <= release.query("age >= 20").high
    assert pd.read_csv(bundle / "measured.csv").iloc[:, 0].is_unique or strategy != "consistent-marginals"


FORGED_MARGINALS = [
    (lambda m: m["measured"]["strategy"].update(order=3), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(sizes=[2, 2, 100]), "manifest", "strategy of the counts"),
    (lambda m: m["measured"].update(attribute="age"), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(order=1), "values", "as many rows as the manifest says"),
]


@pytest.mark.parametrize(("change", "check", "detail"), FORGED_MARGINALS)
def test_a_forged_manifest_of_marginals_is_found(folder, tmp_path, change, check, detail):
    for path in (folder / "consistent-marginals" / "bundle").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    reseal(tmp_path, change)
    assert detail in failed(tmp_path)[check]


def test_it_verifies_and_a_receiver_can_recompute_its_answers(published):
    assert not failed(published)
    release = sf.Release.open(published)
    measured = pd.read_csv(published / "measured.csv")
    stated = release.manifest["measured"]
    tree = Hierarchical(**{key: stated["strategy"][key] for key in ("size", "fan_out", "root")})
    assert measured[stated["column"]].nunique() == tree.measurements
    wide = measured[(measured["sex"] == "f") & (measured["ill"] == "yes")]["count"].to_numpy(dtype=float)
    expected = tree.estimate(wide[None])[0][30:60].sum()
    assert release.query("age >= 30 and age < 60 and sex = f and ill = yes").count == pytest.approx(expected)
    text = (published / "README.md").read_text()
    assert "by least squares" in text and "Do not add up rows" in text
    assert release.sample(10, seed=3).num_rows == 10
    assert set(release.to_arrow().column_names) == {"age", "sex", "ill", "count"}


@pytest.mark.parametrize("name", ["measured.csv", "measured.parquet", "data.csv"])
def test_a_changed_file_is_found(bundle, name):
    raw = bytearray((bundle / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (bundle / name).write_bytes(bytes(raw))
    assert name in failed(bundle)


def test_another_measured_number_is_found(bundle):
    table = pq.read_table(bundle / "measured.parquet")
    counts = table.column("count").to_pylist()
    counts[0] += 1_000
    table = table.set_column(table.num_columns - 1, "count", [counts])
    pq.write_table(table, bundle / "measured.parquet", store_schema=False)
    reseal(bundle)
    assert "data files" in failed(bundle)
    pa.csv.write_csv(table, bundle / "measured.csv")
    reseal(bundle)
    assert "do not follow from the measured numbers" in failed(bundle)["measured"]


FORGED = [
    (lambda m: m["measured"]["strategy"].update(size=99), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(fan_out=1), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(fan_out=True), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(name="cells"), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(root=1), "manifest", "strategy of the counts"),
    (lambda m: m["measured"]["strategy"].update(fan_out=3), "values", "as many rows as the manifest says"),
    (lambda m: m["measured"].update(attribute="sex"), "manifest", "no attribute with an order"),
    (lambda m: m["measured"].update(attribute="ill"), "manifest", "no attribute with an order"),
    (lambda m: m["measured"].update(noise_scale=0.0), "manifest", "wrong at 'measured.noise_scale'"),
    (lambda m: m["measured"].update(sensitivity=1), "measured", "another sensitivity"),
    (lambda m: m["method"]["facts"].update(noise_scale="much"), "manifest", "state the noise"),
]


@pytest.mark.parametrize(("change", "check", "detail"), FORGED)
def test_a_forged_manifest_is_found(bundle, change, check, detail):
    reseal(bundle, change)
    assert detail in failed(bundle)[check]


def test_too_many_cells_are_refused_before_anything_is_made(bundle):
    def change(manifest):
        age = next(entry for entry in manifest["attributes"] if entry["name"] == "age")
        age["domain"]["upper"] = "99999999"
        age["cut"]["size"] = 100_000_000
        manifest["measured"]["strategy"]["size"] = 100_000_000

    reseal(bundle, change)
    assert "more cells than a strategy is used on" in failed(bundle)["manifest"]
    with raises_code(VerifyError, "SF-VERIFY-372"):
        sf.Release.open(bundle)
