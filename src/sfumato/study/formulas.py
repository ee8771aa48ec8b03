"""Text that a spreadsheet takes for a formula when it opens a CSV file.

Declared values are published as they are: to change them would change the data, and every hash and check with it. So
whoever publishes and whoever receives is told. Only declarations are looked at, which are public; nothing here sees a
record.
"""

import re
from collections.abc import Iterable, Sequence

from sfumato.domains.domain import Domain, Grid
from sfumato.study.attribute import Attribute

_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")


def formula_like(text: str) -> bool:
    """Whether a spreadsheet may run a cell with this text; a plain number is none.

    >>> [formula_like(text) for text in ("=cmd|' /C calc'!A0", "@SUM(1)", "-1.5", "-", "5-9", "(none)")]
    [True, True, False, True, False, False]
    """
    return text.startswith(_STARTS) and _NUMBER.fullmatch(text) is None


def formula_columns(columns: Iterable[tuple[str, Domain | None]]) -> list[str]:
    """The columns whose name or one of whose declared values looks like a formula."""
    return [name for name, domain in columns if formula_like(name) or any(map(formula_like, _labels(domain)))]


def formula_words(attributes: Sequence[Attribute]) -> list[str]:
    """A warning for whoever opens the CSV file in a spreadsheet; nothing where there is nothing to warn of."""
    found = formula_columns((a.name, a.domain) for a in attributes)
    if not found:
        return []
    said = (
        "declared values begin like formulas of a spreadsheet (with =, +, -, @, a tab or a carriage return) and are "
        f"published as they are, for {', '.join(found)}: a spreadsheet may run them when it opens the CSV file, so "
        "import the columns as text or read the Parquet file"
    )
    return [said]


def _labels(domain: Domain | None) -> Sequence[str]:
    if domain is None or isinstance(domain, Grid):
        return ()
    taxonomy = getattr(domain, "taxonomy", None)
    return () if taxonomy is None else tuple(taxonomy.labels)
