"""Processes that a workbench starts, held at a moment of the test's choosing."""

import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path


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


def stop_child(pid, *words, until=lambda: True):
    """Stop the next process that is started with these words, as soon as it is there and this holds; its number."""
    for _ in range(60_000):
        for child in children(pid, *words):
            if until():
                os.kill(child, signal.SIGSTOP)
                return child
        time.sleep(0.001)
    raise AssertionError("no such process was started")


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
