"""The one place where a workflow opens the table of a study; private work reads it by what is public.

A private release refuses a table whose records would have to tell how it is written. What an error or a plan says of a
guess is decided by the line of names, which is public, but for the encoding: that it is named tells that the file holds
a byte that is not UTF-8 (see `tables.csv.dialect`). Both are for the owner.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.errors import SourceError
from sfumato.study.study import Study
from sfumato.tables import SourceTable, open_source


@contextmanager
def open_study_table(
    study: Study, *, private: bool = False, guesses: bool = False, memory_limit: str | None = None
) -> Iterator[SourceTable]:
    """The table of a study, closed afterwards.

    What is ``private`` reads CSV files by rules under which every file is a table, and refuses one whose records would
    have to tell how it is written, unless ``guesses`` are allowed: to whoever looks for the owner alone.
    """
    with open_source(study.source, base=study.base, memory_limit=memory_limit, private=private) as table:
        if private and not guesses:
            refuse_guesses(table)
        yield table


def find_guess(table: SourceTable) -> SourceError | None:
    """Why a private release is refused: the format of the table is neither declared nor clear from its header."""
    guessed = [what for what in table.read_as.get("guessed", "").split(", ") if what]
    if not guessed:
        return None
    fields = ", ".join(f"{what}: {_show(table.read_as[what])}" for what in guessed)
    it = "it" if len(guessed) == 1 else "them"
    return SourceError(
        f"the {', '.join(guessed)} of {table.name} had to be guessed from its records, so one record could change how "
        "all the others are read, and no ε would cover that",
        f"declare {it} in the study: `source: {{path: …, {fields}}}`, if that is right, or save the table as Parquet",
        code="SF-SOURCE-047",
    )


def refuse_guesses(table: SourceTable) -> None:
    """The format of a CSV file may not be guessed from records: one more record could change how all are read."""
    guess = find_guess(table)
    if guess is not None:
        raise guess


def _show(value: str) -> str:
    r"""A mark as a study says it; an encoding as it is. Several files may differ, and then the owner chooses.

    >>> [_show(value) for value in (",", "\t", "windows-1252", "utf-8, windows-1252")]
    ['","', 'tab', 'windows-1252', '…']
    """
    if value == "\t":
        return "tab"
    if len(value) == 1:
        return f"'{value}'" if value == '"' else f'"{value}"'
    return "…" if not value or ", " in value else value
