"""Bad input to releases of records: a clear error, nothing lost, nothing half-written, no value of a record told."""

import csv
import io

import pytest

from sfumato.ledger import open_ledger
from sfumato.release.bundle import write as writing
from sfumato.release.verify import verify_bundle
from tests.trust.command import sfumato

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

__all__ = ["sfumato"]  # the fixture is found by its name

STUDY = """\
name: clinic
source: clinic.csv
{privacy}attributes:
  id:  {{role: identifier}}
  age: {age}
  job: {{role: quasi_identifier, taxonomy: {{Any_Job: {{Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}}}}
  ill: {ill}
  pay: {{role: class, values: [low, high]}}
releases:
  r: {release}
"""
AGE = "{role: quasi_identifier, type: integer, bounds: [0, 99]}"
ILL = "{role: sensitive, values: [flu, asthma, none]}"
COLUMNS = ("id", "age", "job", "ill", "pay")


def records(size=60):
    jobs, ills = ("Engineer", "Lawyer", "Dancer"), ("flu", "asthma", "none")
    return [
        {
            "id": f"p{n}",
            "age": str(20 + 7 * n % 60),
            "job": jobs[n % 3],
            "ill": ills[n % 2],
            "pay": ("low", "high")[n % 5 == 0],
        }
        for n in range(size)
    ]


def on_disk(folder, rows=None, *, release="{method: mondrian, k: 5}", age=AGE, ill=ILL, privacy=""):
    folder.mkdir(parents=True, exist_ok=True)
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records() if rows is None else rows)
    (folder / "clinic.csv").write_text(out.getvalue(), encoding="utf-8")
    text = STUDY.format(release=release, age=age, ill=ill, privacy=f"privacy: {privacy}\n" if privacy else "")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder / "study.yaml"


def make(sfumato, study, *more):
    return sfumato("release", study, "--out", study.parent / "out", *more)


def refused(said, study, *, code, problem, fix=""):
    assert said.code == code, said.all
    assert problem in said.err, said.err
    assert "To fix: " in said.err and fix in said.err, said.err
    assert not (study.parent / "out").exists(), "nothing is left behind"
    book = study.parent / "clinic.ledger.sqlite"
    assert not book.exists() or open_ledger(book).entries("clinic") == (), "and nothing is in the ledger"
    assert "p17" not in said.all and "Traceback" not in said.all


def fine(said, study):
    assert said.code == 0, said.all
    assert verify_bundle(study.parent / "out").ok


# --- promises that cannot be kept ---


@pytest.mark.parametrize(
    ("release", "fix"),
    [
        ("{method: mondrian, k: 61}", "set k to 60 or less"),
        ("{method: tds, k: 61}", "set k to 60 or less"),
        ("{method: mondrian, privacy: {k-anonymity: 1000}}", "set k to 60 or less"),
        ("{method: mondrian, k: 2, privacy: {distinct-l-diversity: 3}}", "2"),
        ("{method: bucketization, privacy: {distinct-l-diversity: 4}}", "2"),
        ("{method: anatomy, l: 3}", "2"),
    ],
    ids=["k > n", "tds", "promise", "impossible l", "buckets", "anatomy"],
)
def test_a_promise_that_no_grouping_keeps_says_what_would_do(sfumato, tmp_path, release, fix):
    study = on_disk(tmp_path, release=release)
    said = make(sfumato, study)
    refused(said, study, code=6, problem="", fix=fix)


@pytest.mark.parametrize("k", ["0", "-3", "2.5", "many", "inf"])
def test_a_k_that_is_none(sfumato, tmp_path, k):
    study = on_disk(tmp_path, release=f"{{method: mondrian, k: {k}}}")
    refused(make(sfumato, study), study, code=3, problem="k is ")


@pytest.mark.parametrize(
    ("release", "problem"),
    [
        ("{method: mondrian}", "no privacy model is specified"),
        ("{method: mondrian, privacy: {}}", "no privacy model is specified"),
        ("{method: mondrian, privacy: {k-anonimity: 5}}", "there is no privacy model called 'k-anonimity'"),
        ("{method: mondrian, privacy: {k-anonymity: {kk: 5}}}", "privacy model 'k-anonymity' has no parameter 'kk'"),
        ("{method: mondrian, promise: five}", "`privacy` is neither a mapping nor a list of models"),
        ("{method: mondrian, k: 5, kk: 3}", "method 'mondrian' has no parameter 'kk'"),
        ("{method: mondrian, k: 5, suppress: 2}", "suppress is 2"),
        ("{method: mondrian, k: 5, choose: best}", "choose is 'best'"),
        (
            "{method: mondrian, privacy: {distinct-l-diversity: {l: 2, attribute: age}}}",
            "which is no sensitive attribute",
        ),
        ("{method: mondrian, privacy: {delta-presence: 0.5}}", "compares with a population, and none is named"),
        ("{method: bucketization, k: 5}", "no privacy model of group sizes alone holds"),
    ],
)
def test_a_recipe_that_is_wrong(sfumato, tmp_path, release, problem):
    study = on_disk(tmp_path, release=release)
    refused(make(sfumato, study), study, code=3, problem=problem)


def test_a_promise_about_sensitive_values_needs_some(sfumato, tmp_path):
    promise = "{method: mondrian, privacy: {distinct-l-diversity: 2}}"
    study = on_disk(tmp_path, release=promise, ill=ILL.replace("sensitive", "insensitive"))
    refused(make(sfumato, study), study, code=3, problem="none is declared", fix="`role: sensitive`")


# --- tables that do not fit ---


@pytest.mark.parametrize(
    ("name", "value"), [("ill", ""), ("ill", "scurvy"), ("job", "Zookeeper"), ("age", ""), ("age", "unknowable")]
)
def test_a_value_that_the_study_calls_an_error_stops_the_release(sfumato, tmp_path, name, value):
    rows = records()
    rows[17][name] = value
    study = on_disk(tmp_path, rows)
    said = make(sfumato, study)
    refused(said, study, code=4, problem=f"there are such values in '{name}'", fix="`sfumato check`")
    assert not value or value not in said.all


@pytest.mark.parametrize(
    ("policy", "left"), [("missing: keep", 60), ("missing: suppress", 59), ("missing: (unknown)", 60)]
)
def test_a_missing_sensitive_value_follows_its_rule(sfumato, tmp_path, policy, left):
    rows = records()
    rows[17]["ill"] = ""
    study = on_disk(tmp_path, rows, ill=ILL.replace("}", f", {policy}}}"))
    fine(make(sfumato, study), study)
    text = (tmp_path / "out" / "bundle" / "data.csv").read_text(encoding="utf-8")
    assert len(text.splitlines()) == left + 1


def test_an_attribute_without_a_domain_is_refused(sfumato, tmp_path):
    study = on_disk(tmp_path, ill="{role: insensitive}")
    refused(make(sfumato, study), study, code=3, problem="'ill' has no domain, so it cannot be published")
    study = on_disk(tmp_path, age="{role: quasi_identifier}")
    refused(make(sfumato, study), study, code=3, problem="'age' has no")


def test_no_quasi_identifier_is_refused(sfumato, tmp_path):
    study = on_disk(tmp_path, age=AGE.replace("quasi_identifier", "insensitive"))
    text = study.read_text(encoding="utf-8").replace("job: {role: quasi_identifier", "job: {role: insensitive")
    study.write_text(text, encoding="utf-8")
    refused(make(sfumato, study), study, code=3, problem="no quasi-identifier of the study 'clinic'")


def test_an_observed_domain_is_allowed_and_told(sfumato, tmp_path):
    study = on_disk(tmp_path, ill=ILL.replace("}", ", domain: observed}"))
    assert "Domains that were read from the table are published with the release, for ill" in sfumato("plan", study).out
    fine(make(sfumato, study), study)
    assert "read from the table" in (tmp_path / "out" / "bundle" / "README.md").read_text(encoding="utf-8")


def test_persons_with_several_records_are_refused_and_with_one_are_fine(sfumato, tmp_path):
    study = on_disk(tmp_path / "many", privacy="{unit: {person: id, at_most: 3}}")
    refused(make(sfumato, study), study, code=3, problem="fewer than k people", fix="`at_most: 1`")
    rows = [row | {"id": f"p{n // 2}"} for n, row in enumerate(records())]
    study = on_disk(tmp_path / "one", rows, privacy="{unit: {person: id, at_most: 1}}")
    fine(make(sfumato, study), study)
    text = (tmp_path / "one" / "out" / "bundle" / "data.csv").read_text(encoding="utf-8")
    assert len(text.splitlines()) == 31, "one record a person"


def test_an_empty_table(sfumato, tmp_path):
    study = on_disk(tmp_path, [])
    refused(make(sfumato, study), study, code=4, problem="holds no records")


def test_a_table_of_which_no_record_fits(sfumato, tmp_path):
    rows = [row | {"ill": ""} for row in records()]
    study = on_disk(tmp_path / "error", rows)
    refused(make(sfumato, study), study, code=4, problem="there are such values in 'ill'")
    study = on_disk(tmp_path / "suppress", rows, ill=ILL.replace("}", ", missing: suppress}"))
    refused(make(sfumato, study), study, code=6, problem="no record of the table is used in the release")


@pytest.mark.parametrize(
    "method", ["{method: mondrian, k: 1}", "{method: tds, k: 1}", "{method: mondrian, k: 1, strict: false}"]
)
@pytest.mark.parametrize(
    "rows",
    [
        records()[:1],
        [records()[0]] * 40,
        [row | {"age": "33", "job": "Lawyer"} for row in records()],
        [row | {"pay": "low"} for row in records()],
        [row | {"ill": "flu"} for row in records()],
        [row | {"age": "-5"} for row in records()],
        [row | {"age": "1e9"} for row in records()],
    ],
    ids=["one record", "all alike", "constant columns", "one class", "one sensitive value", "below", "above"],
)
def test_odd_tables_are_released_like_any_other(sfumato, tmp_path, rows, method):
    study = on_disk(tmp_path, rows, release=method)
    fine(make(sfumato, study, "--anyway"), study)  # all numbers below or above the bounds are refused without


def test_one_record_under_k_two(sfumato, tmp_path):
    study = on_disk(tmp_path, records()[:1], release="{method: mondrian, k: 2}")
    refused(make(sfumato, study), study, code=6, problem="cannot satisfy k-anonymity (k = 2)", fix="set k to 1 or less")


# --- the output ---


def test_an_existing_folder_is_never_overwritten(sfumato, tmp_path):
    study = on_disk(tmp_path)
    fine(make(sfumato, study), study)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    said = make(sfumato, study)
    assert said.code == 7 and "exists already" in said.err
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_a_failure_while_publishing_is_in_the_ledger_and_leaves_no_folder(sfumato, tmp_path, monkeypatch):
    study = on_disk(tmp_path)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "sync_folder", full)
    said = make(sfumato, study)
    assert said.code == 7 and "full" in said.err
    assert not (tmp_path / "out").exists()
    [entry] = open_ledger(tmp_path / "clinic.ledger.sqlite").entries("clinic")
    assert (entry.state, entry.reason) == ("failed", "PublishError")


@pytest.mark.parametrize("release", ["{method: full-domain, k: 2, suppress: 0.2}", "{method: capped-confidence}"])
def test_values_of_records_that_may_be_left_out_are_not_told_by_a_domain(sfumato, tmp_path, release):
    study = on_disk(tmp_path, release=release)
    text = study.read_text(encoding="utf-8")
    assert "age: {" in text
    study.write_text(text.replace("age: {", "age: {domain: observed, "), encoding="utf-8")
    refused(
        make(sfumato, study), study, code=3, problem="values that only those have would be disclosed", fix="declare it"
    )
