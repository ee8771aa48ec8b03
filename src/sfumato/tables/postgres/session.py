"""A PostgreSQL connection: one transaction a source, which sees one state of the table and is rolled back in the end.

Everything that is made for the work (temporary tables, lookup tables) is made inside the transaction and never
committed. Closing, a crash, a killed process or a lost connection therefore leave nothing behind. REPEATABLE READ makes
every count one of the same records, also while others write. Rows come home as what queries ask for: counts.
"""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import ibis.expr.types as ir
import numpy as np
import psycopg
import pyarrow as pa
from numpy.typing import NDArray
from psycopg import sql as names

from sfumato.errors import InternalError, SourceError
from sfumato.tables.postgres.compiler import compile_guarded
from sfumato.tables.postgres.number_blocks import all_numbers, block_query, columns_of
from sfumato.tables.postgres.server_errors import run_classified

T = TypeVar("T")

_numbers = itertools.count(1)

# What queries give may depend on nothing that a role or a database has set.
_SETTINGS: Final = (
    "TimeZone = 'UTC'",
    "DateStyle = 'ISO, YMD'",
    "IntervalStyle = 'postgres'",
    "extra_float_digits = 1",
    "standard_conforming_strings = on",
    "lc_monetary = 'C'",
    "gin_fuzzy_search_limit = 0",  # else a view may show any of its records
)

_LIMITS: Final = ("idle_in_transaction_session_timeout", "transaction_timeout")
_ALL_LIMITS: Final = 170000  # the version of the server that knows both

_BATCH: Final = 50_000  # rows that are fetched at a time
_BLOCKS: Final = 8  # blocks of rows, where there are numbers alone
_SMALL: Final = 500  # rows of a lookup table that travel with each query

# What a column of a result is in Arrow, by the number of its type on the server.
ARROW: Final = {
    16: pa.bool_(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(), 25: pa.string(), 700: pa.float32(),
    701: pa.float64(), 1009: pa.list_(pa.string()), 1043: pa.string(), 1082: pa.date32(), 1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"), 1700: pa.float64(), 1000: pa.list_(pa.bool_()), 1005: pa.list_(pa.int16()),
    1007: pa.list_(pa.int32()), 1015: pa.list_(pa.string()), 1016: pa.list_(pa.int64()), 1021: pa.list_(pa.float32()),
    1022: pa.list_(pa.float64()),
}  # fmt: skip


class PostgresSession:
    """A connection of our own; ``scratch`` is a schema for what is made, where temporary tables are not allowed."""

    dialect = "postgres"
    remote = True

    def __init__(self, address: str, *, memory: int, scratch: str | None = None) -> None:
        self.memory: int | None = memory
        self._lock = threading.RLock()
        self._scratch = scratch
        self._queries: dict[str, str] = {}
        doing = "connecting to PostgreSQL"
        # The client's encoding may come from the environment, and a letter that it lacks would make a query fail.
        connect = partial(psycopg.connect, address, client_encoding="UTF8", autocommit=True)
        self._connection = run_classified(connect, doing=doing, connected=False)
        try:
            self._prepare(doing)
        except BaseException:
            self.close()
            raise

    def _prepare(self, doing: str) -> None:
        """Begin the transaction, with settings that neither the role nor the database decides."""
        # Before the transaction: a role's limit on transactions could end it between two of these statements.
        for limit in _LIMITS if self._connection.info.server_version >= _ALL_LIMITS else _LIMITS[:1]:
            self.run(f"SET {limit} = 0", doing=doing)  # this process computes between questions
        self._connection.autocommit = False
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = False
        for setting in _SETTINGS:
            self.run(f"SET LOCAL {setting}", doing=doing)
        # Nothing but a text is asked for, by its full name: the role's path still decides what is found.
        asked = "SELECT pg_catalog.current_setting('search_path') AS path"
        self._path: str = self.fetch(asked, doing=doing)["path"][0].as_py()
        self._trust_own_functions()
        encoding = self.fetch("SELECT current_setting('server_encoding') AS encoding", doing=doing)["encoding"][0]
        if encoding.as_py() != "UTF8":
            raise SourceError(
                "the database does not store text as UTF-8, so some texts could not be compared",
                "use a database with the encoding UTF8",
                code="SF-SOURCE-398",
            )
        if self._scratch is not None:
            self._refuse_absent(self._scratch, doing)

    def _refuse_absent(self, schema: str, doing: str) -> None:
        named = f"SELECT 1 AS one FROM pg_namespace WHERE nspname = {text(schema)}"  # noqa: S608 - quoted
        if self.fetch(named, doing=doing).num_rows == 0:
            raise SourceError(
                "the schema that the address names under `scratch` does not exist",
                "create it, and GRANT USAGE, CREATE ON it to the role",
                code="SF-SOURCE-399",
            )

    def _trust_own_functions(self) -> None:
        """From here on a name without a schema means what the server came with, or a temporary table.

        In a schema that the role searches, others may have made a function or an operator that fits an argument better
        than the server's own (`unnest(text[])`, `generate_series(integer, bigint)`). It would see records with the
        rights of the role, and change what is counted.
        """
        self.run("SET LOCAL search_path = pg_catalog, pg_temp", doing="connecting to PostgreSQL")

    def locate(self, schema: str | None, table: str) -> str:
        """The table that names mean to the role, with its schema, as SQL; as it was named if there is none."""
        if schema is not None:
            return f"{identifier(schema)}.{identifier(table)}"
        found = self._found_by_role(
            "SELECT CAST(n.nspname AS pg_catalog.text) AS name "  # noqa: S608 - quoted
            "FROM pg_catalog.pg_class AS c, pg_catalog.pg_namespace AS n "
            "WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid AND "
            f"c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass({text(identifier(table))})"
        )
        return identifier(table) if found is None else f"{identifier(found)}.{identifier(table)}"

    def first_schema(self) -> str | None:
        """Where the role makes new tables; None where it has no such schema."""
        return self._found_by_role("SELECT CAST(pg_catalog.current_schema() AS pg_catalog.text) AS name")

    def work_in(self, schema: str | None) -> None:
        """Make working tables in a schema, if the role may make no temporary ones and none is named for them."""
        asked = "SELECT has_database_privilege(current_database(), 'TEMP') AS granted"
        if self._scratch is None and not self.fetch(asked, doing="looking at rights")["granted"][0].as_py():
            self._scratch = schema

    def _found_by_role(self, sql: str) -> str | None:
        """A name that depends on the role's search path; the query may name nothing without a schema."""
        doing = "looking for the table"
        self.search_in(self._path)
        names = self.fetch(sql, doing=doing)["name"].to_pylist()
        self._trust_own_functions()
        return names[0] if names else None

    def search_in(self, path: str) -> None:
        """Find tables and functions without a schema along a search path: for queries that somebody else wrote."""
        self.run(f"SELECT pg_catalog.set_config('search_path', {text(path)}, true)", doing="connecting to PostgreSQL")

    def compile(self, expression: ir.Table) -> str:
        """The expression as SQL."""
        return compile_guarded(expression)

    def _complete(self, sql: str) -> str:
        """A query with the queries before it that it names; each names only those that were there before it."""
        seen, named = sql, []
        for name, query in reversed(self._queries.items()):
            if identifier(name) in seen:
                seen += query
                named.append(f"{identifier(name)} AS NOT MATERIALIZED ({query})")
        if not named:
            return sql
        return f"WITH {', '.join(reversed(named))} {f'({sql})' if sql.startswith('WITH') else sql}"

    def run(self, sql: str, *, doing: str, creating: bool = False) -> None:
        """Run a statement that gives nothing back."""
        with self._lock:
            self._guarded(lambda: self._connection.execute(sql), doing=doing, creating=creating)

    def columns(self, sql: str, *, doing: str) -> list[tuple[str, int]]:
        """The names of a query's columns and the numbers of their types; nothing is read."""
        with self._lock:
            return self._guarded(lambda: self._described(sql), doing=doing)

    def _described(self, sql: str) -> list[tuple[str, int]]:
        nothing = self._complete(f"SELECT * FROM ({sql}) AS q LIMIT 0")  # noqa: S608 - of our own making
        found = self._connection.execute(nothing)
        return [(column.name, column.type_code) for column in found.description or ()]

    def fetch(self, sql: str, *, doing: str) -> pa.Table:
        """Run a query and bring its result home: numbers by column, everything else by row."""
        with self._lock:
            return self._guarded(lambda: self._fetched(sql), doing=doing)

    def _fetched(self, sql: str) -> pa.Table:
        described = self._described(sql)
        kinds = [kind for _, kind in described]
        if all_numbers(kinds):
            with self._connection.cursor(name=self._new(), binary=True) as cursor:
                cursor.execute(self._complete(block_query(sql, kinds)))
                blocks = iter(partial(cursor.fetchmany, _BLOCKS), [])
                columns = columns_of((block for some in blocks for block in some), kinds)
            if columns is not None:
                return pa.table(columns, names=[name for name, _ in described])
        return self._fetched_by_row(sql)

    def _fetched_by_row(self, sql: str) -> pa.Table:
        return pa.concat_tables(self._rows(sql, _BATCH))

    def _rows(self, sql: str, size: int) -> Iterator[pa.Table]:
        """The rows of a query, so many at a time; at least one table, be it empty."""
        with self._connection.cursor(name=self._new(), binary=True) as cursor:
            cursor.execute(self._complete(sql))
            schema = pa.schema([(column.name, ARROW[column.type_code]) for column in cursor.description or ()])
            yield schema.empty_table()
            while rows := cursor.fetchmany(size):
                columns = zip(zip(*rows, strict=True), schema.types, strict=True)
                yield pa.table([_array(column, kind) for column, kind in columns], schema=schema)

    def fetch_pieces(self, sql: str, *, rows: int, most: int, doing: str) -> Iterator[pa.Table]:  # noqa: ARG002
        """The same, some rows at a time."""
        pieces = self._rows(sql, min(rows, _BATCH))
        while True:
            with self._lock:
                piece = self._guarded(partial(next, pieces, None), doing=doing)
            if piece is None:
                return
            yield piece

    def keep(self, sql: str, *, doing: str) -> str:
        """Run a query and keep its result in a table that nobody else sees."""
        name = self._new()
        query = self._complete(sql)
        self.run(f"CREATE {self._kind} TABLE {self.place(name)} {self._until} AS {query}", doing=doing, creating=True)
        self._find_in_scratch(name)
        self.run(f"ANALYZE {self.place(name)}", doing=doing)
        return name

    def look(self, sql: str, *, doing: str) -> str:  # noqa: ARG002 - the shape of a session
        """Give a query a name, without running it; no right to create anything is needed."""
        name = self._new()
        self._queries[name] = sql
        return name

    def put(self, table: pa.Table) -> str:
        """Bring a small table of declared values to the server.

        One of few rows travels with each query: a query over temporary tables runs on one core of the server alone.
        Administrators see queries (`pg_stat_activity`, the server's log), so values of records take `store`.
        """
        if 0 < table.num_rows <= _SMALL and not any(map(pa.types.is_nested, table.schema.types)):
            return self.look(_values(table), doing="handing a table to the server")
        return self.store(table)

    def store(self, table: pa.Table) -> str:
        """Bring a table of any size to the server, as a table there; its values are in the text of no query."""
        name, doing = self._new(), "handing a table to the server"
        columns = ", ".join(f"{identifier(field.name)} {_server_type(field.type)}" for field in table.schema)
        self.run(f"CREATE {self._kind} TABLE {self.place(name)} ({columns}) {self._until}", doing=doing, creating=True)
        self._find_in_scratch(name)
        with self._lock:
            self._guarded(lambda: self._copied(name, table), doing=doing)
        self.run(f"ANALYZE {self.place(name)}", doing=doing)
        return name

    def _find_in_scratch(self, name: str) -> None:
        """Let queries find a table of the scratch schema, in which no functions are looked for."""
        if self._scratch is not None:
            self._queries[name] = f"SELECT * FROM {self.place(name)}"  # noqa: S608 - quoted

    def _copied(self, name: str, table: pa.Table) -> None:
        statement = names.SQL("COPY {} FROM STDIN").format(names.SQL(self.place(name)))
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)

    def has_workers(self) -> bool:
        """A server runs SQL alone."""
        return False

    def map_groups(self, *_: object, **__: object) -> Iterator[NDArray[np.int64]]:
        """Nobody asks for it."""
        raise InternalError("an engine without workers was to work on groups")

    def commit(self, *, doing: str) -> None:
        """Let others see what was made; for published tables alone, never for the work on a source."""
        with self._lock:
            self._guarded(self._connection.commit, doing=doing)

    def close(self) -> None:
        """Take the transaction back, with everything that was made in it; closing twice is fine."""
        with self._lock:
            if not self._connection.closed:
                self._connection.close()  # in a transaction: the server takes it back

    def place(self, name: str) -> str:
        """A table of ours, as SQL."""
        return identifier(name) if self._scratch is None else f"{identifier(self._scratch)}.{identifier(name)}"

    @property
    def _kind(self) -> str:
        return "TEMPORARY" if self._scratch is None else "UNLOGGED"

    @property
    def _until(self) -> str:
        return "ON COMMIT DROP" if self._scratch is None else ""

    def _new(self) -> str:
        """A name that no other session has: neither of this process, nor of another in the same scratch schema."""
        return f"sfumato_{self._connection.info.backend_pid}_{next(_numbers)}"

    def _guarded(self, run: Callable[[], T], *, doing: str, creating: bool = False) -> T:
        return run_classified(run, doing=doing, creating=creating)


def identifier(name: str) -> str:
    """A name as SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL, whatever is in it."""
    return "'" + value.replace("'", "''") + "'"


def _values(table: pa.Table) -> str:
    """A table as a query that needs nothing on the server."""
    kinds = [_server_type(kind) for kind in table.schema.types]
    rows = (
        ", ".join(f"{_literal(value)}::{kind}" for value, kind in zip(row, kinds, strict=True))
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    )
    listed = ", ".join(f"({row})" for row in rows)
    columns = ", ".join(identifier(name) for name in table.column_names)
    return f"SELECT * FROM (VALUES {listed}) AS lookup({columns})"  # noqa: S608 - quoted


def _literal(value: Any) -> str:
    return "NULL" if value is None else text(str(value))


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind):
        values = [None if value is None else float(value) for value in values]  # sums of whole numbers are decimals
    return pa.array(values, kind)


def _server_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_floating(kind):
        return "DOUBLE PRECISION"
    return 'TEXT[] COLLATE "C"' if pa.types.is_list(kind) else 'TEXT COLLATE "C"'
