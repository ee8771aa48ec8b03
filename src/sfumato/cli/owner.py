"""Commands for the owner of a table: from the table to a bundle, and the account of it."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.files import write_new
from sfumato.cli.options import (
    Anyway,
    Json,
    MemoryLimit,
    NewFolder,
    NoCheck,
    NoReport,
    ReleaseName,
    Seed,
    StudyFile,
    Was,
)
from sfumato.cli.planned import say_finding, say_plan
from sfumato.errors import SourceError

if TYPE_CHECKING:
    from sfumato.api import Study
    from sfumato.workflow import Published


def describe(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, a glob, or a URL.", metavar="TABLE")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file to write the study to.")] = None,
    target: Annotated[str | None, typer.Option("--class", help="The column that will be predicted.")] = None,
    json: Json = False,
) -> None:
    """Propose a study for a table: types, roles with reasons, unique columns, domains marked `observed`."""
    from sfumato.api import describe as look

    with show.progress(shown=not json) as report:
        report("looking at the table", 0, 1)
        proposal = look(table, target=target)
    if out is not None and ":" not in table and not Path(table).is_absolute():
        # In a study, paths start at the study's folder.
        proposal = replace(proposal, source=Path(os.path.relpath(table, out.parent)).as_posix())
    if out is not None:
        write_new(out, proposal.to_yaml())
    if json:
        show.as_json(proposal.as_json())
    elif out is None:
        show.say(proposal.to_yaml().removesuffix("\n"))
    else:
        show.say(f"wrote {out}. It is a proposal: confirm every role, put public knowledge in place of every observed")
        show.say(f"domain, choose a budget and a release, then run `sfumato check {out}` and `sfumato plan {out}`")


def check(study: StudyFile, json: Json = False) -> None:
    """For the owner: compare the table with the study; names values outside the declared domains.

    What it prints is computed from raw data and is not covered by any promise. Exit code 4 if there are values that
    the study calls an error.
    """
    from sfumato.api import Study
    from sfumato.study.attribute import Unfit
    from sfumato.tables import consequences

    opened = Study.load(study)
    with show.progress(shown=not json) as report:
        report("comparing the table with the study", 0, 1)
        reports = opened.check()
    declared = opened.declared.attributes
    refused = [
        r.attribute
        for r in reports
        if (r.missing and declared[r.attribute].missing is Unfit.ERROR)
        or (r.outside and declared[r.attribute].outside is Unfit.ERROR)
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
            show.say(f"declared an error, so a DP release leaves these records out and any other stops: {names}")
            show.say("to fix: declare how values are written (`format`), widen the domain, or say `missing: keep` or")
            show.say("`outside: keep` (for your eyes only)")
        else:
            show.say(
                "a release does with them what `missing` and `outside` say, or mean by default (for your eyes only):"
            )
            for line in (line for r in reports for line in consequences(r, declared[r.attribute])):
                show.say(f"  • {line}")
            show.say("if these are many, declare how values are written (`format`), and their `bounds` or `values`")
    if refused:
        raise typer.Exit(SourceError.exit_code)


def plan(study: StudyFile, release: ReleaseName = None, no_check: NoCheck = False, json: Json = False) -> None:
    """Say what a release would do, what it costs and what is left; nothing is spent.

    For the owner: it looks at the table, as `check` does, to say how many records have values that leave them out.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    with show.progress(shown=not json) as report:
        report("comparing the table with the study", 0, 1)
        found = opened.plan(release, check=not no_check)
    say_plan(found, f"Release '{found.recipe.name}'", json=json)


def release(
    study: StudyFile,
    release: ReleaseName = None,
    out: NewFolder = None,
    insecure_seed: Seed = None,
    memory_limit: MemoryLimit = None,
    anyway: Anyway = False,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    """Make a release, re-check it, publish the bundle, enter it into the ledger; then make the owner's report.

    Refused, before anything is spent, if more records are left out for their values than `most_invalid` in the study.
    The release is complete when it says so. The report follows: it may be interrupted, skipped with --no-report, and
    made later by `sfumato report`.
    """
    from sfumato.api import Study
    from sfumato.workflow import published_words

    opened = Study.load(study)
    if insecure_seed is not None:
        show.warn("--insecure-seed makes repeatable noise: this release promises nothing, and its manifest says so")
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
        show.as_json(
            {
                "bundle": str(done.bundle),
                "owner": str(done.folder / "owner"),
                "report": str(done.folder / "owner" / "report.html") if report else None,
                "sha256": done.sha256,
                "rows": done.rows,
                "epsilon": show.exact(done.epsilon),
                "left": show.exact(done.left),
                "warnings": list(done.warnings),
                "left_out": None if done.left_out is None else done.left_out.as_json(),
            }
        )
        return
    bundle = show.place(done.bundle)
    show.say(f"published {done.rows:,} {done.what} in {bundle}")
    if done.epsilon is not None and done.left is not None:
        show.say(f"it cost ε = {show.exact(done.epsilon)}; {show.exact(done.left)} is left")
    show.say(f"your own notes, which stay here: {show.place(done.folder / 'owner')}")
    show.say(f"next: give {bundle} away; anyone can check it with `sfumato verify {bundle}`")


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
        show.say(f"your report, for your eyes only: {show.place(done.folder / 'owner' / 'report.html')}")


def report(
    release: Annotated[
        Path, typer.Argument(help="The folder of a release, which holds its bundle.", metavar="RELEASE")
    ],
    against: Annotated[Path, typer.Option("--against", help="The study file (YAML) that the release was made from.")],
    was: Was = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: make the report of a published release, `owner/report.html` in its folder.

    It reads the bundle, the study and its table. Nothing is spent and the ledger stays as it is. What the report says
    is computed from raw records and is not covered by any promise.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as steps:
        place = Study.load(against).report(release, was=was, progress=steps, memory_limit=memory_limit)
    if json:
        show.as_json({"report": str(place)})
    else:
        show.say(f"your report, for your eyes only: {show.place(place)}")


def audit(
    study: StudyFile,
    release: ReleaseName = None,
    runs: Annotated[int, typer.Option("--runs", help="How often to run it on each table, at least 400.")] = 4_000,
    json: Json = False,
) -> None:
    """Test a release's promise from outside: run it often on two small made-up neighbouring tables and compare.

    The tables are made from the declared domains: the study's own table is not opened, and nothing is spent. Exit
    code 8 if the promise is broken.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    name = opened.recipe(release).name
    with show.progress(shown=not json) as report:
        found = opened.audit(release, runs=runs, progress=report)
    say_finding(found, f"release '{name}'", {"release": name}, json=json)


def max_k(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    purpose: Annotated[str | None, typer.Option("--purpose", help="A purpose of the study; else all of it.")] = None,
    rate: Annotated[str, typer.Option("--rate", help="The sample rate β, above 0 and up to 1.")] = "0.9",
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="The sensitive attribute to cap; else each of them.")
    ] = None,
    low: Annotated[int, typer.Option("--from", help="The smallest k to try.")] = 2,
    high: Annotated[int, typer.Option("--to", help="The largest k to try.")] = 1_000,
    every: Annotated[bool, typer.Option("--every", help="Try every k, not each a quarter larger.")] = False,
    distortion: Annotated[str, typer.Option("--distortion", help="The most distortion under the cap, 0 to 1.")] = "0.6",
    choose: Annotated[
        str, typer.Option("--choose", help="How Mondrian chooses cuts: widest, info_gain, loss.")
    ] = "widest",
    json: Json = False,
) -> None:
    """For the owner: the smallest k found at which Mondrian's groups keep capped confidence, and the cap's own groups.

    What it prints is computed from raw data and is not covered by any promise.
    """
    from sfumato.api import Study
    from sfumato.methods import ConfidenceCap, Mondrian

    opened = Study.load(study)
    cap = ConfidenceCap(rate=rate, attribute=attribute, distortion=distortion)
    like = Mondrian(k=2, choose=choose)
    with show.progress(shown=not json) as report:
        found = opened.max_k(cap, purpose=purpose, between=(low, high), every=every, like=like, progress=report)
    if json:
        show.as_json(
            {
                "rate": found.rate,
                "max_k": found.k,
                "average_k": found.average,
                "every": found.every,
                "tried": [{"k": one.k, "groups": one.groups, "broken": one.broken} for one in found.tried],
                "notes": list(found.notes),
            }
        )
        return
    for one in found.tried:
        show.say(f"  k = {one.k:>5}: {one.broken:8.3%} of the records break the cap, in {one.groups:,} groups")
    how = "every smaller k was tried" if found.every else "smaller ones may do, too: --every tries them all"
    tried = ", ".join(f"{one.k:,}" for one in found.tried)
    more = "; raise `--to`" if found.tried and found.tried[-1].k == high else ""  # else all records are one group
    none = f"none of the k tried ({tried}) keeps the cap{more}"
    show.say(f"Max.k = {found.k} ({how})" if found.k is not None else none)
    average = "none: every record would be suppressed" if found.average is None else f"{found.average:,.1f}"
    show.say(f"Avg.k = {average} (the average group of a release by `capped-confidence` with the same rate)")
    for note in found.notes:
        show.say(f"  • {note}")
    show.say("for your eyes only: this was computed from raw records")


def worth(
    study: StudyFile,
    release: ReleaseName = None,
    classifier: Annotated[
        list[str] | None,
        typer.Option("--classifier", help="A classifier, may be given several times; `all` for all five."),
    ] = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="`split` (2/3 to learn on, 1/3 to test) or `folds` (stratified).")
    ] = "split",
    runs: Annotated[int, typer.Option("--runs", help="How many splits, or how many folds.")] = 10,
    workers: Annotated[
        int | None, typer.Option("--workers", help="How many processes; as many as pay unless told.")
    ] = None,
    json: Json = False,
) -> None:
    """For the owner: accuracy of a classifier trained on such releases, next to raw data and majority class.

    With balanced accuracy and AUC. In the DiffGen paper they are CA, BA and LA. It looks at raw records: nothing
    is published or spent, and what it prints is not covered by any promise.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    name = opened.recipe(release).name
    asked = classifier or ["decision-tree"]
    with show.progress(shown=not json) as report:
        found = opened.worths(
            release, classifiers=None if "all" in asked else asked, protocol=protocol, runs=runs, workers=workers,
            progress=report,
        )  # fmt: skip
    if json:
        show.as_json(
            {
                "release": name,
                "protocol": protocol,
                "runs": runs,
                "accuracy": {learner: show.accuracy_json(compared) for learner, compared in found.items()},
            }
        )
        return
    parts = "splits, 2/3 to learn on and 1/3 to test" if protocol == "split" else "stratified folds"
    show.say(f"On records that were not learnt from ({runs} {parts}):")
    for learner, compared in found.items():
        show.say(f"  {learner}")
        show.accuracies(compared)
    show.say("for your eyes only: computed from raw records, and covered by no promise")
