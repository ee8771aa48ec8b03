"""A release that is stopped: no half bundle, and a ledger that accounts for all that may have been drawn."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato import workflow
from sfumato.api import Study
from sfumato.errors import PublishError
from sfumato.interactive import DiffPC45
from sfumato.ledger import open_ledger
from sfumato.release.bundle import atomic_files as files
from sfumato.release.bundle import write as writing
from sfumato.release.verify import verify_bundle
from sfumato.study.file import load_study
from tests.raising import raises_code
from tests.trust import driver
from tests.trust.studies import declared, everything, on_disk, recipe, released

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

ROOT = Path(__file__).parents[2]
WRITING = ("after write_file", "before rename", "after rename", "before complete", "after write_owner")
MOMENTS = {  # of each release of the study: where somebody must have been killed
    "dp": ("after claim_folder", "before reserve", "after reserve", "after noisy_max", "after noisy_counts", *WRITING),
    "groups": (
        "after claim_folder",
        "after cells_and_rows",
        "after make_draft",
        "before reserve",
        "after reserve",
        *WRITING,
    ),
    "buckets": (
        "after claim_folder",
        "after cells_and_rows",
        "after make_draft",
        "before reserve",
        "after reserve",
        *WRITING,
    ),
}
COSTS = {"dp": 1, "groups": 0, "buckets": 0}
NOTES = {"draft.json", "log.txt", "report.html"}


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """Give the driver a job; a list of what it tells. One driver serves all: what it imports takes seconds."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        "OPENBLAS_NUM_THREADS": "1",  # a process with threads should not fork
    }
    folder = tmp_path_factory.mktemp("driver")
    with (
        (folder / "said.txt").open("w", encoding="utf-8") as said,
        subprocess.Popen(
            [sys.executable, driver.__file__, folder], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
        ) as driven,
    ):  # fmt: skip

        def run(job, folder, *more):
            late = threading.Timer(1_200, driven.kill)
            late.start()
            try:
                driven.stdin.write(json.dumps([job, str(folder), *more]) + "\n")
                driven.stdin.flush()
                told = []
                while (line := driven.stdout.readline()) != "\n":
                    assert line, f"the driver is gone, see {said.name}: {Path(said.name).read_text(encoding='utf-8')}"
                    told.append(json.loads(line))
            finally:
                late.cancel()
            return told

        yield run


def ledger(folder):
    book = open_ledger(folder / "clinic.ledger.sqlite")
    assert book.verify() == (), f"{folder}: the ledger does not verify"
    return book


def look(folder, steps, release="dp"):
    """What must hold however and whenever a release was stopped."""
    out, book, last = folder / "out", ledger(folder), steps[-1] if steps else "(nothing)"
    entries = book.entries("clinic")
    bundle = out / "bundle"
    assert len(entries) <= 1
    if bundle.exists():
        assert verify_bundle(bundle).ok, f"half a bundle after '{last}'"
        assert len(entries) == 1, f"a bundle that the ledger does not know, after '{last}'"
    if entries and entries[0].state == "done":
        assert bundle.exists(), f"the ledger names a bundle that is not there, after '{last}'"
        hashed = files.file_facts(bundle / "manifest.json").sha256
        assert entries[0].bundle == hashed
    if "before marginals" in steps:  # the table was looked at, so noise may have been drawn
        assert book.spent("clinic") == 1, f"a spend that the ledger does not know, after '{last}'"
    if "before reserve" not in steps or not COSTS[release]:
        assert book.spent("clinic") == 0, f"budget lost before anything was looked at, after '{last}'"
    if out.exists():
        names = {path.name for path in out.iterdir()}
        assert not {n for n in names if n not in {"bundle", "owner"} and not n.startswith(".bundle.partial-")}
    if (out / "owner").exists():
        assert [entry.state for entry in entries] == ["done"], f"notes on a release that is not out, after '{last}'"
        assert (out / "owner").stat().st_mode & 0o077 == 0, "for the owner's eyes"
        kept = {path.name for path in (out / "owner").iterdir()}
        assert {name for name in kept if not name.startswith(".report.html.")} <= NOTES
    return entries


@pytest.mark.slow  # some moments are killed at in every run, see below
@pytest.mark.parametrize("release", ["dp", "groups", "buckets"])
def test_killed_at_any_step(tmp_path, drive, release):
    """SIGKILL at each step in turn: what is left is nothing, or all, and never a spend that is not in the ledger."""
    told = drive("every", tmp_path, release)
    seen = [run["steps"] for run in told]
    assert told[-1]["code"] == 0 and len(told) > 30, "the last one came through"
    assert all(run["code"] == -signal.SIGKILL for run in told[:-1])
    for moment in MOMENTS[release]:
        assert any(steps[-1] == moment for steps in seen[:-1]), f"nobody was killed {moment}"
    for run in told:
        folder, steps = Path(run["folder"]), run["steps"]
        entries = look(folder, steps, release)
        last = steps[-1]
        there = (folder / "out" / "bundle").exists()
        assert there == ("after rename" in steps or run["code"] == 0), f"after '{last}'"
        state = None if "after reserve" not in steps else "done" if "after complete" in steps else "opened"
        assert [entry.state for entry in entries] == ([] if state is None else [state]), f"after '{last}'"
    assert {path.name for path in (Path(told[-1]["folder"]) / "out" / "owner").iterdir()} == NOTES
    # A fresh release goes through, over the same ledger, whatever the killed one left behind.
    for place in (0, len(told) // 2, -3):
        folder = Path(told[place]["folder"])
        before, entries = ledger(folder).spent("clinic"), ledger(folder).entries("clinic")
        released(folder / "study.yaml", folder / "again", what=declared(folder / "study.yaml", release))
        assert ledger(folder).spent("clinic") == before + COSTS[release]
        assert len(ledger(folder).entries("clinic")) == len(entries) + 1


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_any_moment(tmp_path, drive, kills):
    """The same from outside, after random times: between steps as well."""
    told = drive("any", tmp_path, "dp", kills)
    assert len(told) == kills
    for run in told:
        folder = Path(run["folder"])
        assert run["code"] in {0, -signal.SIGKILL}
        look(folder, run["steps"])
        released(folder / "study.yaml", folder / "again")


# --- a model that is learnt: one file in place of a bundle ---

LEARNING = (
    "after open_study_table", "before _claim", "after _claim", "before reserve", "after reserve", "before cells",
    "before noisy_counts", "after noisy_counts", "after split_point", "after noisy_max", "before _write_model",
    "before replace", "after replace", "after sync_folder", "before complete", "after complete",
)  # fmt: skip
DRAWN = {"before noisy_counts", "before split_point", "before noisy_max"}


def look_at_model(folder, steps):
    """What must hold however and whenever a model's making was stopped; the ledger's entries, and the file's text."""
    out, book, last = folder / "out", ledger(folder), steps[-1] if steps else "(nothing)"
    entries = book.entries("clinic")
    text = out.read_text(encoding="utf-8") if out.exists() else None
    assert len(entries) <= 1
    if text:
        assert DiffPC45.load(out).to_json() == json.loads(text), f"half a model after '{last}'"
        assert len(entries) == 1, f"a model that the ledger does not know, after '{last}'"
        assert json.loads(text)["ledger"] == entries[0].hash
    if entries and entries[0].state == "done":
        assert text, f"the ledger names a model that is not there, after '{last}'"
        assert entries[0].bundle == hashlib.sha256(text.encode()).hexdigest()
    if DRAWN & set(steps) or "before cells" in steps:
        assert book.spent("clinic") == 20, f"a spend that the ledger does not know, after '{last}'"
    if "before reserve" not in steps:
        assert book.spent("clinic") == 0, f"budget lost before anything was looked at, after '{last}'"
    beside = {path.name for path in folder.iterdir()} - {"said.txt", "study.yaml", "clinic.csv", "out"}
    assert not {n for n in beside if not n.startswith(("clinic.ledger.", ".clinic.ledger.head.", ".out."))}, (
        f"after '{last}'"
    )
    return entries, text


def look_at_killed_learning(told):
    assert all(run["code"] == -signal.SIGKILL for run in told)
    for moment in LEARNING:
        assert any(run["steps"][-1] == moment for run in told), f"nobody was killed {moment}"
    for run in told:
        steps, last = run["steps"], run["steps"][-1]
        entries, text = look_at_model(Path(run["folder"]), steps)
        assert bool(text) == ("after replace" in steps), f"after '{last}'"
        assert (text is None) == ("after _claim" not in steps), f"after '{last}'"
        state = None if "after reserve" not in steps else "done" if "after complete" in steps else "opened"
        assert [entry.state for entry in entries] == ([] if state is None else [state]), f"after '{last}'"
    for place in (0, len(told) // 2, -2):  # over the same ledger, whatever the killed one left behind
        folder = Path(told[place]["folder"])
        study, before = Study.load(folder / "study.yaml"), ledger(folder).spent("clinic")
        study.learn(DiffPC45("20", depth=2), out=folder / "again.json")
        assert ledger(folder).spent("clinic") == before + 20


def test_learning_killed(tmp_path, drive):
    """SIGKILL at each kind of step: no file, an empty one or a whole model, and every draw in the ledger."""
    whole, *told = drive("some", tmp_path, "learn", "SIGKILL", *LEARNING)
    assert whole["code"] == 0 and len(told) == len(LEARNING)
    assert look_at_model(Path(whole["folder"]), whole["steps"])[1], "the whole one came through"
    look_at_killed_learning(told)


@pytest.mark.slow
def test_learning_killed_at_any_step(tmp_path, drive):
    """The same at each step in turn."""
    *told, whole = drive("every", tmp_path, "learn")
    assert whole["code"] == 0 and len(told) > 20, "the last one came through"
    assert look_at_model(Path(whole["folder"]), whole["steps"])[1]
    look_at_killed_learning(told)


@pytest.mark.parametrize("moments", [
    ("after _claim", "before reserve", "after reserve", "before cells", "after noisy_counts", "before replace",
     "after replace", "before complete", "after complete"),
    pytest.param((), marks=pytest.mark.slow, id="all"),
])  # fmt: skip
def test_learning_interrupted(tmp_path, drive, moments):
    """Ctrl-C: exit code 130, the entry says that it failed, and no file stays that holds no model."""
    whole, *told = drive("some", tmp_path, "learn", "SIGINT", *moments)
    assert whole["code"] == 0 and (len(told) == len(moments) if moments else len(told) > 15)
    for run in told:
        entries, text = look_at_model(Path(run["folder"]), run["steps"])
        hit = whole["steps"][int(Path(run["folder"]).name.partition("-")[2]) - 1]
        assert run["code"] == 130, f"interrupted {hit}"
        if "before _claim" not in hit and "after _claim" not in hit:
            assert text != "", f"an empty file was left, interrupted {hit}"
        if "after reserve" in run["steps"] and "after complete" not in run["steps"] and hit != "after reserve":
            assert entries[0].state in {"failed", "opened"}, f"interrupted {hit}"


@pytest.mark.parametrize(("moment", "states"), [
    ("entering", []), ("counting", ["opened"]), ("drawing", ["opened"]), ("closing", ["opened"]),
])  # fmt: skip
def test_a_killed_question_shows_nothing_and_its_spend_is_known(tmp_path, drive, moment, states):
    [run] = drive("ask", tmp_path, moment)
    folder = Path(run["folder"])
    assert (run["code"], (folder / "said.txt").read_text(encoding="utf-8")) == (-signal.SIGKILL, "")
    assert [entry.state for entry in ledger(folder).entries("clinic")] == states
    assert ledger(folder).spent("clinic") == len(states)


@pytest.mark.parametrize(("release", "moments"), [
    ("dp", (*MOMENTS["dp"], "after open_study_table", "before _check", "progress reading the release")),
    pytest.param("dp", (), marks=pytest.mark.slow, id="dp-all"),
    pytest.param("groups", (), marks=pytest.mark.slow, id="groups-all"),
])  # fmt: skip
def test_interrupted(tmp_path, drive, release, moments):
    """Ctrl-C: exit code 130, the entry says that it failed unless the bundle is out, and nothing half-written stays."""
    whole, *told = drive("some", tmp_path, release, "SIGINT", *moments)
    assert whole["code"] == 0 and (len(told) == len(moments) if moments else len(told) > 20)
    for run in told:
        folder, steps = Path(run["folder"]), run["steps"]
        entries = look(folder, steps, release)
        hit = whole["steps"][int(folder.name.partition("-")[2]) - 1]
        out = folder / "out"
        assert run["code"] == 130, f"interrupted {hit}"
        left = sorted(path.name for path in out.iterdir()) if out.exists() else []
        assert not [name for name in left if name.startswith(".bundle")], f"interrupted {hit}"
        if (out / "bundle").exists() and "after write_bundle" not in steps:  # the moment after it got its name
            assert [entry.state for entry in entries] == ["done"], f"interrupted {hit}"
        elif "after reserve" in steps and "after write_bundle" not in steps:
            assert [entry.state for entry in entries] in (["failed"], ["opened"]), f"interrupted {hit}"
            if hit != "after reserve":
                assert entries[0].reason == "KeyboardInterrupt", f"interrupted {hit}"
        if "before reserve" not in steps:
            assert entries == ()


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_two_runs_into_one_folder(tmp_path, drive, rounds):
    """Exactly one wins; the others are told so before they spend anything."""
    told = drive("race", tmp_path, "dp", rounds)
    assert len(told) == rounds
    for run in told:
        folder = Path(run["folder"])
        assert sorted(run["codes"]) == [0, 7, 7]
        assert verify_bundle(folder / "out").ok
        assert ledger(folder).spent("clinic") == 1


# --- the disk, in this process ---


def broken(number):
    def fail(*_given, **_more):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, r"the disk that holds '.*' is full\. To fix: free space on it, or choose another folder"),
        (errno.EDQUOT, r"the disk that holds '.*' is full"),
        (errno.EROFS, r"'.*' cannot be written to\. To fix: choose a folder you may write to"),
        (errno.EIO, r"could not be written: Input/output error\. To fix: check the disk, or choose another folder"),
    ],
)
@pytest.mark.parametrize("where", ["write_file", "sync_folder"])
def test_a_disk_that_fails_in_the_middle(tmp_path, monkeypatch, number, says, where):
    study = on_disk(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(writing, where, broken(number))
        with pytest.raises(PublishError, match=says):
            released(study, tmp_path / "out")
    [entry] = look(tmp_path, ["before reserve", "after reserve", "before marginals"])
    assert (entry.state, entry.reason, entry.epsilon) == ("failed", "PublishError", Fraction(1))
    assert not (tmp_path / "out").exists(), "nothing half-written, and no folder"
    released(study, tmp_path / "again")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_an_unwritable_folder_costs_nothing(tmp_path, monkeypatch, number):
    study = on_disk(tmp_path)
    monkeypatch.setattr(Path, "mkdir", broken(number))
    with raises_code(
        PublishError, "SF-PUBLISH-011", match=r"'.*out' cannot be written to\. To fix: choose a folder you may write to"
    ):
        workflow.release(load_study(study), recipe(h=3), folder=tmp_path / "out")
    assert not (tmp_path / "clinic.ledger.sqlite").exists()


def test_a_ledger_that_cannot_be_written_stops_the_release(tmp_path):
    """Without an entry no noise is drawn, and the folder is given back."""
    study = on_disk(tmp_path)
    study.write_text(study.read_text(encoding="utf-8") + "ledger: no/such/folder/book.sqlite\n", encoding="utf-8")
    with raises_code(PublishError, "SF-PUBLISH-008"):
        released(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_method_that_breaks_leaves_its_spend_in_the_ledger(tmp_path, monkeypatch):
    study = on_disk(tmp_path)
    monkeypatch.setattr("sfumato.methods.noise.noisy_groups.publish_counts", broken(errno.EIO))
    monkeypatch.setattr("sfumato.methods.noise.noisy_groups.publish_all_counts", broken(errno.EIO))
    with pytest.raises(OSError, match="Input/output error"):
        released(study, tmp_path / "out")
    [entry] = look(tmp_path, ["before reserve", "after reserve", "before marginals"])
    assert (entry.state, entry.reason) == ("failed", "OSError")
    assert everything(tmp_path / "out") == {}
