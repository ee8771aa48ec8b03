"""Processes that a workbench starts, held at a moment of the test's choosing."""

import json
import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

STOP = "SFUMATO_TESTS_STOP"  # the environment variable that names the file


def children(pid, *words):
    """The processes that a process has started with these words in their commands."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if all(word.encode() in command for word in words):
                found.append(int(child))
    return found


def stop_file(folder):
    """The file that says which process of a workbench stops, and when."""
    return Path(folder) / ".stop.json"


@contextmanager
def stopping(workbench, *words, reserved=False):
    """The next job that a workbench starts with these words stops itself: at its begin, or once its entry is written.

    Whatever starts it stands in the block, and then the call of what the block is given: it waits until the job has
    stopped, and gives its number. The job reads the file as it begins, see `tests/in_children/sitecustomize.py`: it
    cannot run past the moment, however busy the machine is.
    """
    file, before = stop_file(workbench.folder), set(_stopped(workbench.process.pid, *words))
    file.with_suffix(".new").write_text(json.dumps({"words": words, "reserved": reserved}))
    file.with_suffix(".new").rename(file)

    def stopped():
        wait_until(lambda: set(_stopped(workbench.process.pid, *words)) - before)
        file.unlink()
        (found,) = set(_stopped(workbench.process.pid, *words)) - before
        return found

    try:
        yield stopped
    finally:
        file.unlink(missing_ok=True)


def _stopped(pid, *words):
    return [one for one in children(pid, *words) if _state(one) == "T"]


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@contextmanager
def going_on(child):
    """Let a stopped process go on at the end of the block, come what may."""
    try:
        yield
    finally:
        os.kill(child, signal.SIGCONT)


def wait_until(holds, seconds=120):
    """Wait for something to become true."""
    for _ in range(seconds * 20):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"it did not happen within {seconds} seconds")
