"""The command that compares many releases of one study before one is made."""

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.foreign import Hierarchies, foreign_tables
from sfumato.cli.options import Json, MemoryLimit, StudyFile
from sfumato.wording import sentence

if TYPE_CHECKING:
    from sfumato.frontier import Choice, Frontier, Point

Workers = Annotated[int | None, typer.Option("--workers", help="Number of processes; default: one per core.", min=1)]
POINTS = "frontier.csv"
PLOTS = ("frontier.html", "frontier.png", "frontier.svg")  # these need the extra `plots`


def frontier(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    purpose: Annotated[str | None, typer.Option("--purpose", help="A purpose the study declares.")] = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="A sweep the study declares; without one, a default.")
    ] = None,
    x: Annotated[str, typer.Option("--x", help="The measure on the x axis.")] = "ploss",
    y: Annotated[str, typer.Option("--y", help="The measure on the y axis.")] = "uloss",
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="Another measure to compute and show. Repeatable.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", help="A release of another tool as a further point: FILE or NAME=FILE. Repeatable."),
    ] = None,
    synthetic: Annotated[
        list[str] | None,
        typer.Option("--synthetic", help="The NAME of a --table whose rows are synthetic. Repeatable."),
    ] = None,
    hierarchy: Hierarchies = None,
    choose: Annotated[
        str, typer.Option("--choose", help="knee, or the worst acceptable: privacy=0.2 (x) or utility=0.02 (y).")
    ] = "knee",
    repeats: Annotated[
        int, typer.Option("--repeats", help="How often a random release (noise or sampling) is drawn.", min=1)
    ] = 5,
    workers: Workers = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder for plots and points; may exist.")] = None,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: make and measure many releases, plot privacy and utility, and choose one; publishes nothing.

    The output is computed from raw data and covered by no guarantee. Finished points are stored, and a second run
    continues where the first stopped.
    """
    from sfumato.api import Study
    from sfumato.api import frontier as compare
    from sfumato.frontier import parse_rule

    rule, privacy, utility = parse_rule(choose)
    tables = foreign_tables(table or (), synthetic or (), hierarchy or ())
    with show.progress(shown=not json) as report:
        found = compare(
            Study.load(study),
            sweep,
            purpose=purpose,
            x=x,
            y=y,
            measures=measure or (),
            tables=tables,
            repeats=repeats,
            workers=workers,
            folder=out,
            progress=report,
            memory_limit=memory_limit,
        )
        chosen = found.choose(rule, privacy=privacy, utility=utility)
        report("drawing the plot", 0, 1)
        files = save_all(found, chosen)
    if json:
        show.as_json({**found.as_json(chosen), "files": [str(file) for file in files]})
        return
    print_frontier(found, chosen)
    say_plots(files)
    show.say(f"to publish it, declare it below `releases` in {show.place(study)}:")
    show.verbatim(f"  chosen: {dumps(chosen.settings, ensure_ascii=False)}")


def save_all(found: "Frontier", chosen: "Choice") -> list[Path]:
    """The plot as a page and as pictures, and all points, in the frontier's folder; without the extra, the points."""
    from sfumato.frontier.plots_extra import can_plot
    from sfumato.ledger.private_files import private_folder

    folder = private_folder(found.folder or Path())
    return [found.save(folder / name, chosen) for name in (*(PLOTS if can_plot() else ()), POINTS)]


def say_plots(files: list[Path]) -> None:
    """Where the plot and the points are, or which extra draws one."""
    from sfumato.frontier.plots_extra import INSTALL

    names = ", ".join(show.place(file) for file in files)
    if len(files) > 1:
        show.say(f"plot and points: {names}")
    else:
        show.say(f"all points: {names}")
        show.say(f"for the plot: {INSTALL}, then the same command again; finished points are not made again")


def print_frontier(found: "Frontier", chosen: "Choice") -> None:
    """Every release a line, the failures with their reasons, and the choice."""
    from sfumato.frontier import NO_BETTER, WHY_NO_BETTER

    best, worse = ({id(point) for point in some} for some in (found.efficient, found.no_better_than_nothing))
    names = list(dict.fromkeys((found.x.name, found.y.name, *found.axes)))
    rows = [
        [
            "→" if point is chosen.point else "*" if id(point) in best else "",
            *(_number(point, name) for name in names),
            _label(point, worse),
        ]
        for point in (*found.points, *found.baselines)
    ]
    show.table(["", *names, "release"], rows, right=range(1, len(names) + 1))
    show.say(
        f"  * efficient: no other release is as good on both and better on one of {found.x.name}, "
        f"{found.y.name}; → chosen"
    )
    if worse:
        show.say(f"  ‡ {NO_BETTER}: {WHY_NO_BETTER}")
    if any(point.draws > 1 for point in found.points):
        show.say("  ± random releases were drawn several times: mean and standard deviation")
    if any(point.foreign for point in found.points):
        show.say("  † made by another tool; Sfumato checked no guarantee of it")
        for point in found.points:
            for note in point.notes[1:]:
                show.say(f"  {point.label}: {note}")
    for point, why in found.failures:
        show.say(f"  failed: {point.label}: {why}")
    show.say(f"{sentence(chosen.sentence)}.")


def _label(point: "Point", worse: set[int]) -> str:
    return f"{point.label}{' †' * point.foreign}{' ‡' * (id(point) in worse)}"


def _number(point: "Point", name: str) -> str:
    value, spread = point.numbers.get(name), point.spread.get(name)
    if value is None:
        return "–"
    return f"{value:.4g}" if spread is None else f"{value:.4g} ± {spread.deviation:.2g}"
