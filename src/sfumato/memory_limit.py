"""How many cells may come to this process from an engine that is elsewhere.

Methods of groups, measures and attacks need every occupied combination of values. There can be as many as records, and
they are held here, so an engine that is not this process counts them before they are brought, and refuses too many. The
built-in engine is this process: there a limit that is stated decides whether a method that can work in parts does so,
whether a report follows, and whether records may be taken apart. Of a table in parts also the values of a single
attribute are counted before they are brought, since there can be as many of them as records.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sfumato.errors import SourceError, UsageError

MEMORY: Final = "2GB"
"""What cells may take where no memory limit is given."""

BYTES_PER_CODE: Final = 64
"""What a code of a cell takes at the peak of a release: measured with Mondrian, whose sorts hold it several times."""

_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_memory(text: str) -> int:
    """Bytes, from a text such as 500MB or 2GiB.

    >>> parse_memory("2GB"), parse_memory("1 KiB")
    (2000000000, 1024)
    """
    found = re.fullmatch(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if found is None:
        raise UsageError(
            f"the memory limit '{text[:40]}' is no amount of memory", "write it as 500MB or 4GB", code="SF-USAGE-379"
        )
    number, unit, binary = found.groups()
    size = _UNITS[unit.upper()]
    if binary:
        size = 1024 ** list(_UNITS.values()).index(size)
    return int(float(number) * size)


def most_cells(memory: int, attributes: int) -> int:
    """How many cells of so many attributes fit, with their counts."""
    return max(1, memory // (BYTES_PER_CODE * (attributes + 1)))


class ManyCellsError(SourceError):
    """More cells than fit here; the message says that there are more, and not how many."""

    limit = 0  # how many would fit
    cells = 0  # how many there are, which no message says

    def because(self, why: str) -> "ManyCellsError":
        """The same with what they would be collected for."""
        found = ManyCellsError(f"{self.problem}: {why}", self.fix, code=self.code)
        found.limit, found.cells = self.limit, self.cells
        return found


@contextmanager
def collecting(why: str) -> Iterator[None]:
    """Say what cells would be collected for, where more are asked for than fit."""
    try:
        yield
    except ManyCellsError as error:
        found = error.because(why)
    else:
        return
    raise found


def refuse_many_cells(found: int, limit: int, *, attributes: int, where: str) -> None:
    """Stop before more cells are brought than fit."""
    if found > limit:
        what = "values of an attribute" if attributes == 1 else f"combinations of the {attributes} requested attributes"
        error = ManyCellsError(
            f"{where} has more than {limit:,} distinct {what}, and more do not fit the memory limit",
            "raise --memory-limit, or declare coarser values, such as a larger step"
            if attributes == 1
            else "raise --memory-limit, or release fewer attributes or coarser values; `full-domain`, `tds` and "
            "`mondrian` (strict, without `suppress`) work in parts",
            code="SF-SOURCE-397",
        )
        error.limit, error.cells = limit, found
        raise error


def refuse_many_records(found: int, limit: int | None, *, attributes: int, where: str) -> None:
    """Stop before more records are taken apart than fit: one by one, each takes what a cell does. None: no limit."""
    if limit is not None and found > limit:
        raise ManyCellsError(
            f"{where} has more than {limit:,} records, and more of the {attributes} requested attributes do not fit "
            "the memory limit one by one",
            "raise --memory-limit, or use fewer attributes or records",
            code="SF-SOURCE-642",
        )
