"""Commands for whoever has a bundle and nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.new_files import write_new
from sfumato.cli.options import Bundle, BundleOrTable, Data, Json, MemoryLimit
from sfumato.errors import UsageError, VerifyError

Sha256 = Annotated[
    str | None,
    typer.Option("--sha256", help="The SHA-256 that manifest.json must have, from the publisher or the ledger."),
]
Population = Annotated[
    str | None,
    typer.Option("--population", help="The table of people that δ-presence compares with: a file or a URL."),
]


def verify(  # noqa: PLR0913, PLR0917 - options
    bundle: BundleOrTable,
    sha256: Sha256 = None,
    population: Population = None,
    privacy: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="Check any table: a privacy model such as k-anonymity=5, or a YAML file. Repeatable."
        ),
    ] = None,
    quasi: Annotated[
        list[str] | None, typer.Option("--quasi", help="With --model: the quasi-identifiers, separated by commas.")
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option("--sensitive", help="With --model: the sensitive columns, separated by commas."),
    ] = None,
    suppressed: Annotated[
        str | None, typer.Option("--suppressed", help="With --model: a column that is true for suppressed records.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="For the owner: show the values of the worst groups too.")
    ] = False,
    data: Data = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Verify a bundle from the bundle alone, or with --model whether any table satisfies a privacy model.

    Of a bundle: files, hashes, that the data is what the manifest says, and, for records, the privacy models. With
    --model the numbers of records and groups are exact: of a raw table they are for its owner alone.
    """
    if privacy:
        if population:
            raise UsageError(
                "`--population` applies to bundles, not to tables", "omit `--population`", code="SF-USAGE-008"
            )
        _verify_table(
            bundle, privacy, quasi, sensitive, suppressed, values=values, memory_limit=memory_limit, json=json
        )
        return
    if quasi or sensitive or suppressed or values:
        raise UsageError(
            "no privacy model is specified to check on the table",
            "give one, such as --model k-anonymity=5",
            code="SF-USAGE-009",
        )
    from sfumato.release.verify import verify_bundle

    with show.progress(shown=not json) as report:
        report("checking the bundle", 0, 1)
        found = verify_bundle(bundle, sha256=sha256, population=population, data=data, memory_limit=memory_limit)
    if json:
        show.as_json(found.as_json())
    else:
        for c in found.checks:
            show.say(f"  {'ok  ' if c.ok else 'FAIL'}  {c.name}: {c.detail}")
        show.say("the bundle verifies" if found.ok else "the bundle does NOT verify: do not use it, get it again")
    if not found.ok:
        raise typer.Exit(VerifyError.exit_code)


def _verify_table(
    table: str,
    privacy: list[str],
    quasi: list[str] | None,
    sensitive: list[str] | None,
    suppressed: str | None,
    *,
    values: bool,
    memory_limit: str | None,
    json: bool,
) -> None:
    from sfumato.api import verify_table
    from sfumato.study.file import read_models

    with show.progress(shown=not json) as report:
        report("checking the table", 0, 1)
        found = verify_table(
            table,
            privacy=read_models(privacy),
            quasi=_names(quasi),
            sensitive=_names(sensitive),
            suppressed=suppressed,
            values=values,
            memory_limit=memory_limit,
        )
    if json:
        show.as_json(found.as_json())
    else:
        lost = f", {found.suppressed:,} suppressed records are not counted" if suppressed else ""
        show.say(
            f"{found.records:,} records in {found.groups:,} groups of {found.smallest:,} to {found.largest:,}{lost}; "
            "a missing value counts as a value"
        )
        for m in found.models:
            share = m.records / found.records
            kept = (
                "holds in every group"
                if m.ok
                else f"is violated in {m.broken:,} groups, for {share:.2%} of the records"
            )
            show.say(f"  {'ok  ' if m.ok else 'FAIL'}  {m.model} {kept}{f'; it holds for {m.best}' if m.best else ''}")
            sizes = ", ".join(f"{size:,}" for size in m.worst)
            show.say(f"        {'smallest groups' if m.ok else 'smallest groups that violate it'}: {sizes} records")
            for one in m.values:
                show.say(f"          {', '.join(f'{name} = {value}' for name, value in one.items())}")
        show.say(
            "the table satisfies the privacy model" if found.ok else "the table does NOT satisfy the privacy model"
        )
    if not found.ok:
        raise typer.Exit(VerifyError.exit_code)


def _names(given: list[str] | None) -> list[str]:
    """Names separated by commas, in one option or several."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


def query(
    bundle: Bundle,
    predicate: Annotated[
        str, typer.Argument(help="Such as \"age >= 40 and job in (Lawyer, 'Head cook')\".", metavar="PREDICATE")
    ],
    data: Data = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Estimate how many records satisfy a predicate, from a release alone; spends no privacy budget."""
    from sfumato.release.answer.words import estimate_words
    from sfumato.release.release import Release

    with show.progress(shown=not json) as report:
        report("reading the release", 0, 1)
        release = Release.open(bundle, data=data, memory_limit=memory_limit)
        found = release.query(predicate)
    if json:
        show.as_json(found.as_json())
    else:
        show.say(estimate_words(found))


def document(
    bundle: Bundle,
    fill: Annotated[
        list[str] | None,
        typer.Option("--fill", help="What no manifest knows, as NAME=TEXT, such as recipient=…; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A Markdown file that does not exist yet.")] = None,
    sha256: Sha256 = None,
    population: Population = None,
    data: Data = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Document what a release guarantees, to whom and on which legal basis: for a data protection officer.

    From the bundle alone, which is verified first. What a manifest cannot know is marked as text to fill in.
    """
    from sfumato.release.documentation import document_bundle

    with show.progress(shown=not json) as report:
        report("checking the bundle", 0, 1)
        found = document_bundle(
            bundle, fill=_answers(fill), sha256=sha256, population=population, data=data, memory_limit=memory_limit
        )
    if out is not None:
        write_new(out, found.markdown)
    if json:
        show.as_json(found.as_json())
    elif out is None:
        show.verbatim(found.markdown)
    else:
        left = f"; to fill in: {', '.join(found.unfilled)}" if found.unfilled else ""
        show.say(f"the documentation is in {out}{left}")


def _answers(given: list[str] | None) -> dict[str, str]:
    """Texts by name, as `--fill` takes them."""
    found = {}
    for text in given or ():
        name, separator, answer = text.partition("=")
        if not separator:
            raise UsageError(
                f"'{text}' is not NAME=TEXT",
                "write it as in `--fill recipient='Ministry of Health'`",
                code="SF-USAGE-681",
            )
        found[name.strip()] = answer
    return found
