"""The card of a study: its name, privacy unit and budget, and how its file is written."""

from collections.abc import Mapping
from typing import Any, Final

from sfumato.web.column_rows import Columns

_MOST_PERSONS: Final = 500  # columns that are offered as the one that names a person


def card_fields(found: Columns) -> dict[str, Any]:
    """What the card of the study edits."""
    privacy = found.fields.get("privacy")
    privacy = privacy if isinstance(privacy, Mapping) else {}
    unit = privacy.get("unit")
    person = unit if isinstance(unit, Mapping) else {}
    return {
        "name": found.fields.get("name") or "",
        "person": person.get("person") or "",
        "at_most": person.get("at_most") or "",
        "budget": privacy.get("budget") or "",
    }


def privacy_values(found: Columns) -> dict[str, Any]:
    """What the card shows: its fields, and the columns that may name a person."""
    fields, proposed = card_fields(found), (found.described or {}).get("person")
    persons = [
        row.name
        for row in found.rows[:_MOST_PERSONS]
        if row.name != fields["person"] and row.entry is None and (row.role == "identifier" or row.name == proposed)
    ]
    return {**fields, "proposed": proposed if proposed and not fields["person"] else None, "persons": persons}


def unconfirmed_format(found: Columns) -> dict[str, Any]:
    """How the records suggest that the file is written, where the study does not say it."""
    source = found.fields.get("source")
    declared = source if isinstance(source, Mapping) else {}
    return {k: v for k, v in ((found.described or {}).get("written") or {}).items() if k not in declared}
