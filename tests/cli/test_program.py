"""How the program's process ends: with the command's code, its output written, what waits for the end done."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.ledger import open_ledger
from tests.trust.studies import on_disk

ROOT = Path(__file__).parents[2]

BEFORE = """
import atexit, sys, tempfile, threading, time

class Left:
    def __del__(self):
        print("the interpreter was taken apart", flush=True)

left = Left()
left.itself = left  # only taking modules apart lets go of it

from sfumato.cli import program as edge

def main(stop_code):
    global folder
    folder = tempfile.TemporaryDirectory()
    threading.Thread(target=lambda: (time.sleep(0.3), print("the thread was waited for"))).start()
    atexit.register(lambda: print("registered work was done"))
    print(folder.name)
    {then}

edge.main = main
edge.program()
"""


def ended(then):
    done = subprocess.run(
        [sys.executable, "-c", BEFORE.format(then=then)], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    ("then", "code"),
    [("pass", 0), ("sys.exit(0)", 0), ("sys.exit(None)", 0), ("sys.exit(8)", 8), ("sys.exit('no')", 1)],
)
def test_the_process_ends_with_the_code_and_everything_done(then, code):
    found, said, wrong = ended(then)
    assert found == code
    assert said[1:] == ["the thread was waited for", "registered work was done"]
    assert wrong.strip() == ("no" if "no" in then else "")


def test_an_unforeseen_error_is_no_success():
    found, said, wrong = ended("raise ValueError")
    assert found != 0
    assert "ValueError" in wrong
    assert said[-1] == "registered work was done"


def test_both_ways_to_start_the_program_end_like_this():
    assert 'sfumato = "sfumato.cli.program:program"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "program()" in (ROOT / "src" / "sfumato" / "__main__.py").read_text(encoding="utf-8")


STOPPED = """
import os, signal, sys, time

from sfumato.workflow import make_release

def killed(*_, **__):
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
    raise AssertionError("the signal stopped nothing")

make_release.{step} = killed
signal.signal(signal.{name}, signal.SIG_DFL)  # the tests may run under nohup
sys.argv = ["sfumato", "release", "study.yaml", "dp", "--out", "out", *{more}]

from sfumato.cli.program import program

program()
"""


@pytest.mark.error_rate(0, reason="nothing is published, whatever is drawn")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("step", ["guard", "write_bundle"])
def test_a_command_that_is_asked_to_end_removes_what_it_made(tmp_path, name, code, step):
    """A scheduler ends a job by SIGTERM: the folder with the codes of all records goes, and the ledger says why."""
    on_disk(tmp_path)
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(name=name, step=step, more=[])], cwd=tmp_path, timeout=120, check=False,
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("stopped: ")
    assert list((tmp_path / "temporary").iterdir()) == [] and not (tmp_path / "out").exists()
    book = open_ledger(tmp_path / "clinic.ledger.sqlite")
    assert book.verify() == ()
    assert [entry.state for entry in book.entries("clinic")] == (["failed"] if step == "write_bundle" else [])


@pytest.mark.error_rate(0, reason="nothing is published, whatever is drawn")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_program_reads_the_code_that_the_process_ends_with(tmp_path, name, code):
    on_disk(tmp_path)
    script = STOPPED.format(name=name, step="guard", more=["--json"])
    if name == "SIGINT":
        script = script.replace("signal.SIG_DFL", "signal.default_int_handler")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, timeout=120, check=False, capture_output=True, text=True
    )
    told = json.loads(done.stderr.splitlines()[-1])
    assert (done.returncode, told["exit_code"], told["code"]) == (code, code, "SF-STOPPED-741")


def test_a_signal_that_is_ignored_stays_ignored():
    """As `nohup` has it for a terminal that is closed."""
    script = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from sfumato.cli import program as edge
edge.main = lambda _: os.kill(os.getpid(), signal.SIGHUP)
edge.program()
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=120).returncode == 0


def test_processes_of_a_command_import_nothing_from_the_folder_that_they_work_in(tmp_path):
    """Those of a sweep are started by a library, as modules: Python would look beside the table first."""
    (tmp_path / "beside.py").write_text("")
    script = """
import subprocess, sys
from sfumato.cli import program as edge
edge.main = lambda _: subprocess.run([sys.executable, "-c", "import beside"], check=True, stderr=subprocess.DEVNULL)
edge.program()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, check=False, timeout=120, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.returncode == 1 and "CalledProcessError" in done.stderr
