"""Earlier releases of the same people: what two syntactic releases tell together, no privacy model covers."""

from typing import Final

from sfumato.ledger import Ledger
from sfumato.study.selection import may_overlap
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit
from sfumato.study.view import View

_NAMED: Final = 8  # earlier releases a warning names


def overlaps(study: Study, ledger: Ledger, view: View) -> list[str]:
    """A warning if earlier releases without ε may hold the same people; nothing if none does.

    A privacy model that holds in each release is none about both together: whoever knows that a person is in two groups
    knows that the person is in what the groups have in common, which may be one record.
    """
    asked = (view.selection.span, view.selection.where)
    persons = isinstance(study.unit, PersonUnit)
    older = [
        entry
        for entry in ledger.entries(study.name)
        if entry.epsilon is None
        and entry.state != "failed"
        and (persons or may_overlap(asked, (entry.span, entry.where), study.attributes))
    ]
    if not older:
        return []
    names = "; ".join(
        f"entry {entry.id} ('{entry.purpose}' by {entry.method}, {entry.at:%Y-%m-%d}"
        f"{'' if entry.span is None else f', {entry.span}'}{f', {entry.where}' if entry.where else ''})"
        for entry in older[-_NAMED:]
    )
    more = f"{len(older) - _NAMED} more and " if len(older) > _NAMED else ""
    whom = "people" if persons else "records"
    said = f"it may hold the same {whom} as {more}{names}: whoever gets two such releases can intersect their groups"
    return [f"{said}, and the privacy models of neither cover that"]
