"""The owner's report is made from a published release and its study, at any time, and takes nothing back."""

import hashlib
import shutil
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import workflow
from sfumato.errors import SourceError, UsageError
from sfumato.release.bundle import write
from sfumato.release.forms.records.rows import Records
from sfumato.release.partition import SUPPRESSED
from sfumato.release.release import Release
from sfumato.release.verify import verify_bundle
from sfumato.tables import CodedTable, ManyCellsError
from sfumato.workflow import report as owner_report
from sfumato.workflow.reading.read_bundle import read_bundle
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

AGES = {"intervals": {"width": 10, "levels": 3}}
METHODS = {
    "diffgen": lambda: sf.DiffGen(epsilon=1, h=4),
    "mondrian": lambda: sf.Mondrian(k=5),
    "full-domain": lambda: sf.FullDomain(k=5, suppress="0.05"),
    "anatomy": lambda: sf.Anatomy(l=2),
    "bucketization": lambda: sf.Bucketization(k=4, privacy={"distinct-l-diversity": 2}),
    "capped": lambda: sf.ConfidenceCap(rate="0.9"),
}


def a_study():
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(17, 90, 300),
            "sex": rng.choice(["f", "m"], 300),
            "ill": rng.choice(list("abcd"), 300, p=[0.3, 0.3, 0.3, 0.1]),
            "dead": rng.choice(["no", "yes"], 300),
        }
    )
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table,
            "privacy": {"budget": 10},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 119], "taxonomy": AGES},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "sensitive", "values": list("abcd")},
                "dead": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


def owners_files(done):
    return {path.name for path in (done.folder / "owner").iterdir()}


@pytest.mark.parametrize("name", METHODS)
def test_a_report_that_is_made_later_is_the_same(tmp_path, name):
    study = a_study()
    done = study.release(METHODS[name](), out=tmp_path / "one", insecure_seed=1)
    assert all("are unique over all published columns" in warning for warning in done.warnings)
    assert owners_files(done) == {"draft.json", "log.txt", "report.html"}
    page = (done.folder / "owner" / "report.html").read_text(encoding="utf-8")
    before = study.ledger.entries("clinic")
    assert study.report(done.folder) == done.folder / "owner" / "report.html"
    assert (done.folder / "owner" / "report.html").read_text(encoding="utf-8") == page
    assert study.ledger.entries("clinic") == before, "a report spends nothing and is not entered"
    assert owners_files(done) == {"draft.json", "log.txt", "report.html"}
    if name != "diffgen":
        assert_read_back(study, done)


def assert_read_back(study, done):
    """The groups of a bundle are those of the draft."""
    read = read_bundle(study.declared, done)
    found, made = read.release.to_draft(read.view), done.draft
    assert found.partition.suppressed == made.partition.suppressed
    assert found.form == made.form and found.rate == made.rate
    assert [m.name for m in found.models] == [m.name for m in made.models]
    one, two = (draft.partition.statistics(draft.view) for draft in (found, made))
    assert np.array_equal(np.sort(one.sizes), np.sort(two.sizes[two.sizes > 0]))
    assert np.array_equal(np.sort(one.sensitive["ill"].counts), np.sort(two.sensitive["ill"].counts))
    kept = found.partition.group != SUPPRESSED
    assert int(found.partition.cells.counts[kept].sum()) == done.rows


def test_a_release_without_a_report_is_complete(tmp_path):
    study = a_study()
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "one", report=False)
    assert owners_files(done) == {"draft.json", "log.txt"}
    assert study.ledger.entries("clinic")[0].state == "done"
    assert study.report(done).exists()


def test_a_release_measures_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(owner_report, "quick_measures", None)
    study = a_study()
    recipe = study.recipe(sf.DiffGen(epsilon=1, h=4))
    done = workflow.release(study.declared, recipe, folder=tmp_path / "one", ledger=study.ledger)
    assert owners_files(done) == {"draft.json", "log.txt"}


@pytest.mark.parametrize(
    "failure", [MemoryError(), UsageError("it is too large", "make it smaller"), OSError(28, "no")]
)
def test_a_report_that_fails_is_a_warning_of_the_release(tmp_path, monkeypatch, failure):
    def fails(*_, **__):
        raise failure

    monkeypatch.setattr(owner_report, "quick_measures", fails)
    study = a_study()
    done = study.release(sf.DiffGen(epsilon=1, h=4), out=tmp_path / "one")
    (warning,) = done.warnings
    assert warning.startswith("the owner's report could not be made")
    assert f"sfumato report {done.folder} --against STUDY" in warning
    assert done.open().manifest["study"] == "clinic" and study.ledger.entries("clinic")[0].state == "done"
    assert owners_files(done) == {"draft.json", "log.txt"}


def test_an_interrupted_report_says_that_the_release_is_there(tmp_path, monkeypatch):
    def stops(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(owner_report, "quick_measures", stops)
    with pytest.raises(KeyboardInterrupt) as stopped:
        a_study().release(sf.DiffGen(epsilon=1, h=4), out=tmp_path / "one")
    (note,) = stopped.value.__notes__
    assert f"published in {tmp_path / 'one' / 'bundle'}" in note and "ε = 1" in note and "sfumato report" in note


def test_a_bundle_that_is_out_when_it_is_interrupted_is_entered_as_done(tmp_path, monkeypatch):
    """The moment after it got its name: it verifies, so the ledger must not say that the release failed."""
    brought, sync = [], write.sync_folder

    def stops(folder):
        brought.append(folder)
        if folder == tmp_path / "one":
            raise KeyboardInterrupt
        sync(folder)

    monkeypatch.setattr(write, "sync_folder", stops)
    study = a_study()
    with pytest.raises(KeyboardInterrupt) as stopped:
        study.release(sf.DiffGen(epsilon=1, h=4), out=tmp_path / "one")
    assert len(brought) == 2
    assert verify_bundle(tmp_path / "one").ok
    (entry,) = study.ledger.entries("clinic")
    assert entry.state == "done"
    assert entry.bundle == hashlib.sha256((tmp_path / "one" / "bundle" / "manifest.json").read_bytes()).hexdigest()
    assert study.ledger.verify() == ()
    (note,) = stopped.value.__notes__
    assert f"published in {tmp_path / 'one' / 'bundle'}" in note and "ε = 1" in note


def test_a_bundle_of_somebody_else_is_not_taken_for_that_of_the_entry(tmp_path, monkeypatch):
    other = a_study().release(sf.DiffGen(epsilon=1, h=4), out=tmp_path / "other", report=False)

    def put(*_, **__):
        shutil.copytree(other.bundle, tmp_path / "one" / "bundle")
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "sync_folder", put)
    study = a_study()
    with pytest.raises(KeyboardInterrupt):
        study.release(sf.DiffGen(epsilon=1, h=4), out=tmp_path / "one")
    assert study.ledger.entries("clinic")[-1].state == "failed"


def test_tables_in_an_engine_stay_once_their_bundle_has_its_name(tmp_path):
    done = []
    engine = SimpleNamespace(commit=lambda: done.append("commit"), withdraw=lambda: done.append("withdraw"))

    def stopped(partial):
        with pytest.raises(KeyboardInterrupt), write._committed(engine, partial, ["records"]):
            raise KeyboardInterrupt

    stopped(tmp_path / "renamed meanwhile")
    assert done == ["commit"]
    stopped(tmp_path)  # which is still there
    assert done == ["commit", "commit", "withdraw"]


def test_without_notes_the_bundle_is_enough(tmp_path):
    study = a_study()
    done = study.release(sf.ConfidenceCap(rate="0.9"), out=tmp_path / "one", report=False)
    shutil.rmtree(done.folder / "owner")
    assert study.report(done.folder / "bundle").exists()
    assert (done.folder / "owner").stat().st_mode & 0o077 == 0, "for the owner's eyes"


def test_a_bundle_outside_its_release_has_no_place_for_a_report(tmp_path):
    study = a_study()
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "one", report=False)
    shutil.copytree(done.bundle, tmp_path / "copy")
    with raises_code(UsageError, "SF-USAGE-086", match="not in the folder of its release"):
        study.report(tmp_path / "copy")
    assert not (tmp_path / "owner").exists()


def test_a_release_in_parts_says_that_its_report_does_not_fit_and_reads_nothing_for_it(tmp_path, monkeypatch):
    """All that was published would be read first, of a table that is known not to fit."""
    study = a_study()
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 30)
    monkeypatch.setattr(owner_report, "open_study_table", None)
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "one", memory_limit="1GB")
    *_, warning = done.warnings
    assert warning.startswith("there is no owner's report: ") and "--no-report" in warning
    assert f"`sfumato report {done.folder} --against STUDY` and a larger --memory-limit" in warning
    assert not done.report.exists() and sf.verify_bundle(done.bundle).ok


@pytest.mark.parametrize("look", ["report", "measure", "attack_link"])
def test_a_table_that_does_not_fit_is_refused_before_the_release_is_read(tmp_path, monkeypatch, look):
    study = a_study()
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "one", report=False)
    refused = ManyCellsError("too many", "raise the limit", code="SF-SOURCE-397")

    def refuse(*_, **__):
        raise refused

    monkeypatch.setattr(CodedTable, "full_cells", refuse)
    monkeypatch.setattr(Release, "open", None)
    with raises_code(SourceError, "SF-SOURCE-397"):
        getattr(study, look)(done.folder)


def test_a_stated_limit_counts_for_the_report_in_this_process_too(tmp_path, monkeypatch):
    study = a_study()
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "one", report=False)
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 30)
    with raises_code(SourceError, "SF-SOURCE-397"):
        study.report(done, memory_limit="1GB")
    assert study.report(done).exists(), "no limit was stated"
    monkeypatch.undo()
    assert study.report(done, memory_limit="1GB").exists()


def test_what_is_alike_is_one_row_until_somebody_asks_for_records(tmp_path, monkeypatch):
    study = a_study()
    done = study.release(sf.FullDomain(k=20), out=tmp_path / "one", report=False)
    monkeypatch.setattr(Records, "unfold", None)
    assert study.report(done).exists()
    study.measure(done, only=["ploss"])
    opened = done.open()
    assert opened.value_counts("ill")[1].sum() == 300 and len(opened.rows.times) < 300
    monkeypatch.undo()
    assert len(opened.records.times) == 300
