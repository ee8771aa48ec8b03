"""PostgreSQL, by ``postgresql://host/database?table=t``: a table is counted in its database, and its records stay."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import ibis.expr.types as ir
import pyarrow as pa

from sfumato.errors import SourceError, UsageError
from sfumato.tables.engine import ENGINES, Limits, SourceTable

if TYPE_CHECKING:
    from sfumato.tables.publishing.destination import Destination

_OURS = ("table", "schema", "scratch")
_LONGEST_NAME = 63  # bytes, of anything that the server names


class Postgres:
    """A table or view of a database, by its address.

    Who connects is decided by the environment or the usual files (PGUSER, PGPASSWORD, a password file, a service
    file). An address with a password is refused: a study is read by more people than a password is for.
    """

    name: ClassVar[str] = "postgresql"

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:  # noqa: ARG002 - nothing is relative
        """The table that an address names; the server has limits of its own, ours is for what is brought here."""
        address, table, named = _parse_address(url)
        found: SourceTable = _opening().open_address(
            address, table, schema=named.get("schema"), scratch=named.get("scratch"), limits=limits
        )
        return found

    def destination(self, url: str, *, limits: Limits) -> "Destination":
        """A place for a published table."""
        address, table, named = _parse_address(url)
        found: Destination = _opening().open_destination(
            address, table, schema=named.get("schema"), scratch=named.get("scratch"), limits=limits
        )
        return found

    def adopt(self, table: ir.Table, *, limits: Limits) -> SourceTable:
        """An Ibis table on PostgreSQL, queried through a connection of our own to the same database.

        What its connection has not committed, and its temporary tables, are therefore not seen, and its transaction is
        left alone.
        """
        found: SourceTable = _opening().open_ibis(table, limits=limits)
        return found

    def load(self, table: pa.Table | pa.RecordBatchReader, *, name: str, limits: Limits) -> SourceTable:  # noqa: ARG002
        """Tables in memory are not brought to a server."""
        raise UsageError(
            f"{name} is in memory, and PostgreSQL cannot load it",
            "open it with DuckDB, the built-in engine",
            code="SF-USAGE-381",
        )


def _parse_address(url: str) -> tuple[str, str, dict[str, str]]:
    """The server's part of an address, the table, and what else is ours."""
    address, named = _split(url)
    table = named.get("table")
    if not table:
        raise SourceError(
            "the address of a PostgreSQL table does not say which table",
            "write postgresql://host/database?table=t (and &schema=s)",
            code="SF-SOURCE-373",
        )
    return address, table, named


def _opening() -> ModuleType:
    """What opens sources: it needs psycopg, which is an extra, and is imported when a table is opened."""
    try:
        from sfumato.tables.postgres import opening  # noqa: PLC0415
    except ImportError:
        raise SourceError(
            "tables in PostgreSQL need the library psycopg, which is not installed",
            "install the extra `postgres`: pip install '.[postgres]' in a clone of Sfumato",
            code="SF-SOURCE-372",
        ) from None
    return opening


def _split(url: str) -> tuple[str, dict[str, str]]:
    """The server's part of an address, and ours; the message of a failure repeats nothing of it."""
    try:
        parts = urlsplit(url)
        password = parts.password
        options = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        raise _unreadable() from None
    given = [name.lower() for name, _ in options]
    if password is not None or any(word in name for name in given for word in ("password", "secret")):
        raise SourceError(
            "the address of a PostgreSQL table contains a password",
            "remove it, and set PGPASSWORD, or use a password file (~/.pgpass) or a service file",
            code="SF-SOURCE-375",
        )
    if parts.fragment or len(set(given)) < len(given):
        raise _unreadable()
    ours = {name: value for name, value in options if name in _OURS}
    if any(len(value.encode()) > _LONGEST_NAME for value in ours.values()):  # the server would cut it off in silence
        raise _unreadable()
    rest = urlencode([(name, value) for name, value in options if name not in _OURS], quote_via=quote)
    return f"postgresql://{parts.netloc}{parts.path}{f'?{rest}' if rest else ''}", ours


def _unreadable() -> SourceError:
    return SourceError(
        "the address of a PostgreSQL table cannot be read",
        "write postgresql://host/database?table=t, with each option once and names of at most 63 bytes",
        code="SF-SOURCE-374",
    )


POSTGRES = Postgres()
ENGINES.add(POSTGRES)
