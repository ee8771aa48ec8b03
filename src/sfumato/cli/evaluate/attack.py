"""`sfumato evaluate link` and `intersect`: attacks that are run on releases, for the owner."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Bundle, Json, Was

Against = Annotated[Path, typer.Option("--against", help="The study file (YAML) that the release was made from.")]
_OWNER = "this is computed from raw records and covered by no promise: for your eyes only, never publish it"


def link(
    bundle: Bundle,
    against: Against,
    known: Annotated[
        str | None,
        typer.Option("--with", help="A table of known people: file or URL. Without it, everybody in the study's."),
    ] = None,
    was: Was = None,
    json: Json = False,
) -> None:
    """Look up people in a release by their quasi-identifiers.

    Says how many fit exactly one published record, among how many records the others hide, and how often the best
    guess of a sensitive value is right, beside guessing without the release.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(against).attack_link(bundle, known=known, was=was, progress=report)
    if json:
        show.as_json({"owner_only": _OWNER, **found.as_json()})
        return
    show.bullets(found.sentences())
    show.warn(_OWNER)


def intersect(
    bundle: Bundle,
    other: Annotated[Path, typer.Argument(help="Another bundle of the same study.", metavar="OTHER")],
    against: Against,
    k: Annotated[int, typer.Option("--k", help="Count people with fewer candidates than this.", min=1)] = 5,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="The sensitive attribute, if both releases have several.")
    ] = None,
    was: Was = None,
    json: Json = False,
) -> None:
    """Look up everybody in two releases of records, and see what both together leave open.

    Says for how many people a single sensitive value is left, and how many of them neither release exposes alone.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(against).attack_intersect(bundle, other, k=k, attribute=attribute, was=was, progress=report)
    if json:
        show.as_json({"owner_only": _OWNER, **found.as_json()})
        return
    show.bullets(found.sentences())
    show.warn(_OWNER)
