"""How results and progress reach a terminal, a pipe or a program."""

import json
import os
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from sfumato.progress import Progress as Report
from sfumato.progress import silent, time_left
from sfumato.wording import sentence

if TYPE_CHECKING:  # what `sfumato --help` need not import
    from sfumato.evaluate.learning.accuracy import Comparison
    from sfumato.evaluate.learning.scoring import Spread

_ENOUGH = 30  # columns that text needs to be read
_BELOW = 4  # spaces before the lines that go on with a sentence
_SOON = 2  # seconds before anything is said of the time that is left


def _console(*, stderr: bool = False) -> Console:
    """A console; with NO_COLOR a pipe gets plain text, whatever FORCE_COLOR says: notebooks set that one."""
    plain = bool(os.environ.get("NO_COLOR")) and not (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, soft_wrap=True, force_terminal=False if plain else None)


out = _console()
err = _console(stderr=True)


def as_json(value: Any) -> None:
    """A result as one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def say(text: str = "") -> None:
    """A line for people. In a terminal it wraps between words and goes on below where it began."""
    if not out.is_terminal:
        out.print(text, markup=False)
        return
    for line in text.split("\n"):
        lead = " " * (len(line) - len(line.lstrip()))
        room = max(out.width, len(lead) + _ENOUGH)
        parts = wrap(
            line.lstrip(), room, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False,
            break_long_words=False,
        )  # fmt: skip
        out.print("\n".join(parts), markup=False)


def verbatim(text: str) -> None:
    """Text that is copied or kept, such as a file: no line of it is broken."""
    out.print(text, markup=False)


def table(names: list[str], rows: list[list[str]], *, right: Collection[int] = ()) -> None:
    """Rows under names, within the width of a terminal; in a pipe a row is a line. See `table_lines`."""
    from sfumato.cli.table_lines import table_lines

    for line, heading in table_lines(names, rows, width=out.width if out.is_terminal else None, right=right):
        out.print(Text(line, style="bold" if heading else ""))


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
        doing, since = "", 0.0

        def report(what: str, done: int, total: int) -> None:
            nonlocal doing, since
            if what != doing:
                doing, since = what, time.monotonic()
            took = time.monotonic() - since
            left = time_left(done, total, took) if total > 1 and took > _SOON else ""
            # A step that cannot tell how far it is says 0 of 1: show that it runs, not that it is stuck at nothing.
            known = total > 1 or done > 0
            bar.update(task, description=f"{what}{left}", completed=done, total=total if known else None)

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
