"""The address of a table that Spark reads: what it names, and what it may not hold."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from sfumato.errors import SourceError

FORMATS: Final = ("parquet", "delta")
_OPTIONS: Final = ("table", "path", "format", "scratch")
_FORM: Final = (
    "write spark+local://?path=visits.parquet, spark://host:port?table=clinic.visits&scratch=PLACE or "
    "sc://host:port?table=clinic.visits&scratch=PLACE"
)


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where Spark is (``place``, empty: here), and one table: of its catalog, or files at a path.

    ``scratch`` is where results of the work are kept until the table is closed: a folder, or a database of the catalog.
    """

    place: str
    table: str | None = None
    path: str | None = None
    format: str = "parquet"
    scratch: str | None = None

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read an address; the message of a failure repeats nothing of it but names of options.

        >>> Address.of("spark://host:7077?table=clinic.visits&scratch=desk").place
        'host:7077'
        """
        try:
            parts = urlsplit(url)
            password = parts.password
            options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise SourceError("the address of a Spark table cannot be read", _FORM, code="SF-SOURCE-384") from None
        path = parts.path.strip("/")
        if password is not None or "token=" in path.lower():
            raise SourceError(
                "the address of a Spark table has a password or token in it",
                "remove it, and give a token by SPARK_CONNECT_AUTHENTICATE_TOKEN",
                code="SF-SOURCE-385",
            )
        if path:
            raise SourceError(
                "the address of a Spark table goes on after host and port",
                f"name files by ?path=…: {_FORM}",
                code="SF-SOURCE-386",
            )
        unknown = [name for name, _ in options if name not in _OPTIONS]
        named = dict(options)
        if unknown or len(named) < len(options):
            raise SourceError(
                "the address of a Spark table has an option that is not known, or one twice",
                f"use each of these at most once: {', '.join(_OPTIONS)}",
                code="SF-SOURCE-387",
            )
        return cls._complete(parts.netloc, named)

    @classmethod
    def _complete(cls, place: str, named: dict[str, str]) -> "Address":
        if bool(named.get("table")) == bool(named.get("path")):
            raise SourceError("the address of a Spark table names no table, or two", _FORM, code="SF-SOURCE-388")
        if named.get("format", "parquet") not in FORMATS:
            raise SourceError(
                "the address of a Spark table has a format that is not read here",
                f"use one of: {', '.join(FORMATS)}; make a table of other files in Spark's catalog",
                code="SF-SOURCE-389",
            )
        return cls(place=place, **{name: value for name, value in named.items() if value})
