"""A Spark session of a source: its own views and settings; what it keeps is stored, and removed when it is closed."""

import contextlib
import itertools
import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final, TypeVar
from uuid import uuid4

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from sfumato.tables.engine import GroupWork
from sfumato.tables.guard import run_guarded
from sfumato.tables.spark.compiler import compile_guarded
from sfumato.tables.spark.scratch import Scratch, identifier
from sfumato.tables.spark.workers import map_on_workers, workers_are_ready

T = TypeVar("T")

_SMALL: Final = 10_000  # rows of a lookup table that travel with each query; a larger one is stored

# A result may depend on nothing that a cluster or its user has set, and no record may make a query fail.
_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",  # a cast of a value that does not fit gives null, and quotes nothing
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.variable.substitute": "false",  # else ${env:HOME} in a name or value is what this machine has there
    "spark.sql.files.ignoreCorruptFiles": "false",  # a file that cannot be read is an error, never fewer records
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # else a day before 1582 makes reading fail
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}


class SparkQueries:
    """Queries on a Spark session that is ours: nobody else sees its views and settings.

    ``finish`` lets go of the session itself. It is called once, also if this object is never closed.
    """

    dialect = "pyspark"
    remote = True

    def __init__(
        self, spark: Any, scratch: Scratch, *, memory: int, finish: Callable[[], object] = lambda: None
    ) -> None:
        self.spark = spark
        self.memory: int | None = memory
        self._lock = threading.RLock()
        self._prefix = f"sfumato_{uuid4().hex[:12]}"
        self._numbers = itertools.count(1)
        self._scratch = scratch
        self._kept: list[str] = []
        self._views: list[str] = []
        self._ready = False
        self._workers: bool | None = None
        self._closing = weakref.finalize(self, _remove, spark, scratch, self._kept, self._views, finish)
        self.guarded(self._set, doing="opening a Spark session")

    def _set(self) -> None:
        for name, value in _SETTINGS.items():
            if str(self.spark.conf.get(name)).lower() != value.lower():  # some warn when they are set, to any value
                self.spark.conf.set(name, value)

    @staticmethod
    def compile(expression: ir.Table) -> str:
        """The expression as SQL."""
        return compile_guarded(expression)

    def run(self, sql: str, *, doing: str) -> Any:
        """Run a statement; of a query, the table that it will give."""
        with self._lock:
            return self.guarded(lambda: self.spark.sql(sql), doing=doing)

    def columns(self, sql: str, *, doing: str) -> list[tuple[str, Any]]:
        """The names of a query's columns and their types as Spark has them; nothing is read."""
        with self._lock:
            schema = self.guarded(lambda: self.spark.sql(sql).schema, doing=doing)
            return [(field.name, field.dataType) for field in schema.fields]

    def fetch(self, sql: str, *, doing: str) -> pa.Table:
        """Run a query and bring its result home."""
        with self._lock:
            return self.guarded(lambda: self.spark.sql(sql).toArrow(), doing=doing)

    def fetch_pieces(self, sql: str, *, rows: int, most: int, doing: str) -> Iterator[pa.Table]:
        """The same in pieces, which are stored first: a result that comes home at once is held by the driver's Java."""
        pieces = max(1, -(-most // rows))
        if pieces == 1:
            yield self.fetch(sql, doing=doing)
            return
        with self._lock:
            names = ", ".join(identifier(name) for name, _ in self.columns(sql, doing=doing))
            numbered = f"SELECT *, PMOD(XXHASH64({names}), {pieces}) AS sfumato_piece FROM ({sql})"  # noqa: S608
            kept = self.keep(f"{numbered} DISTRIBUTE BY sfumato_piece", doing=doing, by="sfumato_piece")
        for piece in range(pieces):
            yield self.fetch(
                f"SELECT {names} FROM {identifier(kept)} WHERE sfumato_piece = {piece}",  # noqa: S608 - our own names
                doing=doing,
            )

    def keep(self, sql: str, *, doing: str, by: str | None = None) -> str:
        """Run a query and store its result until the session is closed; rows alike in ``by`` lie together."""
        with self._lock:
            if not self._ready:
                for statement in self._scratch.opening():
                    self.run(statement, doing="making a place for results of the work")
                self._ready = True
            name = self._new()
            self._kept.append(name)
            parted = "" if by is None else f" PARTITIONED BY ({by})"
            self.run(f"CREATE TABLE {self._scratch.place(name)} USING PARQUET{parted} AS {sql}", doing=doing)
            return self.look(f"SELECT * FROM {self._scratch.place(name)}", doing=doing)  # noqa: S608 - our own name

    def look(self, sql: str, *, doing: str) -> str:
        """Give a query a name, without running it."""
        name = self._new()
        self._views.append(name)
        self.run(f"CREATE TEMPORARY VIEW {identifier(name)} AS {sql}", doing=doing)
        return name

    def put(self, table: pa.Table) -> str:
        """Bring a table to Spark."""
        doing = "handing a table to Spark"
        with self._lock:
            name = self.name(self.guarded(lambda: self.spark.createDataFrame(table), doing=doing), doing=doing)
            if table.num_rows <= _SMALL:
                return name
            return self.keep(f"SELECT * FROM {identifier(name)}", doing=doing)  # noqa: S608 - our own name

    def store(self, table: pa.Table) -> str:
        """The same: no value of it is in any query."""
        return self.put(table)

    def name(self, frame: Any, *, doing: str) -> str:
        """Give a table of Spark a name."""
        name = self._new()
        self._views.append(name)
        with self._lock:
            self.guarded(partial(frame.createTempView, name), doing=doing)
        return name

    def has_workers(self) -> bool:
        """Whether Python on the executors has this version of Sfumato; tried once."""
        if self._workers is None:
            with self._lock:
                self._workers = workers_are_ready(self)
        return self._workers

    def map_groups(
        self, sql: str, work: GroupWork, *, groups: int, width: int, doing: str
    ) -> Iterator[NDArray[np.int64]]:
        """Run a function on each part of a query's rows, on the executors; what it makes of them is stored first."""
        with self._lock:
            made = map_on_workers(self, sql, work, width=width, doing=doing)
            kept = self.keep(f"TABLE {identifier(made)}", doing=doing, by="part")
        names = ", ".join(f"r{place}" for place in range(width))
        for part in range(groups):
            found = self.fetch(f"SELECT {names} FROM {identifier(kept)} WHERE part = {part}", doing=doing)  # noqa: S608
            yield np.stack([column.to_numpy() for column in found.columns], axis=1).astype(np.int64, copy=False)

    def run_to_its_end(self, work: Callable[[], T], *, doing: str) -> T:
        """Run a call that makes Spark write; if it is interrupted, Spark is told to stop, and has stopped afterwards.

        Spark would go on writing otherwise, while somebody removes what is written.
        """
        with ThreadPoolExecutor(1) as pool:
            pool.submit(int).result()  # makes the thread: whatever interrupts from here on, the pool waits for it
            running = pool.submit(self.guarded, work, doing=doing)
            try:
                return running.result()
            finally:
                while not running.done():
                    with contextlib.suppress(*SPARK_ERRORS, OSError):
                        self.spark.interruptAll()
                    wait([running], timeout=1)

    def close(self) -> None:
        """Remove everything that was made; closing twice is fine."""
        with self._lock:
            self._closing()

    @staticmethod
    def guarded(run: Callable[[], T], *, doing: str) -> T:
        """Run a call to Spark; its failure becomes ours, and nothing of it is logged."""
        with _WITHHELD.ours():
            return run_guarded(run, doing=doing, also=SPARK_ERRORS)

    def _new(self) -> str:
        """A name that no other session has: the database for results may be shared."""
        return f"{self._prefix}_{next(self._numbers)}"


SPARK_ERRORS: Final = (PySparkException, Py4JError)


def _remove(spark: Any, scratch: Scratch, kept: list[str], views: list[str], finish: Callable[[], object]) -> None:
    """Drop all that a session made; what cannot be reached any more is left to its owner."""
    with _WITHHELD.ours():
        statements = [f"DROP VIEW IF EXISTS {identifier(view)}" for view in reversed(views)]
        for statement in [*statements, *(scratch.closing(kept) if kept else [])]:
            with contextlib.suppress(*SPARK_ERRORS, OSError):
                spark.sql(statement)
        with contextlib.suppress(*SPARK_ERRORS, OSError):
            finish()


class _Withheld(logging.Filter):
    """PySpark logs its errors when they are made, and they may quote records: those of our own calls are not logged."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - whatever it says
        """Whether a record is logged."""
        return not getattr(self._thread, "ours", False)

    @contextlib.contextmanager
    def ours(self) -> Iterator[None]:
        """While calls of ours run, in this thread."""
        before = getattr(self._thread, "ours", False)
        self._thread.ours = True
        try:
            yield
        finally:
            self._thread.ours = before


_WITHHELD: Final = _Withheld()
for _logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_logger).addFilter(_WITHHELD)
