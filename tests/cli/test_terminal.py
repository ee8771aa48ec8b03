"""Terminals, pipes and shells: quick help, no colour where none is wanted, completion."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import sfumato
from sfumato.cli import show

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

# typer itself takes pydantic to read the arguments of a command
HEAVY = ("duckdb", "ibis", "numpy", "opendp", "pandas", "polars", "pyarrow", "scipy", "sklearn", "sqlalchemy")
CALL = "import sys; from sfumato.cli import main; main()"


def called(code, *args, **more):
    """A new interpreter, as a shell would start it."""
    env = {**os.environ, "PYTHONPATH": str(Path(sfumato.__file__).parents[1]), "PYTHONIOENCODING": "utf-8", **more}
    return subprocess.run(
        [sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_help_imports_nothing_heavy():
    code = f"""
import contextlib, json, sys
from sfumato.cli import main
for args in (["--help"], ["release", "--help"], ["taxonomy", "show", "--help"]):
    sys.argv = ["sfumato", *args]
    with contextlib.suppress(SystemExit):
        main()
    print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)
"""
    found = called(code)
    assert found.returncode == 0, found.stderr
    assert [found.stdout.count(f"Usage: sfumato{of} [") for of in ("", " release", " taxonomy show")] == [1, 1, 1]
    assert [json.loads(line) for line in found.stderr.splitlines()] == [[], [], []]


def test_the_package_runs_as_a_module():
    found = called("import runpy; runpy.run_module('sfumato', run_name='__main__')", "--help")
    assert found.returncode == 0
    assert "Usage: sfumato" in found.stdout


def test_pipes_get_no_colour_and_no_progress_and_one_without_greek_no_crash(study):
    found = called(CALL, "plan", str(study), "dp", PYTHONIOENCODING="ascii")
    assert found.returncode == 0
    assert "\x1b" not in found.stdout + found.stderr
    assert "\\u03b5 = 1" in found.stdout


def test_no_colour_wins_in_a_pipe():
    code = "from sfumato.cli import show\nshow.out.print('[bold]word[/bold]')\nshow.err.print('[red]word[/red]')"
    for plain, escapes in (("1", False), ("", True)):
        found = called(code, FORCE_COLOR="1", NO_COLOR=plain)
        assert (("\x1b" in found.stdout), ("\x1b" in found.stderr)) == (escapes, escapes), plain


def test_completion_knows_the_commands():
    found = called(CALL, COMP_WORDS="sfumato rel", COMP_CWORD="1", _SFUMATO_COMPLETE="complete_bash")
    assert found.stdout.split() == ["release"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def drawn(monkeypatch, stream, *, shown=True):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(show, "err", Console(file=stream, force_terminal=True, width=80))
    with show.progress(shown=shown) as report:
        report("counting", 1, 4)
    return stream.getvalue()


def test_progress_is_drawn_on_terminals_alone(monkeypatch):
    assert "counting" in drawn(monkeypatch, Terminal())
    assert drawn(monkeypatch, io.StringIO()) == ""
    assert drawn(monkeypatch, Terminal(), shown=False) == ""


def test_no_color_is_respected(monkeypatch):
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=True, color_system="standard", _environ=variables)
        monkeypatch.setattr(show, "err", console)
        show.warn("look out")
        assert "look out" in stream.getvalue()
        assert ("\x1b[33m" in stream.getvalue()) is coloured
