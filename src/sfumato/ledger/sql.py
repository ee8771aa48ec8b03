"""What ledgers in a database have in common: the table, and the operations on its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, ClassVar, Final

from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from sfumato.errors import PublishError, VerifyError
from sfumato.ledger import chain
from sfumato.ledger.adopt import adopted_rows
from sfumato.ledger.heads import HeadFiles, head_of, lost_entries_error
from sfumato.ledger.ledger_display import LedgerDisplay
from sfumato.ledger.spending import total_spent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from fractions import Fraction

    from sqlalchemy import Connection

    from sfumato.ledger.ledger import Adoption, Entry, NewEntry
    from sfumato.study.span import Span

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


class SqlLedger(LedgerDisplay, ABC):
    """Rows in one table of a database. Each kind of database knows how to read, and how to write alone.

    ``heads`` are the files that remember how far the chain has come, outside the database.
    """

    lasting: ClassVar[bool] = True
    heads: HeadFiles = HeadFiles()

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
            rows = all_rows(connection)
            self._refuse_lost(rows, draft.study)
            row = chain.open_row(rows, draft, budget=budget)
            # Up to here, so it is never ahead; a folder in which it cannot be kept is found out before ε is spent.
            self.heads.write(draft.study, head_of(rows, draft.study))
            connection.execute(insert(ROWS).values(asdict(row)))
        self._note([*rows, row], draft.study)
        return chain.entries_of([row], draft.study)[0]

    def adopt(self, found: Sequence[Adoption], lost: NewEntry, *, reason: str, budget: Fraction | None) -> list[Entry]:
        """Enter those of the releases that the ledger does not know, and what else a head file says was spent."""
        with self.writing() as connection:
            rows = all_rows(connection)
            heads = self.heads.read()
            new = adopted_rows(
                rows, found, lost, heads=heads.of(lost.study), cut_off=bool(heads.problems(rows, lost.study)),
                reason=reason, budget=budget,
            )  # fmt: skip
            for row in new:
                connection.execute(insert(ROWS).values(asdict(row)))
        self.heads.write(lost.study, head_of([*rows, *new], lost.study), adopted=True)
        return [chain.entries_of([row], row.study)[0] for row in new]

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
        return total_spent(self.entries(study), over)

    def rows(self) -> list[dict[str, object]]:
        """The rows as they are kept, of all studies."""
        return [asdict(row) for row in self.read()]

    def hashes(self) -> frozenset[str]:
        """The hashes of all entries, and those that adopted ones had in an earlier ledger."""
        return chain.hashes_of(self.read())

    def lost(self, study: str) -> tuple[str, ...]:
        """What was in the ledger of a study once and is not in this one, as far as head files know."""
        heads = self.heads.read()  # before the rows
        return heads.problems(self.read(), study)

    def has_head(self, study: str) -> bool:
        """Whether a head file that can be read knows the account of a study."""
        return bool(self.heads.read().of(study))

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of rows, or was lost of it; nothing if all is well."""
        heads = self.heads.read()  # before the rows
        rows = self.read()
        return (*chain.problems(rows), *heads.problems(rows))

    def _close(self, entry: int, kind: str, body: dict[str, str], at: datetime) -> None:
        with self.writing() as connection:
            rows = all_rows(connection)
            row = chain.close_row(rows, entry, kind, body, at=at)
            connection.execute(insert(ROWS).values(asdict(row)))
        self._note([*rows, row], row.study)

    def _note(self, rows: list[chain.Row], study: str) -> None:
        """Bring the head up to what is committed; where that fails it lags behind, and nothing is rolled back.

        The head of another ledger, which was put in the place of this one meanwhile, stays: it knows what was lost.
        """
        with suppress(PublishError, VerifyError):
            if not self.heads.read().problems(rows, study):
                self.heads.write(study, head_of(rows, study))

    def _refuse_lost(self, rows: list[chain.Row], study: str) -> None:
        gone = self.heads.read().problems(rows, study)  # nobody adds a row meanwhile
        if gone:
            raise lost_entries_error(gone)


def all_rows(connection: Connection) -> list[chain.Row]:
    """The rows in their order."""
    names = [field.name for field in fields(chain.Row)]
    found = connection.execute(select(*(ROWS.c[name] for name in names)).order_by(ROWS.c.seq))
    return [chain.Row(**row) for row in found.mappings()]
