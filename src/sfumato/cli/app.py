"""The commands."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli import show
from sfumato.cli.taxonomy import taxonomy_app

app = typer.Typer(
    name="sfumato",
    help="Publish tables about people so that nobody in them can be picked out and the table is still worth having.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(taxonomy_app, name="taxonomy")

StudyFile = Annotated[Path, typer.Argument(help="The study file (YAML).", metavar="STUDY")]
ReleaseName = Annotated[str | None, typer.Argument(help="A release the study declares.", metavar="RELEASE")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[
    int | None,
    typer.Option("--insecure-seed", help="For tests only: repeatable noise. The release then promises nothing."),
]


@app.command()
def describe(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, a glob, or a URL.", metavar="TABLE")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the study here instead of printing it.")] = None,
    target: Annotated[str | None, typer.Option("--class", help="The column that will be predicted.")] = None,
    json: Json = False,
) -> None:
    """Propose a study for a table: types, roles with reasons, unique columns, domains marked `observed`."""
    from sfumato.api import describe as look
    from sfumato.errors import PublishError

    with show.progress(shown=not json) as report:
        report("looking at the table", 0, 1)
        proposal = look(table, target=target)
    if json:
        show.as_json(proposal.as_json())
    elif out is None:
        show.say(proposal.to_yaml())
    if out is not None:
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(proposal.to_yaml())
        except FileExistsError:
            raise PublishError(f"{out} exists already", "name another file, or remove it first") from None
        except OSError as error:
            raise PublishError(f"{out} cannot be written ({error.strerror})", "name a folder you may write to") from None
        if not json:
            show.say(f"wrote {out}: check every role and every observed domain, then run `sfumato plan {out}`")


@app.command()
def check(study: StudyFile, json: Json = False) -> None:
    """For the owner: compare the table with the study; names values outside the declared domains.

    What it prints is computed from raw data and is not covered by any promise.
    """
    from sfumato.pipeline import unfit
    from sfumato.read import load_study

    reports = unfit(load_study(study))
    if json:
        show.as_json([report.as_json() for report in reports])
        return
    clean = True
    for report in reports:
        for line in report.sentences():
            clean = False
            show.say(f"  • {line}")
    show.say("every value of the table is in its declared domain" if clean else "for the owner's eyes only")


@app.command()
def plan(study: StudyFile, release: ReleaseName = None, json: Json = False) -> None:
    """Say what a release would do, what it costs and what is left; touches nothing."""
    from sfumato.api import Study
    from sfumato.dp.budget import show as text

    found = Study.load(study).plan(release)
    if json:
        show.as_json(
            {
                "study": found.study,
                "release": found.recipe.name,
                "method": found.recipe.method,
                "epsilon": None if found.epsilon is None else text(found.epsilon),
                "budget": None if found.budget is None else text(found.budget),
                "left": None if found.left is None else text(found.left),
                "fits": found.fits,
                "sentences": list(found.sentences),
                "numbers": dict(found.numbers),
            }
        )
        return
    show.say(f"Release '{found.recipe.name}' of the study '{found.study}' would do this:")
    show.bullets(found.sentences)


@app.command()
def release(
    study: StudyFile,
    release: ReleaseName = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A folder that does not exist yet.")] = None,
    insecure_seed: Seed = None,
    memory_limit: Annotated[str | None, typer.Option(help="The most memory for the engine, such as 2GB.")] = None,
    json: Json = False,
) -> None:
    """Make a release, re-check it, publish the bundle, enter it into the ledger."""
    from sfumato import pipeline
    from sfumato.api import next_folder
    from sfumato.dp.budget import show as text
    from sfumato.dp.sampling import InsecureSource
    from sfumato.read import load_study
    from sfumato.recipe import recipe_from_study

    declared = load_study(study)
    recipe = recipe_from_study(declared, release)
    source = None
    if insecure_seed is not None:
        show.warn("--insecure-seed makes repeatable noise: this release promises nothing, and its manifest says so")
        source = InsecureSource(insecure_seed)
    folder = out or next_folder(declared, recipe)
    with show.progress(shown=not json) as report:
        done = pipeline.release(
            declared, recipe, folder=folder, source=source, progress=report, memory_limit=memory_limit
        )
    if json:
        show.as_json(
            {
                "bundle": str(done.bundle),
                "owner": str(done.folder / "owner"),
                "sha256": done.sha256,
                "rows": len(done.draft.groups),
                "epsilon": None if done.epsilon is None else text(done.epsilon),
                "left": None if done.left is None else text(done.left),
            }
        )
        return
    show.say(f"published {len(done.draft.groups):,} groups in {done.bundle}")
    if done.epsilon is not None and done.left is not None:
        show.say(f"it cost ε = {text(done.epsilon)}; {text(done.left)} is left")
    show.say(f"your own notes, which stay here: {done.folder / 'owner'}")


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(help="A bundle's folder.", metavar="BUNDLE")], json: Json = False
) -> None:
    """Check a bundle from the bundle alone: files, hashes, and that the data is what the manifest says."""
    from sfumato.publish import verify_bundle

    found = verify_bundle(bundle)
    if json:
        show.as_json(
            {"ok": found.ok, "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in found.checks]}
        )
    else:
        for c in found.checks:
            show.say(f"  {'ok  ' if c.ok else 'FAIL'}  {c.name}: {c.detail}")
        show.say("the bundle verifies" if found.ok else "the bundle does NOT verify: do not use it")
    if not found.ok:
        raise typer.Exit(8)


@app.command()
def query(
    bundle: Annotated[Path, typer.Argument(help="A bundle's folder.", metavar="BUNDLE")],
    predicate: Annotated[str, typer.Argument(help='Such as "age >= 40 and job = Lawyer".', metavar="PREDICATE")],
    json: Json = False,
) -> None:
    """Estimate how many records satisfy a predicate, from a release alone; costs nothing."""
    from sfumato.publish import Release

    found = Release.open(bundle).query(predicate)
    if json:
        show.as_json(show.estimate_json(found))
    else:
        show.say(show.estimate(found))


@app.command()
def ledger(
    study: StudyFile,
    verify: Annotated[bool, typer.Option("--verify", help="Check that no entry was changed or removed.")] = False,
    json: Json = False,
) -> None:
    """Show every release of a study, what it cost, and what is left."""
    from sfumato.api import Study
    from sfumato.dp.budget import show as text

    opened = Study.load(study)
    book, declared = opened.ledger, opened.declared
    entries = book.entries(declared.name)
    spent = book.spent(declared.name)
    problems = list(book.verify()) if verify else []
    left = None if declared.budget is None else declared.budget - spent
    if json:
        show.as_json(
            {
                "entries": [_entry(e) for e in entries],
                "spent": text(spent),
                "left": None if left is None else text(left),
                "problems": [str(p) for p in problems],
            }
        )
    else:
        for e in entries:
            cost = "no ε" if e.epsilon is None else f"ε = {text(e.epsilon)}"
            show.say(f"  {e.id:>4}  {e.at}  {e.state:<7} {cost:<12} {e.method}  {e.who}")
        show.say(f"spent {text(spent)}" + ("" if left is None else f", left {text(left)}"))
        for problem in problems:
            show.say(f"  PROBLEM  {problem}")
        if verify and not problems:
            show.say("the ledger verifies")
    if problems:
        raise typer.Exit(8)


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A folder that does not exist yet.")] = None,
    json: Json = False,
) -> None:
    """The main job on the packaged census table, start to end."""
    from sfumato.cli.demo import run_demo

    run_demo(out, json=json)


def _entry(entry: Any) -> dict[str, Any]:
    from sfumato.dp.budget import show as text

    return {
        "id": entry.id,
        "at": entry.at,
        "who": entry.who,
        "state": entry.state,
        "purpose": entry.purpose,
        "method": entry.method,
        "promise": entry.promise,
        "epsilon": None if entry.epsilon is None else text(entry.epsilon),
        "bundle": entry.bundle,
    }
