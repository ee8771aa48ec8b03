"""A ledger that lives as long as the program: for tests, for studies over a table in memory, for trying things out."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from threading import Lock
from typing import ClassVar

from sfumato.ledger import chain
from sfumato.ledger.adopt import adopted_rows
from sfumato.ledger.ledger import Adoption, Entry, NewEntry
from sfumato.ledger.ledger_display import LedgerDisplay
from sfumato.ledger.spending import total_spent
from sfumato.study.span import Span


class MemoryLedger(LedgerDisplay):
    """Rows in a list; safe among threads."""

    lasting: ClassVar[bool] = False

    def __init__(self) -> None:
        self._rows: list[chain.Row] = []
        self._lock = Lock()

    def reserve(self, draft: NewEntry, *, budget: Fraction | None) -> Entry:
        """Enter a release as *opened* if the budget allows it."""
        with self._lock:
            row = chain.open_row(self._rows, draft, budget=budget)
            self._rows.append(row)
        return chain.entries_of([row], draft.study)[0]

    def adopt(self, found: Sequence[Adoption], lost: NewEntry, *, reason: str, budget: Fraction | None) -> list[Entry]:
        """Enter those of the releases that the ledger does not know."""
        with self._lock:
            new = adopted_rows(self._rows, found, lost, heads=(), cut_off=False, reason=reason, budget=budget)
            self._rows += new
        return [chain.entries_of([row], row.study)[0] for row in new]

    def complete(self, entry: int, bundle: str, *, at: datetime) -> None:
        """Note that the release is published, with the hash of its bundle."""
        with self._lock:
            self._rows.append(chain.close_row(self._rows, entry, "done", {"bundle": bundle}, at=at))

    def fail(self, entry: int, reason: str, *, at: datetime) -> None:
        """Note that the release failed; its ε stays spent."""
        with self._lock:
            self._rows.append(chain.close_row(self._rows, entry, "failed", {"reason": reason}, at=at))

    def entries(self, study: str) -> tuple[Entry, ...]:
        """The releases of a study, oldest first."""
        return chain.entries_of(self._rows, study)

    def spent(self, study: str, over: Span | None = None) -> Fraction:
        """The ε that the study's releases may have used on one unit (in the span)."""
        return total_spent(self.entries(study), over)

    def rows(self) -> list[dict[str, object]]:
        """The rows as they are kept."""
        return [asdict(row) for row in self._rows]

    def hashes(self) -> frozenset[str]:
        """The hashes of all entries, and those that adopted ones had in an earlier ledger."""
        return chain.hashes_of(self._rows)

    def lost(self, study: str) -> tuple[str, ...]:  # noqa: ARG002 - as every ledger has it
        """Nothing: a ledger in memory is meant to be forgotten."""
        return ()

    def has_head(self, study: str) -> bool:  # noqa: ARG002 - as every ledger has it
        """No: a ledger in memory is meant to be forgotten."""
        return False

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of rows; nothing if all is well."""
        return chain.problems(self._rows)
