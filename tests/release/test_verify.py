import json
import shutil
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import UsageError, VerifyError
from sfumato.privacy.dp.accountant import Spend
from sfumato.release.bundle.atomic_files import file_facts
from sfumato.release.guarantee import DpGuarantee, Evidence
from sfumato.release.release import Release
from sfumato.release.storage.seal import render, seal
from sfumato.release.verify import verify_bundle
from sfumato.study.unit import PersonUnit, RecordUnit
from tests.raising import raises_code
from tests.release.conftest import publish, small_draft

NAMES = ["data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json", "index.html", "manifest.json"]


def failed(path, **options):
    return [check.name for check in verify_bundle(path, **options).checks if not check.ok]


def reseal(path, change=lambda manifest: None):
    """What a careful forger does: change the manifest, hash all files again and seal it."""
    manifest = json.loads((path / "manifest.json").read_text())
    for name in manifest["files"]:
        facts = file_facts(path / name)
        manifest["files"][name] = {"size": facts.size, "sha256": facts.sha256}
    change(manifest)
    manifest["seal"] = seal(manifest)
    (path / "manifest.json").write_bytes(render(manifest))


def rewrite(path, change):
    """Change the table in both files, and seal everything again."""
    table = pq.read_table(path / "data.parquet")
    table = pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema)
    pq.write_table(table, path / "data.parquet", store_schema=False)
    pa.csv.write_csv(table, path / "data.csv")
    reseal(path)


def test_a_bundle_verifies_and_says_what_was_checked(bundle):
    verification = verify_bundle(bundle)
    assert verification.ok
    names = [check.name for check in verification.checks]
    assert names == [
        "files", "manifest", "data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json",
        "index.html", "values", "data files",
        "order", "counts", "data package", "croissant", "page", "guarantee", "privacy model",
    ]  # fmt: skip
    assert "kept by how the release was made" in verification.checks[-1].detail


def test_the_folder_above_will_do(bundle):
    assert verify_bundle(bundle.parent).ok


def test_no_bundle_at_all_is_an_error(tmp_path):
    with raises_code(VerifyError, "SF-VERIFY-048"):
        verify_bundle(tmp_path)
    with raises_code(UsageError, "SF-USAGE-050"):
        Release.open(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = publish(small_draft(), tmp_path_factory.mktemp("whole")).path
    assert verify_bundle(path).ok
    return {name: (path / name).read_bytes() for name in NAMES}, path


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_changed_byte_is_found(whole, name, data):
    files, path = whole
    raw = bytearray(files[name])
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    try:
        (path / name).write_bytes(raw)
        assert name.removesuffix(".json") in {n.removesuffix(".json") for n in failed(path)}
    finally:
        (path / name).write_bytes(files[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw + b"\n", lambda raw: b""])
def test_a_shorter_or_longer_file_is_found(bundle, name, change):
    (bundle / name).write_bytes(change((bundle / name).read_bytes()))
    assert failed(bundle)
    if name in ("data.parquet", "manifest.json"):
        with pytest.raises(VerifyError):
            Release.open(bundle)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_missing_file_is_found(bundle, name):
    (bundle / name).unlink()
    assert failed(bundle)[0] == "files"


def test_extra_files_folders_and_links_are_found(bundle, tmp_path):
    (bundle / "notes.txt").write_text("")
    (bundle / "more").mkdir()
    (bundle / "data.csv").rename(tmp_path / "elsewhere.csv")
    (bundle / "data.csv").symlink_to(tmp_path / "elsewhere.csv")
    detail = verify_bundle(bundle).checks[0].detail
    assert detail == "missing: data.csv; not part of the bundle: notes.txt, data.csv, more"


def test_the_hash_from_the_ledger_finds_a_forger(tmp_path):
    written = publish(small_draft(), tmp_path)
    assert verify_bundle(written.path, sha256=written.sha256).ok
    reseal(written.path, lambda manifest: manifest.update(release="mine"))
    assert failed(written.path) == ["data package", "croissant", "page"]
    assert "expected hash" in failed(written.path, sha256=written.sha256)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda rows: rows[::-1], "order"),
        (lambda rows: [rows[0], rows[0], *rows[2:]], "order"),
        (lambda rows: [rows[0], *rows], "values"),
        (lambda rows: [{**rows[0], "count": 0}, *rows[1:]], "values"),
        (lambda rows: rows[1:], "values"),
        (lambda rows: [{**rows[0], "age": "[0, 41)"}, *rows[1:]], "values"),
        (lambda rows: [{**rows[0], "job": "Engineer"}, *rows[1:]], "values"),
        (lambda rows: [{**rows[0], "income": "a lot"}, *rows[1:]], "values"),
        (lambda rows: [{**rows[0], "age": None}, *rows[1:]], "values"),
        (lambda rows: [{**rows[0], "count": None}, *rows[1:]], "values"),
    ],
)
def test_a_forged_row_is_found(bundle, change, check):
    rewrite(bundle, change)
    assert check in failed(bundle)


def test_a_file_that_is_no_table_is_found(bundle):
    (bundle / "data.parquet").write_bytes(b"PAR1 no")
    reseal(bundle)
    assert "values" in failed(bundle)
    with raises_code(VerifyError, "SF-VERIFY-096"):
        Release.open(bundle)


def test_a_column_too_many_is_found(bundle):
    table = pq.read_table(bundle / "data.parquet")
    pq.write_table(table.append_column("id", table.column("count")), bundle / "data.parquet")
    reseal(bundle)
    assert "values" in failed(bundle)


def test_two_different_tables_are_found(bundle):
    raw = (bundle / "data.csv").read_bytes()
    (bundle / "data.csv").write_bytes(raw.replace(b",7\n", b",8\n"))
    reseal(bundle)
    assert failed(bundle) == ["data files", "data package", "croissant"]


def test_a_changed_package_is_found(bundle):
    package = json.loads((bundle / "datapackage.json").read_text())
    package["resources"][0]["schema"]["fields"][0]["type"] = "number"
    (bundle / "datapackage.json").write_text(json.dumps(package))
    reseal(bundle)
    assert failed(bundle) == ["data package"]


@pytest.mark.parametrize(
    ("change", "check", "detail"),
    [
        (lambda m: m.update(guarantee="perfect privacy"), "guarantee", "not that of the stated models"),
        (lambda m: m["privacy"].update(epsilon="0.5"), "guarantee", "not that of the stated models"),
        (lambda m: m["privacy"]["budget_breakdown"][0].update(epsilon="0.6"), "guarantee", "cost more than ε"),
        (lambda m: m["privacy"].update(odds="Nobody can tell."), "guarantee", "not what follows"),
        (lambda m: m["privacy"].update(odds_factor=1.0), "guarantee", "not what follows"),
        (lambda m: m["privacy"].update(membership_advantage=None), "guarantee", "not what follows"),
        (lambda m: m["privacy"].update(model="perfect privacy"), "guarantee", "not what follows"),
        (lambda m: m["groups"].update(listed=5), "values", "as many rows as the manifest says"),
        (lambda m: m["groups"].update(combinations=5), "counts", "other numbers of groups"),
        (lambda m: m["groups"].update(least_count=4), "counts", "a count is below 4"),
        (lambda m: m["files"].pop("README.md"), "README.md", "changed"),
        (lambda m: m.update(format_version=3), "manifest", "format version 3, and this version reads 1 to 2"),
        (lambda m: m.update(format="zip"), "manifest", "not that of a Sfumato bundle"),
        (lambda m: m.update(extra=1), "manifest", "wrong at 'extra'"),
        (lambda m: m.pop("study"), "manifest", "wrong at 'study'"),
        (lambda m: m.update(date="2026-11-16T10:00"), "manifest", "wrong at 'date'"),
        (lambda m: m["privacy"].update(epsilon="-1"), "manifest", "wrong at 'privacy.epsilon'"),
        (lambda m: m["privacy"].update(secure=1), "manifest", "wrong at 'privacy.secure'"),
        (lambda m: m["groups"].update(least_count=0), "manifest", "wrong at 'groups.least_count'"),
        (lambda m: m["files"]["data.csv"].update(sha256="x"), "manifest", "wrong at 'files.data.csv.sha256'"),
        (lambda m: m["attributes"].reverse(), "manifest", "class last"),
        (lambda m: m.update(class_column="age"), "manifest", "class last"),
        (lambda m: m.update(count_column="age"), "manifest", "same name"),
        (lambda m: m["attributes"][0]["cut"].update(attribute="pay"), "manifest", "not one of its domain"),
        (lambda m: m["attributes"][0]["cut"].update(size=200), "manifest", "not one of its domain"),
        (lambda m: m["attributes"][0]["cut"].update(starts=[0, 0]), "manifest", "not a partition"),
        (lambda m: m["attributes"][0]["domain"].update(step="0"), "manifest", "above 0"),
        (lambda m: m["attributes"][4]["cut"].update(starts=[0]), "manifest", "class is cut"),
        (lambda m: m["attributes"][3]["cut"].update(starts=[0, 1, 3]), "manifest", "not made of nodes"),
    ],
)
def test_a_forged_manifest_is_found(bundle, change, check, detail):
    reseal(bundle, change)
    found = {c.name: c for c in verify_bundle(bundle).checks}
    assert not found[check].ok
    assert detail in found[check].detail


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"])
def test_a_manifest_that_is_not_json_is_found(bundle, raw):
    (bundle / "manifest.json").write_bytes(raw)
    assert "manifest" in failed(bundle)


def test_the_same_manifest_written_otherwise_is_found(bundle):
    content = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(content))
    assert failed(bundle) == ["manifest"]


def test_a_seeded_release_verifies_and_says_it_promises_nothing(tmp_path):
    path = publish(small_draft(), tmp_path, secure=False).path
    verification = verify_bundle(path)
    assert verification.ok
    assert "no guarantee to check" in verification.checks[-1].detail
    assert "none (seeded for testing)" in (path / "README.md").read_text()


def test_a_receipt_in_fractions_adds_up_exactly(tmp_path):
    steps = [Spend(str(step), Fraction(1, 10), mechanism="x") for step in range(10)]
    draft = small_draft()
    draft = replace(draft, guarantee=draft.guarantee.with_breakdown(steps))
    assert verify_bundle(publish(draft, tmp_path / "a").path).ok


def test_a_breakdown_per_record_counts_as_often_as_a_person_has_records(tmp_path):
    guarantee = DpGuarantee.of(Fraction(1), PersonUnit("id", 4))
    paid = replace(small_draft(), guarantee=guarantee.with_breakdown([Spend("x", Fraction(1, 4), mechanism="x")]))
    assert verify_bundle(publish(paid, tmp_path / "paid").path).ok
    more = replace(paid, guarantee=guarantee.with_breakdown([Spend("x", Fraction(1, 3), mechanism="x")]))
    assert "cost more than ε" in more.guarantee.contradiction()


def test_a_release_that_says_nothing_is_not_believed():
    assert "ε is 0" in DpGuarantee.of(Fraction(0), RecordUnit()).contradiction()


def test_records_refute_differential_privacy():
    """A second barrier behind the forms: no form that shows records can carry this guarantee through verification."""
    seen = Evidence(classes=None, records=1, suppressed=0, sampled=Fraction(1), regions=True)
    [check] = DpGuarantee.of(Fraction(1), RecordUnit()).checks(seen)
    assert not check.ok


def test_verification_leaves_the_bundle_as_it_is(bundle, tmp_path):
    copy = shutil.copytree(bundle, tmp_path / "copy")
    verify_bundle(bundle)
    assert {p.name: p.read_bytes() for p in bundle.iterdir()} == {p.name: p.read_bytes() for p in copy.iterdir()}
