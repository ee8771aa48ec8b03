"""What ledgers in a database have in common: the table, and the operations on its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Final

from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from sfumato.stores import chain
from sfumato.stores.spending import spent_by

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime
    from fractions import Fraction

    from sqlalchemy import Connection

    from sfumato.core.span import Span
    from sfumato.stores.ledger import Entry, NewEntry

WAIT: Final = 30.0
"""Seconds to wait for another process that writes."""

METADATA: Final = MetaData()
ROWS: Final = Table(
    "ledger",
    METADATA,
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


class SqlLedger(ABC):
    """Rows in one table of a database. Each kind of database knows how to read, and how to write alone."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """One transaction that nobody else writes in, from before the rows are read; committed at its end.

        Makes the table if there is none. Leaving the block with an error takes everything back.
        """

    @abstractmethod
    def read(self) -> list[chain.Row]:
        """All rows; none where there is no table yet."""

    def reserve(self, draft: NewEntry, *, budget: Fraction | None) -> Entry:
        """Enter a release as *opened* if the budget allows it; committed and on the disk before returning."""
        with self.writing() as connection:
            row = chain.opened(all_rows(connection), draft, budget=budget)
            connection.execute(insert(ROWS).values(asdict(row)))
        return chain.entries_of([row], draft.study)[0]

    def complete(self, entry: int, bundle: str, *, at: datetime) -> None:
        """Note that the release is published, with the hash of its bundle."""
        self._close(entry, "done", {"bundle": bundle}, at)

    def fail(self, entry: int, reason: str, *, at: datetime) -> None:
        """Note that the release failed; its ε stays spent."""
        self._close(entry, "failed", {"reason": reason}, at)

    def entries(self, study: str) -> tuple[Entry, ...]:
        """The releases of a study, oldest first."""
        return chain.entries_of(self.read(), study)

    def spent(self, study: str, over: Span | None = None) -> Fraction:
        """The ε that the study's releases may have used on one unit (in the span)."""
        return spent_by(self.entries(study), over)

    def rows(self) -> list[dict[str, object]]:
        """The rows as they are kept, of all studies."""
        return [asdict(row) for row in self.read()]

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of rows; nothing if all is well."""
        return chain.problems(self.read())

    def _close(self, entry: int, kind: str, body: dict[str, str], at: datetime) -> None:
        with self.writing() as connection:
            row = chain.closed(all_rows(connection), entry, kind, body, at=at)
            connection.execute(insert(ROWS).values(asdict(row)))


def all_rows(connection: Connection) -> list[chain.Row]:
    """The rows in their order."""
    names = [field.name for field in fields(chain.Row)]
    found = connection.execute(select(*(ROWS.c[name] for name in names)).order_by(ROWS.c.seq))
    return [chain.Row(**row) for row in found.mappings()]
