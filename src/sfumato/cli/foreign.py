"""Releases of other tools, as they are named on the command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import UsageError

if TYPE_CHECKING:
    from sfumato.evaluate.foreign import ForeignTable

Table = Annotated[
    str | None, typer.Option("--table", help="A table that another tool published, in place of a bundle: file or URL.")
]
Synthetic = Annotated[
    bool, typer.Option("--synthetic", help="The rows of --table are synthetic: sampled from a model, not records.")
]
Rate = Annotated[
    float | None,
    typer.Option("--rate", help="The number of rows of --table for each record of the study's table; default 1."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy", help="What labels of a column of --table mean: COLUMN=FILE, as ARX writes it. Repeatable."
    ),
]


def one_foreign_table(
    table: str, *, synthetic: bool = False, rate: float | None = None, hierarchies: Sequence[str] | None = None
) -> "ForeignTable":
    """The table of another tool that options describe."""
    from sfumato.evaluate.foreign import ForeignTable

    files = _hierarchy_files(hierarchies or ())
    return ForeignTable(source=table, synthetic=synthetic, rate=1.0 if rate is None else rate, hierarchies=files)


def _hierarchy_files(hierarchies: Sequence[str]) -> dict[str, str]:
    files = {}
    for text in hierarchies:
        column, given, file = text.partition("=")
        if not (column and given and file):
            raise UsageError(
                f"'{text[:60]}' names no hierarchy of a column", "write --hierarchy COLUMN=FILE", code="SF-USAGE-355"
            )
        files[column] = file
    return files


def study_of_table(first: Path | None, against: Path | None) -> Path:
    """The study that a table is measured against: the argument, or --against."""
    if (first is None) == (against is None):
        raise UsageError(
            "a table of another tool is measured against one study",
            "name the study once: `sfumato evaluate measures STUDY --table FILE`",
            code="SF-USAGE-359",
        )
    found = first or against
    assert found is not None, "one of the two"
    return found


def refuse_without_table(table: str | None, **options: object) -> None:
    """Options that describe a table, with none to describe."""
    given = [f"--{name}" for name, value in options.items() if value]
    if table is None and given:
        raise UsageError(
            f"{given[0]} describes a table of another tool, and none is given",
            "name it with --table FILE, or leave the option out",
            code="SF-USAGE-356",
        )


def foreign_tables(
    tables: Sequence[str], synthetic: Sequence[str], hierarchies: Sequence[str] = ()
) -> dict[str, "ForeignTable"]:
    """Several tables by the names of their points: NAME=FILE, or the file's own name.

    Hierarchies explain the labels of every table whose rows are not synthetic.
    """
    from sfumato.evaluate.foreign import ForeignTable

    refuse_without_table(tables[0] if tables else None, hierarchy=hierarchies)
    files = _hierarchy_files(hierarchies)
    found: dict[str, ForeignTable] = {}
    for text in tables:
        before, given, after = text.partition("=")
        named = bool(given and before and after) and not Path(text).exists()
        source = after if named else text
        name = before if named else ForeignTable(source=source).label
        if name in found:
            raise UsageError(
                f"two tables are called '{name}'", "give them different names: --table NAME=FILE", code="SF-USAGE-357"
            )
        drawn = name in synthetic
        found[name] = ForeignTable(source=source, synthetic=drawn, hierarchies={} if drawn else files)
    unknown = [name for name in synthetic if name not in found]
    if unknown:
        raise UsageError(
            f"no table is called '{unknown[0]}'",
            f"name one of: {', '.join(found)}" if found else "name tables with --table NAME=FILE",
            code="SF-USAGE-358",
        )
    return found
