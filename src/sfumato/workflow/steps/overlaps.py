"""Earlier releases of the same people: syntactic privacy models do not compose, and intersections may reveal more."""

from typing import Final

from sfumato.ledger import Ledger
from sfumato.study.selection import may_overlap
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit
from sfumato.study.view import View

_NAMED: Final = 8  # earlier releases a warning names


def overlap_warnings(study: Study, ledger: Ledger, view: View) -> list[str]:
    """A warning if earlier releases without ε may contain the same people; nothing if none does.

    A privacy model that holds in each release need not hold for both together: an adversary who knows the two groups of
    a person knows that the person is in their intersection, which may be one record.
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
    said = f"it may contain the same {whom} as {more}{names}: anyone with two such releases can intersect their groups"
    return [f"{said}, and the privacy models of neither release cover that"]
