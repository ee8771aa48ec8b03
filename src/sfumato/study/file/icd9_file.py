"""The packaged list of ICD-9-CM diagnosis codes, as a taxonomy."""

import csv
from functools import cache
from importlib.resources import files
from typing import Any

from sfumato.domains.taxonomy.icd9 import Span, icd9
from sfumato.domains.taxonomy.tree import Taxonomy


@cache
def icd9_taxonomy(spelling: str = "dotted") -> Taxonomy:
    """All diagnosis codes of version 32 (2014, the last): chapters, blocks, categories, codes, with V and E codes.

    ``spelling`` is how the table writes them: `dotted` (008.45), `plain` (00845) or `unpadded` (8.45).

    >>> tree = icd9_taxonomy()
    >>> tree.label(*tree.lowest_common([tree.leaves.index(code) for code in ("250.83", "250.8")]))
    '250.8*'
    """
    folder = files("sfumato") / "data" / "icd9"
    codes = (folder / "codes.txt").read_text(encoding="utf-8").split()
    return icd9(_spans(folder / "chapters.csv"), _spans(folder / "blocks.csv"), codes, spelling)


def _spans(file: Any) -> list[Span]:
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return [(row["first"], row["last"], row["title"]) for row in rows]
