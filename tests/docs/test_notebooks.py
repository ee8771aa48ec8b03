"""A tutorial is a notebook too: a cell for each block that runs, and a kernel prints what the page shows."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.pages.blocks import blocks
from tests.pages.engines import ENGINES_NEEDED, reach_engines
from tests.pages.running import same
from tools.notebooks import PROMPT, notebook, write_all

TUTORIALS = {path.stem: path for path in (Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md")}
del TUTORIALS["index"]


def cells_of(page):
    return [cell for cell in notebook(page).cells if cell.cell_type == "code"]


def expected(page):
    """For each cell: the code that it has to hold, and what the page shows of it with what is drawn in it.

    Worked out without the tool.
    """
    found = []
    for block in blocks(page):
        if block.reason or block.language in {"text", "json", "csv", "sql"}:
            continue
        if block.language == "output":
            found[-1][1].append((block.text, block.drawn))
        elif block.language == "console":
            parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n?", block.text, flags=re.MULTILINE)
            refused = any("[exit code" in shown for shown in parts[2::2])
            found.append(
                (parts[1::2], [] if refused else [(shown, block.drawn) for shown in parts[2::2] if shown.strip()])
            )
        elif block.language != "yaml" or block.text.startswith("# "):
            found.append((block.text.splitlines(), []))
    return found


@pytest.mark.parametrize("name", TUTORIALS)
def test_there_is_a_cell_for_each_block_that_runs(name):
    cells, wanted = cells_of(TUTORIALS[name]), expected(TUTORIALS[name])
    assert len(cells) == len(wanted) > 3
    for cell, (lines, _) in zip(cells, wanted, strict=True):
        for line in lines:
            assert line in cell.source
        assert "…" not in cell.source


def test_the_notebooks_are_written(tmp_path):
    written = write_all(next(iter(TUTORIALS.values())).parent, tmp_path / "notebooks")
    assert {path.stem for path in written} == set(TUTORIALS)
    assert all(path.read_text(encoding="utf-8").startswith("{") for path in written)


def test_commands_are_taken_without_their_output():
    assert PROMPT.findall("$ one \\\n  more\nsaid\n$ two\n") == ["one \\\n  more", "two"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_kernel_prints_what_the_page_shows(name, request, tmp_path, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    if TUTORIALS[name].name in ENGINES_NEEDED:
        reach_engines(request, monkeypatch)
    page = notebook(TUTORIALS[name])
    NotebookClient(page, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in page.cells if cell.cell_type == "code"]
    for cell, (_, shown) in zip(cells, expected(TUTORIALS[name]), strict=True):
        if shown:
            drawn = tuple(word for _, words in shown for word in words)
            assert same("".join(text for text, _ in shown), printed(cell), drawn), cell.source


def printed(cell):
    """What a cell wrote to its output, and the value of its last line."""
    streams = "".join(found["text"] for found in cell.outputs if found.get("name") == "stdout")
    values = [found["data"]["text/plain"] for found in cell.outputs if found["output_type"] == "execute_result"]
    return streams + "\n".join(values)
