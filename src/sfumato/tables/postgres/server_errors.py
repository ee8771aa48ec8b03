"""Errors of the server as ours, by their number: its words may quote a record, so they are not even looked at."""

from collections.abc import Callable
from typing import Final, TypeVar

import psycopg

from sfumato.errors import SourceError
from sfumato.tables.guard import run_guarded

T = TypeVar("T")

_CREATE: Final = SourceError(
    "the role may not create temporary tables",
    "let an administrator GRANT TEMPORARY ON DATABASE to the role, or GRANT USAGE, CREATE ON a SCHEMA that the address "
    "names with &scratch=SCHEMA",
    code="SF-SOURCE-376",
)
_READ: Final = SourceError(
    "the role may not read the table",
    "let an administrator GRANT SELECT on it, and USAGE on its schema",
    code="SF-SOURCE-377",
)
_UNREACHABLE: Final = SourceError(
    "the server cannot be reached, or does not let this role in",
    "check host, port, database and role, and how the password is given (PGPASSWORD, a password file)",
    code="SF-SOURCE-378",
)
_LOST: Final = SourceError(
    "the connection to the server was lost", "check that the server runs, then try again", code="SF-SOURCE-400"
)
_READ_ONLY: Final = SourceError(
    "the server is a standby that only answers queries, and temporary tables are needed",
    "name the primary server in the address",
    code="SF-SOURCE-401",
)
_TIMEOUT: Final = SourceError(
    "the server stopped a query that took too long, or that somebody canceled",
    "raise statement_timeout and transaction_timeout for the role",
    code="SF-SOURCE-402",
)
_ABSENT: Final = SourceError(
    "there is no such table, view or schema for this role",
    "check the names under `table` and `schema` in the address",
    code="SF-SOURCE-403",
)
_FULL: Final = SourceError(
    "the server has no room for the work", "free disk space or memory on the server", code="SF-SOURCE-404"
)
_OTHER: Final = SourceError(
    "the server reported an error, which is not shown because it may quote a record",
    "run the query of the view, or SELECT * on the table, with another tool to see it",
    code="SF-SOURCE-405",
)

_BY_NUMBER: Final = {
    "25006": _READ_ONLY, "57014": _TIMEOUT, "25P04": _TIMEOUT, "42P01": _ABSENT, "3F000": _ABSENT, "53100": _FULL,
    "53200": _FULL, "57P01": _LOST, "57P02": _LOST, "57P03": _UNREACHABLE, "53300": _UNREACHABLE,
    "3D000": _UNREACHABLE, "53400": _FULL,
}  # fmt: skip


def classify_number(error: psycopg.Error, *, creating: bool, connected: bool) -> SourceError:
    """Our error for one of the server's, or of the connection to it, which have no number."""
    number = error.sqlstate
    if number is None and isinstance(error, psycopg.OperationalError):
        return _LOST if connected else _UNREACHABLE
    if number is None:
        return _OTHER
    if number == "42501":
        return _CREATE if creating else _READ
    if number.startswith("28"):
        return _UNREACHABLE
    return _LOST if number.startswith("08") else _BY_NUMBER.get(number, _OTHER)


def run_classified(run: Callable[[], T], *, doing: str, creating: bool = False, connected: bool = True) -> T:
    """Run a call to the server; its failure becomes ours, without its words."""
    failure: SourceError | None = None
    try:
        return run_guarded(run, doing=doing)
    except psycopg.Error as found:
        failure = classify_number(found, creating=creating, connected=connected)
    # Outside the except block: here the server's error is no longer the context of what is raised.
    raise SourceError(f"{doing} failed: {failure.problem}", failure.fix, code=failure.code)
