"""Writing what a command was asked to write: never over something that is there."""

import os
from pathlib import Path

from sfumato.errors import PublishError, unwritable


def write_new(place: Path, text: str) -> None:
    """Write a text to a file that does not exist yet."""
    try:
        with place.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise PublishError(
            f"'{place}' exists already", "name another file, or move this one away", code="SF-PUBLISH-003"
        ) from None
    except OSError as error:
        raise unwritable(place, error) from None


def beside_study(table: str, folder: Path) -> str:
    """A table as a study in a folder names it: in a study, paths start at the study's folder; addresses stay as is.

    >>> beside_study("visits.csv", Path("clinic")), beside_study("duckdb:///f.db", Path("clinic"))
    ('../visits.csv', 'duckdb:///f.db')
    """
    if ":" in table or Path(table).is_absolute():
        return table
    return Path(os.path.relpath(table, folder)).as_posix()
