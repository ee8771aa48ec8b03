"""`sfumato evaluate link` and `intersect`: attacks that are run on releases, for the owner."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.foreign import Hierarchies, Table, one_foreign_table, refuse_without_table, study_of_table
from sfumato.cli.options import Bundle, Json, MemoryLimit, Was
from sfumato.errors import UsageError

Against = Annotated[Path, typer.Option("--against", help="The study file (YAML) that the release was made from.")]
_OWNER = "this is computed from raw records and covered by no guarantee: for your eyes only, never publish it"


def link(  # noqa: PLR0913, PLR0917 - an option each
    bundle: Annotated[
        Path | None,
        typer.Argument(help="A bundle's folder, or the folder it is in; with --table, the study.", metavar="BUNDLE"),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="The study file (YAML) that the release was made from.")
    ] = None,
    known: Annotated[
        str | None,
        typer.Option("--with", help="A table of known people: file or URL. Default: everybody in the study's table."),
    ] = None,
    table: Table = None,
    hierarchy: Hierarchies = None,
    was: Was = None,
    attributes: Annotated[
        bool, typer.Option("--attributes", help="Show which quasi-identifiers carry the risk, and the smallest groups.")
    ] = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Linkage attack: look up people in a release by their quasi-identifiers.

    Shows how many people match exactly one published record, how many records match the others, and how often the best
    guess of a sensitive value is correct, next to guessing without the release.
    """
    from sfumato.api import Study

    refuse_without_table(table, hierarchy=hierarchy)
    if attributes and (table is not None or known is not None):
        raise UsageError(
            "--attributes looks up everybody of the study's table in a bundle",
            "leave out --table and --with",
            code="SF-USAGE-481",
        )
    carried = None
    if table is not None:
        study = Study.load(study_of_table(bundle, against))
        given = one_foreign_table(table, hierarchies=hierarchy)
        with show.progress(shown=not json) as report:
            found = study.attack_link(table=given, known=known, progress=report, memory_limit=memory_limit)
    elif bundle is None or against is None:
        raise UsageError(
            "a linkage attack requires a bundle and the study it was made from",
            "run `sfumato evaluate link BUNDLE --against STUDY`, or `sfumato evaluate link STUDY --table FILE`",
            code="SF-USAGE-360",
        )
    else:
        with show.progress(shown=not json) as report:
            study = Study.load(against)
            found = study.attack_link(bundle, known=known, was=was, progress=report, memory_limit=memory_limit)
            if attributes:
                carried = study.attack_attributes(bundle, was=was, progress=report, memory_limit=memory_limit)
    if json:
        more = {} if carried is None else {"carried": carried.as_json()}
        show.as_json({"owner_only": _OWNER, **found.as_json(), **more})
        return
    show.bullets([*found.sentences(), *([] if carried is None else carried.sentences())])
    show.warn(_OWNER)


def intersect(
    bundle: Bundle,
    other: Annotated[Path, typer.Argument(help="Another bundle of the same study.", metavar="OTHER")],
    against: Against,
    k: Annotated[int, typer.Option("--k", help="Count people with fewer candidate records than this.", min=1)] = 5,
    attribute: Annotated[
        str | None, typer.Option("--attribute", help="The sensitive attribute, if both releases have several.")
    ] = None,
    was: Was = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Intersection attack: look up everybody in two releases of records, and combine what both reveal.

    Shows for how many people only one sensitive value remains, and how many of them neither release exposes alone.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(against).attack_intersect(
            bundle, other, k=k, attribute=attribute, was=was, progress=report, memory_limit=memory_limit
        )
    if json:
        show.as_json({"owner_only": _OWNER, **found.as_json()})
        return
    show.bullets(found.sentences())
    show.warn(_OWNER)
