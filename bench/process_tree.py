"""A command as a process of its own, with the peak memory of it, of the Java that it starts, and of both together."""

import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.05  # seconds between two looks


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What a command took, in seconds and MiB, and what it said."""

    code: int
    seconds: float
    process: float  # the peak of the process itself
    java: float  # the peak of the largest Java process below it
    tree: float  # the peak of the sum over the process and all below it
    said: str
    failure: str


def run_watched(command: Sequence[str], *, environment: Mapping[str, str], patience: float) -> Watched:
    """Run a command and look at its processes until it ends; after so many seconds it is ended.

    The kernel keeps the peak of each process, so no peak of one is missed. The sum is looked at from time to time.
    """
    process = java = tree = 0.0
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as failed:
        running = subprocess.Popen(command, stdout=said, stderr=failed, env=dict(environment))  # noqa: S603 - our own
        while running.poll() is None:
            below = _below(running.pid)
            process = max(process, memory_of(running.pid, "VmHWM"))
            java = max([java, *(memory_of(pid, "VmHWM") for pid in below if _name(pid) == "java")])
            tree = max(tree, sum(memory_of(pid, "VmRSS") for pid in [running.pid, *below]))
            if time.perf_counter() - began > patience:
                running.terminate()
                running.wait()
            time.sleep(_EVERY)
        seconds = time.perf_counter() - began
        said.seek(0)
        failed.seek(0)
        return Watched(
            code=running.returncode, seconds=seconds, process=process, java=java, tree=max(tree, process),
            said=said.read(), failure=failed.read(),
        )  # fmt: skip


def _below(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    children = [int(word) for task in _tasks(pid) for word in _read(task / "children").split()]
    return [found for child in children for found in (child, *_below(child))]


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has ended
        return []


def _name(pid: int) -> str:
    return _read(Path(f"/proc/{pid}/comm")).strip()


def memory_of(pid: int, what: str) -> float:
    """MiB of a process: VmHWM its peak, VmRSS what it has now; 0 where it has ended."""
    for line in _read(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:  # it has ended
        return ""
