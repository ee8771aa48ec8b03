"""Sources in PostgreSQL, each with a connection of its own: a table by its address, or what an Ibis table is on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ibis.expr.types as ir
from psycopg.conninfo import make_conninfo

from sfumato.errors import SourceError
from sfumato.tables.engine import Limits, SourceTable
from sfumato.tables.ibis_query import compile_query
from sfumato.tables.postgres.column_types import describe_source
from sfumato.tables.postgres.destination import PostgresDestination
from sfumato.tables.postgres.server_errors import run_classified
from sfumato.tables.postgres.session import PostgresSession


def open_address(address: str, table: str, *, schema: str | None, scratch: str | None, limits: Limits) -> SourceTable:
    """A table or view of the database at an address."""
    with _connected(address, limits, scratch=scratch) as session:
        place = session.locate(schema, table)
        return describe_source(session, f"SELECT * FROM {place}", name=f"table '{table}'")  # noqa: S608 - quoted


def open_destination(
    address: str, table: str, *, schema: str | None, scratch: str | None, limits: Limits
) -> PostgresDestination:
    """A place for a published table in the database at an address."""
    with _connected(address, limits, scratch=scratch) as session:
        home = schema or session.first_schema()
        session.work_in(home)
        return PostgresDestination(session, table, schema=schema, home=home)


def open_ibis(table: ir.Table, *, limits: Limits) -> SourceTable:
    """What an Ibis table shows to the login role of its connection, with its search path.

    A connection that acts as another role may see fewer records than its login role, so it is refused. Settings of its
    session are not carried over. Its query may use functions of its own, so functions along that path are found.
    """
    doing = "reading the Ibis table"
    theirs: Any = table.get_backend().con
    asked = "SELECT current_setting('search_path'), current_user = session_user"
    shown = run_classified(lambda: theirs.execute(asked).fetchone(), doing=doing)
    if shown is None or not shown[1]:
        raise SourceError(
            "the connection of the Ibis table acts as another role than it logged in with",
            "connect as that role, or RESET ROLE",
            code="SF-SOURCE-406",
        )
    password = {"password": theirs.info.password} if theirs.info.password else {}
    with _connected(make_conninfo(theirs.info.dsn, **password), limits) as session:
        session.search_in(shown[0])
        return describe_source(session, compile_query(table, session, doing=doing), name="the Ibis table")


@contextmanager
def _connected(address: str, limits: Limits, *, scratch: str | None = None) -> Iterator[PostgresSession]:
    """A session that stays open for the source made with it, and is closed if making it fails."""
    session = PostgresSession(address, memory=limits.cells, scratch=scratch)
    try:
        yield session
    except BaseException:
        session.close()
        raise
