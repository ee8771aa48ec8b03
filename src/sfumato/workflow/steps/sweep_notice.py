"""Whether a sweep has looked at the raw table for the purpose of a release that says nothing of it."""

from pathlib import Path

from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.study import Study
from sfumato.workflow.sweeping.stored_points import stored


def swept(study: Study, recipe: Recipe) -> list[str]:
    """A warning if a sweep was run for this purpose and the parameters are said to be fixed in advance.

    Parameters that were picked by a sweep tell something of the table that no promise covers, so the manifest has to
    say how they were chosen. Only the owner knows whether they were: what the recipe declares is left as it is. That
    there are points is read off their files; no record is looked at. Points beside the study are taken for its own,
    of any state of the table: a choice made on an older one was a choice on raw records, too.
    """
    if recipe.chosen is not Chosen.IN_ADVANCE or study.base == Path():
        return []
    points = stored(study.base / "frontier")
    if not any("method" in one and one.get("purpose") == recipe.purpose for one in points):
        return []
    whom = "the whole study" if recipe.purpose is None else f"purpose '{recipe.purpose}'"
    said = f"this release says that its parameters were '{Chosen.IN_ADVANCE}'"
    fix = f"if the sweep helped to pick them, it has to say `chosen: {Chosen.ON_RAW}`"
    return [f"a sweep over the raw table was run for {whom}, and {said}: {fix}"]
