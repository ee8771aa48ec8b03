"""`sfumato evaluate compare`: two candidate releases beside the raw table, column by column."""

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json, MemoryLimit, StudyFile

if TYPE_CHECKING:
    from sfumato.workflow import ColumnComparison
    from sfumato.workflow.compare_columns import ComparedColumn, ReleasedColumn


def compare(
    study: StudyFile,
    first: Annotated[
        str,
        typer.Argument(
            help="A release that the study declares, or a candidate as `frontier` lists it.", metavar="FIRST"
        ),
    ],
    second: Annotated[str, typer.Argument(help="The other one.", metavar="SECOND")],
    purpose: Annotated[str | None, typer.Option("--purpose", help="The purpose of the candidates.")] = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="The sweep of the candidates; default: the only one, or the default.")
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", help="How often a random release (noise or sampling) is drawn.", min=1)
    ] = 5,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: the distribution of every column in the raw table and in two candidates, before one is published.

    The output is computed from raw data and covered by no guarantee. Drafts are made and thrown away.
    """
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(study).compare_columns(
            first, second, sweep=sweep, purpose=purpose, repeats=repeats, progress=report, memory_limit=memory_limit
        )
    if json:
        show.as_json(found.as_json())
        return
    _print(found)
    show.say("for your eyes only: this was computed from raw records")


def _print(found: "ColumnComparison") -> None:
    """A table a column: the shares of its bins in the table and in both releases."""
    for letter, one in zip("AB", found.releases, strict=True):
        drawn = f", drawn {one.draws} times; the shares are those of the first draw" if one.draws > 1 else ""
        show.say(f"{letter}: {one.label}: {one.rows:,} rows, {one.suppressed:,} records suppressed{drawn}")
    for column in found.columns:
        a, b = column.releases
        show.say("")
        show.say(f"{column.name} ({column.role}): distance A {_apart(a)}, B {_apart(b)}")
        show.table(["", "table", "A", "B"], _rows(column))


def _rows(column: "ComparedColumn") -> list[list[str]]:
    rows = [
        [label, _percent(share), *(_percent(one.shares[at] if one.shares else None) for one in column.releases)]
        for at, (label, share) in enumerate(zip(column.labels, column.shares, strict=True))
    ]
    if column.rest and not column.set:
        rest = [_percent(one.rest) for one in column.releases]
        rows.append([f"{column.rest:,} rarer values", _percent(column.rest_share), *rest])
    return rows


def _apart(one: "ReleasedColumn") -> str:
    if one.shares is None:
        return "nothing published"
    return f"{one.distance:.3f}" if one.spread is None else f"{one.distance:.3f} ± {one.spread.deviation:.2g}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
