"""DuckDB: the engine that is built in. It reads files, tables in memory, and DuckDB's own files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa

from sfumato.errors import SourceError
from sfumato.study.source import Source
from sfumato.tables.csv.dialect import CsvFile, inspect_csv, inspect_private_csv, is_packed, transcode
from sfumato.tables.csv.lenient import write_records
from sfumato.tables.csv.plain import Shape
from sfumato.tables.duckdb.column_types import describe_source, hide_statistics
from sfumato.tables.duckdb.session import DuckSession, identifier, kept_open, literal_path, text
from sfumato.tables.engine import ENGINES, Limits, SourceTable, refuse_twins
from sfumato.tables.guard import run_guarded
from sfumato.tables.ibis_query import compile_query

_LINE_LIMIT = 2_000_000  # bytes; DuckDB's own default, raised for files with longer lines
_LONG = 16_000_000  # bytes of a record whose quoted fields have many lines


class DuckDb:
    """Files, tables in memory, and ``duckdb:///file.db?table=t``."""

    name: ClassVar[str] = "duckdb"

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:
        """A table of a DuckDB file, which is opened for reading only.

        The file may hold views, and a view is a program: it may read any file that its reader may. Once the file is
        attached the session is therefore sealed, before anything of it is read.
        """
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        if parts.netloc or not parts.path.strip("/"):
            raise SourceError(
                "the address of a DuckDB table is not complete",
                "write duckdb:///relative.db?table=t, or duckdb:////absolute/path.db?table=t",
                code="SF-SOURCE-010",
            )
        path = base / unquote(parts.path[1:])
        if not path.is_file():
            raise SourceError(
                f"there is no file {path}",
                "check the path; in a study it starts at the study's folder",
                code="SF-SOURCE-011",
            )
        with kept_open(DuckSession(limits=limits)) as session:
            session.run(f"ATTACH {text(str(path.absolute()))} AS source (READ_ONLY)", doing=f"opening {path}")
            session.seal([])  # what is attached stays readable
            schema, table = _named(session, query, path)
            sql = f"FROM source.{identifier(schema)}.{identifier(table)}"
            return describe_source(session, sql, name=f"table '{table}' of {path}", read_as={"format": "duckdb"})

    def load(self, table: pa.Table | pa.RecordBatchReader, *, name: str, limits: Limits) -> SourceTable:
        """A table in memory as it is; a stream is read once, into the engine."""
        refuse_twins(list(table.schema.names), where=name)
        with kept_open(DuckSession(limits=limits)) as session:
            session.seal([])
            sql = f"FROM {identifier(session.put(table))}"
            if isinstance(table, pa.RecordBatchReader):
                sql = f"FROM {identifier(session.keep(sql, doing=f'reading {name}'))}"
            return describe_source(session, sql, name=name, read_as={"format": "memory"})

    def parquet(self, paths: Sequence[Path], *, name: str, limits: Limits) -> SourceTable:
        """One or more Parquet files with the same columns."""
        from pyarrow import parquet  # noqa: PLC0415 - only Parquet needs it

        names = run_guarded(lambda: parquet.read_schema(paths[0]).names, doing=f"reading {paths[0]}")
        refuse_twins(list(names), where=str(paths[0]))
        files = ", ".join(literal_path(path) for path in paths)
        # Writers leave NaN out of a column's statistics, and DuckDB takes the statistics for proof that there is none.
        # A path such as age=30/x.parquet adds no column to a single file: its columns are those that are in it.
        options = f"can_have_nan = true, hive_partitioning = {str(len(paths) > 1).lower()}"
        read_as = {"format": "parquet", "files": str(len(paths))}
        with kept_open(DuckSession(limits=limits)) as session:
            session.seal(paths)
            return describe_source(session, f"FROM read_parquet([{files}], {options})", name=name, read_as=read_as)

    def csv(
        self,
        paths: Sequence[Path],
        *,
        name: str,
        limits: Limits,
        written: Source | None = None,
        private: bool = False,
    ) -> SourceTable:
        """One or more CSV files with the same names in the same order; every column is text.

        ``private`` reads them so that no record can make reading fail, see `csv_records`.
        """
        files = [inspect_private_csv(path, written) if private else inspect_csv(path, written) for path in paths]
        for file in files[1:]:
            if file.columns != files[0].columns:
                raise SourceError(
                    f"{file.path} does not have the same columns in the same order as {files[0].path}",
                    "give both the same first line, or read one of them",
                    code="SF-SOURCE-012",
                )
        read_as = {
            "format": "csv",
            "files": str(len(files)),
            "delimiter": files[0].delimiter,
            "quote": files[0].quote,
            "encoding": ", ".join(
                sorted({file.encoding.removesuffix("-sig").removesuffix("-damaged") for file in files})
            ),
            "guessed": ", ".join(dict.fromkeys(what for file in files for what in file.guessed.split(", ") if what)),
        }
        with kept_open(DuckSession(limits=limits)) as session:
            ready = [_prepare(file, session, place, private=private) for place, file in enumerate(files)]
            session.seal([path for path, _ in ready])
            sql = " UNION ALL ".join(f"FROM {reader}" for _, reader in ready)
            return describe_source(session, sql, name=name, read_as=read_as)

    def adopt(self, table: Any) -> SourceTable:
        """An Ibis table on DuckDB, queried through its own connection."""
        doing = "reading the Ibis table"
        with kept_open(DuckSession(table.get_backend().con)) as session:
            query = compile_query(table, session, doing=doing)
            query = hide_statistics(session, query, doing=doing)  # it may read Parquet files, see `parquet`
            return describe_source(session, query, name="the Ibis table", read_as={"format": "ibis"})


def _named(session: DuckSession, query: Mapping[str, list[str]], path: Path) -> tuple[str, str]:
    """The schema and table that the URL names, or the only one there is."""
    listed = session.fetch(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'source' ORDER BY ALL",
        doing=f"opening {path}",
    )
    there = list(zip(*(column.to_pylist() for column in listed.columns), strict=True))
    schema = query.get("schema", [None])[0]
    table = query.get("table", [None])[0]
    fitting = [(s, t) for s, t in there if (schema is None or s == schema) and (table is None or t == table)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{s}.{t}" if s != "main" else t for s, t in there) or "(none)"
    wanted = f"no table '{table}'" if table is not None and not fitting else f"{len(fitting)} tables to choose from"
    raise SourceError(
        f"{path} has {wanted}", f"add ?table=… (and &schema=…) with one of: {names}", code="SF-SOURCE-014"
    )


def _prepare(file: CsvFile, session: DuckSession, place: int, *, private: bool) -> tuple[Path, str]:
    """The file that the engine reads, and how: the file itself where it can, else a copy in the private folder."""
    path = file.path
    if file.encoding != "utf-8-sig":
        path = transcode(file, session.folder / f"in-utf-8-{place}.csv")
    shape = run_guarded(replace(file, path=path).find_shape, doing=f"reading {file.path}")
    if shape is not Shape.ODD or not private:
        return path, _read_csv(file, path, shape)
    if is_packed(path):
        path = transcode(file, session.folder / f"unpacked-{place}.csv")
    target = session.folder / f"records-{place}.parquet"
    run_guarded(lambda: write_records(path, target, file.dialect, file.columns), doing=f"reading {file.path}")
    return target, f"read_parquet({literal_path(target)}, hive_partitioning = false)"


def _read_csv(file: CsvFile, path: Path, shape: Shape) -> str:
    names = ", ".join(f"{text(name)}: 'VARCHAR'" for name in file.columns)
    long = 0 if shape is not Shape.ODD else min(path.stat().st_size, _LONG)  # a quoted field may have many lines
    return (
        f"read_csv({literal_path(path)}, auto_detect = false, header = true, columns = {{{names}}}, "
        f"delim = {text(file.delimiter)}, quote = {text(file.quote)}, escape = {text(file.quote)}, "
        f"hive_partitioning = false, max_line_size = {max(_LINE_LIMIT, long, 4 * file.longest)}, "
        # A thread that starts inside a quoted field may take the lines in it for records. An odd file is read as ever:
        # with one thread the engine does not tell of a quote that is never closed.
        f"parallel = {str(shape is not Shape.FIELDS).lower()})"
    )


DUCKDB = DuckDb()
ENGINES.add(DUCKDB)
