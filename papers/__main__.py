"""Run a figure of a paper again, and put its plot and numbers beside what was printed.

make reproduce                          lists the figures
make reproduce FIGURE=li-2a             runs one
python -m papers li-2a --out FOLDER     the same, with options
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from papers import FIGURES, figure_on
from papers.figure import Reproduced
from sfumato.cli import show
from sfumato.errors import SfumatoError

_MARKS = {True: "ok", False: "differs", None: ""}


def main(arguments: Sequence[str] | None = None) -> int:
    """List the figures, or run one; the exit code is that of the error, if there is one."""
    parser = argparse.ArgumentParser(prog="python -m papers", description="Run a figure of a paper again.")
    parser.add_argument("figure", nargs="?", help="a figure by name; without one, the figures are listed")
    parser.add_argument("--workers", type=int, help="how many processes to use; one a core unless told")
    parser.add_argument("--out", type=Path, help="the folder for plot and table; may exist")
    parser.add_argument(
        "--data", type=Path, help="the folder of public tables, for figures on one that is not packaged"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    asked = parser.parse_args(arguments)
    try:
        if asked.figure is None:
            _list(json=asked.json)
        else:
            _run(asked)
    except SfumatoError as error:
        show.err.print(str(error), markup=False)
        return error.exit_code
    return 0


def _list(*, json: bool) -> None:
    rows = [
        {"figure": kind.name, "title": kind.title, "paper": kind.paper, "needs": kind.needs, "takes": kind.takes}
        for kind in FIGURES.values()
    ]
    if json:
        show.as_json(rows)
        return
    wide = max(len(row["figure"]) for row in rows)
    for row in rows:
        show.say(f"  {row['figure']:<{wide}} {row['title']} ({row['paper']}); {row['takes']}")
        if row["needs"]:
            show.say(f"  {'':<{wide}} needs --data FOLDER: {row['needs']}")
    show.say("run one with `make reproduce FIGURE=name`, or `python -m papers name`")


def _run(asked: argparse.Namespace) -> None:
    figure = figure_on(asked.figure, asked.data)
    if not asked.json:
        show.err.print(f"{figure.name}: {figure.takes} on two cores", markup=False)
    with show.progress(shown=not asked.json) as report:
        found = figure.run(asked.out or Path("reproduced") / figure.name, workers=asked.workers, progress=report)
    if asked.json:
        show.as_json(found.as_json())
    else:
        _say(found)


def _say(found: Reproduced) -> None:
    show.say(f"{found.title} ({found.paper})")
    for fact in found.facts:
        show.say(f"  {_MARKS[fact.agrees]:<8}{fact.what}: printed {fact.printed}; ours {fact.ours}")
        if fact.agrees is not True and fact.why:
            show.say(f"          why it may differ: {fact.why}")
    show.say(f"plot, table and comparison: {', '.join(show.place(file) for file in found.files)}")
    show.say(f"{found.seconds:.0f} s; {found.machine}")


if __name__ == "__main__":
    sys.exit(main())
