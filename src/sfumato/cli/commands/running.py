"""The command that makes all releases of a study."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Anyway, Json, MemoryLimit, NoReport, StudyFile
from sfumato.errors import VerifyError


def run(
    study: StudyFile,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A declared release; default: all. Repeatable.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="The number of training and test splits for each release.")] = 5,
    anyway: Anyway = False,
    no_report: NoReport = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Make every release that a study declares, verify each, and measure the accuracy of classifiers trained on it.

    Each is published and recorded in the ledger as by `release`. The accuracies are computed from raw records: they
    are for the owner only.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(study).run(
            only or None, runs=runs, report=not no_report, progress=report, anyway=anyway, memory_limit=memory_limit
        )
    if json:
        show.as_json([one.as_json() for one in found])
    else:
        for one in found:
            show.say(f"{one.recipe.name}, for {one.recipe.purpose or 'the whole study'}:")
            if one.published is None:
                show.say(f"  not made: {one.failure}")
                continue
            done = one.published
            cost = "no ε" if done.epsilon is None else f"ε = {show.exact(done.epsilon)}"
            show.say(f"  published {done.rows:,} {done.what} in {show.place(done.bundle)}; spent {cost}")
            show.say("  it verifies" if one.verified else "  IT DOES NOT VERIFY: do not publish it")
            for warning in done.warnings:
                show.warn(warning)
            if one.accuracy is None:
                show.say(f"  not classified: {one.why_not}")
            else:
                show.accuracies(one.accuracy)
            if done.report.exists():
                show.say(f"  your report: {show.place(done.report)}")
        show.say("accuracies and reports are computed from raw records: for your eyes only")
    failed = next((one.failure for one in found if one.failure is not None), None)
    if failed is not None:
        raise typer.Exit(failed.exit_code)
    if not all(one.verified for one in found):
        raise typer.Exit(VerifyError.exit_code)
