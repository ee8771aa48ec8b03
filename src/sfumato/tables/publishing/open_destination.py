"""Opening a place for published tables by its address, and finding the tables of one release again."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qsl, urlencode

from sfumato.errors import UsageError
from sfumato.tables.engine import Limits, SourceTable
from sfumato.tables.open_table import open_source
from sfumato.tables.postgres.postgres_engine import POSTGRES
from sfumato.tables.publishing.destination import Destination, PartFile
from sfumato.tables.spark.spark_engine import open_spark_destination

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+]+)://", re.IGNORECASE)


def open_destination(address: str, *, memory_limit: str | None = None) -> Destination:
    """The place that an address names; refused if a table is there already, so that none is ever overwritten."""
    found = _SCHEME.match(address)
    scheme = found.group(1).lower() if found else ""
    limits = Limits(memory=memory_limit)
    if scheme == POSTGRES.name:
        return POSTGRES.destination(address, limits=limits)
    if scheme in {"spark", "spark+local", "sc"}:
        destination: Destination = open_spark_destination(scheme, address, limits=limits)
        return destination
    raise UsageError(
        "a release cannot be written there",
        "give --to a table of PostgreSQL (postgresql://host/database?table=t), or files or a table of Spark "
        "(spark://host:port?path=/shared/t&scratch=PLACE); leave it out for files in the bundle",
        code="SF-USAGE-394",
    )


def table_address(address: str, suffix: str) -> str:
    """The address of another table of the same release.

    >>> table_address("postgresql://host/db?schema=s&table=t", "_st")
    'postgresql://host/db?schema=s&table=t_st'
    >>> table_address("lake/visits", ""), table_address("spark+local://?path=lake/visits", "_st")
    ('lake/visits/*.parquet', 'spark+local://?path=lake%2Fvisits_st')
    """
    if not _SCHEME.match(address):
        return f"{address.rstrip('/')}{suffix}/*.parquet"
    if not suffix:
        return address
    place, _, query = address.partition("?")
    named = [(n, v.rstrip("/") + suffix if n in {"table", "path"} else v) for n, v in parse_qsl(query)]
    return f"{place}?{urlencode(named)}"


@dataclass(frozen=True, eq=False)
class AddressedTables:
    """The tables of a release at an address: of PostgreSQL or Spark, or a folder of Parquet files on this machine."""

    address: str
    memory_limit: str | None = None
    _opened: ExitStack = field(default_factory=ExitStack, repr=False)

    def open(self, suffix: str) -> SourceTable:
        """A table, open until all are closed."""
        address = table_address(self.address, suffix)
        return self._opened.enter_context(open_source(address, memory_limit=self.memory_limit))

    def parts(self, suffix: str) -> Mapping[str, PartFile]:
        """The files of a folder with their hashes: read here where the folder is on this machine, else by Spark."""
        if not _SCHEME.match(self.address):
            return _hash_folder(Path(self.address.rstrip("/") + suffix))
        source = self.open(suffix)
        where = dict(parse_qsl(self.address.partition("?")[2]))
        if source.read_as.get("format") != "spark" or "path" not in where:
            return {}
        from sfumato.tables.spark.destination import hash_parts  # noqa: PLC0415 - pyspark is an extra
        from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415

        assert isinstance(source.session, SparkQueries), "it read Spark's table"
        local = self.address.lower().startswith("spark+local:")
        path = where["path"].rstrip("/") + suffix
        return hash_parts(source.session, f"file:{Path(path).expanduser().absolute()}" if local else path)

    def close(self) -> None:
        """Close all tables."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _hash_folder(folder: Path) -> dict[str, PartFile]:
    """The Parquet files of a folder on this machine."""
    found = {}
    for path in sorted(folder.glob("*.parquet")):
        with path.open("rb") as file:
            found[path.name] = PartFile(
                size=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest()
            )
    return found
