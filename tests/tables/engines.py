"""Every engine with a way to give it a table: what the contract of engines is tested with."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.tables import ENGINES, open_source

_NUMBERS = itertools.count(1)

TESTED = [name for name in ENGINES if name not in {"spark", "sc"}]  # the same engine as spark+local, elsewhere


def loader(request):
    """The engine whose name is the parameter of a fixture; its server is started where it needs one."""
    if request.param == "postgresql":
        return PostgresTables(request.getfixturevalue("postgres"))
    if request.param == "spark+local":
        request.getfixturevalue("spark")
        return SparkTables(request.getfixturevalue("tmp_path_factory").mktemp("tables"))
    return ENGINES[request.param]


@dataclass
class PostgresTables:
    """Tables in a database of a real server."""

    address: str
    name: str = "postgresql"

    def load(self, table, *, name, limits=None):
        return open_source(self.store(table))

    def store(self, table):
        """The address of a new table with these records."""
        import psycopg

        place = f"t{next(_NUMBERS)}"
        columns = ", ".join(f'"{_quoted(field.name)}" {_type(field.type)}' for field in table.schema)
        with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE UNLOGGED TABLE {place} ({columns})")
            with connection.cursor() as cursor, cursor.copy(f"COPY {place} FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)
        return f"{self.address}/postgres?table={place}"


@dataclass
class SparkTables:
    """Parquet files that Spark reads."""

    folder: Path
    name: str = "spark+local"

    def load(self, table, *, name, limits=None):
        return open_source(self.store(table))

    def store(self, table):
        """The address of a new file with these records."""
        path = self.folder / f"t{next(_NUMBERS)}.parquet"
        pq.write_table(table, path)
        return f"spark+local://?path={path}"


def _quoted(name):
    return name.replace('"', '""')


def _type(kind):
    if pa.types.is_list(kind):
        return f"{_type(kind.value_type)}[]"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMPTZ"
    if pa.types.is_decimal(kind):
        return "NUMERIC"
    names = {
        pa.bool_(): "BOOLEAN", pa.int8(): "SMALLINT", pa.int16(): "SMALLINT", pa.int32(): "INTEGER",
        pa.int64(): "BIGINT", pa.float32(): "REAL", pa.float64(): "DOUBLE PRECISION", pa.date32(): "DATE",
        pa.null(): "TEXT", pa.string(): "TEXT", pa.large_string(): "TEXT",
    }  # fmt: skip
    return names.get(kind, "TEXT")
