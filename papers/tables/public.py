"""Public tables that are too large to be packaged: where their folder is, and what is said if it is not there."""

import os
from pathlib import Path

from sfumato.errors import SourceError, UsageError

VARIABLE = "SFUMATO_SHARED"


def folder_of(data: Path | None, inside: str, *, whose: str, needs: str) -> Path:
    """The folder of one public table, by a file ``inside`` the folder of all of them; ``whose`` records it has."""
    given = data if data is not None else os.environ.get(VARIABLE)
    if given is None:
        raise UsageError(
            f"this figure runs on records of {whose}, which are not packaged",
            f"give their folder with --data FOLDER, or name it in {VARIABLE}: {needs}",
        )
    found = Path(given) / inside
    if not found.is_file():
        raise SourceError(f"'{given}' does not hold the records of {whose}", f"give with --data FOLDER {needs}")
    return found.parent
