"""How the workbench speaks HTTP: with its own user alone, and not longer than it has to.

Another user of this machine is turned away before a word is read. A browser sends a cookie to every port of a host: a
page that another user serves on another port would learn ours, and a start token can be seen where it is typed. Neither
is of use to somebody whose connections are closed. The system says whose a socket is on Linux alone; elsewhere, and for
connections from other machines, nothing is known, and the token and the cookie decide.
"""

import os
import socket
import sys
from asyncio import BaseTransport, Transport
from pathlib import Path
from typing import Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_TABLES: Final = (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6))
_ESTABLISHED: Final = "01"
ADMIT: Final = "sfumato.admit"
"""In the state of a request: what the guard calls for one with the cookie."""
AT_ONCE: Final = 32
"""Connections that are accepted at once: a flood of them cannot push out one that is about to speak."""
_MOST_STRANGERS: Final = 8 * AT_ONCE  # more than a burst of pages that are slow to say who they are
_TO_READ: Final = 2.0  # seconds that a browser gets to read why its table was refused
_REFUSED: Final = (
    b"HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n"
    b"Refused: another user of this machine started the workbench.\n"
)


class OwnUser(H11Protocol):
    """HTTP for the user who started the workbench, and for the administrator."""

    _refused = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        app = self.app

        async def run(scope: Any, receive: Any, send: Any) -> None:
            scope["state"][ADMIT] = self._admit
            await app(scope, receive, send)

        self.app = run

    def connection_made(self, transport: BaseTransport) -> None:
        """Look whose connection it is."""
        there, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self._refused = is_of_another_user(there, here)
        connected = cast("Transport", transport)
        if not self._refused:
            super().connection_made(connected)
            self._make_room()
            return
        connected.write(_REFUSED)
        connected.close()

    def data_received(self, data: bytes) -> None:
        """Nothing that another user says is read."""
        if not self._refused:
            super().data_received(data)

    def _make_room(self) -> None:
        """Count this connection as a stranger, and close the oldest of too many."""
        _STRANGERS[self] = None
        if len(_STRANGERS) > _MOST_STRANGERS:
            oldest = next(iter(_STRANGERS))
            del _STRANGERS[oldest]
            oldest.transport.abort()

    def _admit(self) -> None:
        """The connection is that of a page: it has sent the cookie."""
        _STRANGERS.pop(self, None)

    def on_response_complete(self) -> None:
        """After an answer to a request that was not read to its end, such as a table that is too large."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self.transport.pause_reading()  # not gigabytes that nobody wants
            self.loop.call_later(_TO_READ, self.transport.close)

    def eof_received(self) -> None:
        """The other end has said all."""
        if not self._refused:
            super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other end has gone."""
        _STRANGERS.pop(self, None)
        if not self._refused:
            super().connection_lost(exc)


_STRANGERS: Final[dict[OwnUser, None]] = {}  # oldest first


def is_of_another_user(there: Any, here: Any) -> bool:
    """Whether the socket at the other end is known to be that of another user; root may do everything anyway."""
    found = _owner(there, here)
    if found is None:
        return False
    user, state = found
    return user not in {os.geteuid(), 0} or (user == 0 and state != _ESTABLISHED)  # a closed one is said to be root's


def _owner(there: Any, here: Any) -> tuple[int, str] | None:
    """The user of a socket and its state; None where the system does not know it."""
    if not (isinstance(there, tuple) and isinstance(here, tuple)):
        return None
    for table, family in _TABLES:
        ends = _written(there, family), _written(here, family)
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 7 and (fields[1], fields[2]) == ends:  # noqa: PLR2004 - the eighth is the user
                return int(fields[7]), fields[3]
    return None


def _written(end: tuple[Any, ...], family: socket.AddressFamily) -> str:
    """An address and port as the system's tables have them: 32 bits at a time, in the order of this machine."""
    address, port = str(end[0]).partition("%")[0], int(end[1])
    if family == socket.AF_INET6 and ":" not in address:
        address = f"::ffff:{address}"
    if family == socket.AF_INET and ":" in address:
        address = address.removeprefix("::ffff:")
    try:
        raw = socket.inet_pton(family, address)
    except OSError:
        return ""
    words = (int.from_bytes(raw[start : start + 4], sys.byteorder) for start in range(0, len(raw), 4))
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"
