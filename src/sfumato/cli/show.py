"""How results and progress reach a terminal, a pipe or a program."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from sfumato.core.progress import Progress as Report
from sfumato.core.progress import silent
from sfumato.core.words import sentence

if TYPE_CHECKING:  # what `sfumato --help` need not import
    from sfumato.measure import Comparison
    from sfumato.publish import Estimate

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def as_json(value: Any) -> None:
    """A result as one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def say(text: str = "") -> None:
    """A line for people."""
    out.print(text, markup=False)


def table(names: list[str], rows: list[list[str]]) -> None:
    """Rows under names, as wide as the terminal; the last column takes what is left and wraps."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False, header_style="bold")
    for name in names[:-1]:
        found.add_column(name, no_wrap=True)
    found.add_column(names[-1], overflow="fold", ratio=1)
    for row in rows:
        found.add_row(*(Text(cell) for cell in row))
    out.print(found, soft_wrap=False)


def bullets(lines: tuple[str, ...] | list[str]) -> None:
    """Sentences, one a line."""
    for line in lines:
        out.print(f"  • {sentence(line)}.", markup=False)


def warn(text: str) -> None:
    """Something to notice, on standard error."""
    err.print(f"warning: {text}", markup=False, style="yellow")


@contextmanager
def progress(*, shown: bool) -> Iterator[Report]:
    """A progress bar on standard error, if that is a terminal and anybody wants it."""
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


def place(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        short = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if short.startswith(os.pardir) else short


def exact(epsilon: Fraction | None) -> str | None:
    """ε as text that reads back as the same number, or nothing."""
    from sfumato.dp.budget import show

    return None if epsilon is None else show(epsilon)


def estimate(found: "Estimate") -> str:
    """An estimate in words: the number, its interval, and what it assumes."""
    of = f"{'about ' if found.sampled is not None else ''}{found.total:,} records"
    span = f"{found.low:,.0f} to {found.high:,.0f}"
    sure = f"{100 * found.confidence:.0f} % interval {span}" if found.confidence < 1 else f"certainly {span}"
    if found.count is None or found.share is None:
        told = f"between {found.low:,.0f} and {found.high:,.0f} of {of} ({100 * found.confidence:.0f} % interval)"
        told += (
            f"; no single number is given, because the release does not tell values of {_named(found.undecided)} apart"
        )
    elif found.low == found.high:
        told = f"{found.count:,.0f} of {of}, {100 * found.share:.2f} %"
    else:
        told = f"about {found.count:,.0f} of {of}, {100 * found.share:.2f} %; {sure}"
        if found.assumes:
            told += (
                f"; the single number assumes that values of {_named(found.assumes)} are spread evenly in their regions"
            )
    if found.sampled is not None:
        told += f"; the release is a random sample of {found.sampled} of the records, and counts are divided by that"
    return told


def _named(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def estimate_json(found: "Estimate") -> Mapping[str, Any]:
    """An estimate as JSON."""
    return {
        "count": found.count,
        "low": found.low,
        "high": found.high,
        "confidence": found.confidence,
        "assumes": list(found.assumes),
        "undecided": list(found.undecided),
        "share": found.share,
        "total": found.total,
        "sampled": found.sampled,
    }


def accuracies(found: "Comparison") -> None:
    """BA, CA and LA, a line each."""
    for name, accuracy, meaning in (
        ("BA", found.ba, "learnt on the raw table: the most there is to get"),
        ("CA", found.ca, "learnt on a release like this one"),
        ("LA", found.la, "the most frequent class: what one gets for nothing"),
    ):
        if accuracy is not None:
            say(f"  {name}  {100 * accuracy.mean:5.2f} % ± {100 * accuracy.deviation:.2f}  {meaning}")


def accuracy_json(found: "Comparison") -> Mapping[str, Mapping[str, float] | None]:
    """The same as JSON."""
    return {
        name: None if accuracy is None else {"mean": accuracy.mean, "deviation": accuracy.deviation}
        for name, accuracy in (("ca", found.ca), ("ba", found.ba), ("la", found.la))
    }
