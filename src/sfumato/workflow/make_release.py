"""Planning and publishing, whatever the method is."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import cast

from sfumato.errors import StudyError
from sfumato.ledger import Ledger
from sfumato.methods import Method, build, is_partition
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.progress import Progress, silent
from sfumato.study.recipe import Recipe
from sfumato.study.study import Study
from sfumato.workflow.making.grouped_records import plan_partition, release_partition
from sfumato.workflow.making.noisy_counts import plan_counts, release_counts
from sfumato.workflow.making.outcome import Plan, Published, Run, ledger_of


def plan(study: Study, recipe: Recipe, *, ledger: Ledger | None = None, check: bool = True) -> Plan:
    """Say in words what a release would do, what it costs and what is left; nothing is spent.

    With ``check`` the table is looked at, to tell the owner how many records have values that leave them out.
    """
    method = build(recipe)
    if is_partition(method):
        return plan_partition(study, recipe, method, ledger=ledger, check=check)
    return plan_counts(study, recipe, cast("Method", method), ledger=ledger, check=check)


def release(  # noqa: PLR0913 - all but the first two come by keyword
    study: Study,
    recipe: Recipe,
    *,
    folder: Path,
    ledger: Ledger | None = None,
    source: RandomSource | None = None,
    progress: Progress = silent,
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    memory_limit: str | None = None,
    anyway: bool = False,
) -> Published:
    """Make, re-check and publish one release, and enter it into the ledger.

    ``folder`` must not exist; it will hold `bundle/`, which goes out, and `owner/`, which stays. ``anyway`` releases
    also if more records are left out than the study's ``most_invalid`` allows.
    """
    method = build(recipe)
    if ledger is None and study.base == Path() and study.ledger is None:
        raise StudyError(
            f"the study '{study.name}' is in memory and no ledger was given, so what it spends would be forgotten",
            "use `sfumato.Study`, which keeps one, or pass `ledger=`",
        )
    run = Run(
        folder=folder,
        ledger=ledger or ledger_of(study),
        source=source or SecureSource(),
        progress=progress,
        clock=clock,
        memory_limit=memory_limit,
        anyway=anyway,
    )
    if is_partition(method):
        return release_partition(study, recipe, method, run)
    return release_counts(study, recipe, cast("Method", method), run)
