"""CSV files of bundles: the first line is looked at before a file is parsed."""

import csv
from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import VerifyError
from sfumato.release.storage.untrusted import open_regular


def refuse_header(path: Path, names: Sequence[str]) -> None:
    """Refuse a file that does not begin with these columns: a parser makes room for as many as the first line names."""
    most = 64 + sum(4 * len(name.encode()) + 8 for name in names)
    with open_regular(path) as file:
        text = file.read(most).decode("utf-8-sig", "replace")
    try:
        found = next(csv.reader(text.splitlines(keepends=True)), [])
    except csv.Error:
        found = []
    if found != list(names):
        raise VerifyError("the columns are not the declared ones", "get the bundle again", code="SF-VERIFY-056")
