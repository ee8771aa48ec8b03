"""Texts in which backticks stand around code, as messages of the command line have them, for pages."""

import re
from typing import Final

from markupsafe import Markup, escape

CODE: Final = re.compile("`([^`]+)`")


def with_code(text: str) -> Markup:
    """The text with each pair of backticks as an element of code.

    All of it is escaped first, so what stands in the element is text, too. What is markup already stays as it is: it
    has attributes, which a pair of backticks could reach into.

    >>> with_code("run `sfumato plan <study>` first")
    Markup('run <code>sfumato plan &lt;study&gt;</code> first')
    """
    return text if isinstance(text, Markup) else Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped, and the element is ours
