"""A published table in PostgreSQL: made, filled and read back in one transaction, which is then committed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

import pyarrow as pa

from sfumato.errors import PublishError, SourceError
from sfumato.tables.engine import SourceTable
from sfumato.tables.postgres.column_types import describe_source
from sfumato.tables.postgres.session import PostgresSession, identifier, text
from sfumato.tables.publishing.destination import DistinctRows, PartFile, handed_over

_DOING: Final = "writing the release to PostgreSQL"
_LONGEST_NAME: Final = 63
_LONGEST_SUFFIX: Final = 8  # what tells several tables of a release apart
_REFUSED: Final = frozenset({"SF-SOURCE-377", "SF-SOURCE-403"})  # what a lack of rights is, or of a schema
_KEPT_NAMES: Final = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})


class PostgresDestination:
    """New tables of a database, made in the schema ``home``; ``schema`` is the one that the address names, if any."""

    kind = "postgresql"

    def __init__(self, session: PostgresSession, table: str, *, schema: str | None, home: str | None) -> None:
        self._session = session
        self._table = table
        self._schema = schema
        self._home = home
        self._made: list[str] = []
        if len(table.encode()) > _LONGEST_NAME - _LONGEST_SUFFIX:
            raise PublishError(
                f"the name of the table is longer than {_LONGEST_NAME - _LONGEST_SUFFIX} bytes",
                "choose a shorter one: the server cuts off longer names",
                code="SF-PUBLISH-026",
            )

    def refuse_unwritable(self, suffixes: Sequence[str]) -> None:
        """Whether a table is there already, or the role may make none in the schema."""
        for suffix in suffixes:
            self._refuse_existing(suffix)
        asked = (
            "SELECT count(*) AS n FROM pg_namespace "  # noqa: S608 - quoted
            f"WHERE nspname = {text(self._home or '')} "
            "AND has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE')"
        )
        if not self._session.fetch(asked, doing=_DOING)["n"][0].as_py():
            raise self._not_allowed("")

    def public_name(self, suffix: str) -> str:
        """Schema and table."""
        return ".".join(part for part in (self._schema, self._table + suffix) if part is not None)

    def write(self, suffix: str, pieces: Iterable[DistinctRows]) -> None:
        """Bring the distinct rows to the server, which repeats them; texts are compared byte by byte."""
        self._refuse_existing(suffix)
        kinds: list[str] = []
        for rows, times in pieces:
            if not kinds:
                kinds = self._create(suffix, rows)
            self._insert(suffix, kinds, handed_over(rows, times))
        self._session.run(f"ANALYZE {self._place(suffix)}", doing=_DOING)
        self._made.append(suffix)

    def _create(self, suffix: str, rows: pa.Table) -> list[str]:
        """Make an empty table, and say of which types."""
        _refuse_names(rows.column_names)
        names = [identifier(name) for name in rows.column_names]
        kinds = [_server_type(field.type) for field in rows.schema]
        place = self._place(suffix)
        declared = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        try:
            self._session.run(f"CREATE TABLE {place} ({declared})", doing=_DOING)
        except SourceError as error:
            if error.code not in _REFUSED:
                raise
            raise self._not_allowed(suffix) from error
        return kinds

    def _not_allowed(self, suffix: str) -> PublishError:
        return PublishError(
            f"the table '{self.public_name(suffix)}' cannot be created by this role",
            "GRANT USAGE, CREATE ON SCHEMA … to the role, or name another schema (&schema=…)",
            code="SF-PUBLISH-027",
        )

    def _insert(self, suffix: str, kinds: Sequence[str], rows: pa.Table) -> None:
        place, brought = self._place(suffix), self._session.place(self._session.store(rows))
        read = ", ".join(f"CAST(c{number} AS {kind})" for number, kind in enumerate(kinds))
        self._session.run(
            f"INSERT INTO {place} SELECT {read} FROM {brought} CROSS JOIN LATERAL generate_series(1, again) "  # noqa: S608
            "ORDER BY place",
            doing=_DOING,
        )
        self._session.run(f"DROP TABLE {brought}", doing=_DOING)

    def open(self, suffix: str) -> SourceTable:
        """The table as the transaction sees it."""
        name = f"table '{self.public_name(suffix)}'"
        return describe_source(self._session, f"SELECT * FROM {self._place(suffix)}", name=name)  # noqa: S608 - quoted

    def parts(self, suffix: str) -> Mapping[str, PartFile]:  # noqa: ARG002 - the shape of a destination
        """A table has no files to show."""
        return {}

    def commit(self) -> None:
        """Let others see the tables."""
        self._session.commit(doing=_DOING)

    def withdraw(self) -> None:
        """Drop the tables again."""
        for suffix in self._made:
            self._session.run(f"DROP TABLE IF EXISTS {self._place(suffix)}", doing=_DOING)
        self._session.commit(doing=_DOING)

    def close(self) -> None:
        """Roll back what was not committed."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _place(self, suffix: str) -> str:
        name = identifier(self._table + suffix)
        return name if self._home is None else f"{identifier(self._home)}.{name}"

    def _refuse_existing(self, suffix: str) -> None:
        asked = f"SELECT to_regclass({text(self._place(suffix))}) IS NOT NULL AS found"
        if self._session.fetch(asked, doing=_DOING)["found"][0].as_py():
            raise PublishError(
                f"the table '{self.public_name(suffix)}' exists already, and a release is never overwritten",
                "name another table, or drop this one",
                code="SF-PUBLISH-023",
            )


def _refuse_names(names: Sequence[str]) -> None:
    """Names that the server cuts off, or keeps for itself."""
    short = [name.encode()[:_LONGEST_NAME] for name in names]
    if len(set(short)) < len(names) or any(len(name.encode()) > _LONGEST_NAME for name in names):
        raise PublishError(
            f"a column has a name of more than {_LONGEST_NAME} bytes, which the server would cut off",
            "release it under a shorter name, or leave out --to",
            code="SF-PUBLISH-028",
        )
    if kept := [name for name in names if name in _KEPT_NAMES]:
        raise PublishError(
            f"PostgreSQL keeps the name '{kept[0]}' for itself, so no column of a table can have it",
            "rename the column, or leave out --to",
            code="SF-PUBLISH-029",
        )


def _server_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return "TEXT"
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_date(kind):
        return "DATE"
    return "BIGINT" if pa.types.is_integer(kind) else "DOUBLE PRECISION"
