"""Running the workbench: on this machine alone, unless the owner says otherwise and gives the files for TLS."""

import ipaddress
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from sfumato.errors import UsageError
from sfumato.web.app import make_app
from sfumato.web.jobs import Jobs
from sfumato.web.server.peer import AT_ONCE, OwnUser
from sfumato.web.server.settings import Settings, in_address, is_every_address
from sfumato.web.session_options import SessionOptions

FIRST_PORT: Final = 8765
_NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_QUEUE: Final = 1024  # connections that wait to be accepted


def serve(  # noqa: PLR0913 - an option each
    folders: tuple[Path, ...],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    names: tuple[str, ...] = (),
    begin: Path | None = None,
    memory_limit: str | None = None,
    ready: Callable[[str, Path], None],
) -> None:
    """Serve until interrupted. ``begin`` is a study to open, ``names`` are those by which browsers may open the pages.

    ``memory_limit`` is that of the commands that pages start, until it is changed on the start page.

    ``ready`` gets the address with the start token, and a page that leads there, which its owner alone may open: what a
    browser is started with can be read by every user of the machine.
    """
    if (certificate is None) != (key is None):
        raise UsageError(
            "a certificate and its key are needed together",
            "give both --certificate and --key, or neither",
            code="SF-USAGE-924",
        )
    if certificate is None and not is_this_machine(host):
        raise UsageError(
            f"'{host}' is not this machine alone, and pages there would travel unencrypted",
            "leave out --host, or give --certificate and --key",
            code="SF-USAGE-418",
        )
    if is_every_address(host) and not names:
        raise UsageError(
            f"'{host}' is every address of this machine, and says not by which name browsers open the pages",
            "give that name, such as --name desk.example",
            code="SF-USAGE-925",
        )
    for name in names:
        _refuse_no_name(name)
    options = SessionOptions()
    options.set_memory_limit(memory_limit or "")
    with _listen(host, port) as listening:
        settings = Settings(
            folders=folders, begin=begin, host=host, names=names, port=listening.getsockname()[1],
            tls=certificate is not None, memory_limit=options.memory_limit,
        )  # fmt: skip
        _serve(settings, listening, certificate, key, ready)


def is_this_machine(host: str) -> bool:
    """Whether nobody else reaches a host: every address of it is a loopback one."""
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for _, address in _addresses(host))


def _serve(
    settings: Settings,
    listening: socket.socket,
    certificate: Path | None,
    key: Path | None,
    ready: Callable[[str, Path], None],
) -> None:
    app = make_app(settings)
    config = uvicorn.Config(
        app,
        http=OwnUser,
        ws="none",
        log_level="critical",  # an access log would say which columns were looked at
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        limit_concurrency=500,
        backlog=AT_ONCE,
        timeout_graceful_shutdown=5,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
    )
    try:
        config.load()  # before anybody is told to come
    except OSError:  # also of what is no certificate
        app.workspace.discard()
        raise UsageError(
            "the certificate or its key cannot be read, or they do not belong together",
            "give PEM files of one certificate and its key",
            code="SF-USAGE-926",
        ) from None
    ready(settings.address, _opener(app.workspace.private, settings.address))
    try:
        _Server(config, app.workspace.jobs).run(sockets=[listening])
    finally:
        app.workspace.jobs.end()  # whatever broke off the end of the application


class _Server(uvicorn.Server):
    """A server that ends in one way, however it is asked to, and whose queue is long.

    Its queue is longer than what it accepts at once: beyond a full queue the system loses connections.
    """

    def __init__(self, config: uvicorn.Config, jobs: Jobs) -> None:
        super().__init__(config)
        self._jobs = jobs

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and then lengthen the queue: asyncio accepts as many at once as it was told the queue is long."""
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(_QUEUE)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end. Who presses Ctrl-C again does not wait for jobs to clean up."""
        if self.should_exit and sig == signal.SIGINT:
            self._jobs.end()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the end of the terminal (SIGHUP) as what asks the server to end; one that is ignored (`nohup`) stays so.

        A shell and the system may both send it, one after the other: as an interrupt of the whole command, the second
        broke off the end that the first had begun, and jobs stayed. It is raised again after the server has ended, as
        the others are: the exit code tells what ended the command.
        """
        with super().capture_signals():
            main = threading.current_thread() is threading.main_thread()
            if not main or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
                yield
                return
            before = signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)


def _opener(folder: Path, address: str) -> Path:
    page = folder / "open.html"
    page.touch(mode=0o600)
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={address}"><title>Sfumato</title>'
        f'<p><a href="{address}">Open the workbench</a></p></html>\n',
        encoding="utf-8",
    )
    return page


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the wanted port, or on the first free one."""
    wanted = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + 20), 0]
    for family, address in _addresses(host):
        for one in wanted:
            found = socket.socket(family, socket.SOCK_STREAM)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                found.bind((address, one))
                found.listen(_QUEUE)
            except (OSError, OverflowError):
                found.close()
            else:
                return found
    raise UsageError(
        f"port {port} of '{host}' cannot be used", "choose another with --port, or leave it out", code="SF-USAGE-419"
    )


def _addresses(host: str) -> list[tuple[socket.AddressFamily, str]]:
    """The addresses of a host, those of IPv4 first."""
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)  # noqa: S104 - needs TLS
    except OSError:
        raise UsageError(
            f"there is no address of '{host}' on this machine",
            "give --host an address of this machine",
            code="SF-USAGE-927",
        ) from None
    return sorted({(family, str(end[0])) for family, _, _, _, end in found}, key=lambda one: one[0] != socket.AF_INET)


def _refuse_no_name(name: str) -> None:
    said = in_address(name)
    if is_every_address(name) or not (said.startswith("[") or _NAME.fullmatch(said)):
        raise UsageError(
            f"'{name}' is not the name of a machine",
            "give the name alone, without scheme, port and path",
            code="SF-USAGE-928",
        )
