"""How results and progress reach a terminal, a pipe or a program."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from sfumato.progress import Progress as Report
from sfumato.progress import silent
from sfumato.wording import sentence

if TYPE_CHECKING:  # what `sfumato --help` need not import
    from sfumato.evaluate.learning.accuracy import Comparison
    from sfumato.evaluate.learning.scoring import Spread

_GAP = 2  # spaces between columns of a table
_ENOUGH = 30  # columns that text needs to be read beside a table
_BELOW = 4  # spaces before text that stands below its row

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def as_json(value: Any) -> None:
    """A result as one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def say(text: str = "") -> None:
    """A line for people."""
    out.print(text, markup=False)


def table(names: list[str], rows: list[list[str]]) -> None:
    """Rows under names. In a pipe a row is a line, however long.

    In a terminal the last column takes what is left of the width and wraps between words; where too little is left, it
    stands below its row. All other columns stay whole, so that a name or a number is never broken.
    """
    from rich.cells import cell_len

    widths = [max(cell_len(row[at]) for row in [names, *rows]) for at in range(len(names))]
    left = out.width - sum(widths[:-1]) - _GAP * (len(names) - 1)
    lines = [[*row] for row in [names, *rows]]
    for number, row in enumerate(lines):
        style = "bold" if number == 0 else ""
        whole = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row[:-1], widths, strict=False)]
        start = (" " * _GAP).join([*whole, ""])
        if not out.is_terminal or widths[-1] <= left:
            out.print(Text((start + row[-1]).rstrip(), style=style))
        elif left >= _ENOUGH:
            wrapped = wrap(row[-1], left, break_on_hyphens=False) or [""]
            out.print(
                Text(
                    "\n".join([start + wrapped[0], *(" " * cell_len(start) + more for more in wrapped[1:])]),
                    style=style,
                )
            )
        else:
            out.print(Text(start.rstrip(), style=style))
            below = wrap(row[-1], max(out.width - _BELOW, _ENOUGH), break_on_hyphens=False) if number else []
            for more in below:
                out.print(Text(" " * _BELOW + more))


def bullets(lines: tuple[str, ...] | list[str]) -> None:
    """Sentences as a list. In a pipe a sentence is a line, in a terminal it wraps between words."""
    for line in lines:
        whole = f"{sentence(line)}."
        if not out.is_terminal:
            out.print(f"  • {whole}", markup=False)
            continue
        first, *more = wrap(whole, max(out.width - _BELOW, _ENOUGH), break_on_hyphens=False)
        out.print("\n".join([f"  • {first}", *(" " * _BELOW + part for part in more)]), markup=False)


def warn(text: str) -> None:
    """Something to notice, on standard error."""
    err.print(f"warning: {text}", markup=False, style="yellow")


@contextmanager
def progress(*, shown: bool) -> Iterator[Report]:
    """A progress bar on standard error, if that is a terminal and anybody wants it.

    With SFUMATO_PROGRESS=json, for programs: a line of JSON for each step.
    """
    if os.environ.get("SFUMATO_PROGRESS") == "json":
        yield _progress_line
        return
    if not (shown and sys.stderr.isatty()):  # rich would take FORCE_COLOR for a terminal
        yield silent
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(what: str, done: int, total: int) -> None:
            # A step that cannot tell how far it is says 0 of 1: show that it runs, not that it is stuck at nothing.
            known = total > 1 or done > 0
            bar.update(task, description=what, completed=done, total=total if known else None)

        yield report


def _progress_line(what: str, done: int, total: int) -> None:
    """One step as a line of JSON on standard error."""
    line = json.dumps({"progress": {"doing": what, "done": done, "of": total}}, ensure_ascii=False)
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def place(path: Path) -> str:
    """A path relative to the working folder, if it is below it."""
    try:
        short = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if short.startswith(os.pardir) else short


def exact(epsilon: Fraction | None) -> str | None:
    """ε as text that reads back as the same number, or nothing."""
    from sfumato.study.budget import exact_text

    return exact_text(epsilon)


def accuracies(found: "Comparison") -> None:
    """Accuracy, balanced accuracy and AUC: on raw data, on the release, and of the majority class."""
    rows = [
        [name, *(_percent(part) for part in (score, score.balanced)), _area(score.auc)]
        for name, score in (
            ("  on raw data (BA)", found.ba),
            ("  on the release (CA)", found.ca),
            ("  of the majority class (LA)", found.la),
        )
        if score is not None
    ]
    table(["", "accuracy", "balanced accuracy", "AUC"], rows)


def _percent(found: "Spread") -> str:
    return f"{100 * found.mean:5.2f} % ± {100 * found.deviation:.2f}"


def _area(found: "Spread") -> str:
    return f"{found.mean:.3f} ± {found.deviation:.3f}" if isfinite(found.mean) else "undefined: only one class"
