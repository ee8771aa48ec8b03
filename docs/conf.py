"""How Sphinx builds the documentation: `make docs`, offline, with every warning an error.

The source folder is the repository, so that links between its Markdown files hold here as they do where it is browsed.
A first page lists its contents by linking them, so no page has a directive in it that only Sphinx understands.
"""

import posixpath
import re
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project = "Sfumato"
author = "the Sfumato contributors"
copyright = "the Sfumato contributors, Apache-2.0"  # noqa: A001 -- Sphinx calls it so
release = version = installed("sfumato")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["docs/**", "*.md", "src/sfumato/data/*/README.md"]
exclude_patterns = [".*", "bench", "build", "dist", "papers", "tests", "tools"]

myst_heading_anchors = 6  # as where the repository is browsed
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autosummary_generate = False
copybutton_prompt_text = "$ "
man_pages = [
    ("docs/reference/help", "sfumato", "publish tables about people with a stated privacy guarantee", author, 1)
]

html_theme = "pydata_sphinx_theme"
html_title = "Sfumato"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # dark or light, as the reader's system is
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it is fetched, which pages that are opened as files must not
html_theme_options = {
    "show_nav_level": 2,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}


def add_contents(_app: Sphinx, name: str, source: list[str]) -> None:
    """Give a first page the pages that it links, of its own folder or of none, as its table of contents.

    That of the whole site has the first pages of its folders.
    """
    if posixpath.basename(name) != "index":
        return
    here = posixpath.dirname(name)
    pages = [posixpath.normpath(posixpath.join(here, link)) for link in re.findall(r"\]\(([^)#:]+)\.\w+\)", source[0])]
    kept = [
        page
        for page in dict.fromkeys(pages)
        if posixpath.dirname(page) in {"", here}
        or page.startswith("src/")
        or (name == root_doc and posixpath.basename(page) == "index")
    ]
    entries = [f"Overview </{page}>" if page == "README" else f"/{page}" for page in kept]
    source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *entries, "```", ""])


def link_notebook(_app: Sphinx, name: str, source: list[str]) -> None:
    """A tutorial says where its notebook is."""
    folder, page = posixpath.split(name)
    if folder == "docs/tutorials" and page != "index":
        source[0] += f'\n\n<p><a href="{page}.ipynb" download>This tutorial as a notebook</a></p>\n'


def write_notebooks(app: Sphinx, failed: Exception | None) -> None:
    """Put the notebook of each tutorial beside its page."""
    if failed is None and app.builder.format == "html":
        from tools.notebooks import write_all  # noqa: PLC0415 -- found once the repository is on the path

        write_all(ROOT / "docs" / "tutorials", Path(app.outdir) / "docs" / "tutorials")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", add_contents)
    app.connect("source-read", link_notebook)
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
