"""What a reproduced figure is: printed facts beside ours, and the registry that finds it by name."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from papers.machine import machine
from sfumato.errors import PublishError, UsageError
from sfumato.progress import Progress
from sfumato.registry import Registry

MARKS = {True: "yes", False: "no", None: "–"}


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing the paper prints, what comes out here, and whether they agree (None where it cannot be said)."""

    what: str
    printed: str
    ours: str
    agrees: bool | None
    why: str = ""  # where they differ: why they may

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "what": self.what, "printed": self.printed, "ours": self.ours, "agrees": self.agrees, "why": self.why,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """A figure that was run: its facts, the files that were written, how long it took, and where."""

    name: str
    title: str
    paper: str
    facts: tuple[Fact, ...]
    files: tuple[Path, ...]
    seconds: float
    machine: str = ""

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "figure": self.name,
            "title": self.title,
            "paper": self.paper,
            "facts": [fact.as_json() for fact in self.facts],
            "files": [str(file) for file in self.files],
            "seconds": round(self.seconds, 1),
            "machine": self.machine,
        }


class Figure(Protocol):
    """A figure or table of a paper, as a program over a packaged or public table.

    ``needs`` says what a folder of public tables has to hold, which the figure takes as ``data``; it is empty where the
    packaged table does. ``takes`` is how long it takes on two cores, in words.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[str]
    takes: ClassVar[str]

    def run(self, folder: Path, *, workers: int | None, progress: Progress) -> Reproduced:
        """Run it, and write plot, table and comparison into the folder."""
        ...


FIGURES: Registry[type[Any]] = Registry("figure", UsageError)


def figure_on(name: str, data: Path | None) -> Figure:
    """A figure by name, on the public tables in a folder where it needs one."""
    kind = FIGURES[name]
    if not kind.needs and data is not None:
        raise UsageError(f"'{name}' runs on the packaged table, and takes no folder", "leave --data out")
    found: Figure = kind(data=data) if kind.needs else kind()
    return found


def finished(
    figure: Figure, folder: Path, facts: Sequence[Fact], files: Sequence[Path], began: float
) -> Reproduced:  # fmt: skip
    """Write the comparison beside the other files; ``began`` is when the work did, by the monotonic clock."""
    seconds, where = time.monotonic() - began, machine()
    head = f"# {figure.title}\n\n{figure.paper}\n\n{where}; {seconds:.0f} s"
    return Reproduced(
        name=figure.name, title=figure.title, paper=figure.paper, facts=tuple(facts),
        files=(*files, *_written(folder, head, facts)), seconds=seconds, machine=where,
    )  # fmt: skip


def _written(folder: Path, head: str, facts: Sequence[Fact]) -> tuple[Path, Path]:
    """The facts as a page to read and as JSON."""
    rows = [
        "| what | printed | ours | agrees | why it may differ |",
        "|---|---|---|---|---|",
        *(f"| {f.what} | {f.printed} | {f.ours} | {MARKS[f.agrees]} | {f.why} |" for f in facts),
    ]
    page, data = folder / "comparison.md", folder / "comparison.json"
    try:
        page.write_text(head + "\n\n" + "\n".join(rows) + "\n", encoding="utf-8")
        data.write_text(json.dumps([f.as_json() for f in facts], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise PublishError(
            f"'{folder}' cannot be written ({error.strerror})", "name a folder you may write to with --out"
        ) from None
    return page, data
