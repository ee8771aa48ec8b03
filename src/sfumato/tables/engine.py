"""What an engine must do: run SQL that Ibis wrote in its dialect. Engines are found by the scheme of a URL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, Self

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import SfumatoError, SourceError
from sfumato.memory_limit import MEMORY, parse_memory
from sfumato.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much of the machine an engine may take; None leaves it to the engine."""

    memory: str | None = None  # such as "2GB"
    threads: int | None = None

    @property
    def cells(self) -> int:
        """Bytes that cells may take in this process, where the engine is elsewhere."""
        return parse_memory(self.memory or MEMORY)


GroupWork = Callable[[int, Mapping[str, NDArray[np.int64]]], NDArray[np.int64]]
"""What is to be made of a group of rows: by its number and its columns, a table of whole numbers."""


class Session(Protocol):
    """One open connection. Every method turns the engine's errors into ours (see `guard`)."""

    dialect: str  # as Ibis calls it
    memory: int | None  # bytes that cells may take here, see `memory_limit`; None: no limit is stated
    remote: bool  # whether records are elsewhere, so that nothing beyond that may be brought

    def compile(self, expression: ir.Table) -> str:
        """The expression as SQL of the engine."""
        ...

    def fetch(self, sql: str, *, doing: str) -> pa.Table:
        """Run a query and bring its result home."""
        ...

    def fetch_pieces(self, sql: str, *, rows: int, most: int, doing: str) -> Iterator[pa.Table]:
        """The same of a result of at most so many rows, about ``rows`` at a time.

        Nothing else may be asked until the last piece is there.
        """
        ...

    def keep(self, sql: str, *, doing: str) -> str:
        """Run a query, keep its result in the engine as a temporary table, and say the table's name."""
        ...

    def look(self, sql: str, *, doing: str) -> str:
        """Give a query a name, without running it."""
        ...

    def put(self, table: pa.Table) -> str:
        """Bring a small table of declared values to the engine, and say its name."""
        ...

    def store(self, table: pa.Table) -> str:
        """The same of values that were read from records: they may stand in no text of a query, which servers log."""
        ...

    def has_workers(self) -> bool:
        """Whether other processes of the engine can run our code, with `map_groups`."""
        ...

    def map_groups(
        self, sql: str, work: GroupWork, *, groups: int, width: int, doing: str
    ) -> Iterator[NDArray[np.int64]]:
        """Run a query, and a function on each group of its rows with one ``part``, of which there are so many.

        What it makes of them comes here one part after the other.
        """
        ...

    def close(self) -> None:
        """Drop what was kept and let go of the connection; closing twice is fine."""
        ...


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table where it lies: an Ibis table for its shape, a session that can query it, and how it was read.

    ``table`` is unbound: expressions over it are compiled with `compile` and run by the session.
    """

    table: ir.Table
    session: Session
    name: str  # for messages: a path, a table's name, or what kind of object it was
    read_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.table.columns)

    def compile(self, expression: ir.Table) -> str:
        """The expression as SQL of the engine."""
        return self.session.compile(expression)

    def fetch(self, expression: ir.Table) -> pa.Table:
        """The rows of an expression over ``table``."""
        return self.session.fetch(self.compile(expression), doing=f"reading {self.name}")

    def fetch_pieces(self, expression: ir.Table, *, rows: int, most: int) -> Iterator[pa.Table]:
        """The same, of at most so many rows, about ``rows`` at a time."""
        sql = self.compile(expression)
        return self.session.fetch_pieces(sql, rows=rows, most=most, doing=f"reading {self.name}")

    def close(self) -> None:
        """Let go of the connection and of everything temporary."""
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Engine(Protocol):
    """Opens tables. ``name`` is the scheme of its URLs."""

    name: ClassVar[str]

    def open(self, url: str, *, base: Path, limits: Limits) -> SourceTable:
        """Open the table a URL names."""
        ...

    def load(self, table: "pa.Table | pa.RecordBatchReader", *, name: str, limits: Limits) -> SourceTable:
        """Open a table in memory, or a stream that can be read once."""
        ...


ENGINES: Registry[Engine] = Registry("engine")


def refuse_no_columns(columns: Sequence[object], *, where: str) -> None:
    """A source must have columns."""
    if not columns:
        raise SourceError(f"{where} has no columns", "point to a table with columns", code="SF-SOURCE-370")


def refuse_no_records(session: Session, sql: str, *, where: str) -> None:
    """A source must have a record; no more than whether it has one is asked."""
    first = session.fetch(f"SELECT 1 AS one FROM ({sql}) AS source LIMIT 1", doing=f"reading {where}")  # noqa: S608
    if first.num_rows == 0:
        raise SourceError(
            f"{where} holds no records", "point to a table with at least one record", code="SF-SOURCE-371"
        )


def refuse_twins(columns: list[str], *, where: str, error: type[SfumatoError] = SourceError) -> None:
    """Column names must differ by more than case: SQL does not tell ``Age`` from ``age``."""
    seen: dict[str, str] = {}
    for name in columns:
        twin = seen.get(name.casefold())
        if twin == name:
            raise error(f"{where} has two columns called '{name}'", "rename or drop one of them", code="SF-SOURCE-015")
        if twin is not None:
            raise error(
                f"the columns '{twin}' and '{name}' of {where} differ only in case",
                "rename one of them",
                code="SF-SOURCE-016",
            )
        seen[name.casefold()] = name
