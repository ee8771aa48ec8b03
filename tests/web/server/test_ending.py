"""How the workbench ends: with the jobs that publish nothing, however it is asked to, and without a release."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from sfumato import Study, verify_bundle
from tests.web.conftest import serving
from tests.web.http_client import Client
from tests.web.small_study import write_adult
from tests.web.stopped_process import children, wait_until

# A job that does not hear that it is to end is made to: here after some seconds.
PATIENT = "from sfumato.web import jobs; jobs._PATIENCE = 5.0\nfrom sfumato.cli.program import program; program()"
UNHEARD = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + PATIENT


def lives(process):
    """Whether a process still is there, and not only its exit code, which a parent may have left to nobody."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def is_asked_to_end(process):
    """Whether a stopped process has a Ctrl-C to hear once it goes on, or has ended."""
    try:
        waits = re.search(r"ShdPnd:\s*(\w+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return True
    return not lives(process) or bool(int(waits[1], 16) & 1 << signal.SIGINT - 1)


def begin(bench, client, *words, path, form=None):
    """Start a job, and stop its process at once, so that it is there until it is made to end or goes on."""
    before = set(children(bench.process.pid, *words))
    status, text = client.post(path, form)
    assert status in {200, 204}, text
    wait_until(lambda: set(children(bench.process.pid, *words)) - before)
    (process,) = set(children(bench.process.pid, *words)) - before
    os.kill(process, signal.SIGSTOP)
    return process


def study_of(client):
    """The address of the one study, whose table is described by then."""
    address = re.search(r'href="(/s/\w+)/', client.get("/")[1])[1]
    wait_until(lambda: "column-rows" in client.get(f"{address}/columns")[1])
    return address


@pytest.mark.error_rate(0, reason="what the noise is does not matter: the bundle verifies for any draw")
@pytest.mark.parametrize(
    "signals",
    [[signal.SIGHUP], [signal.SIGHUP] * 2, [signal.SIGTERM, signal.SIGHUP], [signal.SIGINT] * 3],
    ids=["terminal closed", "told twice", "shut down", "Ctrl-C again and again"],
)
def test_the_end_of_the_server_is_that_of_its_jobs_and_of_no_release(tmp_path, signals):
    file = write_adult(tmp_path)
    release = None
    try:
        with serving(tmp_path, "study.yaml", program=("-c", PATIENT)) as bench:
            client = Client(bench)
            address = study_of(client)
            confirmed = {
                "release": "dp",
                "version": Study.load(file).sha256,
                "typed_name": "dp",
                "typed_epsilon": "0.5",
            }
            release = begin(bench, client, "release", path=f"{address}/release", form=confirmed)
            plan = begin(bench, client, "plan", path=f"{address}/plan/check", form={"was": "dp"})
            for one in signals:
                bench.process.send_signal(one)
                wait_until(lambda: is_asked_to_end(plan))
            assert bench.process.wait(120) in {128 + one for one in signals}
            wait_until(lambda: not lives(plan))
            assert lives(release)
    finally:
        if release is not None:
            os.kill(release, signal.SIGCONT)
    wait_until(lambda: not lives(release))
    (bundle,) = (tmp_path / "releases").glob("*/bundle")
    assert verify_bundle(bundle).ok
    (entry,) = Study.load(file).ledger.entries("adult")
    assert (entry.state, entry.bundle is not None) == ("done", True)


def test_a_server_that_is_to_outlive_its_terminal_does(tmp_path):
    with serving(tmp_path, program=("-c", UNHEARD)) as bench:
        bench.process.send_signal(signal.SIGHUP)
        assert Client(bench).get("/")[0] == 200


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_says_that_it_has_ended_and_what_goes_on(tmp_path, sent):
    said = tmp_path / "said.json"
    with serving(tmp_path, errors=said) as bench:
        bench.process.send_signal(sent)
        bench.process.wait(60)
    problem = json.loads(said.read_text())["problem"]
    assert "the workbench has ended; a release that had begun goes on" in problem
