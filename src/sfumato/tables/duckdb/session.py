"""A DuckDB connection: one in-memory database a source, with a private folder for what does not fit in memory."""

import contextlib
import itertools
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import InternalError, SfumatoError, SourceError, UsageError
from sfumato.memory_limit import parse_memory
from sfumato.tables.engine import Limits
from sfumato.tables.guard import run_guarded

_numbers = itertools.count(1)  # for connections that are not ours: several sessions may share one


def identifier(name: str) -> str:
    """A name as SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL, whatever is in it."""
    return "'" + value.replace("'", "''") + "'"


def literal_path(path: Path) -> str:
    """The path of one file as SQL: the engine takes ``*``, ``?`` and ``[`` in a path for a pattern of other files.

    >>> literal_path(Path("/data/visits[1].csv"))
    "'/data/visits[[]1].csv'"
    """
    return text(re.sub(r"([*?\[])", r"[\1]", str(path.absolute())))


class DuckSession:
    """A connection of our own, or one that came with an Ibis table and stays open after us."""

    dialect = "duckdb"
    remote = False

    def __init__(self, connection: duckdb.DuckDBPyConnection | None = None, *, limits: Limits | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sfumato-"))  # only its owner may look inside
        self._lock = threading.RLock()
        self._made: list[tuple[str, str]] = []
        self._own = connection is None
        # From one on in a connection of our own, so that the same question is the same SQL each time a table is opened.
        self._numbers = itertools.count(1) if self._own else _numbers
        self._open = True
        tidy = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._tidy = tidy
        self._connection = connection if connection is not None else _connect(self.folder, limits or Limits())
        # After DuckDB has accepted it: what is no amount of memory is refused in its words.
        self.memory = None if limits is None or limits.memory is None else parse_memory(limits.memory)

    @staticmethod
    def compile(expression: ir.Table) -> str:
        """The expression as SQL."""
        return str(ibis.to_sql(expression, dialect="duckdb", pretty=False))

    def seal(self, paths: Sequence[Path]) -> None:
        """From now on nothing outside can be read but these files, what is attached, and the private folder.

        For good: the configuration is locked, so that no query can lift it. A query that we did not write (a view of
        a database) cannot reach other files, and a path that the engine would read as a pattern fails, in place of
        bringing records of another file. A connection that came with an Ibis table is its owner's, and stays as it is.
        """
        assert self._own, "only a connection of our own is sealed"
        readable = ", ".join(entry for path in paths for entry in (text(str(path.absolute())), literal_path(path)))
        for setting in (f"allowed_paths = [{readable}]", "enable_external_access = false", "lock_configuration = true"):
            self.run(f"SET {setting}", doing="sealing the engine")

    def run(self, sql: str, *, doing: str, error: type[SfumatoError] = SourceError) -> None:
        """Run a statement that gives nothing back."""
        with self._lock:
            run_guarded(lambda: self._connection.execute(sql).fetchall(), doing=doing, error=error)

    def fetch(self, sql: str, *, doing: str) -> pa.Table:
        """Run a query and bring its result home."""
        with self._lock:
            return run_guarded(lambda: self._connection.sql(sql).to_arrow_table(), doing=doing)

    def fetch_pieces(self, sql: str, *, rows: int, most: int, doing: str) -> Iterator[pa.Table]:  # noqa: ARG002
        """The same, some rows at a time; nothing else may be asked of the connection meanwhile."""
        with self._lock:
            reader = run_guarded(lambda: self._connection.sql(sql).to_arrow_reader(rows), doing=doing)
        while (piece := run_guarded(partial(_next_piece, reader), doing=doing)) is not None:
            yield piece

    def append(self, name: str, table: pa.Table) -> None:
        """Add rows to a table that was made here."""
        with self._lock:
            brought = self.put(table)
            self.run(f"INSERT INTO {identifier(name)} FROM {identifier(brought)}", doing="handing rows to the engine")
            self._made.remove(("REGISTERED", brought))
            self._connection.unregister(brought)

    def keep(self, sql: str, *, doing: str) -> str:
        """Run a query and keep its result in a temporary table."""
        name = self._new("TABLE")
        self.run(f"CREATE TEMP TABLE {identifier(name)} AS {sql}", doing=doing)
        return name

    def look(self, sql: str, *, doing: str) -> str:
        """Give a query a name, without running it."""
        name = self._new("VIEW")
        self.run(f"CREATE TEMP VIEW {identifier(name)} AS {sql}", doing=doing)
        return name

    def put(self, table: Any) -> str:
        """Make an Arrow table, or anything else DuckDB can scan, visible under a name; nothing is copied."""
        name = self._new("REGISTERED")
        with self._lock:
            run_guarded(lambda: self._connection.register(name, table), doing="handing a table to the engine")
        return name

    def store(self, table: pa.Table) -> str:
        """The same: no value of it is in any query."""
        return self.put(table)

    def has_workers(self) -> bool:
        """Its threads are in this process."""
        return False

    def map_groups(self, *_: object, **__: object) -> Iterator[NDArray[np.int64]]:
        """Nobody asks for it."""
        raise InternalError("an engine without workers was to work on groups")

    def close(self) -> None:
        """Drop what was made here, close a connection of our own, remove the folder."""
        with self._lock:
            if self._open:
                self._open = False
                if self._own:
                    self._connection.close()
                else:
                    self._drop()
                self._tidy()

    def _new(self, kind: str) -> str:
        name = f"sfumato_{next(self._numbers)}"
        self._made.append((kind, name))
        return name

    def _drop(self) -> None:
        for kind, name in reversed(self._made):
            with contextlib.suppress(duckdb.Error):  # the connection may be closed already
                if kind == "REGISTERED":
                    self._connection.unregister(name)
                else:
                    self._connection.execute(f"DROP {kind} IF EXISTS {identifier(name)}")


def _next_piece(reader: pa.RecordBatchReader) -> pa.Table | None:
    try:
        return pa.Table.from_batches([reader.read_next_batch()])
    except StopIteration:
        return None


def _connect(folder: Path, limits: Limits) -> duckdb.DuckDBPyConnection:
    config: dict[str, Any] = {
        "temp_directory": str(folder),
        "autoinstall_known_extensions": False,  # a table is read with what is here: no downloads
        "preserve_insertion_order": False,  # needs less memory; what must be in order says ORDER BY
    }
    if limits.memory is not None:
        config["memory_limit"] = limits.memory
    if limits.threads is not None:
        config["threads"] = limits.threads
    try:
        connection = duckdb.connect(":memory:", config=config)
    except duckdb.Error:
        connection = None
    if connection is None:
        raise UsageError(
            f"DuckDB does not take the limits: memory {limits.memory}, threads {limits.threads}",
            "write memory such as 500MB or 4GB, and at least one thread",
            code="SF-USAGE-077",
        )
    connection.execute("SET TimeZone = 'UTC'").fetchall()  # days do not depend on where the machine stands
    return connection


def refuse_unusable(limits: Limits) -> None:
    """Stop where no table can be opened within these limits."""
    DuckSession(limits=limits).close()


@contextlib.contextmanager
def kept_open(session: DuckSession) -> Iterator[DuckSession]:
    """A session that stays open for the source made with it, and is closed if making it fails."""
    try:
        yield session
    except BaseException:
        session.close()
        raise
