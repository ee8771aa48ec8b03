"""The program `sfumato`: the command line in a process of its own, and how that process ends."""

import atexit
import os
import signal
import sys
from types import FrameType

from sfumato.cli.main import INTERRUPTED, main


class _Ending:
    """Ends the process with the command's exit code, as the last thing that runs at exit."""

    def __init__(self) -> None:
        self.code = 0
        self.stopped = 0  # by the signal of this number

    def leave(self) -> None:
        """Write what is buffered, and leave."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # whoever read has gone
                self.code = self.code or 1
        os._exit(self.code)

    def stop_code(self) -> int:
        """The exit code of an interrupted command: as shells have it, 128 and the number of the signal."""
        return 128 + self.stopped if self.stopped else INTERRUPTED

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Stop the command as Ctrl-C does; what Spark does then, it does now, too."""
        self.stopped = number
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        raise KeyboardInterrupt

    def clean_up_when_stopped(self) -> None:
        """Let a signal that asks the process to end interrupt the command, which then removes what it has made.

        Otherwise a machine that shuts down, a scheduler at its limit of time or a closed terminal would leave the codes
        of all records in a folder for temporary files, or in the scratch folder of a cluster. A signal that is ignored
        (`nohup`) stays so.
        """
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # not every system has both
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self.stop)


def program() -> None:
    """Run the command line, and end the process without taking the interpreter apart.

    Threads of Arrow and DuckDB let go of Python objects when they get to it. One that asks for the interpreter's lock
    while the interpreter is taken apart aborts the process (`terminate called without an active exception`, exit code
    134), after the work was done and the answer printed: seen in about one of 30 runs of `query` on a busy machine. So
    everything that is registered to run at exit runs, and threads are waited for, as always; then the process leaves.

    Processes that a command starts, such as those of a sweep, import no module of the folder that they work in: what
    lies beside a table is not run.
    """
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    ending = _Ending()
    ending.clean_up_when_stopped()
    atexit.register(ending.leave)  # what is registered first runs last
    try:
        main(ending.stop_code)
    except SystemExit as stop:
        ending.code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        raise
    except BaseException:
        ending.code = 1
        raise
