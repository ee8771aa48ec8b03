"""How results, progress and errors reach a terminal, a pipe or a program."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sfumato.core.progress import Progress as Report
from sfumato.core.progress import silent
from sfumato.publish import Estimate

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def as_json(value: Any) -> None:
    """A result as one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def say(text: str = "") -> None:
    """A line for people."""
    out.print(text, markup=False)


def bullets(lines: tuple[str, ...] | list[str]) -> None:
    """Sentences, one a line."""
    for line in lines:
        out.print(f"  • {line[:1].upper()}{line[1:]}.", markup=False)


def warn(text: str) -> None:
    """Something to notice, on standard error."""
    err.print(f"warning: {text}", markup=False, style="yellow")


@contextmanager
def progress(*, shown: bool) -> Iterator[Report]:
    """A progress bar on standard error, if that is a terminal and anybody wants it."""
    if not (shown and err.is_terminal):
        yield silent
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("starting", total=1)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield report


def estimate(found: Estimate) -> str:
    """An estimate in words."""
    spread = "" if found.deviation is None else f" ± {found.deviation:,.0f} (noise alone, one standard deviation)"
    return f"about {found.count:,.0f} of {found.total:,} records, {100 * found.share:.2f} %{spread}"


def estimate_json(found: Estimate) -> dict[str, float | None]:
    """An estimate as JSON."""
    return {"count": found.count, "share": found.share, "total": found.total, "deviation": found.deviation}
