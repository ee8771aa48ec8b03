"""The noisy contingency table without a class, from plan to audit."""

import json
import re

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import StudyError, UsageError
from sfumato.release.release import Release
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(1e-12, reason="noise at ε = 10⁶ is 0 but with a chance below e^(-10⁵)")

SURE = "1000000"  # so much ε that the noise is 0, but for one draw in e^1000000
ROWS = 60
TABLE = pa.table(
    {
        "age": [20 + n % 3 for n in range(ROWS)],
        "job": ["a", "b"] * (ROWS // 2),
        "ill": ["yes" if n % 5 == 0 else "no" for n in range(ROWS)],
    }
)


def study(*, target=False, **more):
    attributes = {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [20, 23]},
        "job": {"role": "quasi_identifier", "values": ["a", "b", "c"]},
        "ill": {"role": "class" if target else "sensitive", "values": ["no", "yes"]},
    }
    given = {"name": "clinic", "source": TABLE, "privacy": {"budget": "10000000"}, "attributes": attributes, **more}
    return sf.Study.from_mapping(given)


@pytest.fixture
def done(tmp_path):
    return study().release(sf.ContingencyTable(epsilon=SURE), out=tmp_path / "out")


def test_a_plan_says_that_there_is_none():
    plan = study().plan(sf.ContingencyTable(epsilon=1))
    assert "method 'contingency' on 3 attributes, without a class" in plan.sentences
    assert plan.numbers["groups_most"] == 4 * 3 * 2
    assert not any("classes" in said for said in plan.sentences)


def test_the_counts_are_those_of_all_combinations(done):
    """With this ε the noise is 0, so the published counts are the true ones."""
    release = Release.open(done.bundle)
    table = release.to_arrow()
    assert table.column_names == ["age", "job", "ill", "count"]
    expected = {}
    for row in TABLE.to_pylist():
        expected[str(row["age"]), row["job"], row["ill"]] = (
            expected.get((str(row["age"]), row["job"], row["ill"]), 0) + 1
        )
    found = {(r["age"].strip("[]").split(",")[0], r["job"], r["ill"]): r["count"] for r in table.to_pylist()}
    assert found == expected
    assert release.classes == ()
    assert release.domains.keys() == {"age", "job", "ill"}


def test_it_verifies_and_a_class_that_is_put_in_does_not(done):
    assert sf.verify_bundle(done.bundle).ok
    manifest = json.loads((done.bundle / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["class_column"] is None
    assert [entry["role"] for entry in manifest["attributes"]] == ["predictor"] * 3
    text = json.dumps(manifest).replace('"class_column": null', '"class_column": "ill"')
    (done.bundle / "manifest.json").write_text(text, encoding="utf-8")
    assert not sf.verify_bundle(done.bundle).ok


def test_it_is_asked_and_sampled_and_not_trained_on(done):
    release = Release.open(done.bundle)
    assert round(release.query("ill = 'yes'").count) == 12
    assert round(release.query("age >= 21 and job = 'a'").count) == 20
    sample = release.sample(100, seed=1)
    assert sample.column_names == ["age", "job", "ill"] and sample.num_rows == 100
    assert release.encoder().n_features_in_ == 3
    with raises_code(UsageError, "SF-USAGE-057"):
        release.to_training()


def test_no_published_text_names_the_stand_in(done):
    for file in done.folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert b"no class" not in content.replace(b"no class, ", b"") or file.name == "report.html"
            assert b"\\u0000" not in content and b"any class" not in content
            assert file.suffix == ".parquet" or b"\0" not in content


def test_the_readme_s_examples_run(done, monkeypatch):
    text = (done.bundle / "README.md").read_text(encoding="utf-8")
    assert "to_training" not in text and "the class" not in text
    monkeypatch.chdir(done.bundle)
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})


def test_it_is_measured_and_reported(done):
    opened = study()
    found = opened.measure(done.bundle, only=["marginals-1", "query-error", "classification-loss", "ploss"])
    assert found["marginals-1"].value == pytest.approx(0)
    assert "no target (class attribute)" in found["classification-loss"].reason
    report = (done.folder / "owner" / "report.html").read_text(encoding="utf-8")
    assert "region per attribute and a class" not in report and "Regions by attribute" in report


def test_it_is_audited():
    """At this ε no bound can be beyond it, so nothing here hangs on chance: the audit runs, that is all."""
    assert not study().audit(sf.ContingencyTable(epsilon=SURE), runs=400).violates


@pytest.mark.error_rate(
    1e-10, reason="noise of 24 counts takes off all 60 records, in one of five draws: Chernoff, 1.2e-11"
)
def test_a_sweep_compares_it(tmp_path):
    found = sf.frontier(
        study(sweeps={"noise": {"method": "contingency", "epsilon": [1, 2]}}), x="ploss", y="marginals-1", workers=1,
        folder=tmp_path / "points",
    )  # fmt: skip
    assert len(found.points) == 2 and not found.failures


def test_a_purpose_may_leave_the_class_out(tmp_path):
    opened = study(target=True, purposes={"few": {"attributes": ["age", "job"]}})
    done = opened.release(sf.ContingencyTable(epsilon=SURE), purpose="few", out=tmp_path / "out")
    assert Release.open(done.bundle).to_arrow().column_names == ["age", "job", "count"]
    with raises_code(StudyError, "SF-STUDY-181", match="leaves out the class 'ill'"):
        opened.plan(sf.DiffGen(epsilon=1), purpose="few")


def test_other_methods_still_need_one():
    with raises_code(StudyError, "SF-STUDY-201", match="declares 0 class attributes"):
        study().plan(sf.DiffGen(epsilon=1))
    with raises_code(
        StudyError,
        "SF-STUDY-208",
        match=r"accuracy needs exactly one target \(class attribute\).*'clinic' has no class",
    ):
        study().accuracy(sf.ContingencyTable(epsilon=1), runs=1)


def test_with_a_class_nothing_has_changed(tmp_path):
    done = study(target=True).release(sf.ContingencyTable(epsilon=SURE), out=tmp_path / "out")
    release = Release.open(done.bundle)
    assert release.manifest["class_column"] == "ill" and release.classes == ("no", "yes")
    assert len(release.to_training()) == 3
