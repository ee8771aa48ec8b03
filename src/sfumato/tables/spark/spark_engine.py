"""Spark, by three kinds of address: on this machine, on a cluster, or through Spark Connect.

``spark+local://?path=visits.parquet`` starts Spark here, ``spark://host:port?table=db.t&scratch=PLACE`` uses a cluster,
and ``sc://host:port?table=db.t&scratch=PLACE`` a Spark Connect server. ``table`` is a table of the catalog, ``path``
Parquet files (or, with ``format=delta``, a Delta table), and ``scratch`` where results of the work are kept.
"""

import re
import shutil
from collections.abc import Callable
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import uuid4

import pyarrow as pa

from sfumato.errors import SourceError, UsageError
from sfumato.tables.engine import ENGINES, Limits, SourceTable
from sfumato.tables.spark.address import Address
from sfumato.tables.spark.scratch import Scratch, identifier

if TYPE_CHECKING:
    from sfumato.tables.spark.destination import SparkDestination
    from sfumato.tables.spark.session import SparkQueries


SCRATCH = "spark.sfumato.scratch"
"""A setting of a Spark session: where results of the work are kept, for tables that are handed over in Python."""

_NAME_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")


class _Spark:
    """What the three kinds of address have in common."""

    def load(self, table: pa.Table | pa.RecordBatchReader, *, name: str, limits: Limits) -> SourceTable:  # noqa: ARG002
        """Tables in memory are not brought to Spark."""
        raise UsageError(
            f"{name} is in memory, and Spark reads its own tables",
            "leave it to the built-in engine",
            code="SF-USAGE-393",
        )


class LocalSpark(_Spark):
    """Spark on this machine: ``spark+local://?path=visits.parquet``, relative to the folder of the study."""

    name: ClassVar[str] = "spark+local"

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:
        """The table that an address names."""
        address = Address.of(url)
        self._refuse_host(address)
        path = None if address.path is None else _local_path(base, address.path)
        return _read(self.session(address, limits), address, path)

    def session(self, address: Address, limits: Limits) -> "SparkQueries":
        """A session of its own."""
        self._refuse_host(address)
        _require_library()
        from sfumato.tables.spark.starting import local_spark  # noqa: PLC0415 - pyspark is an extra

        return _local_session(local_spark(limits).newSession(), address.scratch, limits)

    @staticmethod
    def _refuse_host(address: Address) -> None:
        if address.place:
            raise SourceError(
                "the address of a table for Spark on this machine names a host",
                "write spark+local://?path=visits.parquet, or spark://host:port?… for a cluster",
                code="SF-SOURCE-390",
            )


class SparkCluster(_Spark):
    """Spark on a cluster: ``spark://host:port?table=db.t&scratch=PLACE``; without a host, the configured one."""

    name: ClassVar[str] = "spark"

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:  # noqa: ARG002 - a cluster has its own paths
        """The table that an address names."""
        address = Address.of(url)
        return _read(self.session(address, limits), address, address.path)

    def session(self, address: Address, limits: Limits) -> "SparkQueries":
        """A session of its own."""
        scratch = _required_scratch(address)
        _require_library()
        from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415 - pyspark is an extra
        from sfumato.tables.spark.starting import cluster_spark  # noqa: PLC0415

        return SparkQueries(cluster_spark(address.place).newSession(), scratch, memory=limits.cells)


class SparkConnect(_Spark):
    """A Spark Connect server: ``sc://host:port?table=db.t&scratch=PLACE``."""

    name: ClassVar[str] = "sc"

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:  # noqa: ARG002 - the server has its own
        """The table that an address names."""
        address = Address.of(url)
        return _read(self.session(address, limits), address, address.path)

    def session(self, address: Address, limits: Limits) -> "SparkQueries":
        """A session of its own."""
        scratch = _required_scratch(address)
        _require_library()
        from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415 - pyspark is an extra
        from sfumato.tables.spark.starting import connected_spark  # noqa: PLC0415

        spark = connected_spark(address.place)
        return SparkQueries(spark, scratch, memory=limits.cells, finish=spark.stop)


def open_spark_destination(scheme: str, url: str, *, limits: Limits) -> "SparkDestination":
    """A place for a published table."""
    address = Address.of(url)
    _refuse_unwritable(address)
    _require_library()
    from sfumato.tables.spark.destination import SparkDestination  # noqa: PLC0415 - pyspark is an extra

    return SparkDestination(
        _SPARKS[scheme].session(address, limits),
        path=address.path,
        table=None if address.table is None else _qualified(address.table),
        named=str(address.path or address.table),
        local=scheme == LocalSpark.name,
    )


def _refuse_unwritable(address: Address) -> None:
    """A path that Spark reads as a pattern, or that holds a secret, and formats that are read alone."""
    path = address.path or ""
    if any(mark in path for mark in "*?[]{}\\") or "@" in path:
        raise UsageError(
            "the path that a release is to be written to has one of * ? [ ] { } \\ @ in it",
            "choose another path; credentials belong to the configuration of Spark",
            code="SF-USAGE-399",
        )
    if address.format != "parquet":
        raise UsageError(
            f"a release is written as Parquet, not as {address.format}", "leave out `format`", code="SF-USAGE-400"
        )


def adopt_frame(frame: Any, *, limits: Limits, name: str = "the Spark table") -> SourceTable:
    """A table of Spark that somebody has in Python, through a session of our own on the same Spark.

    The two sessions share the table by a global view, which is dropped in the end.
    """
    from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415 - pyspark is there: it made the table

    theirs, doing = frame.sparkSession, f"reading {name}"
    if not hasattr(theirs, "newSession"):
        raise SourceError(
            "tables of a Spark Connect session cannot be used from Python yet",
            "save the table, and name it as sc://host:port?table=db.t&scratch=PLACE",
            code="SF-SOURCE-391",
        )
    scratch = theirs.conf.get(SCRATCH, None)
    if scratch is None and not theirs.sparkContext.master.startswith("local"):
        raise SourceError(
            "a table of Spark on a cluster does not say where results of the work can be kept",
            f"set it for the session: spark.conf.set('{SCRATCH}', PLACE)",
            code="SF-SOURCE-392",
        )
    views = theirs.conf.get("spark.sql.globalTempDatabase", "global_temp")
    shared = f"sfumato_{uuid4().hex}"
    drop = partial(theirs.catalog.dropGlobalTempView, shared)
    session = _local_session(theirs.newSession(), scratch, limits, finish=drop)
    try:
        SparkQueries.guarded(partial(frame.createGlobalTempView, shared), doing=doing)
    except BaseException:
        session.close()
        raise
    return _described(session, f"SELECT * FROM {identifier(views)}.{identifier(shared)}", name=name)  # noqa: S608


def adopt_ibis(table: Any, *, limits: Limits) -> SourceTable:
    """An Ibis table on PySpark."""
    from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415 - pyspark is there: Ibis uses it

    backend, doing = table.get_backend(), "reading the Ibis table"

    def frame() -> Any:
        backend._run_pre_execute_hooks(table)  # noqa: SLF001 - tables in memory that it refers to
        return backend._session.sql(backend.compile(table))  # noqa: SLF001 - Ibis has no other way to its session

    return adopt_frame(SparkQueries.guarded(frame, doing=doing), limits=limits, name="the Ibis table")


def is_frame(source: Any) -> bool:
    """Whether somebody handed over a table of Spark; pyspark is not loaded to find out."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )


def _local_session(
    spark: Any, scratch: str | None, limits: Limits, *, finish: Callable[[], object] = lambda: None
) -> "SparkQueries":
    """A session that keeps its results in a private folder of this machine, unless a place is named."""
    from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415 - pyspark is an extra
    from sfumato.tables.spark.starting import private_folder  # noqa: PLC0415

    if scratch is not None:
        return SparkQueries(spark, Scratch.of(scratch), memory=limits.cells, finish=finish)
    folder = private_folder()

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        finish()

    return SparkQueries(spark, Scratch.of(f"file:{folder}"), memory=limits.cells, finish=remove)


def _read(session: "SparkQueries", address: Address, path: str | None) -> SourceTable:
    """The table that an address names, by a session that is closed if this fails."""
    if path is None:
        table = str(address.table)
        return _described(session, f"TABLE {_qualified(table)}", name=f"table '{table}'")
    name = f"{address.path}"
    try:
        load = session.spark.read.format(address.format).load
        frame = session.guarded(partial(load, path), doing=f"reading {name}")
        sql = f"TABLE {identifier(session.name(frame, doing=f'reading {name}'))}"
    except BaseException:
        session.close()
        raise
    return _described(session, sql, name=name)


def _described(session: "SparkQueries", sql: str, *, name: str) -> SourceTable:
    from sfumato.tables.spark.column_types import describe_source  # noqa: PLC0415 - pyspark is an extra

    try:
        return describe_source(session, sql, name=name)
    except BaseException:
        session.close()
        raise


def _qualified(table: str) -> str:
    """A table's name with its catalog and database, as SQL; a part with a dot in it stands in backticks.

    >>> _qualified("clinic.visits"), _qualified("clinic.`visits.2024`")
    ('`clinic`.`visits`', '`clinic`.`visits.2024`')
    """
    parts = _NAME_PART.findall(table)
    return ".".join(identifier(quoted.replace("``", "`") or plain) for quoted, plain in parts)


def _required_scratch(address: Address) -> Scratch:
    if address.scratch is None:
        raise SourceError(
            "the address of a Spark table does not say where the cluster may keep results of the work",
            "add &scratch= with a database of the catalog, or a folder that all its machines write to",
            code="SF-SOURCE-393",
        )
    return Scratch.of(address.scratch)


def _local_path(base: Path, named: str) -> str:
    """A path on this machine for Spark: the one of that very name, or, if there is none, a pattern."""
    path = (base / Path(named).expanduser()).absolute()
    if path.exists():
        return "file:" + "".join(f"\\{letter}" if letter in "*?[]{}\\" else letter for letter in str(path))
    if has_magic(named):
        return f"file:{path}"
    raise SourceError(
        f"there is no file {path}", "check the path; in a study it starts at the study's folder", code="SF-SOURCE-011"
    )


def _require_library() -> None:
    try:
        import pyspark  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise SourceError(
            "tables of Spark need the library pyspark, which is not installed",
            "install the extra `spark`: pip install '.[spark]' in a clone of Sfumato",
            code="SF-SOURCE-394",
        ) from None


_SPARKS: Final = {engine.name: engine for engine in (LocalSpark(), SparkCluster(), SparkConnect())}
for _engine in _SPARKS.values():
    ENGINES.add(_engine)
