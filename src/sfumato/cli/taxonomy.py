"""`sfumato taxonomy`: show, check and convert taxonomies."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show

taxonomy_app = typer.Typer(help="Show, check and convert taxonomies.", no_args_is_help=True)

TaxonomyFile = Annotated[Path, typer.Argument(help="CSV with a row a leaf, or nested YAML.", metavar="FILE")]


@taxonomy_app.command("show")
def show_tree(
    file: TaxonomyFile,
    most: Annotated[int, typer.Option("--most", help="The most lines to draw.")] = 60,
    json: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
) -> None:
    """Draw a taxonomy as a tree; a file that is not one is refused with the reason."""
    from sfumato.core.taxonomy_text import draw, to_nested
    from sfumato.read import load_taxonomy

    taxonomy = load_taxonomy(file)
    if json:
        show.as_json(to_nested(taxonomy))
    else:
        show.say(draw(taxonomy, limit=most))


@taxonomy_app.command("check")
def check_tree(
    file: TaxonomyFile,
    values: Annotated[Path, typer.Argument(help="A text file with one value a line.", metavar="VALUES")],
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare a taxonomy with a list of values: which are not in it, which of its leaves do not occur."""
    from sfumato.core.taxonomy_check import compare
    from sfumato.errors import UsageError
    from sfumato.read import load_taxonomy

    try:
        wanted = [line for line in values.read_text(encoding="utf-8-sig").splitlines() if line]
    except OSError as error:
        raise UsageError(f"{values} cannot be read ({error.strerror})", "name a text file") from None
    found = compare(load_taxonomy(file), wanted)
    if json:
        show.as_json(
            {"fits": found.fits, "missing": found.missing, "extra": found.extra, "proposals": dict(found.proposals)}
        )
    else:
        for value in found.missing:
            close = found.proposals.get(value)
            show.say(f"  • '{value}' is no leaf" + (f"; did you mean '{close[0]}'?" if close else ""))
        for leaf in found.extra:
            show.say(f"  • the leaf '{leaf}' is none of the values (no mistake: a public domain may be larger)")
        show.say("every value is a leaf" if found.fits else f"{len(found.missing)} values are no leaf: add them")
    if not found.fits:
        raise typer.Exit(3)


@taxonomy_app.command("convert")
def convert_tree(
    file: TaxonomyFile,
    out: Annotated[Path, typer.Argument(help="Where to write; .csv or .yaml.", metavar="OUT")],
) -> None:
    """Convert between the CSV form and nested YAML, losing nothing."""
    from sfumato.core.taxonomy_text import to_csv
    from sfumato.errors import PublishError
    from sfumato.read import load_taxonomy, taxonomy_to_yaml

    taxonomy = load_taxonomy(file)
    text = to_csv(taxonomy) if out.suffix == ".csv" else taxonomy_to_yaml(taxonomy)
    try:
        with out.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        raise PublishError(f"{out} exists already", "name another file") from None
    except OSError as error:
        raise PublishError(f"{out} cannot be written ({error.strerror})", "name a folder you may write to") from None
    show.say(f"wrote {out}: {taxonomy.size} leaves, depth {taxonomy.depth}")
