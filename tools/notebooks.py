"""Turn tutorials into notebooks: the same source, a cell for each block that runs.

    python tools/notebooks.py build/notebooks

A tutorial is plain Markdown, which jupytext reads as it is. Before that, blocks of commands with their output become
cells of commands, a YAML block that is a file becomes a cell that writes it, and outputs that the page shows are left
out, because the notebook shows its own. Blocks that say why they do not run stay text.
"""

import argparse
import re
from pathlib import Path
from typing import Any

import jupytext
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
REASON = re.compile(r"\*Not run in the tests: [^*]+\.\*\s*\Z")
FILE = re.compile(r"# ([\w./-]+\.ya?ml)\n")
REFUSED = re.compile(r"^\[exit code \d+\]$", re.MULTILINE)
PROMPT = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)


def cell_text(language: str, code: str) -> str | None:
    """A block as the Markdown of a cell; none if it is not one."""
    if language == "output":
        return ""
    if language in {"sh", "bash"}:
        return f"```python\n%%bash -e\n{code}```\n"
    if language == "console":
        stop = "--no-raise-error" if REFUSED.search(code) else "-e"
        return "```python\n%%bash {}\n{}\n```\n".format(stop, "\n".join(PROMPT.findall(code)))
    if language == "yaml" and (name := FILE.match(code)):
        return f"```python\n%%writefile {name[1]}\n{code}```\n"
    return None


def notebook(page: Path) -> Any:
    """The notebook of a page."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    fences = [token for token in MarkdownIt().parse("".join(lines)) if token.type == "fence" and token.map]
    for fence in reversed(fences):
        first, end = fence.map or (0, 0)
        text = cell_text(fence.info.partition(" ")[0].strip(), fence.content)
        if REASON.search("".join(lines[:first])):
            text = f"```text\n{fence.content}```\n"
        if text is not None:
            lines[first:end] = [text]
    found = jupytext.reads("".join(lines), fmt="md")
    found.metadata["kernelspec"] = KERNEL
    return found


def write_all(pages: Path, folder: Path) -> list[Path]:
    """Write the notebook of every page but the first one of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted(pages.glob("*.md")):
        if page.stem != "index":
            written.append(folder / f"{page.stem}.ipynb")
            written[-1].write_text(jupytext.writes(notebook(page), fmt="ipynb"), encoding="utf-8")
    return written


def main() -> None:
    """Write the notebooks of all tutorials into the folder that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    for path in write_all(ROOT / "docs" / "tutorials", parser.parse_args().folder):
        print(path)


if __name__ == "__main__":
    main()
