"""Names and values in Markdown: whatever a study calls things, a README keeps its form and runs nothing."""

import re

_SPECIAL = re.compile(r"[\\`*\[\]<|&~]|(?<![^\W_])_|_(?![^\W_])")
_CODE_BREAKS = re.compile(r"[\\`|]")


def inline(text: str) -> str:
    """Text that is read as it is, in a heading, a sentence or a cell: no links, no HTML, no emphasis, on one line.

    Characters with a meaning become character references, which no reader of Markdown takes for syntax.

    >>> inline("a|b <script>"), inline("two_year [x](javascript:y)")
    ('a&#124;b &#60;script>', 'two_year &#91;x&#93;(javascript:y)')
    """
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code, in a cell or a sentence; where a code span could be broken out of, as an element of HTML.

    >>> code("<=50K"), code("a|b")
    ('`<=50K`', '<code>a&#124;b</code>')
    """
    plain = " ".join(text.split())
    return f"`{plain}`" if plain and not _CODE_BREAKS.search(plain) else f"<code>{inline(plain)}</code>"
