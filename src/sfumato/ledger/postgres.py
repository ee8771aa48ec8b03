"""A ledger in a PostgreSQL database, for owners who work from several machines.

Safe among processes: every write is one transaction that first takes an advisory lock of its own number, and holds it
until it is committed or the connection is lost. The rows are read after the lock is had, at the isolation level READ
COMMITTED, so they are all rows that were committed before. Should somebody write past the lock, the primary key and the
unique `previous` still let one row alone follow another. Durable: `synchronous_commit` is on for these transactions,
whatever the server's default. Append-only: triggers refuse UPDATE, DELETE and TRUNCATE; whoever removes the triggers
still breaks the chain. A process that is killed loses its connection, and the server takes its transaction back.

The role needs to create one table and one function on the first entry, and SELECT and INSERT on the table after that.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DataError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from sfumato.errors import PublishError, SfumatoError, StudyError, VerifyError
from sfumato.ledger import sql
from sfumato.ledger.heads import HeadFiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import URL, Connection

    from sfumato.ledger import chain

_LOCK: Final = 0x5FDA70  # the number of our advisory lock; any would do, as long as it is always the same

_APPEND_ONLY: Final = """
CREATE OR REPLACE FUNCTION ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE TRIGGER ledger_no_change BEFORE UPDATE OR DELETE ON ledger
FOR EACH ROW EXECUTE FUNCTION ledger_is_append_only();
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger
FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only()
"""


class PostgresLedger(sql.SqlLedger):
    """Rows in the table ``ledger`` of a database; the table is made with the first entry.

    ``head`` is a file on this machine that notices when the database is put back to an older state.
    """

    def __init__(self, address: str, *, head: Path | None = None) -> None:
        self.heads = HeadFiles(() if head is None else (head.absolute(),))
        self.url = _url(address)
        _refuse_without_driver()
        # A connection an operation: nothing is shared with a forked child, and no lock outlives its use.
        self._engine = create_engine(
            self.url,
            poolclass=NullPool,
            isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": int(sql.WAIT)},
        )

    @property
    def place(self) -> str:
        """The kind of database: its address may name a user."""
        return "in PostgreSQL"

    def read(self) -> list[chain.Row]:
        """All rows; looking makes no table."""
        with self._told_plainly(), self._engine.connect() as connection:
            return sql.all_rows(connection) if inspect(connection).has_table(sql.ROWS.name) else []

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction with the advisory lock from its start."""
        with self._told_plainly(), self._engine.begin() as connection:
            connection.execute(text(f"SET LOCAL lock_timeout = {int(1000 * sql.WAIT)}"))
            connection.execute(text("SET LOCAL synchronous_commit = on"))
            connection.execute(text(f"SELECT pg_catalog.pg_advisory_xact_lock({_LOCK})"))
            if not inspect(connection).has_table(sql.ROWS.name):
                sql.METADATA.create_all(connection, checkfirst=False)
                connection.exec_driver_sql(_APPEND_ONLY)
            yield connection

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        """Turn what the server says into a problem and a fix; the address is shown without its password."""
        shown = self.url.set(drivername="postgresql").render_as_string(hide_password=True)
        try:
            yield
        except SfumatoError:
            raise
        except (OperationalError, InterfaceError) as error:
            raise PublishError(
                f"the ledger '{shown}' cannot be used: {_first_line(error)}",
                "check that the server runs, the address and the role, and that no other program holds the ledger",
                code="SF-PUBLISH-006",
            ) from error
        except (ProgrammingError, DataError) as error:
            raise PublishError(
                f"the ledger '{shown}' cannot be used: {_first_line(error)}",
                "let the role create a table, or make it once as the owner of the database and grant SELECT and INSERT",
                code="SF-PUBLISH-007",
            ) from error
        except DatabaseError as error:
            raise VerifyError(
                f"the ledger '{shown}' is damaged or no ledger at all: {_first_line(error)}",
                "restore it from a backup, or name another database",
                code="SF-VERIFY-045",
            ) from error


def _url(address: str) -> URL:
    scheme, _, rest = address.partition("://")
    try:
        url = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        url = None
    if scheme not in {"postgresql", "postgres", "postgresql+psycopg"} or url is None or not url.database:
        # The address is not repeated: it may hold a password.
        raise StudyError(
            "the address of the ledger in PostgreSQL is not complete",
            "write postgresql://role@host/database; a password is best kept in ~/.pgpass or PGPASSWORD",
            code="SF-STUDY-030",
        )
    return url


def _refuse_without_driver() -> None:
    try:
        import psycopg  # noqa: F401, PLC0415 - an extra; only here
    except ImportError:
        raise StudyError(
            "a ledger in PostgreSQL needs psycopg, which is not installed",
            "install the extra `postgres`: pip install '.[postgres]' in a clone of Sfumato",
            code="SF-STUDY-031",
        ) from None


def _first_line(error: DatabaseError | InterfaceError) -> str:
    said = str(error.orig).strip().splitlines()
    return said[0] if said else type(error.orig).__name__
