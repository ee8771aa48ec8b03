"""A ledger in an SQLite file, by default beside the study.

Durable: `synchronous=EXTRA`, so that when `reserve` returns, the entry survives a power cut (with FULL, and the journal
deleted, the last commit may roll back if the folder was not yet written). Safe among processes: every write is one
transaction that starts with `BEGIN IMMEDIATE`, so it holds the only write lock from before the budget is read until the
row is committed. Append-only: triggers refuse UPDATE and DELETE; whoever removes the triggers still breaks the chain.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool

from sfumato.errors import PublishError, SfumatoError, VerifyError
from sfumato.ledger import sql
from sfumato.ledger.heads import HeadFiles, head_beside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from sqlalchemy import Connection

    from sfumato.ledger import chain

WAIT = sql.WAIT

_APPEND_ONLY: Final = tuple(
    f"CREATE TRIGGER IF NOT EXISTS ledger_no_{action} BEFORE {action.upper()} ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    for action in ("update", "delete")
)


class SqliteLedger(sql.SqlLedger):
    """Rows in one table of an SQLite file; the file is made with the first entry."""

    def __init__(self, path: Path, *, head: Path | None = None) -> None:
        # Where the program is now: one that changes its folder later would begin another ledger there.
        self.path = path.absolute()
        heads = [head_beside(self.path), *([] if head is None else [head.absolute()])]
        self.heads = HeadFiles(tuple(dict.fromkeys(heads)))
        self._engine = _engine(self.path)

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path)

    def read(self) -> list[chain.Row]:
        """All rows; looking makes no file."""
        if not self.path.exists():
            return []
        with _explain_errors(self.path), self._engine.connect() as connection:
            return sql.all_rows(connection) if inspect(connection).has_table(sql.ROWS.name) else []

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction with the write lock from its start."""
        with _explain_errors(self.path), self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # closing the connection without a commit rolls back
            sql.METADATA.create_all(connection)
            for trigger in _APPEND_ONLY:
                connection.execute(text(trigger))
            yield connection
            connection.exec_driver_sql("COMMIT")


def _engine(path: Path) -> Engine:
    # A connection an operation: nothing is shared with a forked child, and no lock outlives its use.
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",  # transactions are ours: the driver would begin them too late
        connect_args={"timeout": WAIT},
    )

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA synchronous=EXTRA")

    return engine


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says into a problem and a fix."""
    try:
        yield
    except SfumatoError:
        raise
    except OperationalError as error:
        raise PublishError(
            f"the ledger '{path}' cannot be used: {error.orig}",
            "check that its folder exists and is writable, the disk is not full, and no other program holds it",
            code="SF-PUBLISH-008",
        ) from error
    except DatabaseError as error:
        raise VerifyError(
            f"the ledger '{path}' is damaged or no ledger at all: {error.orig}",
            "restore it from a backup, or name another file",
            code="SF-VERIFY-046",
        ) from error
