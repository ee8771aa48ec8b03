"""Running the workbench: on this machine alone, unless the owner says otherwise and gives the files for TLS."""

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from sfumato.errors import UsageError
from sfumato.web.app import make_app
from sfumato.web.server.peer import AT_ONCE, OwnUser
from sfumato.web.server.settings import Settings

FIRST_PORT: Final = 8765


def serve(
    folders: tuple[Path, ...],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    begin: Path | None = None,
    ready: Callable[[str, Path], None],
) -> None:
    """Serve until interrupted. ``begin`` is a study to open.

    ``ready`` gets the address with the start token, and a page that leads there, which its owner alone may open: what a
    browser is started with can be read by every user of the machine.
    """
    tls = certificate is not None and key is not None
    if not _is_loopback(host) and not tls:
        raise UsageError(
            f"'{host}' is not this machine alone, and pages there would travel unencrypted",
            "leave out --host, or give --certificate and --key",
            code="SF-USAGE-418",
        )
    listening = _listen(host, port)
    settings = Settings(folders=folders, begin=begin, host=host, port=listening.getsockname()[1], tls=tls)
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
    ready(settings.address, _opener(app.workspace.private, settings.address))
    uvicorn.Server(config).run(sockets=[listening])


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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in wanted:
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, one))
            found.listen(AT_ONCE)
        except OSError:
            found.close()
        else:
            return found
    raise UsageError(
        f"port {port} of '{host}' cannot be used", "choose another with --port, or leave it out", code="SF-USAGE-419"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
