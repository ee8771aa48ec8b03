"""The look of every page: one stylesheet and one set of symbols, for the workbench, the reports and pages in a bundle.

The workbench links the stylesheet. A page that stands alone carries it inside: see `standalone_page`.
"""

from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

SCRIPTLESS: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy of a page that runs no script and loads nothing."""


@cache
def stylesheet() -> str:
    """The text of `sfumato.css`: tokens, layout, components, tables, graphics, narrow screens and print."""
    return (files("sfumato.look") / "sfumato.css").read_text(encoding="utf-8")


@cache
def symbols() -> str:
    """Icons, the soft circle of the brand, and the patterns for owner-only and planned, as one hidden SVG element.

    A page has it once, at the start of its body; ``<use href="#i-lock"/>`` then draws an icon.
    """
    return (files("sfumato.look") / "symbols.svg").read_text(encoding="utf-8").strip()


def icon(name: str) -> str:
    """A symbol of the page as HTML; the word beside it says the same.

    >>> icon("lock")
    '<svg class="icon" aria-hidden="true"><use href="#i-lock"/></svg>'
    """
    return f'<svg class="icon" aria-hidden="true"><use href="#i-{name}"/></svg>'


def owner_tag() -> str:
    """The mark of everything that is computed from raw records."""
    return f'<span class="tag tag-owner">{icon("lock")}Owner only</span>'


def top_bar(name: str, what: str, *, tag: str = "") -> str:
    """The bar at the top of a page that stands alone: whose page it is, what it shows, and a tag, which is HTML.

    >>> "<strong>a &amp; b</strong> · report" in top_bar("a & b", "report")
    True
    """
    return (
        '<a class="skip" href="#main">Skip to content</a>\n'
        f'<header class="topbar"><span class="brand">{icon("brand")}Sfumato</span>'
        f'<p class="crumb"><strong>{escape(name)}</strong> · {escape(what)}</p>{tag}</header>'
    )


def standalone_page(title: str, body: str, *, policy: str = SCRIPTLESS) -> str:
    """A page in one file that loads nothing: ``body`` is HTML, with a `main` whose id is `main`.

    ``policy`` is its Content-Security-Policy. It stands before everything that comes from names and values: with the
    one that is the default, a browser runs no script and loads nothing, whatever ``body`` has in it.

    >>> standalone_page("<b>", "<main>hello</main>").count("&lt;b&gt;")
    1
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=False)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape(title)}</title>\n<style>\n{stylesheet()}</style>\n</head>\n<body>\n{symbols()}\n{body}\n"
        "</body>\n</html>\n"
    )
