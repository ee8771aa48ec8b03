"""The examples of the README and the docs run, in order, beside the packaged census study.

A block that cannot run here says why, in a comment right before it (`<!-- not run: … -->`) or in its first line
(`# not run: …`). Sessions with `>>>` show what comes out, from a table of their own: `tests/publish` runs those.
"""

import re
import shlex
import sys
from pathlib import Path

import pytest

from sfumato.cli import main
from tests.census import census_study, thin_demo

pytestmark = pytest.mark.usefixtures("seeded")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?P<before>[^\n]*)\n```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, kind):
    """The blocks of one kind that are meant to run, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        marked = found["before"].startswith("<!-- not run: ") or found["body"].startswith(("# not run: ", ">>> "))
        if found["kind"] == kind and not marked:
            yield text.count("\n", 0, found.start("body")) + 1, found["body"]


@pytest.fixture(params=[10, pytest.param(1, marks=pytest.mark.slow)], ids=["a tenth", "whole"])
def census(request, tmp_path, monkeypatch):
    """A working folder with the packaged study and its files; of the records, each so manieth."""
    if request.param > 1:
        monkeypatch.setattr("sfumato.workflow.report.MOST_ROWS", 0)  # its long part has tests of its own
        thin_demo(monkeypatch, tmp_path / "packaged", every=request.param)
    monkeypatch.chdir(census_study(tmp_path / "census", every=request.param))
    return tmp_path / "census"


def named(pages):
    return {"argvalues": pages, "ids": [page.name for page in pages]}


@pytest.mark.parametrize("page", **named([page for page in PAGES if any(blocks(page, "python"))]))
def test_python_examples_run(page, census):
    names = {"__name__": "__main__"}
    for line, body in blocks(page, "python"):
        code = compile("\n" * (line - 1) + body, str(page), "exec")  # so that a traceback names the line of the page
        exec(code, names)


def test_readme_and_python_page_have_examples():
    assert list(blocks(ROOT / "README.md", "python"))
    assert len(list(blocks(ROOT / "docs" / "reference" / "python.md", "python"))) > 5


@pytest.mark.error_rate(0, reason="that a command runs holds for every draw")
def test_commands_of_the_way_through_run(census, monkeypatch, capsys):
    lines = [line for _, body in blocks(ROOT / "docs" / "reference" / "cli.md", "sh") for line in body.splitlines()]
    assert len(lines) > 15
    for line in lines:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        assert sys.argv[0] == "sfumato"
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        assert code == 0, f"{line}: {capsys.readouterr().err}"
        assert capsys.readouterr().out, line
