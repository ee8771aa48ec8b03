"""Where Spark keeps the results of the work: tables in a database of their own, or in one that the owner names.

Storage, not memory: what is only cached is computed again when an executor is lost, and may then be computed from
other files. A database that was made here is dropped with its tables and its folder.
"""

import re
from dataclasses import dataclass
from uuid import uuid4

_DATABASE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


def identifier(name: str) -> str:
    """A name as SQL, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A text as SQL, whatever is in it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True)
class Scratch:
    """A database of the catalog, as SQL; with a folder where it is our own."""

    database: str
    folder: str | None = None

    @classmethod
    def of(cls, named: str) -> "Scratch":
        """What an address names: a database such as ``desk``, or a folder such as ``hdfs://host/desk``.

        >>> Scratch.of("desk").database
        '`desk`'
        >>> Scratch.of("/shared/desk").folder.startswith("/shared/desk/sfumato_")
        True
        """
        if _DATABASE.fullmatch(named):
            return cls(".".join(identifier(part) for part in named.split(".")))
        name = f"sfumato_{uuid4().hex}"
        return cls(identifier(name), f"{named.rstrip('/')}/{name}")

    def opening(self) -> list[str]:
        """What makes it ready."""
        return [] if self.folder is None else [f"CREATE DATABASE {self.database} LOCATION {text(self.folder)}"]

    def closing(self, tables: list[str]) -> list[str]:
        """What removes all that was kept."""
        if self.folder is not None:
            return [f"DROP DATABASE IF EXISTS {self.database} CASCADE"]
        return [f"DROP TABLE IF EXISTS {self.place(table)} PURGE" for table in tables]

    def place(self, table: str) -> str:
        """A table in it, as SQL."""
        return f"{self.database}.{identifier(table)}"
