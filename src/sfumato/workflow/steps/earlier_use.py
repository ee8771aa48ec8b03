"""Warnings about what was done with the table before: sweeps over raw records, and releases of the same people."""

from pathlib import Path
from typing import Final

from sfumato.ledger import Ledger
from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.selection import may_overlap
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit
from sfumato.study.view import View
from sfumato.workflow.sweeping.stored_points import read_stored_points

_NAMED: Final = 8  # earlier releases a warning names


def sweep_warning(study: Study, recipe: Recipe) -> list[str]:
    """A warning if a sweep was run for this purpose and the parameters are said to be fixed in advance.

    Parameters that were chosen by a sweep reveal something about the table that no guarantee covers, so the manifest
    has to say how they were chosen. Only the owner knows whether they were: the recipe is not changed. Whether there
    are points is read from their files; no record is read. Points beside the study count as its own, whatever the
    state of the table: a choice on an earlier state was a choice on raw records, too.
    """
    if recipe.chosen is not Chosen.IN_ADVANCE or study.base == Path():
        return []
    points = read_stored_points(study.base / "frontier")
    if not any("method" in one and one.get("purpose") == recipe.purpose for one in points):
        return []
    whom = "the whole study" if recipe.purpose is None else f"purpose '{recipe.purpose}'"
    said = f"this release says that its parameters were '{Chosen.IN_ADVANCE}'"
    fix = f"if the sweep was used to choose them, the release has to say `chosen: {Chosen.ON_RAW}`"
    return [f"a sweep over the raw table was run for {whom}, and {said}: {fix}"]


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
