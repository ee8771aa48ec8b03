"""What a study shows of itself where it is printed, and in a notebook.

It shows what was declared, and what the ledger has spent. Nothing is read from the table. A domain that was read off
records and not declared yet is named as such, and nothing of it is shown: its bounds and values are those of people.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.display import Display
from sfumato.domains.domain_words import domain_words
from sfumato.errors import SfumatoError
from sfumato.ledger import Ledger, spent_words
from sfumato.study.budget import show
from sfumato.study.source import Source
from sfumato.study.study import Study as Declared


def study_display(study: Declared, ledger: Callable[[], Ledger]) -> Display:
    """A declared study with its budget and its attributes; ``ledger`` opens the ledger."""
    return Display(
        title=f"Study '{study.name}'",
        facts=(
            ("table", _source_words(study.source)),
            ("privacy unit", study.unit.words),
            ("budget", _budget_words(study, ledger)),
            *((("releases", ", ".join(study.releases)),) if study.releases else ()),
            *((("purposes", ", ".join(study.purposes)),) if study.purposes else ()),
        ),
        columns=("attribute", "role", "domain"),
        rows=tuple(
            (a.name, a.role.value.replace("_", "-"), "" if a.domain is None else domain_words(a.domain))
            for a in study.attributes.values()
        ),
    )


def _budget_words(study: Declared, ledger: Callable[[], Ledger]) -> str:
    """What is declared and spent; a ledger on a server is not asked, since showing an object should not wait."""
    if study.ledger is not None and study.ledger.startswith("postgres"):
        declared = "none" if study.budget is None else f"ε = {show(study.budget)}"
        return f"{declared}; the ledger is in PostgreSQL"
    try:
        return spent_words(ledger().entries(study.name), study.budget)
    except SfumatoError as error:
        return f"the ledger cannot be read: {error.problem}"


def _source_words(source: Any) -> str:
    """Where the table is; of one in memory only its kind."""
    where = source.path if isinstance(source, Source) else source
    if isinstance(where, (str, Path)):
        scheme, colon, _ = str(where).partition("://")  # the rest of an address may name a user
        return f"an address of {scheme}" if colon else str(where)
    return f"in memory ({type(where).__module__.partition('.')[0]} {type(where).__name__})"
