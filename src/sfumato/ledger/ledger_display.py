"""What a ledger shows of itself where it is printed, and in a notebook.

A ledger holds what its owner did: names of studies and releases, ε, times. Nothing in it is computed from records.
Where it lies in a database, its address is not shown, since an address may name a user.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from sfumato.display import Display, Displayed
from sfumato.errors import SfumatoError
from sfumato.file_names import account_name
from sfumato.ledger.ledger import Entry
from sfumato.ledger.spending import total_spent
from sfumato.study.budget import show

_LATEST = 10  # entries of each study


class _Readable(Protocol):
    """What is asked of a ledger."""

    def rows(self) -> list[dict[str, object]]: ...

    def entries(self, study: str) -> tuple[Entry, ...]: ...


class LedgerDisplay(Displayed):
    """The part of every ledger that shows it."""

    __slots__ = ()

    @property
    def place(self) -> str:
        """Where it is, in words that may be shown."""
        return "in memory: lost when the program ends"

    def display(self) -> Display:
        """Every study with what it spent, and its latest entries; a ledger that cannot be read says so."""
        return ledger_display(self, self.place)


def ledger_display(ledger: Any, place: str) -> Display:
    """A ledger as its studies and their latest entries."""
    try:
        accounts = _accounts(ledger)
    except SfumatoError as error:
        return Display(title="Ledger", facts=(("place", place), ("cannot be read", error.problem)))
    facts = tuple(
        (f"study '{name}'", f"{_count(entries)}, ε = {show(total_spent(entries))} is spent")
        for name, entries in accounts.items()
    )
    rows = tuple(entry_row(name, entry) for name, entries in accounts.items() for entry in entries[-_LATEST:])
    return Display(
        title="Ledger", facts=(("place", place), *facts), rows=rows,
        columns=("entry", "time (UTC)", "study", "release", "method", "state", "ε") if rows else (),
        sentences=() if rows else ("no release yet",),
    )  # fmt: skip


def entry_row(study: str, entry: Entry) -> tuple[str, ...]:
    """One entry as the cells of a row."""
    cost = "–" if entry.epsilon is None else show(entry.epsilon)
    return (str(entry.id), f"{entry.at:%Y-%m-%d %H:%M}", study, entry.release, entry.method, entry.state, cost)


def spent_words(entries: Sequence[Entry], budget: Fraction | None) -> str:
    """What a study's releases have spent, and what is left."""
    spent = total_spent(entries)
    left = "the study declares no budget" if budget is None else f"{show(budget - spent)} of {show(budget)} remains"
    return f"ε = {show(spent)} is spent in {_count(entries)}; {left}"


def _accounts(ledger: _Readable) -> dict[str, tuple[Entry, ...]]:
    """The entries of each study, under the name that it was first entered by."""
    names: dict[str, str] = {}
    for row in ledger.rows():
        names.setdefault(account_name(str(row["study"])), str(row["study"]))
    return {name: ledger.entries(name) for name in names.values()}


def _count(entries: Sequence[Entry]) -> str:
    return f"{len(entries)} entr{'y' if len(entries) == 1 else 'ies'}"
