"""A warning if a sweep has read the raw table for the purpose of a release that does not say so."""

from pathlib import Path

from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.study import Study
from sfumato.workflow.sweeping.stored_points import read_stored_points


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
