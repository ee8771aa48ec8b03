"""A release of another tool, as its owner names it: where it is, and what its rows are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class ForeignTable:
    """A table that another tool published: generalised records, or synthetic ones.

    ``source`` is a path, a URL, a table in memory, or a `Source`. ``synthetic`` says that no row is the record of a
    person: only the owner knows, since synthetic rows look like records. ``rate`` is the number of rows for each record
    of the study's table, if it is not 1: counts are divided by it. ``hierarchies`` are files with the tool's
    generalisation hierarchies, by column, a row a leaf as ARX writes them; they say what its labels mean.

    >>> ForeignTable(source="release.csv", rate=0.1).rate
    0.1
    """

    source: Any
    synthetic: bool = False
    rate: float = 1.0
    hierarchies: Mapping[str, str | Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given: Any = self.rate
        number = isinstance(given, (int, float)) and not isinstance(given, bool) and isfinite(given)
        if not number or given <= 0 or (given > 1 and not self.synthetic):
            raise UsageError(
                f"a rate of {self.rate} is not possible for {'synthetic rows' if self.synthetic else 'records'}",
                "give the number of rows for each record of the table: above 0, and at most 1 unless they are "
                "synthetic",
                code="SF-USAGE-350",
            )

    @property
    def label(self) -> str:
        """A name for it: the file's without its endings, or `table`."""
        if not isinstance(self.source, (str, Path)):
            return "table"
        name = Path(self.source).name
        for ending in (".gz", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq"):
            name = name.removesuffix(ending)
        return name or "table"


def foreign_table(given: Any) -> ForeignTable:
    """What a caller names: a `ForeignTable` as it is, anything else as a table of records."""
    return given if isinstance(given, ForeignTable) else ForeignTable(source=given)
