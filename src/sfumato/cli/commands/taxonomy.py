"""`sfumato taxonomy`: show, check and convert taxonomies."""

import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.new_files import write_new
from sfumato.cli.options import Json
from sfumato.errors import StudyError, TaxonomyError, UsageError

if TYPE_CHECKING:
    from sfumato.domains.taxonomy.tree import Taxonomy

taxonomy_app = typer.Typer(help="Show, check and convert taxonomies.", no_args_is_help=True)

TaxonomyFile = Annotated[Path, typer.Argument(help="CSV with one row per leaf, or nested YAML.", metavar="FILE")]


@taxonomy_app.command("show")
def show_tree(
    file: Annotated[Path, typer.Argument(help="A taxonomy (CSV or nested YAML), or a study.", metavar="FILE")],
    attribute: Annotated[
        str | None, typer.Argument(help="If FILE is a study: which attribute.", metavar="ATTRIBUTE")
    ] = None,
    most: Annotated[int, typer.Option("--most", help="The maximum number of lines.", min=1)] = 60,
    json: Json = False,
) -> None:
    """Show a taxonomy as a tree; a file that is not a taxonomy is refused with the reason."""
    from sfumato.domains.taxonomy.text import draw, to_nested
    from sfumato.study.file import load_taxonomy

    try:
        taxonomy = load_taxonomy(file) if attribute is None else _of_attribute(file, attribute)
    except TaxonomyError:
        if attribute is None and (names := _attributes(file)):
            raise UsageError(
                f"'{file}' is a study", f"name one of its attributes too: {', '.join(names)}", code="SF-USAGE-010"
            ) from None
        raise
    if json:
        show.as_json(to_nested(taxonomy))
    else:
        show.verbatim(draw(taxonomy, limit=most))


@taxonomy_app.command("check")
def check_tree(
    file: TaxonomyFile,
    values: Annotated[Path, typer.Argument(help="A text file with one value per line.", metavar="VALUES")],
    json: Json = False,
) -> None:
    """Compare a taxonomy with a list of values: which values are not in it, and which leaves do not occur."""
    from sfumato.domains.taxonomy.check import compare
    from sfumato.study.file import load_taxonomy

    try:
        wanted = [line for line in values.read_text(encoding="utf-8-sig").splitlines() if line]
    except OSError as error:
        raise UsageError(
            f"'{values}' cannot be read ({error.strerror})", "name a file with one value per line", code="SF-USAGE-011"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(
            f"'{values}' is not UTF-8 text", "save it as UTF-8, one value per line", code="SF-USAGE-012"
        ) from None
    found = compare(load_taxonomy(file), wanted)
    if json:
        show.as_json(found.as_json())
    else:
        for value in found.missing:
            close = found.proposals.get(value)
            show.say(f"  • '{value}' is not a leaf" + (f"; did you mean '{close[0]}'?" if close else ""))
        for leaf in found.extra:
            show.say(f"  • the leaf '{leaf}' is not among the values (that is allowed: a public domain may be larger)")
        show.say(
            "every value is a leaf" if found.fits else f"{len(found.missing)} values are not in the taxonomy: add them"
        )
    if not found.fits:
        raise typer.Exit(TaxonomyError.exit_code)


@taxonomy_app.command("convert")
def convert_tree(
    file: TaxonomyFile,
    out: Annotated[Path, typer.Argument(help="Where to write; .csv, .yaml, .yml or .json.", metavar="OUT")],
    json: Json = False,
) -> None:
    """Convert between the CSV form and nested YAML or JSON, without loss."""
    from sfumato.study.file import load_taxonomy

    taxonomy = load_taxonomy(file)
    write_new(out, _in_form(taxonomy, out))
    if json:
        show.as_json({"wrote": str(out), "leaves": taxonomy.size, "depth": taxonomy.depth})
    else:
        show.say(f"wrote {out}: {taxonomy.size} leaves, depth {taxonomy.depth}")


@taxonomy_app.command("icd9")
def icd9_tree(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A file that does not exist yet; .csv, .yaml, .yml or .json.")
    ] = None,
    spelling: Annotated[
        str, typer.Option("--spelling", help="How the table writes codes: dotted, plain or unpadded.")
    ] = "dotted",
    json: Json = False,
) -> None:
    """Write the packaged taxonomy of ICD-9-CM diagnosis codes, V and E codes included, for use in a study."""
    from sfumato.domains.taxonomy.icd9 import SPELLINGS
    from sfumato.study.file import icd9_taxonomy

    taxonomy = icd9_taxonomy(spelling)
    if out is None:
        if json:
            from sfumato.domains.taxonomy.text import to_nested

            show.as_json(to_nested(taxonomy))
        else:
            from sfumato.domains.taxonomy.text import to_csv

            sys.stdout.write(to_csv(taxonomy))
        return
    write_new(out, _in_form(taxonomy, out))
    if json:
        show.as_json({"wrote": str(out), "leaves": taxonomy.size, "depth": taxonomy.depth, "spelling": spelling})
    else:
        show.say(f"wrote {out}: {taxonomy.size:,} leaves, depth {taxonomy.depth}, codes like {SPELLINGS[spelling]}")
        show.say(f"use it in the study: {{type: set, taxonomy: {out.name}, outside: keep, …}}")


def _in_form(taxonomy: "Taxonomy", out: Path) -> str:
    """The text of a taxonomy in the form that the name of a file asks for."""
    from sfumato.domains.taxonomy.text import to_csv, to_nested
    from sfumato.study.file import taxonomy_to_yaml

    match out.suffix.lower():
        case ".csv":
            return to_csv(taxonomy)
        case ".yaml" | ".yml":
            return taxonomy_to_yaml(taxonomy)
        case ".json":
            return dumps(to_nested(taxonomy), ensure_ascii=False, indent=2) + "\n"
        case other:
            raise UsageError(
                f"'{other}' is not a file type of taxonomies",
                "end the name in .csv, .yaml or .json",
                code="SF-USAGE-013",
            )


def _attributes(file: Path) -> list[str]:
    """The attributes that have a taxonomy, if the file is a study."""
    from sfumato.study.file import load_study

    try:
        found = load_study(file).attributes.values()
    except StudyError:
        return []
    return [a.name for a in found if a.domain is not None and a.domain.taxonomy is not None]


def _of_attribute(study: Path, name: str) -> "Taxonomy":
    from sfumato.study.file import load_study

    domain = load_study(study).attribute(name).domain
    if domain is None:
        raise StudyError(
            f"'{name}' has no domain, so it has no taxonomy",
            "choose an attribute with values or a taxonomy",
            code="SF-STUDY-001",
        )
    if domain.taxonomy is None:
        raise StudyError(
            f"'{name}' has no taxonomy: methods may split it anywhere between its bounds",
            f"give '{name}' one, such as `taxonomy: {{intervals: {{width: 10}}}}`, or keep it as it is",
            code="SF-STUDY-002",
        )
    return domain.taxonomy
