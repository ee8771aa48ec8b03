"""Commands for the owner of a table: from the table to a bundle and its report."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.new_files import beside_study, write_new
from sfumato.cli.options import (
    Anyway,
    Data,
    Json,
    MemoryLimit,
    NewFolder,
    NoCheck,
    NoReport,
    ReleaseName,
    Seed,
    StudyFile,
    StudySha256,
    To,
    Was,
)
from sfumato.cli.planned import say_epsilon_choice, say_plan
from sfumato.errors import SourceError, StudyError, UsageError

if TYPE_CHECKING:
    from sfumato.api import Study
    from sfumato.workflow import Published


def describe(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, a glob, or a URL.", metavar="TABLE")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file to write the study to.")] = None,
    target: Annotated[str | None, typer.Option("--class", help="The target (class attribute).")] = None,
    json: Json = False,
) -> None:
    """Propose a study for a table: types, roles with reasons, unique columns, domains marked `observed`."""
    from sfumato.api import describe as look

    with show.progress(shown=not json) as report:
        report("looking at the table", 0, 1)
        proposal = look(table, target=target)
    if out is not None:
        proposal = replace(proposal, source=beside_study(table, out.parent))
        write_new(out, proposal.to_yaml())
    if json:
        show.as_json(proposal.as_json())
    elif out is None:
        show.verbatim(proposal.to_yaml().removesuffix("\n"))
    else:
        show.say(
            f"wrote {out}. It is a proposal: confirm every role, replace every observed domain by public knowledge,"
        )
        named = shlex.quote(str(out))
        show.say(f"choose a budget and a release, then run `sfumato check {named}` and `sfumato plan {named}`")


def check(study: StudyFile, memory_limit: MemoryLimit = None, json: Json = False) -> None:
    """For the owner: compare the table with the study; lists values outside the declared domains.

    The output is computed from raw data and covered by no guarantee. Exit code 4 if there are values that the study
    declares an error.
    """
    from sfumato.api import Study
    from sfumato.study.attribute import InvalidValuePolicy
    from sfumato.tables import consequences

    opened = Study.load(study)
    with show.progress(shown=not json) as report:
        report("comparing the table with the study", 0, 1)
        reports = opened.check(memory_limit=memory_limit)
    declared = opened.declared.attributes
    refused = [
        r.attribute
        for r in reports
        if (r.missing and declared[r.attribute].missing is InvalidValuePolicy.ERROR)
        or (r.outside and declared[r.attribute].outside is InvalidValuePolicy.ERROR)
    ]
    if json:
        show.as_json([{**r.as_json(), "error": r.attribute in refused} for r in reports])
    else:
        for line in (line for r in reports for line in r.sentences()):
            show.say(f"  • {line}")
        if all(r.fits for r in reports):
            show.say("every value of the table is in its declared domain")
        elif refused:
            names = ", ".join(refused)
            show.say(
                "the study declares such values an error, so a DP release suppresses these records and any other "
                f"release is refused: {names}"
            )
            show.say("to fix: declare how values are written (`format`), widen the domain, or say `missing: keep` or")
            show.say("`outside: keep` (for your eyes only)")
        else:
            show.say("a release treats them as `missing` and `outside` declare, or by default (for your eyes only):")
            for line in (line for r in reports for line in consequences(r, declared[r.attribute])):
                show.say(f"  • {line}")
            show.say("if there are many, declare how values are written (`format`), and their `bounds` or `values`")
    if refused:
        raise typer.Exit(SourceError.exit_code)


def plan(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    release: ReleaseName = None,
    no_check: NoCheck = False,
    epsilons: Annotated[
        str | None, typer.Option("--epsilons", help="Show the expected errors at these ε, such as 0.1,0.5,1.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within", help="Find the smallest ε at which 95 % of the counts are off by at most this number."
        ),
    ] = None,
    records: Annotated[
        int | None, typer.Option("--records", help="About how many records there are, as far as that is public.")
    ] = None,
    stand_in: Annotated[
        str | None,
        typer.Option("--stand-in", help="A public table with the study's columns, to measure accuracy on."),
    ] = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Show what a release would do, its cost and the remaining budget; nothing is spent.

    For the owner: it reads the table, as `check` does, to count the records that are left out for invalid values. With
    --epsilons, --within or --stand-in it shows the expected errors as a function of ε instead, and reads nothing of the
    study's table.
    """
    from sfumato.api import Study
    from sfumato.workflow import EPSILONS

    opened = Study.load(study)
    if records is not None and epsilons is None and within is None and stand_in is None:
        raise UsageError(
            "`--records` is about expected errors as a function of ε, and none are asked for",
            "add --epsilons, --within or --stand-in, or omit it: a plan shows what follows from the number of records",
            code="SF-USAGE-981",
        )
    if epsilons is not None or within is not None or stand_in is not None:
        with show.progress(shown=not json) as report:
            chosen = opened.choose_epsilon(
                release,
                epsilons=EPSILONS if epsilons is None else epsilons.split(","),
                within=within,
                records=records,
                stand_in=stand_in,
                progress=report,
            )
        say_epsilon_choice(chosen, json=json)
        return
    with show.progress(shown=not json) as report:
        report("comparing the table with the study", 0, 1)
        found = opened.plan(release, check=not no_check, memory_limit=memory_limit)
    say_plan(found, f"Release '{found.recipe.name}'", json=json, study_sha256=opened.sha256)


def release(  # noqa: PLR0913, PLR0917 - options
    study: StudyFile,
    release: ReleaseName = None,
    out: NewFolder = None,
    insecure_seed: Seed = None,
    memory_limit: MemoryLimit = None,
    anyway: Anyway = False,
    no_report: NoReport = False,
    to: To = None,
    study_sha256: StudySha256 = None,
    json: Json = False,
) -> None:
    """Make a release, verify it, publish the bundle and record it in the ledger; then make the owner's report.

    Refused, before anything is spent, if more records are left out for invalid values than the study's `most_invalid`
    allows. The release is complete once the command says so. The report follows: it can be interrupted, skipped with
    --no-report, and made later by `sfumato report`.
    """
    from sfumato.api import Study
    from sfumato.workflow import published_words

    opened = Study.load(study)
    if study_sha256 is not None and opened.sha256 != study_sha256.strip().lower():
        raise StudyError(
            f"the study '{study.name}' declares something else than what was confirmed",
            "look at the plan again, and take the hash from it (`sfumato plan … --json`)",
            code="SF-STUDY-641",
        )
    if insecure_seed is not None:
        show.warn("--insecure-seed makes the noise repeatable: this release has no guarantee, and its manifest says so")
    done = None
    try:
        with show.progress(shown=not json) as report:
            done = opened.release(
                release,
                out=out,
                progress=report,
                memory_limit=memory_limit,
                insecure_seed=insecure_seed,
                anyway=anyway,
                report=False,
                to=to,
            )
        _say_published(done, report=not no_report, json=json)
    except KeyboardInterrupt as stop:
        if done is not None:  # the progress bar or a line of output was interrupted, not the release
            stop.add_note(published_words(done.folder, done.bundle, done.epsilon, against=str(study)))
        raise
    if not no_report:
        _report_next(opened, done, study, memory_limit, json=json)


def _say_published(done: "Published", *, report: bool, json: bool) -> None:
    for warning in done.warnings:
        show.warn(warning)
    if json:
        show.as_json(done.as_json(report=report))
        return
    bundle = show.place(done.bundle)
    show.say(f"published {done.rows:,} {done.what} in {bundle}")
    if done.epsilon is not None and done.left is not None:
        show.say(f"spent ε = {show.exact(done.epsilon)}; {show.exact(done.left)} remains")
    show.say(f"your own notes, not for publication: {show.place(done.owner)}")
    where = "" if done.data is None else " --data ADDRESS"
    show.say(f"next: publish {bundle}; anyone can check it with `sfumato verify {shlex.quote(bundle)}{where}`")
    if done.data is not None:
        show.say("  ADDRESS is where the receiver reads the table: as you gave it to --to, with a role of their own")


def _report_next(opened: "Study", done: "Published", study: Path, memory_limit: str | None, *, json: bool) -> None:
    """The report of a release that has been said to be published; if it fails, that is a warning."""
    from sfumato.workflow import report_after

    with show.progress(shown=not json) as steps:
        after = report_after(
            opened.declared, done, ledger=opened.ledger, against=str(study), progress=steps, memory_limit=memory_limit
        )
    failed = after.warnings[len(done.warnings) :]
    for warning in failed:
        show.warn(warning)
    if not (failed or json):
        show.say(f"your report, for your eyes only: {show.place(done.report)}")


def report(
    release: Annotated[
        Path, typer.Argument(help="The folder of a release, which holds its bundle.", metavar="RELEASE")
    ],
    against: Annotated[Path, typer.Option("--against", help="The study file (YAML) that the release was made from.")],
    was: Was = None,
    memory_limit: MemoryLimit = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """For the owner: make the report of a published release, `owner/report.html` in its folder.

    It reads the bundle, the study and its table. Nothing is spent and the ledger does not change. The report is
    computed from raw records and covered by no guarantee.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as steps:
        place = Study.load(against).report(release, was=was, data=data, progress=steps, memory_limit=memory_limit)
    if json:
        show.as_json({"report": str(place)})
    else:
        show.say(f"your report, for your eyes only: {show.place(place)}")
