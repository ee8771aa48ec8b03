"""Long work: each job is a command of the command line in a process of its own, and the page reads what it writes.

A crash, a cancelled job, a closed tab or a killed workbench therefore takes nothing along: the command goes on, or ends
as it would in a terminal, and the ledger is its own. What a job writes goes to files in a folder that only the owner
may open, since it may hold what was computed from raw records. So do the temporary files of the command, which are
removed when it has ended: one that was killed could not do so. The title and the address of a job hold no value.

A job works in the folder of a study, and files there may be by anybody: an unpacked archive, the folder of a colleague.
Python, left alone, looks for modules there first, and would run a `polars.py`. It is told not to (`-P`), here and
wherever the workbench starts it.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, Literal

from sfumato.errors import InternalError, StoppedError, UsageError
from sfumato.progress import time_left
from sfumato.web.session_options import SessionOptions

State = Literal["running", "done", "failed", "cancelled"]

_LOOK: Final = 0.25  # seconds between two looks at what a job has written
_PATIENCE: Final = 20.0  # seconds that a cancelled job may take to clean up
_MOST: Final = 8  # jobs at a time that publish nothing
_MOST_PUBLISHING: Final = 2  # beside those: what others started keeps no release waiting
_MOST_SAID: Final = 1 << 20  # bytes of what a job said that are looked at
_MOST_KEPT: Final = 50  # jobs of a kind that have ended, of a study
_PUBLISHING: Final = "release"  # the kind of jobs that publish
PROGRESS: Final = "SFUMATO_PROGRESS"


@dataclass(eq=False)
class Job:
    """One command that runs, or has run."""

    id: str
    kind: str  # what a page does with its result: "describe", "release", …
    study: str | None  # the key of the study that it belongs to
    command: tuple[str, ...]  # as a person would type it
    folder: Path
    process: subprocess.Popen[bytes] = field(repr=False)
    printed: list[Any] = field(default_factory=list, repr=False)  # its result, once it has ended and was read
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    cancelled: bool = False

    @property
    def state(self) -> State:
        """How it is."""
        code = self.process.poll()
        if code is None:
            return "running"
        if self.ended is None:
            self.ended = time.monotonic()
        if self.cancelled and code != 0:
            return "cancelled"
        return "done" if code == 0 else "failed"

    @property
    def publishes(self) -> bool:
        """Whether it may reserve ε and write what is given away: it is asked to stop, and never made to."""
        return self.kind == _PUBLISHING

    @property
    def seconds(self) -> float:
        """How long it runs, or ran."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def result(self) -> Any:
        """The JSON document that it printed; None if there is none."""
        if self.printed:
            return self.printed[0]
        ended = self.process.poll() is not None
        try:
            found = json.loads((self.folder / "out").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if ended:
            self.printed.append(found)
        return found

    @property
    def error(self) -> Mapping[str, Any]:
        """What is wrong and what to do, of a job that failed."""
        for line in reversed(self.lines()):
            found = _parsed(line)
            if "problem" in found:
                return found
        return InternalError(f"the command ended with exit code {self.process.poll()}").as_json()

    @property
    def stopped(self) -> str:
        """What a cancelled command said of what it leaves; a release may have been published a moment before."""
        said = self.error
        return str(said["problem"]) if str(said["code"]).startswith(StoppedError.prefix) else ""

    @property
    def warnings(self) -> list[str]:
        """What it warned of."""
        return [line.removeprefix("warning: ") for line in self.lines() if line.startswith("warning: ")]

    def lines(self) -> list[str]:
        """What it wrote to standard error; of very much the end."""
        with suppress(OSError), (self.folder / "err").open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_SAID))
            return file.read(_MOST_SAID).decode("utf-8", "replace").splitlines()
        return []

    def progress(self) -> dict[str, Any]:
        """What it does now, how far that is from 0 to 1 (None: it cannot tell), and how long it may still take."""
        for line in reversed(self.lines()):
            found = _parsed(line).get("progress")
            if found is not None:
                done, of = int(found["done"]), int(found["of"])
                known = of > 1
                doing, said = _doing_and_left(str(found["doing"]))
                left = said or (time_left(done, of, self.seconds) if known else "").removeprefix(", ")
                return {"doing": doing, "share": done / of if known else None, "left": left}
        return {"doing": "starting", "share": None, "left": ""}

    def steps(self) -> list[str]:
        """The different things that it said it does, in order."""
        said = (_parsed(line).get("progress") for line in self.lines())
        return list(dict.fromkeys(_doing_and_left(str(found["doing"]))[0] for found in said if found is not None))

    def cancel(self) -> None:
        """Ask it to stop, as Ctrl-C does; what was reserved in the ledger stays spent.

        One that publishes nothing is ended if it does not stop within the time that it has to clean up.
        """
        if self.process.poll() is not None or self.cancelled:
            return
        self.cancelled = True
        self._send(signal.SIGINT)
        if not self.publishes:
            threading.Thread(target=self._end_after, args=(_PATIENCE,), daemon=True).start()

    def end(self) -> None:
        """Make it stop at once."""
        self._send(signal.SIGKILL)

    def _end_after(self, seconds: float) -> None:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def event(self) -> dict[str, Any]:
        """Its state, and how far it is."""
        state = self.state
        found = self.progress()
        if self.cancelled and state == "running":
            found |= {"doing": "cancelling", "left": ""}
        return {"state": state, **found}


class Jobs:
    """The jobs of one workbench."""

    def __init__(self, folder: Path, *, hold: int | None = None, options: SessionOptions | None = None) -> None:
        self._folder = folder
        self._options = options or SessionOptions()
        self._hold = () if hold is None else (hold,)  # a file that is open in jobs, too, while they run
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()  # pages are made in threads

    def start(self, kind: str, arguments: Sequence[str], *, cwd: Path, study: str | None = None) -> Job:
        """Run `sfumato ARGUMENTS --json` in a folder, with the options of the session."""
        with self._lock:
            return self._start(kind, self._options.applied(arguments), cwd, study)

    def start_anew(self, kind: str, arguments: Sequence[str], *, cwd: Path, study: str) -> Job:
        """The same for a result that is shown once: a job of that kind that runs is this one, or is cancelled."""
        with self._lock:
            asked = self._options.applied(arguments)
            for job in list(self._jobs.values()):
                if (job.study, job.kind) == (study, kind) and job.state == "running" and not job.cancelled:
                    if job.command[1:] == asked:
                        return job
                    job.cancel()
            return self._start(kind, asked, cwd, study)

    def _start(self, kind: str, arguments: Sequence[str], cwd: Path, study: str | None) -> Job:
        publishes = kind == _PUBLISHING
        most = _MOST_PUBLISHING if publishes else _MOST
        if sum(job.state == "running" and job.publishes == publishes for job in self._jobs.values()) >= most:
            raise UsageError(
                f"{most} {'releases' if publishes else 'jobs'} are running already",
                "wait until one of them ends, or cancel one",
                code="SF-USAGE-410",
            )
        name = token_hex(8)
        folder = self._folder / name
        folder.mkdir(mode=0o700)
        temporary = folder / "tmp"
        temporary.mkdir(mode=0o700)
        asked = [*arguments, "--json"]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(  # noqa: S603 - our own command, without a shell
                [sys.executable, "-P", "-m", "sfumato", *asked],  # no module of the folder that it works in
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env={
                    **os.environ,
                    PROGRESS: "json",
                    "NO_COLOR": "1",
                    "PYTHONIOENCODING": "utf-8",
                    **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
                },
                start_new_session=True,  # Ctrl-C in the terminal of the workbench is not for its jobs
                pass_fds=self._hold,
            )
        threading.Thread(target=_remove_after, args=(process, temporary), daemon=True).start()
        job = Job(id=name, kind=kind, study=study, command=("sfumato", *arguments), folder=folder, process=process)
        self._jobs[name] = job
        self._forget(study, kind)
        return job

    def _forget(self, study: str | None, kind: str) -> None:
        """Let go of the oldest of very many jobs that have ended."""
        ended = [j for j in self._jobs.values() if (j.study, j.kind) == (study, kind) and j.state != "running"]
        for job in ended[:-_MOST_KEPT]:
            del self._jobs[job.id]
            shutil.rmtree(job.folder, ignore_errors=True)

    def get(self, name: str) -> Job:
        """A job by its id."""
        if name not in self._jobs:
            raise UsageError("there is no such job", "go back to the study", code="SF-USAGE-411")
        return self._jobs[name]

    def of(self, study: str, kind: str | None = None) -> list[Job]:
        """The jobs of a study, the newest first."""
        with self._lock:
            found = [job for job in self._jobs.values() if job.study == study and kind in (None, job.kind)]
        return found[::-1]

    async def close(self) -> None:
        """End the jobs that publish nothing: first they are asked to, so that they can clean up. The others go on.

        None is left that would hold the private folder, with a table that was dropped on the page, for hours.
        """
        ending = [job for job in list(self._jobs.values()) if not job.publishes and job.state == "running"]
        for job in ending:
            job.cancel()
        waited = time.monotonic()
        while any(job.state == "running" for job in ending):
            if time.monotonic() - waited > _PATIENCE:
                self.end()
                return
            await asyncio.sleep(_LOOK)

    def end(self) -> None:
        """End at once what publishes nothing and still runs, for a workbench that may not wait. The others go on."""
        for job in list(self._jobs.values()):
            if not job.publishes and job.state == "running":
                job.end()


def _remove_after(process: subprocess.Popen[bytes], temporary: Path) -> None:
    """Remove the temporary files of a command that has ended, however that was."""
    process.wait()
    shutil.rmtree(temporary, ignore_errors=True)


def path_argument(path: str) -> str:
    """A path, or an address, as an argument of a command: a file that is called `--name` is no option."""
    return f"./{path}" if path.startswith("-") else path


def word_argument(word: str) -> tuple[str, ...]:
    """A word as the last argument of a command: one that begins as an option does comes after `--`."""
    return ("--", word) if word.startswith("-") else (word,)


def _doing_and_left(text: str) -> tuple[str, str]:
    """What a command says it does, and the time that it says is left: it knows better than an estimate of the page."""
    doing, found, left = text.rpartition(", about ")
    return (doing, f"about {left}") if found and left.endswith(" left") else (text, "")


def _parsed(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
