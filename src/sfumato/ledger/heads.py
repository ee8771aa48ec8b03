"""Head files: how far a ledger's chain had come and what each account had spent, kept outside the ledger.

A chain shows that a row was changed, and cannot show that its end was cut off, that an older copy was put back, or that
the whole file is gone. A head file remembers the last row of each account, so the ledger that is there can be compared
with the one that was.

Order of writes. The head of an entry is written after the entry is committed, and replaces the file in one step. A
process that is killed between the two leaves a head that lags behind the ledger, which is no problem: the row it names
is in the chain. A head is never ahead of its ledger; one that is names a row that the ledger has lost. Two processes
that write at once may leave the older head of the two: it lags by an entry until the next one is written.

A head file says what was spent, in all (the plain sum, so at least what any record was charged) and by each entry that
cost something, under the hash of the entry: where entries are lost, that much has to count as spent, and entries that
the ledger still has are not counted twice. Heads of earlier versions have no such list.
"""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from sfumato.errors import PublishError, VerifyError
from sfumato.file_names import account_name
from sfumato.ledger import chain
from sfumato.ledger.ledger import Entry
from sfumato.study.budget import show

ENDING: Final = ".head"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far the chain had come with an account: the number and hash of the last row, and the sum of its ε.

    ``paid`` is the ε of each entry by its hash (`Entry.paid`); None in a head that an earlier version wrote.
    """

    rows: int
    hash: str
    epsilon: str = "0"
    unit: str = ""
    paid: Mapping[str, str] | None = None

    def listed(self) -> dict[str, Fraction]:
        """The ε of each entry by its hash. A head without a list is one entry: nobody knows which ones it sums up."""
        if self.paid is None:
            return {self.hash: Fraction(self.epsilon)}
        return {link: Fraction(epsilon) for link, epsilon in self.paid.items()}

    def is_in(self, rows: Sequence[chain.Row]) -> bool:
        """Whether the chain still has the row."""
        if self.rows == 0:
            return True
        return self.rows <= len(rows) and rows[self.rows - 1].hash == self.hash


def head_of(rows: Sequence[chain.Row], study: str) -> Head:
    """The head of a chain for one account."""
    paid = [entry for entry in chain.entries_of(rows, study) if entry.epsilon is not None]
    return Head(
        rows=len(rows),
        hash=rows[-1].hash if rows else chain.START,
        epsilon=str(sum((entry.epsilon for entry in paid if entry.epsilon is not None), Fraction(0))),
        unit=paid[-1].unit if paid else "",
        paid={link: str(epsilon) for link, epsilon in spending_by_hash(paid).items()},
    )


def spending_by_hash(entries: Sequence[Entry]) -> dict[str, Fraction]:
    """The ε of these entries by their hashes: those that they had where they were first made."""
    found: dict[str, Fraction] = {}
    for entry in entries:
        for link, epsilon in entry.paid.items():
            found[link] = found.get(link, Fraction(0)) + epsilon
    return found


def head_beside(ledger: Path) -> Path:
    """The head file of a ledger that is a file.

    >>> str(head_beside(Path("people.ledger.sqlite"))), str(head_beside(Path("book.db")))
    ('people.ledger.head', 'book.db.head')
    """
    return ledger.with_name(f"{ledger.name.removesuffix('.sqlite')}{ENDING}")


def accounts_that_paid(folder: Path) -> frozenset[str]:
    """The accounts that have spent ε, as the head files in a folder say; those that cannot be read are passed over."""
    paths: list[Path] = []
    with suppress(OSError):
        paths = sorted(folder.glob(f"*{ENDING}"))
    heads = HeadFiles(tuple(paths)).read().heads
    return frozenset(account_name(account) for _, account, head in heads if Fraction(head.epsilon) > 0)


def lost_entries_error(gone: Sequence[str]) -> VerifyError:
    """The refusal to spend from a ledger that is not whole."""
    return VerifyError(
        f"the ledger has lost entries: {'; '.join(gone)}",
        'restore the ledger from a backup; if it is gone for good, `sfumato ledger STUDY adopt --reason "…"` enters '
        "again what can be found, and counts its ε as spent",
        code="SF-VERIFY-043",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsRead:
    """What head files said at one moment: where, of which account; and which of them cannot be read."""

    heads: tuple[tuple[Path, str, Head], ...]
    unreadable: tuple[str, ...]

    def problems(self, rows: Sequence[chain.Row], study: str | None = None) -> tuple[str, ...]:
        """What the head files know of and the chain has lost, for one account or all of them."""
        wanted = None if study is None else account_name(study)
        return self.unreadable + tuple(
            f"'{path}' says that the ledger had {head.rows} rows for the study '{account}' "
            f"(ε = {show(Fraction(head.epsilon))} in all), and the ledger that is here has lost some of them"
            for path, account, head in self.heads
            if wanted in {None, account_name(account)} and not head.is_in(rows)
        )

    def of(self, study: str) -> tuple[Head, ...]:
        """What the files say of one account."""
        return tuple(head for _, account, head in self.heads if account_name(account) == account_name(study))


@dataclass(frozen=True, slots=True)
class HeadFiles:
    """The places where the heads of one ledger are kept; none for a ledger that is to be forgotten."""

    paths: tuple[Path, ...] = ()

    def read(self) -> "HeadsRead":
        """What the files say now. Take this before the rows are read: a row that is added in between is no loss."""
        heads: list[tuple[Path, str, Head]] = []
        unreadable: list[str] = []
        for path in self.paths:
            try:
                heads += [(path, account, head) for account, head in _read(path).items()]
            except VerifyError as error:
                unreadable.append(error.problem)
        return HeadsRead(heads=tuple(heads), unreadable=tuple(unreadable))

    def write(self, study: str, head: Head, *, adopted: bool = False) -> None:
        """Note the head of an account; an older one never takes the place of a newer one, unless it was adopted."""
        for path in self.paths:
            try:
                heads = {} if adopted and not _readable(path) else _read(path)
                account = account_name(study)
                before = heads.get(account)
                if before == head or (before is not None and before.rows > head.rows and not adopted):
                    continue
                if adopted:  # what earlier versions took for other accounts was adopted with this one
                    heads = {name: other for name, other in heads.items() if account_name(name) != account}
                _replace(path, {**heads, account: head})
            except OSError as error:
                raise PublishError(
                    f"the head of the ledger cannot be kept in '{path}' ({error.strerror or 'no reason given'})",
                    "make its folder writable, and free space on the disk: a lost ledger is detected by it",
                    code="SF-PUBLISH-005",
                ) from None


def _readable(path: Path) -> bool:
    try:
        _read(path)
    except VerifyError:
        return False
    return True


def _read(path: Path) -> dict[str, Head]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise _unreadable(path) from None
    try:
        said = json.loads(text)
        heads = {str(account): Head(**head) for account, head in said["accounts"].items()}
        sound = said["version"] == _VERSION and all(_is_sound(head) for head in heads.values())
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        raise _unreadable(path) from None
    if not sound:
        raise _unreadable(path)
    return heads


def _is_sound(head: Head) -> bool:
    """Whether a head makes sense; one whose list does not add up to its sum was changed."""
    parts = head.listed().values()
    return (
        type(head.rows) is int
        and head.rows >= 0
        and all(part >= 0 for part in parts)
        and sum(parts) == Fraction(head.epsilon)
        and isinstance(head.hash, str)
    )


def _unreadable(path: Path) -> VerifyError:
    return VerifyError(
        f"the head of the ledger in '{path}' cannot be read", "restore it from a backup", code="SF-VERIFY-044"
    )


def _replace(path: Path, heads: Mapping[str, Head]) -> None:
    """Put the file in the place of the one that is there, in one step."""
    said = {"version": _VERSION, "accounts": {account: asdict(head) for account, head in sorted(heads.items())}}
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.partial")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(said, indent=2, ensure_ascii=True) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)  # noqa: PTH105 - the method of Path is watched where models are put into place
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
