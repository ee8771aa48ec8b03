"""Opening a source: a path, a glob, a URL, or a table somebody already has in memory."""

import os
import re
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow as pa

from sfumato.errors import SourceError
from sfumato.study.source import Source
from sfumato.tables.arrays.in_memory import as_arrow
from sfumato.tables.duckdb.duckdb_engine import DUCKDB
from sfumato.tables.engine import ENGINES, Engine, Limits, SourceTable
from sfumato.tables.missing_tokens import without_missing_tokens
from sfumato.tables.postgres.postgres_engine import POSTGRES
from sfumato.tables.spark.spark_engine import adopt_frame, adopt_ibis, is_frame

__all__ = ["DUCKDB", "ENGINES", "POSTGRES", "SCHEME", "SourceTable", "open_source", "paths_of", "reads_once"]

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # two letters or more: one is a drive
_CSV = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".pq")


def open_source(
    source: Any,
    *,
    base: Path | str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    private: bool = False,
) -> SourceTable:
    """Open a table where it lies.

    ``source`` is a path or glob to CSV (also TSV, also packed with gzip) or Parquet files, a URL such as
    ``duckdb:///file.db?table=t`` or ``postgresql://host/database?table=t``, a pandas or polars table, a table of Spark,
    an Ibis table on DuckDB, PostgreSQL or Spark, anything with the Arrow PyCapsule interface, or a `Source`: one of
    these, with how it is written. Relative paths start at ``base``. Close the result, or use it in a ``with``
    statement. ``private`` is for differentially private releases: how a CSV file is written is then decided by the
    study and the line of names alone, and no record can make reading fail (`csv_records`).
    """
    if isinstance(source, SourceTable):
        return source
    limits = Limits(memory=memory_limit, threads=threads)
    folder = Path(base) if base is not None else Path()
    declared = source if isinstance(source, Source) else Source(path=source)
    found = _open_table(declared.path, declared, folder, limits, private=private)
    return without_missing_tokens(found, declared.missing) if declared.missing else found


def reads_once(source: Any) -> bool:
    """Whether opening a source may use it up: a stream, or a table that is open already and gets closed."""
    where = source.path if isinstance(source, Source) else source
    if isinstance(where, (str, Path, ir.Table, pa.Table, pa.RecordBatch)):
        return False
    return type(where).__module__.partition(".")[0] not in {"pandas", "polars", "pyspark"}


def _open_table(source: Any, declared: Source, folder: Path, limits: Limits, *, private: bool) -> SourceTable:
    if isinstance(source, (str, Path)):
        scheme = SCHEME.match(source) if isinstance(source, str) and not (folder / source).exists() else None
        if scheme is None:
            return _open_files(source, declared, folder, limits, private=private)
        _refuse_csv_fields(declared, "it is not a CSV file")
        return _engine(scheme.group(1).lower()).open(str(source), base=folder, limits=limits)
    _refuse_csv_fields(declared, "it is a table in memory")
    if isinstance(source, ir.Table):
        return _adopt(source, limits)
    if is_frame(source):
        return adopt_frame(source, limits=limits)
    table, name = as_arrow(source)
    return DUCKDB.load(table, name=name, limits=limits)


def _adopt(table: ir.Table, limits: Limits) -> SourceTable:
    """An Ibis table, by the engine of its backend."""
    backend = table.get_backend().name
    if backend == "duckdb":
        return DUCKDB.adopt(table)
    if backend == "postgres":
        return POSTGRES.adopt(table, limits=limits)
    if backend == "pyspark":
        return adopt_ibis(table, limits=limits)
    raise SourceError(
        f"Ibis tables on {backend} cannot be used yet",
        "pass table.to_pyarrow(), or an Ibis table on DuckDB, PostgreSQL or Spark",
        code="SF-SOURCE-013",
    )


def _refuse_csv_fields(declared: Source, why: str) -> None:
    if declared.written:
        raise SourceError(
            f"the source has `{declared.written[0]}`, and {why}",
            "remove it: it applies to CSV files only",
            code="SF-SOURCE-030",
        )


def _engine(scheme: str) -> Engine:
    if scheme not in ENGINES:
        # Only the scheme is repeated: the rest of an address may hold a password.
        raise SourceError(
            f"there is no engine for '{scheme}:' addresses yet",
            f"use a file, or one of: {', '.join(f'{name}://' for name in ENGINES)}",
            code="SF-SOURCE-031",
        )
    return ENGINES[scheme]


def _open_files(source: str | Path, declared: Source, base: Path, limits: Limits, *, private: bool) -> SourceTable:
    paths = paths_of(base, str(source))
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise SourceError(
            f"{base / source} names CSV and Parquet files together", "name files of one format", code="SF-SOURCE-032"
        )
    name = str(paths[0]) if len(paths) == 1 else str(base / source)
    if kinds == {"csv"}:
        return DUCKDB.csv(paths, name=name, limits=limits, written=declared, private=private)
    _refuse_csv_fields(declared, f"{name} is a Parquet file")
    return DUCKDB.parquet(paths, name=name, limits=limits)


def paths_of(base: Path, source: str) -> list[Path]:
    """The files that a source names: the one of that very name, or, if there is none, those that match it.

    Only what the source says is a pattern. The folder of the study is a place, whatever marks are in its name.
    """
    if (base / source).is_file():
        return [base / source]
    said = os.path.expanduser(source)  # noqa: PTH111 - Path.expanduser fails where nobody has that name
    path = base / said
    if path.is_file():
        return [path]
    if path.is_dir():
        raise SourceError(
            f"{path} is a folder", f"name the files in it, such as {path / '*.parquet'}", code="SF-SOURCE-033"
        )
    pattern = os.path.join(escape(str(base)), said)  # noqa: PTH118 - a pattern is no path
    found = sorted(glob(pattern, recursive=True)) if has_magic(said) else []  # noqa: PTH207 - of any root
    files = [p for p in map(Path, found) if p.is_file()]
    if not files:
        problem = f"no file matches {path}" if has_magic(said) else f"there is no file {path}"
        raise SourceError(problem, "check the path; in a study it starts at the study's folder", code="SF-SOURCE-034")
    return files


def _kind(path: Path) -> str:
    ending = path.name.lower().removesuffix(".gz")
    if ending.endswith(_CSV):
        return "csv"
    if ending.endswith(_PARQUET):
        return "parquet"
    raise SourceError(
        f"the name of {path} does not say what format it has",
        f"use one of the endings {', '.join((*_CSV, *_PARQUET))} (CSV also with .gz)",
        code="SF-SOURCE-035",
    )
