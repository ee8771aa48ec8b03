"""Commands for whoever has a bundle and nothing else."""

from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Bundle, Json
from sfumato.errors import VerifyError


def verify(
    bundle: Bundle,
    sha256: Annotated[
        str | None,
        typer.Option("--sha256", help="The SHA-256 that manifest.json must have, from the publisher or the ledger."),
    ] = None,
    json: Json = False,
) -> None:
    """Check a bundle from the bundle alone: files, hashes, and that the data is what the manifest says."""
    from sfumato.publish import verify_bundle

    with show.progress(shown=not json) as report:
        report("checking the bundle", 0, 1)
        found = verify_bundle(bundle, sha256=sha256)
    if json:
        show.as_json(
            {"ok": found.ok, "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in found.checks]}
        )
    else:
        for c in found.checks:
            show.say(f"  {'ok  ' if c.ok else 'FAIL'}  {c.name}: {c.detail}")
        show.say("the bundle verifies" if found.ok else "the bundle does NOT verify: do not use it, get it again")
    if not found.ok:
        raise typer.Exit(VerifyError.exit_code)


def query(
    bundle: Bundle,
    predicate: Annotated[
        str, typer.Argument(help="Such as \"age >= 40 and job in (Lawyer, 'Head cook')\".", metavar="PREDICATE")
    ],
    json: Json = False,
) -> None:
    """Estimate how many records satisfy a predicate, from a release alone; costs nothing."""
    from sfumato.publish import Release

    with show.progress(shown=not json) as report:
        report("reading the release", 0, 1)
        found = Release.open(bundle).query(predicate)
    if json:
        show.as_json(show.estimate_json(found))
    else:
        show.say(show.estimate(found))
