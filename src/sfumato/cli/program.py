"""The program `sfumato`: the command line in a process of its own, and how that process ends."""

import atexit
import os
import sys

from sfumato.cli.main import main


class _Ending:
    """Ends the process with the command's exit code, as the last thing that runs at exit."""

    def __init__(self) -> None:
        self.code = 0

    def leave(self) -> None:
        """Write what is buffered, and leave."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # whoever read has gone
                self.code = self.code or 1
        os._exit(self.code)


def program() -> None:
    """Run the command line, and end the process without taking the interpreter apart.

    Threads of Arrow and DuckDB let go of Python objects when they get to it. One that asks for the interpreter's lock
    while the interpreter is taken apart aborts the process (`terminate called without an active exception`, exit code
    134), after the work was done and the answer printed: seen in about one of 30 runs of `query` on a busy machine. So
    everything that is registered to run at exit runs, and threads are waited for, as always; then the process leaves.
    """
    ending = _Ending()
    atexit.register(ending.leave)  # what is registered first runs last
    try:
        main()
    except SystemExit as stop:
        ending.code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        raise
    except BaseException:
        ending.code = 1
        raise
