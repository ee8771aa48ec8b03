"""Opening a place for published tables by its address, and finding the tables of one release again."""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qsl, urlencode

from sfumato.errors import UsageError, VerifyError
from sfumato.tables.engine import Limits, SourceTable
from sfumato.tables.open_table import open_source
from sfumato.tables.postgres.postgres_engine import POSTGRES
from sfumato.tables.publishing.destination import Destination, PartFile, spark_path, suffixed_path, suffixed_table
from sfumato.tables.spark.spark_engine import open_spark_destination

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+]+)://", re.IGNORECASE)


def open_destination(address: str, *, memory_limit: str | None = None) -> Destination:
    """The place that an address names; `Destination.refuse_unwritable` says whether tables can be written there."""
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
    >>> table_address("spark+local://?path=lake/visits", "_st")
    'spark+local://?path=lake%2Fvisits_st'
    >>> table_address("spark://host:7077?table=`visits-2024`", "_st")
    'spark://host:7077?table=%60visits-2024_st%60'
    """
    if not suffix:
        return address
    place, _, query = address.partition("?")
    postgres = place.lower().startswith(f"{POSTGRES.name}:")
    other = {
        "table": (lambda name: name + suffix) if postgres else partial(suffixed_table, suffix=suffix),
        "path": partial(suffixed_path, suffix=suffix),
    }
    return f"{place}?{urlencode([(n, other[n](v) if n in other else v) for n, v in parse_qsl(query)])}"


@dataclass(frozen=True, eq=False)
class AddressedTables:
    """The tables of a release at an address: of PostgreSQL or Spark, or a folder of Parquet files on this machine."""

    address: str
    memory_limit: str | None = None
    _opened: ExitStack = field(default_factory=ExitStack, repr=False)

    def open(self, suffix: str) -> SourceTable:
        """A table, open until all are closed."""
        if _SCHEME.match(self.address):
            return self._open(table_address(self.address, suffix))
        files = published_files(self._folder(suffix))
        for path in files:  # an engine takes the columns of one file for those of all
            with open_source(escape(str(path))) as one, open_source(escape(str(files[0]))) as first:
                if one.table.schema() != first.table.schema():
                    raise VerifyError(
                        f"the files of '{path.parent.name}' do not have the same columns",
                        "get them again from who published them",
                        code="SF-VERIFY-143",
                    )
        return self._open(f"{escape(str(self._folder(suffix)))}/*.parquet")

    def _open(self, address: str) -> SourceTable:
        return self._opened.enter_context(open_source(address, memory_limit=self.memory_limit))

    def _folder(self, suffix: str) -> Path:
        return Path(suffixed_path(self.address, suffix)).expanduser().absolute()

    def parts(self, suffix: str) -> Mapping[str, PartFile]:
        """The files of a folder with their hashes: read here where the folder is on this machine, else by Spark."""
        if not _SCHEME.match(self.address):
            return _hash_files(published_files(self._folder(suffix)))
        source = self.open(suffix)
        where = dict(parse_qsl(self.address.partition("?")[2]))
        if source.read_as.get("format") != "spark" or "path" not in where:
            return {}
        from sfumato.tables.spark.destination import hash_parts  # noqa: PLC0415 - pyspark is an extra
        from sfumato.tables.spark.session import SparkQueries  # noqa: PLC0415

        assert isinstance(source.session, SparkQueries), "it read Spark's table"
        local = self.address.lower().startswith("spark+local:")
        return hash_parts(source.session, spark_path(where["path"], suffix, local=local))

    def close(self) -> None:
        """Close all tables."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def published_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder; anything that other readers might read beside them is refused.

    What Spark adds (`_SUCCESS`, checksums that begin with a dot) is passed over, as readers do.
    """
    found = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        raise VerifyError(
            f"there is no folder '{folder.name}' that can be read",
            "name the folder with the files",
            code="SF-VERIFY-144",
        ) from None
    for entry in entries:
        if entry.is_file(follow_symlinks=False) and entry.name.startswith((".", "_SUCCESS")):
            continue
        if not entry.is_file(follow_symlinks=False) or not entry.name.endswith(".parquet"):
            raise VerifyError(
                f"'{folder.name}' holds something that is no file of the release",
                "get the folder again from who published it",
                code="SF-VERIFY-145",
            )
        found.append(Path(entry.path))
    if not found:
        raise VerifyError(
            f"'{folder.name}' has no Parquet files", "name the folder with the files", code="SF-VERIFY-146"
        )
    return found


def _hash_files(files: Sequence[Path]) -> dict[str, PartFile]:
    found = {}
    for path in files:
        with path.open("rb") as file:
            found[path.name] = PartFile(
                size=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest()
            )
    return found
