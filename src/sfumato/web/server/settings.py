"""What a workbench was started with: the folders it may look into, who may open it, and how much it takes."""

import ipaddress
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MOST_UPLOADED: Final = 2 * 1024**3
"""Bytes of a table that is dropped on the page; a larger one is opened by its path."""
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}  # browsers leave these out
_THIS_MACHINE: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One running workbench.

    ``token`` is in the address that is printed when it starts, and is exchanged for a cookie. ``request_token`` stands
    in the pages and comes back with every request that changes anything, which no other site can send.
    """

    folders: tuple[Path, ...]  # paths that a page names must be below one of these
    begin: Path | None = None  # a study that is open from the start
    host: str = "127.0.0.1"  # where it listens
    names: tuple[str, ...] = ()  # by which browsers may open it, beside the host
    port: int = 8765
    tls: bool = False
    most_uploaded: int = MOST_UPLOADED
    memory_limit: str | None = None  # of commands, until the owner sets another
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    request_token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers do not tell the ports of a machine apart, so the port is in it."""
        return f"sfumato-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may say: a name that somebody else's domain was pointed here by is not among them.

        They are the names that were given, the host unless it stands for every address, and the names of this machine
        for itself, by which nobody else's page can be reached.
        """
        every = {*self.names, *_THIS_MACHINE, *([] if is_every_address(self.host) else [self.host])}
        written = {in_address(name) for name in every}
        bare = written if self.port == _DEFAULT_PORTS[self.scheme] else set()
        return frozenset({f"{name}:{self.port}" for name in written} | bare)

    @property
    def origins(self) -> frozenset[str]:
        """What the Origin header may say."""
        return frozenset(f"{self.scheme}://{host}" for host in self.hosts)

    @property
    def scheme(self) -> str:
        """How pages are fetched."""
        return "https" if self.tls else "http"

    @property
    def address(self) -> str:
        """Where the workbench is opened: by the first name that was given, or else by the host."""
        named = self.names[0] if self.names else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{in_address(named)}{port}/start?token={self.token}"


def in_address(name: str) -> str:
    """A name or an IP address as a browser writes it in an address: small letters, IPv6 shortened and in brackets.

    >>> in_address("Büro.Example"), in_address("0:0:0:0:0:0:0:1"), in_address("[FE80::1]"), in_address("10.0.0.7")
    ('xn--bro-hoa.example', '[::1]', '[fe80::1]', '10.0.0.7')
    """
    bare = name.removeprefix("[").removesuffix("]")
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        with suppress(UnicodeError):
            return name.lower().encode("idna").decode()
        return name.lower()
    return f"[{found.compressed}]" if found.version == 6 else found.compressed  # noqa: PLR2004 - IPv6


def is_every_address(host: str) -> bool:
    """Whether a host is that of no address, which means to listen at all of them."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""
