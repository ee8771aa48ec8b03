"""Runs releases in child processes and stops them at chosen steps; a program of its own, started by test_kill.py.

    driver.py FOLDER

Each line of its input is a job, as JSON: [JOB, FOLDER, RELEASE, MORE…]. RELEASE is one that the study declares, or
`learn` for a private tree. It imports everything once and forks for each release, so that a hundred of them take
seconds. A *step* is the entry into, or the return from, one of the functions
that a release goes through, or a report of progress. The child counts them and sends itself a signal at the wanted one.
What happened is printed as JSON, one line a release, and an empty line ends a job.
"""

import contextlib
import functools
import importlib
import json
import os
import random
import select
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from sfumato.api import Study
from sfumato.cli import show
from sfumato.cli.main import main
from sfumato.interactive import growing
from sfumato.ledger import sql, sqlite
from sfumato.methods.diffgen import algorithm as diffgen
from sfumato.methods.noise import noisy_groups
from sfumato.privacy.dp.mechanisms import sparse
from sfumato.release.bundle import write as bundle
from sfumato.tables import CodedTable
from sfumato.workflow import ask_table as asking
from sfumato.workflow import learn_model as learning
from sfumato.workflow import make_release as making
from sfumato.workflow.steps import reservation as frame
from tests.trust.studies import on_disk, spanned

# What a release goes through, in the order of trust; of a step that only one kind of release has, the other is silent.
WATCHED = (
    (making, "open_study_table"),
    (learning, "open_study_table"),
    (making, "CodedTable"),
    (learning, "CodedTable"),
    (learning, "_claim"),
    (frame, "claim_folder"),
    (CodedTable, "cells_and_rows"),
    (making, "make_draft"),
    (sqlite.SqliteLedger, "reserve"),
    (CodedTable, "marginals"),
    (diffgen, "noisy_max"),
    (growing, "noisy_counts"),
    (growing, "split_point"),
    (growing, "noisy_max"),
    (CodedTable, "cells"),
    (sparse, "with_laplace"),
    (noisy_groups, "noisy_counts"),
    (making, "write_bundle"),
    (learning, "_write_model"),
    (bundle, "write_file"),
    (bundle, "sync_folder"),
    (learning, "sync_folder"),
    (bundle, "_check"),
    (bundle.Path, "rename"),
    (learning.Path, "replace"),
    (sqlite.SqliteLedger, "complete"),
    (sqlite.SqliteLedger, "fail"),
    (frame, "write_owner"),
)

# Enough ε to split; a seed, because which steps there are depends on what is drawn.
LEARNT = ("--epsilon", "20", "--depth", "2", "--insecure-seed", "1")

ASKING = {  # where somebody who asks a question is killed
    "entering": (sql.SqlLedger, "reserve"),
    "counting": (asking, "_count_cells"),
    "drawing": (asking, "draw_measurements"),
    "closing": (asking, "_hash"),
}


class Steps:
    """Counts steps, remembers their names in a pipe, and calls ``act`` at the wanted one."""

    def __init__(self, pipe, wanted, act):
        self.pipe, self.wanted, self.act = pipe, wanted, act
        self.number = 0
        self.one_at_a_time = threading.Lock()  # files of records are written side by side

    def reach(self, name):
        with self.one_at_a_time:
            self.number += 1
            os.write(self.pipe, (name + "\n").encode())
            if self.number == self.wanted:
                self.act()

    def watch(self, owner, name):
        real = getattr(owner, name)

        @functools.wraps(real)
        def watched(*given, **more):
            self.reach(f"before {name}")
            answer = real(*given, **more)
            self.reach(f"after {name}")
            return answer

        setattr(owner, name, watched)


def release(study, pipe, asked, *, wanted=0, act=None):
    """In a child: the command line's `release` or `learn`, watched."""
    steps = Steps(pipe, wanted, act)
    for owner, name in WATCHED:
        steps.watch(owner, name)

    @contextlib.contextmanager
    def progress(*, shown):
        yield lambda what, done, total: steps.reach(f"progress {what}")

    show.progress = progress
    given = ["release", str(study), asked] if asked != "learn" else ["learn", str(study), *LEARNT]
    sys.argv = ["sfumato", *given, "--out", str(study.parent / "out")]
    main()


def ask(study):
    """In a child: a question of the owner's, answered."""
    print(Study.load(study).ask("age >= 40", epsilon=1, span="2012-01-01..2013-01-01").count)  # noqa: T201 - a program


def in_child(run, said):
    """Fork; the child runs and never comes back. What it says goes to the file ``said``."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        return child, ours
    os.close(ours)
    code = 70
    try:
        log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run(theirs)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:  # noqa: BLE001 - said where a failing test can be looked into
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)  # no clean-up of the parent's: this is the end, whatever happened


def ended(child, pipe):
    """Wait for a child: its exit code (negative for a signal) and its steps."""
    heard = b""
    while chunk := os.read(pipe, 65_536):
        heard += chunk
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), heard.decode().splitlines()


def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def preload(folder):
    """Import all that a job imports on its way, so that no child has to: a connection is made in none but them."""
    study, again = spanned(folder / "preload"), on_disk(folder / "preload again")
    listed = folder / "modules.txt"

    def run(theirs):
        for path, asked in ((study, "dp"), (again, "learn")):
            with contextlib.suppress(SystemExit):
                release(path, theirs, asked)
        ask(study)
        listed.write_text("\n".join(sys.modules), encoding="utf-8")

    ended(*in_child(run, study.parent / "said.txt"))
    for name in listed.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def stopped_at(folder, asked, number, how):
    study = (spanned if number % 2 else on_disk)(folder / f"{how.name}-{number}")  # every other one of a span alone
    child, pipe = in_child(
        lambda theirs: release(study, theirs, asked, wanted=number, act=lambda: os.kill(os.getpid(), how)),
        study.parent / "said.txt",
    )
    code, steps = ended(child, pipe)
    tell(folder=str(study.parent), code=code, steps=steps)
    return steps


def every_step(folder, asked):
    """Kill at each step in turn, until a release comes through."""
    number = 0
    while True:
        number += 1
        if len(stopped_at(folder, asked, number, signal.SIGKILL)) < number:
            return


def some_steps(folder, asked, how, *moments):
    """A whole release, and one with the signal at the first occurrence of each of these steps, or of each there is."""
    whole = stopped_at(folder, asked, 0, signal.Signals[how])
    for name in moments or dict.fromkeys(whole):
        stopped_at(folder, asked, whole.index(name) + 1, signal.Signals[how])


def any_moment(folder, asked, kills):
    """Kill from outside after a random time: no step is waited for."""
    began = time.monotonic()
    study = on_disk(folder / "whole")
    ended(*in_child(lambda theirs: release(study, theirs, asked), study.parent / "said.txt"))
    took = time.monotonic() - began
    for number in range(kills):
        study = (spanned if number % 2 else on_disk)(folder / f"random-{number}")
        said = study.parent / "said.txt"
        child, pipe = in_child(lambda theirs, study=study: release(study, theirs, asked), said)
        time.sleep(random.uniform(0, 1.1 * took))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        code, steps = ended(child, pipe)
        tell(folder=str(study.parent), code=code, steps=steps)


def one_folder(folder, asked, rounds):
    """Several processes released into one folder at the same moment, again and again."""
    for number in range(rounds):
        study = on_disk(folder / f"race-{number}")
        gate, opener = os.pipe()

        def run(theirs, study=study, gate=gate, opener=opener):
            os.close(opener)
            select.select([gate], [], [])  # until the parent closes its end
            release(study, theirs, asked)

        children = [in_child(run, study.parent / f"said-{n}.txt") for n in range(3)]
        os.close(gate)
        os.close(opener)
        codes = [ended(*child)[0] for child in children]
        tell(folder=str(study.parent), codes=codes)


def killed_question(folder, moment):
    """Somebody asks, and is killed at a moment."""
    study, (owner, name) = spanned(folder / moment), ASKING[moment]

    def run(_theirs):
        setattr(owner, name, lambda *_given, **_more: os.kill(os.getpid(), signal.SIGKILL))
        ask(study)

    code, _ = ended(*in_child(run, study.parent / "said.txt"))
    tell(folder=str(study.parent), code=code)


JOBS = {"every": every_step, "some": some_steps, "any": any_moment, "race": one_folder, "ask": killed_question}

if __name__ == "__main__":
    preload(Path(sys.argv[1]))
    for line in sys.stdin:
        wanted, into, *more = json.loads(line)
        JOBS[wanted](Path(into), *more)
        sys.stdout.write("\n")
        sys.stdout.flush()
