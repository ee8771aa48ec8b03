"""Bundles that are open on the receiver's page: each is read by a process of its own, see `bundle_worker`."""

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from sfumato.errors import SfumatoError, UsageError, VerifyError
from sfumato.release.bundle.atomic_files import MANIFEST

_MOST_OPEN: Final = 4  # processes at a time
_PATIENCE: Final = 30.0  # seconds that an answer may take
_LONGEST: Final = 64 << 20  # bytes of an answer
_CHUNK: Final = 1 << 16
_AGAIN: Final = "do not use it, and get it again from who published it"


class BundleReader:
    """One bundle. What is read off it comes as plain values; whatever is wrong with it is an error about the bundle."""

    def __init__(self, path: Path, *, temporary: Path | None = None) -> None:
        self.path = path
        self._temporary = temporary  # a folder for what the process keeps, which is killed in the end
        self.used = time.monotonic()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._came = bytearray()
        self._stamp: tuple[int, int] | None = None
        self._first: Any = None  # what the process said first: the view, or why there is none

    def view(self, patience: float = _PATIENCE) -> Any:
        """What the page shows of the bundle; None if that is not known within the time."""
        first = self._first
        if first is None or self._stamp != self._now():
            if not self._lock.acquire(timeout=patience):
                return None
            try:
                first = self._started(patience)
            finally:
                self._lock.release()
        return None if first is None else _plain(_told(first)["view"])

    def marginal(self, number: int) -> Any:
        """The marginal of a column by its place."""
        return self._ask({"marginal": number})

    def query(self, text: str) -> Any:
        """The estimate of how many records satisfy a condition."""
        return self._ask({"query": text})

    def close(self) -> None:
        """End the process."""
        process, self._process, self._first = self._process, None, None
        self._came.clear()
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def _ask(self, asked: dict[str, Any]) -> Any:
        if not self._lock.acquire(timeout=_PATIENCE):
            raise UsageError(
                "the bundle is busy with other questions", "wait a moment, and ask again", code="SF-USAGE-649"
            )
        try:
            _told(self._started(_PATIENCE) or self._lost("took too long to be read"))
            process = self._process
            assert process is not None and process.stdin is not None, "it was started"
            try:
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                process.stdin.flush()
            except OSError:
                self._lost("ended the process that reads it")
            return _plain(_told(self._line(_PATIENCE) or self._lost("took too long to be read"))["answer"])
        finally:
            self.used = time.monotonic()
            self._lock.release()

    def _started(self, patience: float) -> Any:
        """What the process said first, started again if the bundle is another one now; None if it is not there yet."""
        stamp = self._now()
        if self._process is None or stamp != self._stamp:
            self.close()
            self._stamp = stamp
            self._process = subprocess.Popen(  # noqa: S603 - our own module, without a shell
                [sys.executable, "-P", "-m", "sfumato.web.bundles.bundle_worker", str(self.path)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, **({} if self._temporary is None else {"TMPDIR": str(self._temporary)})},
            )  # fmt: skip
        if self._first is None:
            self._first = self._line(patience)
        return self._first

    def _now(self) -> tuple[int, int] | None:
        try:
            facts = (self.path / MANIFEST).lstat()
        except OSError:
            return None
        return facts.st_mtime_ns, facts.st_size

    def _line(self, patience: float) -> Any:
        """The next line of the process; None if none comes in time."""
        assert self._process is not None and self._process.stdout is not None, "it was started"
        until = time.monotonic() + patience
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._came:
                if not ready.select(max(0.0, until - time.monotonic())):
                    return None
                chunk = os.read(self._process.stdout.fileno(), _CHUNK)
                if not chunk:
                    self._lost("ended the process that reads it")
                self._came += chunk
                if len(self._came) > _LONGEST:
                    self._lost("has an answer without end")
        line, _, rest = bytes(self._came).partition(b"\n")
        self._came = bytearray(rest)
        return json.loads(line)

    def _lost(self, how: str) -> Any:
        self.close()
        raise VerifyError(f"the bundle {how}. Treat it as damaged or hostile", _AGAIN, code="SF-VERIFY-682")


class BundleReaders:
    """The bundles of one workbench."""

    def __init__(self, *, temporary: Path | None = None) -> None:
        self._temporary = temporary
        self._readers: dict[Path, BundleReader] = {}
        self._lock = threading.Lock()

    def of(self, path: Path) -> BundleReader:
        """The reader of a bundle; of many bundles those that were not asked for longest are closed."""
        with self._lock:
            found = self._readers.setdefault(path, BundleReader(path, temporary=self._temporary))
            found.used = time.monotonic()
            oldest = sorted(self._readers.values(), key=lambda reader: reader.used)[:-_MOST_OPEN]
            for reader in oldest:
                del self._readers[reader.path]
        for reader in oldest:
            reader.close()
        return found

    def forget(self, path: Path) -> None:
        """End the process of one bundle, if there is one."""
        with self._lock:
            found = self._readers.pop(path, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for reader in self._readers.values():
                reader.close()
            self._readers.clear()


def _told(said: Any) -> Any:
    """What was said, unless that was an error."""
    error = said.get("error")
    if error is not None:
        raise SfumatoError(str(error["problem"]), str(error["fix"]), code=str(error["code"]))
    return said


def _plain(value: Any) -> Any:
    """Values with names as a template reads them."""
    if isinstance(value, dict):
        return SimpleNamespace(**{name: _plain(inner) for name, inner in value.items()})
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
