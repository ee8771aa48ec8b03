"""What a workbench was started with: the folders it may look into, who may open it, and how much it takes."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MOST_UPLOADED: Final = 2 * 1024**3
"""Bytes of a table that is dropped on the page; a larger one is opened by its path."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One running workbench.

    ``token`` is in the address that is printed when it starts, and is exchanged for a cookie. ``request_token`` stands
    in the pages and comes back with every request that changes anything, which no other site can send.
    """

    folders: tuple[Path, ...]  # paths that a page names must be below one of these
    begin: Path | None = None  # a study that is open from the start
    host: str = "127.0.0.1"
    port: int = 8765
    tls: bool = False
    most_uploaded: int = MOST_UPLOADED
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    request_token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers do not tell the ports of a machine apart, so the port is in it."""
        return f"sfumato-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may say: a name that somebody else's domain was pointed here by is not among them."""
        names = {"127.0.0.1", "localhost", "[::1]", self.host}
        return frozenset(f"{name}:{self.port}" for name in names)

    @property
    def scheme(self) -> str:
        """How pages are fetched."""
        return "https" if self.tls else "http"

    @property
    def address(self) -> str:
        """Where the workbench is opened."""
        return f"{self.scheme}://{self.host}:{self.port}/start?token={self.token}"
