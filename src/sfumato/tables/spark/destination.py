"""A published table of Spark: Parquet files in a folder, or a table of the catalog, written by all executors."""

import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from pyspark.errors import PySparkException

from sfumato.errors import PublishError, SourceError
from sfumato.tables.engine import SourceTable
from sfumato.tables.publishing.destination import (
    DistinctRows,
    PartFile,
    handed_over,
    spark_path,
    suffixed_path,
    suffixed_table,
)
from sfumato.tables.spark.column_types import describe_source
from sfumato.tables.spark.scratch import identifier
from sfumato.tables.spark.session import SPARK_ERRORS, SparkQueries

_DOING: Final = "writing the release with Spark"
_NOT_THERE: Final = "SF-SOURCE-021"
_THERE: Final = frozenset({"PATH_ALREADY_EXISTS", "TABLE_OR_VIEW_ALREADY_EXISTS", "LOCATION_ALREADY_EXISTS"})
_TRIES: Final = 20  # how often a folder is removed that Spark still writes to
_PAUSE: Final = 0.1  # seconds between them
_MOST_ROWS: Final = 5_000_000  # of a file: the engine hashes whole files, and one of 2 GB is too long for it


class SparkDestination:
    """Files at a path, or a table of the catalog (``table``, as SQL); never both."""

    kind = "spark"

    def __init__(
        self, session: SparkQueries, *, path: str | None, table: str | None, named: str, local: bool = False
    ) -> None:
        self._session = session
        self._path = path
        self._table = table
        self._named = named
        self._local = local
        self._begun: list[str] = []  # what is ours, as far as it was written
        self._committed = False

    def public_name(self, suffix: str) -> str:
        """The table, or the folder without what it is in."""
        if self._path is None:
            return suffixed_table(self._named, suffix)
        return suffixed_path(self._named, suffix).rpartition("/")[2]

    def refuse_unwritable(self, suffixes: Sequence[str]) -> None:
        """Whether a table or folder is there already, or the database of a table is not."""
        for suffix in suffixes:
            self._refuse_existing(suffix)
        database = "" if self._table is None else _database(self._table)
        catalog = self._session.spark.catalog
        if database and not self._session.guarded(lambda: catalog.databaseExists(database), doing=_DOING):
            raise PublishError(
                f"the database of the table '{self.public_name('')}' does not exist",
                "create it, or name another one",
                code="SF-PUBLISH-761",
            )

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
        self._begun.append(suffix)  # before: what Spark writes until it fails, or is stopped, is to be removed, too
        if not self._session.run_to_its_end(lambda: self._save_new(frame, suffix), doing=_DOING):
            raise self._existing(suffix)

    def _save_new(self, frame: Any, suffix: str) -> bool:
        """Save what is not there yet; False where somebody was quicker: what is there is not ours, and stays."""
        try:
            self._save(frame, suffix)
        except PySparkException as error:
            if error.getCondition() in _THERE:
                self._begun.remove(suffix)
                return False
            raise
        return True

    def _save(self, frame: Any, suffix: str) -> None:
        writer = frame.write.mode("error").option("maxRecordsPerFile", _MOST_ROWS)
        if self._path is not None:
            writer.parquet(self._folder(suffix))
        else:
            writer.format("parquet").saveAsTable(self._place(suffix))

    def open(self, suffix: str) -> SourceTable:
        """The table as Spark reads it."""
        name = f"table '{self.public_name(suffix)}'"
        if self._path is None:
            return describe_source(self._session, f"TABLE {self._place(suffix)}", name=name)
        path = self._folder(suffix)
        frame = self._session.guarded(lambda: self._session.spark.read.parquet(path), doing=_DOING)
        return describe_source(self._session, f"TABLE {identifier(self._session.name(frame, doing=_DOING))}", name=name)

    def parts(self, suffix: str) -> Mapping[str, PartFile]:
        """The files of a folder, hashed by the executors; those of a table of the catalog belong to the catalog."""
        return {} if self._path is None else hash_parts(self._session, self._folder(suffix))

    def commit(self) -> None:
        """The files are there already; from here on they stay."""
        self._committed = True

    def withdraw(self) -> None:
        """Remove what was written, and say what could not be removed."""
        begun, self._begun = self._begun, []
        left = [f"'{self.public_name(suffix)}'" for suffix in begun if not self._removed(suffix)]
        if left:
            raise PublishError(
                f"{' and '.join(left)} could not be removed, and may hold records of a release without a bundle",
                "remove it with another tool",
                code="SF-PUBLISH-762",
            )

    def _removed(self, suffix: str) -> bool:
        """Remove one table or folder; a task that is still ending may write once more, so it is looked at again."""
        try:
            if self._path is None:
                self._session.run(f"DROP TABLE IF EXISTS {self._place(suffix)} PURGE", doing=_DOING)
                return not self._exists(suffix)
            for _ in range(_TRIES):
                if not self._exists(suffix):
                    return True
                self._session.guarded(partial(self._remove, self._folder(suffix)), doing=_DOING)
                time.sleep(_PAUSE)
            return not self._exists(suffix)
        except (*SPARK_ERRORS, SourceError, OSError):
            return False

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
        try:
            if not self._committed:
                self.withdraw()
        finally:
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            self.close()
        except PublishError as left:
            _, failure, _ = raised
            if not isinstance(failure, BaseException):
                raise
            failure.add_note(f"{left.problem}: {left.fix}")

    def _folder(self, suffix: str) -> str:
        assert self._path is not None, "a path or a table"
        return spark_path(self._path, suffix, local=self._local)

    def _place(self, suffix: str) -> str:
        assert self._table is not None, "a path or a table"
        return suffixed_table(self._table, suffix)

    def _exists(self, suffix: str) -> bool:
        if self._path is not None:
            return _is_there(self._session, self._folder(suffix))
        place = self._place(suffix)
        return bool(self._session.guarded(lambda: self._session.spark.catalog.tableExists(place), doing=_DOING))

    def _refuse_existing(self, suffix: str) -> None:
        if self._exists(suffix):
            raise self._existing(suffix)

    def _existing(self, suffix: str) -> PublishError:
        return PublishError(
            f"'{self.public_name(suffix)}' exists already, and a release is never overwritten",
            "name another path or table, or remove this one",
            code="SF-PUBLISH-024",
        )


def _database(table: str) -> str:
    """What is before the name of a table, as SQL; nothing where it is the current database.

    >>> _database("`clinic`.`visits.2024`"), _database("`visits`")
    ('`clinic`', '')
    """
    return re.sub(r"\.?`(?:[^`]|``)+`$", "", table)


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
        # The schema is what makes Spark Connect look; without it nothing is asked, and everything would be there.
        session.guarded(lambda: session.spark.read.format("binaryFile").load(path).schema, doing=_DOING)
    except SourceError as error:
        if error.code == _NOT_THERE:
            return False
        raise
    return True
