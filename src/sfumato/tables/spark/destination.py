"""A published table of Spark: Parquet files in a folder, or a table of the catalog, written by all executors."""

import contextlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from sfumato.errors import PublishError, SourceError
from sfumato.tables.engine import SourceTable
from sfumato.tables.publishing.destination import DistinctRows, PartFile, handed_over
from sfumato.tables.spark.column_types import describe_source
from sfumato.tables.spark.scratch import identifier
from sfumato.tables.spark.session import SPARK_ERRORS, SparkQueries

_DOING: Final = "writing the release with Spark"
_NOT_THERE: Final = "SF-SOURCE-021"
_MOST_ROWS: Final = 5_000_000  # of a file: the engine hashes whole files, and one of 2 GB is too long for it


class SparkDestination:
    """Files at a path, or a table of the catalog (``table``, as SQL); never both."""

    kind = "spark"

    def __init__(self, session: SparkQueries, *, path: str | None, table: str | None, named: str) -> None:
        self._session = session
        self._path = path
        self._table = table
        self._named = named
        self._made: list[str] = []
        self._committed = False
        self._refuse_existing("")

    def public_name(self, suffix: str) -> str:
        """The table, or the folder without what it is in."""
        return self._named.rstrip("/").rpartition("/")[2] + suffix

    def write(self, suffix: str, pieces: Iterable[DistinctRows]) -> None:
        """Bring the distinct rows to Spark, which repeats and sorts them and writes a file a partition."""
        self._refuse_existing(suffix)
        names: list[str] = []
        stored, first = [], 0
        for rows, times in pieces:
            stored.append(f"TABLE {identifier(self._session.put(handed_over(rows, times, first=first)))}")
            names, first = rows.column_names, first + len(rows)
        brought = f"({' UNION ALL '.join(stored)})"
        read = ", ".join(f"c{number} AS {identifier(name)}" for number, name in enumerate(names))
        place = identifier(_free_name("sorted_by", names))  # a column may have the name that rows are sorted by
        again = f"SELECT *, place AS {place}, EXPLODE(SEQUENCE(1, again)) AS one FROM {brought}"  # noqa: S608
        frame = self._session.run(f"SELECT {read} FROM ({again}) ORDER BY {place}", doing=_DOING)  # noqa: S608
        try:
            self._session.guarded(lambda: self._save(frame, suffix), doing=_DOING)
        except SourceError:
            self._refuse_existing(suffix)  # somebody was quicker: what is there is not ours, and stays
            raise
        self._made.append(suffix)

    def _save(self, frame: Any, suffix: str) -> None:
        writer = frame.write.mode("errorifexists").option("maxRecordsPerFile", _MOST_ROWS)
        if self._path is not None:
            writer.parquet(self._path + suffix)
        else:
            writer.format("parquet").saveAsTable(self._place(suffix))

    def open(self, suffix: str) -> SourceTable:
        """The table as Spark reads it."""
        name = f"table '{self.public_name(suffix)}'"
        if self._path is None:
            return describe_source(self._session, f"TABLE {self._place(suffix)}", name=name)
        path = self._path + suffix
        frame = self._session.guarded(lambda: self._session.spark.read.parquet(path), doing=_DOING)
        return describe_source(self._session, f"TABLE {identifier(self._session.name(frame, doing=_DOING))}", name=name)

    def parts(self, suffix: str) -> Mapping[str, PartFile]:
        """The files of a folder, hashed by the executors; those of a table of the catalog belong to the catalog."""
        return {} if self._path is None else hash_parts(self._session, self._path + suffix)

    def commit(self) -> None:
        """The files are there already; from here on they stay."""
        self._committed = True

    def withdraw(self) -> None:
        """Remove what was written."""
        for suffix in self._made:
            with contextlib.suppress(*SPARK_ERRORS, SourceError, OSError):
                if self._path is not None:
                    self._remove(self._path + suffix)
                else:
                    self._session.run(f"DROP TABLE IF EXISTS {self._place(suffix)} PURGE", doing=_DOING)
        self._made.clear()

    def _remove(self, path: str) -> None:
        """Delete a folder: by Spark's own file system, which a Spark Connect client does not reach."""
        if path.startswith("file:") and Path(path.removeprefix("file:")).is_dir():
            shutil.rmtree(path.removeprefix("file:"), ignore_errors=True)
            return
        spark = self._session.spark
        place = spark._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001 - PySpark has no other way to it
        place.getFileSystem(spark._jsc.hadoopConfiguration()).delete(place, True)  # noqa: FBT003, SLF001 - Java

    def close(self) -> None:
        """Remove what was not committed, and end the session."""
        if not self._committed:
            self.withdraw()
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _place(self, suffix: str) -> str:
        assert self._table is not None, "a path or a table"
        return f"{self._table[:-1]}{suffix}`"  # the name ends with a backtick

    def _refuse_existing(self, suffix: str) -> None:
        if self._path is not None:
            there = _is_there(self._session, self._path + suffix)
        else:
            place = self._place(suffix)
            there = bool(self._session.guarded(lambda: self._session.spark.catalog.tableExists(place), doing=_DOING))
        if there:
            raise PublishError(
                f"'{self.public_name(suffix)}' exists already, and a release is never overwritten",
                "name another path or table, or remove this one",
                code="SF-PUBLISH-024",
            )


def _free_name(base: str, taken: Sequence[str]) -> str:
    """A name that no column has, capitals aside."""
    names = {name.casefold() for name in taken}
    while base in names:
        base += "_"
    return base


def hash_parts(session: SparkQueries, path: str) -> dict[str, PartFile]:
    """The Parquet files of a folder with their sizes and hashes, computed by the executors."""
    reader = session.spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    found = session.guarded(
        lambda: reader.load(path).selectExpr("path", "length", "sha2(content, 256) AS hash").toArrow(), doing=_DOING
    )
    return {
        one["path"].rpartition("/")[2]: PartFile(size=one["length"], sha256=one["hash"])
        for one in sorted(found.to_pylist(), key=lambda one: one["path"])
    }


def _is_there(session: SparkQueries, path: str) -> bool:
    try:
        session.guarded(lambda: session.spark.read.format("binaryFile").load(path), doing=_DOING)
    except SourceError as error:
        if error.code == _NOT_THERE:
            return False
        raise
    return True
