"""Write docs/reference/help.md: what `sfumato … --help` prints, of every command.

    python tools/help_page.py

The tests run the page as they run every other, so it cannot be out of date. `make man` makes a manual page of it.
"""

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}  # before the command line is imported

import typer.main

from sfumato.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "help.md"
HEAD = """\
# Help

What every command prints with `--help`, written by `python tools/help_page.py`. [The command line](cli.md)
explains the same with examples.
"""


def commands(command: Any, words: tuple[str, ...] = ("sfumato",)) -> Iterator[tuple[str, ...]]:
    """The words that call each command, the program first."""
    yield words
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, (*words, name))


def help_of(words: tuple[str, ...]) -> str:
    """What a command prints with `--help`."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        app(args=[*words[1:], "--help"], prog_name="sfumato", standalone_mode=False)
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


def page() -> str:
    """The page: a section a command."""
    sections = [
        f"## {' '.join(words)}\n\n```console\n$ {' '.join(words)} --help\n{help_of(words)}\n```\n"
        for words in commands(typer.main.get_command(app))
    ]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
