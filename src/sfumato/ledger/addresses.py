"""Find a ledger by its address."""

from collections.abc import Callable
from pathlib import Path

from sfumato.errors import StudyError
from sfumato.ledger.ledger import Ledger


def open_ledger(where: str | Path, *, base: Path | None = None, head: Path | None = None) -> Ledger:
    """Open the ledger at a path (SQLite, made on the first entry), ``sqlite:///path``, ``postgresql://…``, ``memory:``.

    Relative paths start at ``base``, else at the working folder. ``head`` is a file that remembers how far the ledger
    has come; a ledger in a file has one beside it in any case.

    >>> open_ledger("memory:").entries("adult")
    ()
    >>> open_ledger("mongodb://host/x")
    Traceback (most recent call last):
    sfumato.errors.StudyError: there is no ledger behind 'mongodb:'.
    To fix: give a path, or an address that starts with one of: memory:, postgresql:, sqlite:. [SF-STUDY-029]
    """
    address = str(where)
    scheme, colon, rest = address.partition(":")
    if isinstance(where, Path) or not colon or len(scheme) == 1:  # one letter is a Windows drive
        return _sqlite(address, base, head)
    if scheme in {"postgres", "postgresql", "postgresql+psycopg"}:
        return _postgres(address, head)
    if scheme not in _SCHEMES:
        known = sorted([*_SCHEMES, "postgresql"])
        raise StudyError(
            f"there is no ledger behind '{scheme}:'",
            f"give a path, or an address that starts with one of: {', '.join(f'{name}:' for name in known)}",
            code="SF-STUDY-029",
        )
    return _SCHEMES[scheme](rest.removeprefix("///"), base, head)


def _memory(_rest: str, _base: Path | None, _head: Path | None) -> Ledger:
    from sfumato.ledger.memory import MemoryLedger  # noqa: PLC0415 - like its sibling, when asked for

    return MemoryLedger()


def _sqlite(path: str, base: Path | None, head: Path | None) -> Ledger:
    # SQLAlchemy takes a third of a second, and most commands need no ledger.
    from sfumato.ledger.sqlite import SqliteLedger  # noqa: PLC0415 - see above

    return SqliteLedger((base or Path()) / path, head=head)


def _postgres(address: str, head: Path | None) -> Ledger:
    from sfumato.ledger.postgres import PostgresLedger  # noqa: PLC0415 - like its siblings

    return PostgresLedger(address, head=head)


_SCHEMES: dict[str, Callable[[str, Path | None, Path | None], Ledger]] = {"memory": _memory, "sqlite": _sqlite}
