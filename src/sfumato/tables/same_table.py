"""Whether two sources name the same table, without opening either.

A stand-in is public and the table of a study is not. Whoever names the table of the study as the stand-in has made a
slip that no later step notices: its ε would be chosen on the records, with nothing that says so. Only names are
compared, so no record is read. What is found: the same files, by whatever path, pattern, link or engine; the same table
of a database, however its address is written; the same table in memory. A copy, a view, or another name of the same
server is not found.
"""

import os
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from sfumato.errors import SfumatoError
from sfumato.study.source import Source
from sfumato.tables.open_table import SCHEME, paths_of

_HERE: Final = frozenset({"", "localhost", "127.0.0.1", "::1"})  # one machine, by whatever name
_POSTGRES: Final = frozenset({"postgresql", "postgres"})
_PORT: Final = 5432
_FILE: Final = "file"
Place = tuple[object, ...]  # what it is, and what tells it from others of its kind


def is_same_table(one: Any, other: Any, *, base: Path) -> bool:
    """Whether two sources share a table; relative paths of both start at ``base``."""
    return any(_is_same(first, second) for first in _places(one, base) for second in _places(other, base))


def _is_same(one: Place, other: Place) -> bool:
    """The same place; what one of them does not say, such as the only table of a file, may be what the other says."""
    return len(one) == len(other) and all(a == b or a is None or b is None for a, b in zip(one, other, strict=True))


def _places(source: Any, base: Path) -> frozenset[Place]:
    named = source.path if isinstance(source, Source) else source
    if not isinstance(named, (str, Path)):
        return frozenset({("memory", id(named))})
    scheme = SCHEME.match(named) if isinstance(named, str) and not (base / named).exists() else None
    if scheme is None:
        return _files(str(named), base)
    try:
        return _address(str(named), scheme.group(1).lower(), base)
    except ValueError:  # nobody can open it
        return frozenset({("address", str(named))})


def _files(named: str, base: Path) -> frozenset[Place]:
    try:
        return frozenset(_file(path) for path in paths_of(base, named))
    except SfumatoError:  # there is none
        return frozenset({_file(base / named)})


def _file(path: Path) -> Place:
    """A file by what it is on the disk: links of both kinds lead to it."""
    try:
        found = path.stat()
    except OSError:
        return (_FILE, str(path.resolve()))
    return (_FILE, found.st_dev, found.st_ino) if found.st_ino else (_FILE, str(path.resolve()))


def _address(named: str, scheme: str, base: Path) -> frozenset[Place]:
    parts = urlsplit(named)
    options = {name.lower(): value for name, value in parse_qsl(parts.query)}
    table = options.get("table")
    if scheme == "duckdb":
        file = _file(base / unquote(parts.path[1:]))
        return frozenset({("duckdb", file, options.get("schema", "main"), table)})
    if scheme in _POSTGRES:
        host = (options.get("host") or parts.hostname or "").lower()
        port = int(options.get("port") or parts.port or _PORT)
        database = options.get("dbname") or unquote(parts.path.strip("/")) or None
        schema = options.get("schema", "public")
        return frozenset({("postgresql", "" if host in _HERE else host, port, database, schema, table)})
    path = options.get("path")
    if scheme == "spark+local" and path is not None:
        return _spark_files(base, path)
    place = "" if scheme == "spark+local" else parts.netloc.lower()
    return frozenset({(scheme, place, parts.path, None if table is None else table.casefold(), path or "")})


def _spark_files(base: Path, named: str) -> frozenset[Place]:
    """The files that Spark reads here: of a folder all that are in it."""
    path = base / Path(named).expanduser()
    found = [path] if path.exists() or not has_magic(named) else [Path(one) for one in glob(str(path))]  # noqa: PTH207 - of any root
    files = [Path(folder) / name for one in found for folder, _, names in os.walk(one) for name in names]
    return frozenset(map(_file, files or found))
