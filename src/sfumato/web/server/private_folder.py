"""The folder for what is dropped on the page and for what jobs write: it goes when nobody needs it, even after a crash.

The workbench and its jobs hold a shared lock on a file in it, which the system lets go of when they end, however that
is. A small process waits for the lock alone, and then removes the folder: at once after a workbench that was killed, or
when the last release has ended that went on after the workbench, since that may read a table in the folder.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_LOCK: Final = ".lock"
_PATIENCE: Final = 5.0  # seconds
_REMOVE: Final = """
import fcntl, os, shutil, sys
folder = sys.argv[1]
handle = os.open(os.path.join(folder, ".lock"), os.O_RDWR)
sys.stdout.write("ready"); sys.stdout.flush(); os.close(1)
fcntl.flock(handle, fcntl.LOCK_EX)
shutil.rmtree(folder, ignore_errors=True)
"""


class PrivateFolder:
    """A folder that only its owner may open, held by this process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="sfumato-page-"))
        self.handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.handle, fcntl.LOCK_SH)
        self._remover = subprocess.Popen(  # noqa: S603 - our own text
            [sys.executable, "-I", "-S", "-c", _REMOVE, str(self.path)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            cwd="/",
        )  # fmt: skip

    def let_go(self) -> None:
        """Give up the hold: the folder is removed once no job holds it; waits a moment for that."""
        if self.handle < 0:
            return
        assert self._remover.stdout is not None, "it is a pipe"
        self._remover.stdout.read()  # it waits for the lock by now, or has ended
        self._remover.stdout.close()
        os.close(self.handle)
        self.handle = -1
        try:
            self._remover.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._remover.returncode = 0  # a job goes on: nobody waits for the other process
