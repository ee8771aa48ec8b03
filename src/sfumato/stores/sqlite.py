"""A ledger in an SQLite file, by default beside the study.

Durable: `synchronous=EXTRA`, so that when `reserve` returns, the entry survives a power cut (with FULL, and the journal
deleted, the last commit may roll back if the folder was not yet written). Safe among processes: every write is one
transaction that starts with `BEGIN IMMEDIATE`, so it holds the only write lock from before the budget is read until the
row is committed. Append-only: triggers refuse UPDATE and DELETE; whoever removes the triggers still breaks the chain.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    URL,
    Column,
    Engine,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool

from sfumato.errors import PublishError, SfumatoError, VerifyError
from sfumato.stores import chain
from sfumato.stores.ledger import spent_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from fractions import Fraction
    from pathlib import Path
    from typing import Any

    from sqlalchemy import Connection

    from sfumato.stores.ledger import Entry, NewEntry

WAIT: Final = 30.0
"""Seconds to wait for another process that writes."""

_METADATA: Final = MetaData()
_ROWS: Final = Table(
    "ledger",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("entry", Integer, nullable=False),
    Column("study", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("epsilon", Text),  # exact: "1/10"
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False, unique=True),  # two rows after the same one cannot be
    Column("hash", Text, nullable=False),
)
_APPEND_ONLY: Final = tuple(
    f"CREATE TRIGGER IF NOT EXISTS ledger_no_{action} BEFORE {action.upper()} ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    for action in ("update", "delete")
)


class SqliteLedger:
    """Rows in one table of an SQLite file; the file is made with the first entry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine(path)

    def reserve(self, draft: NewEntry, *, budget: Fraction | None) -> Entry:
        """Enter a release as *opened* if the budget allows it; committed and on the disk before returning."""
        with self._writing() as connection:
            row = chain.opened(_rows(connection), draft, budget=budget)
            connection.execute(insert(_ROWS).values(asdict(row)))
        return chain.entries_of([row], draft.study)[0]

    def complete(self, entry: int, bundle: str, *, at: datetime) -> None:
        """Note that the release is published, with the hash of its bundle."""
        self._close(entry, "done", {"bundle": bundle}, at)

    def fail(self, entry: int, reason: str, *, at: datetime) -> None:
        """Note that the release failed; its ε stays spent."""
        self._close(entry, "failed", {"reason": reason}, at)

    def entries(self, study: str) -> tuple[Entry, ...]:
        """The releases of a study, oldest first."""
        return chain.entries_of(self._read(), study)

    def spent(self, study: str) -> Fraction:
        """The ε that the study's releases may have used."""
        return spent_by(self.entries(study))

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of rows; nothing if all is well."""
        return chain.problems(self._read())

    def _close(self, entry: int, kind: str, body: dict[str, str], at: datetime) -> None:
        with self._writing() as connection:
            row = chain.closed(_rows(connection), entry, kind, body, at=at)
            connection.execute(insert(_ROWS).values(asdict(row)))

    def _read(self) -> list[chain.Row]:
        if not self.path.exists():
            return []
        with _told_plainly(self.path), self._engine.connect() as connection:
            return _rows(connection) if inspect(connection).has_table(_ROWS.name) else []

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _told_plainly(self.path), self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # closing the connection without a commit rolls back
            _METADATA.create_all(connection)
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


def _rows(connection: Connection) -> list[chain.Row]:
    names = [field.name for field in fields(chain.Row)]
    found = connection.execute(select(*(_ROWS.c[name] for name in names)).order_by(_ROWS.c.seq))
    return [chain.Row(**row) for row in found.mappings()]


@contextmanager
def _told_plainly(path: Path) -> Iterator[None]:
    """Turn what SQLite says into a problem and a fix."""
    try:
        yield
    except SfumatoError:
        raise
    except OperationalError as error:
        raise PublishError(
            f"the ledger '{path}' cannot be used: {error.orig}",
            "check that its folder exists and is writable, the disk is not full, and no other program holds it",
        ) from error
    except DatabaseError as error:
        raise VerifyError(
            f"the ledger '{path}' is damaged or no ledger at all: {error.orig}",
            "restore it from a backup, or name another file",
        ) from error
